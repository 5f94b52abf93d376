"""What the lines of a program may call, besides the library."""

from __future__ import annotations

from typing import Any

import numpy as np

import whygrad
from tests.func.test_combinations import functions
from tests.fuzz.ops.program import TORCH, WHYGRAD, NoTensor, call_op
from tests.fuzz.transforms.loops import Looping
from tests.fuzz.transforms.program import Program
from whygrad.utils.checkpoint import checkpoint

__all__ = ["run"]


def run(
    program: Program,
    lib: Any,
    looping: bool = False,
    plain: bool = False,
    shaken: bool = False,
    forward: bool = False,
) -> list[Any]:
    """The results of a program: the value, what became of ``x``, and the slope if asked for.

    ``looping``: with a loop for every ``vmap``.  ``plain``: custom functions are ordinary ones.
    ``forward``: the loops have forward mode, as whygrad's always have.  ``shaken``: from a starting
    point that is off by as little as no answer should depend on.
    """
    loops = Looping(lib, forward or lib is whygrad) if looping else None
    names = _Words(lib, loops, 1e-12 if shaken else 0.0).names()
    if plain:
        names.update(Product=_Product, Both=_Both)
    exec(compile(str(program), "<program>", "exec"), names)
    return [names[name] for name in ("y", "x", "slope") if name in names]


class _Product:
    @staticmethod
    def apply(x: Any, y: Any) -> Any:
        return x * y


class _Both:
    @staticmethod
    def apply(x: Any) -> Any:
        return x.sin(), x.cos()


class _Words:
    def __init__(self, lib: Any, loops: Looping | None, shift: float) -> None:
        self.shift = shift
        self.lib = lib
        self.func = loops or lib.func
        self.looping = loops is not None

    def names(self) -> dict[str, Any]:
        words = (
            self.again, self.constant, self.contracted, self.gradient, self.leaf, self.number,
            self.op, self.weighted,
        )  # fmt: skip
        return {
            "lib": self.lib,
            "func": self.func,
            "Product": functions(self.lib)["Product"],
            "Both": functions(self.lib)["Both"],
            **{word.__name__: word for word in words},
        }

    def leaf(self, seed: int, shape: tuple[int, ...], requires_grad: bool) -> Any:
        numbers = np.random.default_rng(seed).uniform(-1, 1, shape) + self.shift
        made = self.lib.from_numpy(numbers)
        return made.requires_grad_() * 1 if requires_grad else made

    def constant(self, seed: int, shape: tuple[int, ...]) -> Any:
        return self.lib.from_numpy(np.random.default_rng(seed + 1).uniform(-1, 1, shape))

    def number(self, y: Any) -> Any:
        return (y * y).sum() * 0.5 + y.sin().sum()

    def gradient(self, y: Any, x: Any) -> Any:
        """By the value that ``x`` was made of, if anything leads there."""
        if not y.requires_grad:
            return self.lib.zeros_like(x)
        total = self.number(y)
        found = self.lib.autograd.grad(total, x, allow_unused=True)[0]
        return self.lib.zeros_like(x) if found is None else found

    def contracted(self, jacobian: Any, x: Any) -> Any:
        while jacobian.ndim > x.ndim:
            jacobian = (jacobian * x).sum(tuple(range(-x.ndim, 0)))
        return jacobian

    def weighted(self, made: Any, dim: int) -> Any:
        first = made.movedim(dim, 0)
        return first[0] + 0.5 * first[1] - 0.3 * first[2]

    def again(self, function: Any, *args: Any) -> Any:
        """PyTorch has no checkpoints inside transforms."""
        if self.lib is not whygrad or self.looping:
            return function(*args)
        return checkpoint(function, *args, use_reentrant=False)

    def op(self, name: str, index: int, output: int, a: Any, b: Any) -> Any:
        """A number that an op of the table makes of its own sample, nudged by the values."""
        library = WHYGRAD if self.lib is whygrad else TORCH
        try:
            made = call_op(name, index, output, [a, b], library)
        except NoTensor:
            return 1.0
        if not made.is_floating_point() or not made.numel():
            return 1.0
        return made.to(self.lib.float64).tanh().mean()
