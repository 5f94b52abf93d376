"""Random programs that write in place, run side by side on whygrad and on PyTorch.

A program makes values (views, detached aliases, ops that save what they read) and writes into
them.  whygrad may refuse a write that PyTorch carries out; then both leave the step out, and
nothing may have changed.  What it does carry out must give PyTorch's values and gradients; where
only PyTorch refuses the backward, finite differences are the judge.

Every step names its operands by a number that is taken modulo the size of the pool, so a program
stays valid when steps are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

import whygrad
from tests.conformance.harness import as_numpy
from whygrad.errors import explained

Pool = list[Any]
STEP = 1e-6
REFUSALS = (RuntimeError, IndexError, ValueError, TypeError)

MAKERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a * b": lambda lib, a, b: a * b,
    "a + b": lambda lib, a, b: a + b,
    "a * 0.5": lambda lib, a, b: a * 0.5,
    "a * a": lambda lib, a, b: a * a,
    "sin(a)": lambda lib, a, b: a.sin(),
    "tanh(a)": lambda lib, a, b: a.tanh(),
    "where(a > 0, a, b)": lambda lib, a, b: lib.where(a > 0, a, b),
    "sum(a, 0)": lambda lib, a, b: a.sum(0),
    "exp(a)": lambda lib, a, b: a.exp(),
    "clone(a)": lambda lib, a, b: a.clone(),
    "contiguous(a)": lambda lib, a, b: a.contiguous(),
    "a[0]": lambda lib, a, b: a[0],
    "a[..., 1:]": lambda lib, a, b: a[..., 1:],
    "a[None]": lambda lib, a, b: a[None],
    "a[[1, 0]]": lambda lib, a, b: a[lib.tensor([1, 0])],
    "mT(a)": lambda lib, a, b: a.mT,
    "reshape(a, -1)": lambda lib, a, b: a.reshape(-1),
    "view_as(a)": lambda lib, a, b: a.view_as(a),
    "expand(a)": lambda lib, a, b: a.expand(2, *a.shape),
    "unbind(a)[-1]": lambda lib, a, b: a.unbind(0)[-1],
    "diagonal(a)": lambda lib, a, b: a.diagonal(),
    "detach(a)": lambda lib, a, b: a.detach(),
    "a.data": lambda lib, a, b: a.data,
}


def _assign(index: Any) -> Callable[[Any, Any, Any], Any]:
    def write(lib: Any, a: Any, b: Any) -> None:
        a[lib.tensor(index) if isinstance(index, list) else index] = b

    return write


def _write_where(lib: Any, a: Any, b: Any) -> None:
    a[a > 0] = 0.25


def _iadd(lib: Any, a: Any, b: Any) -> None:
    a += b


def _double_slice(lib: Any, a: Any, b: Any) -> None:
    a[1:] = a[1:] * 2


WRITERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a.add_(b)": lambda lib, a, b: a.add_(b),
    "a.add_(b, alpha=2)": lambda lib, a, b: a.add_(b, alpha=2),
    "a.add_(1)": lambda lib, a, b: a.add_(1),
    "a.sub_(b)": lambda lib, a, b: a.sub_(b),
    "a.mul_(b)": lambda lib, a, b: a.mul_(b),
    "a.mul_(a)": lambda lib, a, b: a.mul_(a),
    "a.mul_(0.5)": lambda lib, a, b: a.mul_(0.5),
    "a.div_(2)": lambda lib, a, b: a.div_(2),
    "a.copy_(b)": lambda lib, a, b: a.copy_(b),
    "a.fill_(0.5)": lambda lib, a, b: a.fill_(0.5),
    "a.fill_(b.sum())": lambda lib, a, b: a.fill_(b.sum()),
    "a.zero_()": lambda lib, a, b: a.zero_(),
    "a.neg_()": lambda lib, a, b: a.neg_(),
    "a.sin_()": lambda lib, a, b: a.sin_(),
    "a.tanh_()": lambda lib, a, b: a.tanh_(),
    "a.sigmoid_()": lambda lib, a, b: a.sigmoid_(),
    "a.clamp_(-0.6, 0.6)": lambda lib, a, b: a.clamp_(-0.6, 0.6),
    "a.pow_(2)": lambda lib, a, b: a.pow_(2),
    "a.masked_fill_(b > 0, 1)": lambda lib, a, b: a.masked_fill_(b > 0, 1.0),
    "a.addcmul_(b, b)": lambda lib, a, b: a.addcmul_(b, b),
    "a[0] = b": _assign(0),
    "a[..., 1:] = b": _assign((Ellipsis, slice(1, None))),
    "a[[1, 0]] = b": _assign([1, 0]),
    "a[a > 0] = 0.25": _write_where,
    "a += b": _iadd,
    "a[1:] = a[1:] * 2": _double_slice,
}


@dataclass(frozen=True)
class Step:
    """One line: what is done, to which operands, and whether it is recorded."""

    kind: str
    first: int
    second: int
    recorded: bool


@dataclass(frozen=True)
class Program:
    """Leaves of one shape, of which some require grad, and the steps."""

    seed: int
    shape: tuple[int, ...]
    needs: tuple[bool, ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        lines = [f"# seed {self.seed}: {len(self.needs)} leaves of shape {self.shape}, "
                 f"requires_grad {self.needs}"]  # fmt: skip
        for step in self.steps:
            mode = "" if step.recorded else "  under no_grad"
            operands = f"a = t[{step.first} % n], b = t[{step.second} % n]"
            lines.append(f"{step.kind}  with {operands}{mode}")
        return "\n".join(lines)

    def leaves(self, lib: Any) -> Pool:
        rng = np.random.default_rng(self.seed)
        return [
            lib.from_numpy(rng.uniform(-1, 1, self.shape)).requires_grad_(need)
            for need in self.needs
        ]


def draw(seed: int) -> Program:
    rng = np.random.default_rng(seed)
    makers, writers = list(MAKERS), list(WRITERS)
    steps = []
    for _ in range(rng.integers(3, 12)):
        kinds = writers if rng.random() < 0.45 else makers
        first, second = (int(n) for n in rng.integers(0, 840, 2))
        steps.append(Step(str(rng.choice(kinds)), first, second, bool(rng.random() < 0.85)))
    shape = ((2, 2), (3, 2), (3,))[rng.integers(3)]
    needs = (True, *(bool(each) for each in rng.random(2) < 0.5))
    return Program(seed, shape, needs, tuple(steps))


def difference(program: Program) -> str | None:
    """None if the libraries agree, else the first difference."""
    mine, theirs = program.leaves(whygrad), program.leaves(torch)
    done: list[Step] = []
    for step in program.steps:
        if _reads_what_it_writes(step, mine):
            continue
        before = [_state(each) for each in mine]
        error = _attempt(step, mine, whygrad)
        if error is not None:
            if not explained(error):
                return f"{step}: raw {type(error).__name__}: {error}"
            if [_state(each) for each in mine] != before:
                return f"{step}: refused, and something changed: {error}"
            if not _deprecated_there(error) and _attempt(step, theirs, torch) is None:
                return f"{step}: only whygrad refuses: {error}"
            continue
        error = _attempt(step, theirs, torch)
        if error is not None:
            if _needless(step, mine, error):
                return None
            return f"{step}: only PyTorch refuses: {error}"
        done.append(step)
        problem = _compare_pools(mine, theirs)
        if problem is not None:
            return f"{step}: {problem}"
    return _compare_gradients(replace(program, steps=tuple(done)), mine, theirs)


def _reads_what_it_writes(step: Step, pool: Pool) -> bool:
    """Writing from an overlapping view: whygrad reads first, in PyTorch it is undefined."""
    a, b = pool[step.first % len(pool)], pool[step.second % len(pool)]
    return step.kind in WRITERS and a is not b and np.shares_memory(a._array, b._array)


def _deprecated_there(error: Exception) -> bool:
    """What PyTorch still does under a warning: mT of a number, writes to expanded tensors."""
    return "Got 0-D tensor" in str(error) or "more than one element" in str(error)


def _needless(step: Step, pool: Pool, error: Exception) -> bool:
    """Whether PyTorch refuses for a reason that whygrad does not have."""
    text = str(error)
    if "some elements of the input tensor and the written-to tensor" in text:
        return True
    if "another view of its base has been modified" in text:
        return True  # parts of unbind(), views made under no_grad: whygrad can still read them
    target = pool[step.first % len(pool)]
    whole = target if target._base is None else target._base
    # PyTorch lets a view made under no_grad require grad, and with it all that is made from it.
    return step.kind in WRITERS and not whole.requires_grad


def _state(tensor: Any) -> tuple[Any, ...]:
    return tensor._array.tobytes(), tensor._version, id(tensor._node), tensor._slot, tensor._keys


def _attempt(step: Step, pool: Pool, lib: Any) -> Exception | None:
    """Carry out the step; a new value joins the pool."""
    a, b = pool[step.first % len(pool)], pool[step.second % len(pool)]
    try:
        with lib.set_grad_enabled(step.recorded):
            if step.kind in MAKERS:
                pool.append(MAKERS[step.kind](lib, a, b))
            else:
                WRITERS[step.kind](lib, a, b)
    except REFUSALS as error:
        return error
    return None


def _compare_pools(mine: Pool, theirs: Pool) -> str | None:
    for position, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if not np.allclose(as_numpy(a), as_numpy(b), equal_nan=True):
            return f"t[{position}] has values {as_numpy(a)} against {as_numpy(b)}"
    return None


def _loss(pool: Pool) -> Any:
    weighted = [(i + 1) * 0.3 * (each * each.cos()).sum() for i, each in enumerate(pool)]
    return sum(each for each in weighted if each.requires_grad)


def _gradients(program: Program, pool: Pool) -> list[Any] | RuntimeError:
    leaves = pool[: len(program.needs)]
    try:
        _loss(pool).backward()
    except RuntimeError as error:
        return error
    return [leaf.grad for leaf, needed in zip(leaves, program.needs, strict=True) if needed]


def _compare_gradients(program: Program, mine: Pool, theirs: Pool) -> str | None:
    ours, others = _gradients(program, mine), _gradients(program, theirs)
    if isinstance(ours, RuntimeError):
        if not explained(ours):
            return f"backward: raw {type(ours).__name__}: {ours}"
        if isinstance(others, RuntimeError) or ": .data." in str(ours):
            return None
        return f"backward: only whygrad: {ours}"
    if isinstance(others, RuntimeError):
        return _compare_with_numbers(program, ours)
    for position, (a, b) in enumerate(zip(ours, others, strict=True)):
        if a is None or b is None:
            if a is not b:
                return f"gradient {position}: {a} against {b}"
        elif not np.allclose(as_numpy(a), as_numpy(b), 1e-7, 1e-9):
            if _overwritten_behind_pytorch(program):
                return None
            return f"gradient {position}: {as_numpy(a)} against {as_numpy(b)}"
    return None


def _overwritten_behind_pytorch(program: Program) -> bool:
    """Whether a write through ``.data`` ruined what PyTorch had saved.

    ``sigmoid_`` saves what it writes; PyTorch saves that very memory, and ``.data`` keeps its
    version counter from noticing.  Through ``detach()``, which shares the counter, the same
    program is an error there.  whygrad saves a copy, whose gradient is right.
    """
    seen = tuple(
        replace(step, kind="detach(a)") if step.kind == "a.data" else step for step in program.steps
    )
    if seen == program.steps:
        return False
    noticed = replace(program, steps=seen)
    pool = noticed.leaves(torch)
    if any(_attempt(step, pool, torch) is not None for step in seen):
        return False
    outcome = _gradients(noticed, pool)
    return isinstance(outcome, RuntimeError) and "inplace operation" in str(outcome)


def _compare_with_numbers(program: Program, gradients: list[Any]) -> str | None:
    """Finite differences, where no step hides a dependence from autograd."""
    hidden = ("detach(a)", "a.data")
    if not all(step.recorded and step.kind not in hidden for step in program.steps):
        return None
    rng = np.random.default_rng(program.seed)
    directions = [rng.normal(size=program.shape) for _ in gradients]

    def shifted(by: float) -> float:
        pool = program.leaves(whygrad)
        with whygrad.no_grad():
            leaves = [leaf for leaf, needed in zip(pool, program.needs, strict=True) if needed]
            for leaf, direction in zip(leaves, directions, strict=True):
                leaf.add_(whygrad.from_numpy(by * direction))
        for step in program.steps:
            _attempt(step, pool, whygrad)
        return float(_loss(pool).item())

    numeric = (shifted(STEP) - shifted(-STEP)) / (2 * STEP)
    exact = sum(
        float((as_numpy(each) * direction).sum())
        for each, direction in zip(gradients, directions, strict=True)
        if each is not None
    )
    if np.isclose(numeric, exact, 1e-3, 1e-5):
        return None
    return f"derivative along a direction: {exact} against {numeric} by finite differences"


def shrink(program: Program) -> Program:
    """Drop steps while a difference stays."""
    for position in reversed(range(len(program.steps))):
        steps = program.steps[:position] + program.steps[position + 1 :]
        smaller = replace(program, steps=steps)
        if difference(smaller) is not None:
            return shrink(smaller)
    return program
