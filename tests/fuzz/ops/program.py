"""What a random program is, and how one library runs it.

A program is a list of steps over a growing pool of tensors.  A step either rearranges a tensor of
the pool (views, slices, reuse, detach, another dtype) or calls an op of the table: the arrays of
one of the op's samples are nudged by tensors of the pool, so every op takes part, inside its
domain, and connected to what came before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import torch

import whygrad
from tests.conformance import outputs
from tests.conformance.harness import convert, flatten, torch_function
from whygrad.ops.define import table
from whygrad.ops.samples import Call, samples_of
from whygrad.tensor.dtypes import DType

NUDGE = 0.02  # small against the distance the samples keep from kinks and ties
FEW_BITS = 512  # what large numbers are rounded to, so that their products are exact


STATES = {
    state.__name__: state
    for state in (
        outputs.fresh, outputs.exact, outputs.gaps, outputs.turned, outputs.offset,
        outputs.too_many, outputs.too_few, outputs.single_precision,
    )
}  # fmt: skip


class NoTensor(ValueError):
    """An op that answers with something else, such as a bool."""


@cache
def samples(name: str) -> list[Call]:
    """The sample calls of an op; nobody writes to their arrays."""
    return samples_of(table[name])


@dataclass
class Step:
    """One line of a program; ``sources`` are positions in the pool."""

    kind: str
    sources: tuple[int, ...]
    detail: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}{self.detail} of {', '.join(f't{i}' for i in self.sources)}"


@dataclass
class Program:
    """Leaves, steps, and how the gradients are taken."""

    seed: int
    leaves: list[tuple[tuple[int, ...], str, bool]]  # shape, dtype, requires grad
    steps: list[Step] = field(default_factory=list)
    second_order: bool = False

    def __str__(self) -> str:
        lines = [f"# seed {self.seed}, second order: {self.second_order}"]
        lines += [
            f"t{i} = {dtype}{list(shape)} requires_grad={grad}"
            for i, (shape, dtype, grad) in enumerate(self.leaves)
        ]
        lines += [f"t{len(self.leaves) + i} = {step}" for i, step in enumerate(self.steps)]
        return "\n".join(lines)


class Library:
    """The few things that are spelled differently in the two libraries."""

    def __init__(self, module: Any, function_of: Callable[[Any], Callable[..., Any]]) -> None:
        self.module = module
        self.function_of = function_of

    def dtype(self, name: str) -> Any:
        return getattr(self.module, name)

    def leaf(self, array: Any, requires_grad: bool) -> Any:
        made = self.module.from_numpy(np.array(array))
        return made.requires_grad_() if requires_grad else made

    def constant(self, value: Any, dtype: str) -> Any:
        if isinstance(value, DType):
            return self.dtype(value.name)
        if value.dtype.kind == "f":
            value = value.astype(dtype)
        return self.module.from_numpy(np.array(value))


WHYGRAD = Library(whygrad, lambda op: op.public)
TORCH = Library(torch, torch_function)


@dataclass
class Outcome:
    """What a library made of a program."""

    pool: list[Any]
    leaves: list[Any]
    gradients: list[Any]
    second: list[Any]


def run(program: Program, library: Library) -> Outcome:
    """Execute the program, take the gradient of a weighted sum of the pool."""
    rng = np.random.default_rng(program.seed)
    pool: list[Any] = []
    for shape, dtype, requires_grad in program.leaves:
        pool.append(library.leaf(rng.uniform(-1, 1, shape).astype(dtype), requires_grad))
    leaves = [t for t, (_, _, requires_grad) in zip(pool, program.leaves) if requires_grad]
    for step in program.steps:
        pool.append(execute(step, pool, library))
    loss = None
    for tensor in pool:
        if tensor.requires_grad:
            term = (tensor * rng.uniform(0.5, 1.5)).sum().to(library.dtype("float64"))
            loss = term if loss is None else loss + term
    gradients: list[Any] = [None] * len(leaves)
    second: list[Any] = [None] * len(leaves)
    if loss is not None and program.second_order:
        gradients = list(
            library.module.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
        )
        live = [g for g in gradients if g is not None and g.requires_grad]
        if live:
            norm = sum((g * g).sum().to(library.dtype("float64")) for g in live)
            second = list(library.module.autograd.grad(norm, leaves, allow_unused=True))
    elif loss is not None:
        loss.backward()
        gradients = [leaf.grad for leaf in leaves]
    return Outcome(pool, leaves, gradients, second)


def execute(step: Step, pool: list[Any], library: Library) -> Any:
    first = pool[step.sources[0]]
    if step.kind == "op":
        return call_op(*step.detail, [pool[i] for i in step.sources], library)
    if step.kind == "out":
        name, index, state = step.detail
        return call_into(name, index, state, [pool[i].detach() for i in step.sources], library)
    if step.kind == "dtype":
        name, index, dtype = step.detail
        sources = [pool[i] for i in step.sources]
        return call_op(name, index, 0, sources, library, dtype=library.dtype(dtype))
    if step.kind == "pattern":
        name, index, pattern = step.detail
        return call_op(name, index, 0, [pool[i] for i in step.sources], library, pattern=pattern)
    if step.kind == "slice":
        return first[step.detail]
    if step.kind == "to":
        return first.to(library.dtype(step.detail[0]))
    if step.kind == "add":
        return first + pool[step.sources[1]]
    if step.kind == "mul":
        return first * pool[step.sources[1]]
    if step.kind == "scale":
        return first * step.detail[0]
    if step.kind == "fold":  # keeps numbers tame, as activations do
        return first.tanh()
    return getattr(first, step.kind)(*step.detail)


# What a pattern makes of the arrays of a sample: constant and extreme numbers.
PATTERNS: dict[str, Callable[[Any], Any]] = {
    "equal": lambda array: np.full_like(array, 0.9295139),
    "large": lambda array: np.sign(array) * 2.0**13,  # products and their sums stay exact
    "denormal": lambda array: array * 1e-310,
    "repeated": lambda array: np.round(array),
}


def call_op(
    name: str,
    index: int,
    output: int,
    sources: list[Any],
    library: Library,
    pattern: str = "",
    **options: Any,
) -> Any:
    """One output of an op on one of its samples, nudged by the ``sources``.

    With a ``pattern`` the numbers of the sample are replaced, and only multiplied by something
    close to 1, the same for all: what is constant stays so.
    """
    call = samples(name)[index]
    dtype = str(sources[0].dtype).rpartition(".")[2]
    used = 0

    def leaf(value: Any, requires_grad: bool) -> Any:
        nonlocal used
        if requires_grad and pattern:
            value = np.asarray(PATTERNS[pattern](value))
        constant = library.constant(value, dtype)
        if not requires_grad:
            return constant
        source = sources[used % len(sources)]
        used += 1
        if pattern:
            factor = _factor(source, library)
            if pattern == "large":
                factor = (factor * FEW_BITS).round() / FEW_BITS
            spread = 0 * _stretched(source, value.shape, library)
            return ((constant + spread) * factor).to(library.dtype(dtype))
        return constant + _stretched(source, value.shape, library).to(library.dtype(dtype)) * NUDGE

    args = convert(call.args, leaf)
    kwargs = {key: convert(value, leaf) for key, value in call.kwargs.items()}
    answer = call.on(library.function_of(table[name]))(*args, **{**kwargs, **options})
    results = [each for each in flatten(answer) if hasattr(each, "shape")]
    if not results:
        raise NoTensor(f"{name} answers with no tensor")
    return results[output % len(results)]


def _factor(source: Any, library: Library) -> Any:
    """A constant close to 1 that depends on the whole of ``source``."""
    return 1 + source.detach().to(library.dtype("float64")).tanh().sum().sin() * NUDGE


def call_into(name: str, index: int, state: str, sources: list[Any], library: Library) -> Any:
    """The memory into which an op wrote its result: fresh, or around a view, or of another size."""
    plain = call_op(name, index, 0, sources, library)
    whole, target = STATES[state](library.module, tuple(plain.shape), plain.dtype)
    call_op(name, index, 0, sources, library, out=target)
    return whole


def _stretched(tensor: Any, shape: tuple[int, ...], library: Library) -> Any:
    """Numbers between −1 and 1 taken from ``tensor``, as many as ``shape`` wants."""
    size = int(np.prod(shape))
    flat = tensor.to(library.dtype("float64")).reshape(-1).tanh()
    if flat.shape[0] == 0:
        return library.module.zeros(shape, dtype=library.dtype("float64"))
    index = library.module.from_numpy(np.arange(size) % flat.shape[0])
    return flat[index].reshape(shape)
