"""The arithmetic an update rule is written in, on raw arrays and on tensors.

A rule says ``xp.lerp_(average, grad, 1 - beta)``, with the names of PyTorch's tensor methods; a
name that ends in ``_`` writes into its first argument, the others return something new.  On arrays
every intermediate result goes into scratch memory that is used again for the next parameter, block
by block, so a step allocates nothing and large parameters stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.dispatch import quiet
from whygrad.fast.steps import stepped
from whygrad.threads import PerThread

__all__ = ["BLOCK", "Fusable", "OnArrays", "OnTensors", "Rule", "arrays", "tensors"]

Rule = Callable[..., None]  # rule(xp, param, grad, *buffers)

BLOCK = 2**18  # elements: with state and scratch some MB, which the caches hold


class Fusable:
    """A rule for which :mod:`whygrad.fast` has one loop: it takes these numbers, and gives the
    same bits.
    """

    __slots__ = ("_rule", "loop", "numbers")

    def __init__(self, rule: Rule, loop: str, *numbers: float) -> None:
        self._rule = rule
        self.loop = loop
        self.numbers = numbers

    def __call__(self, xp: Any, *operands: Any) -> None:
        self._rule(xp, *operands)


class OnArrays(PerThread):
    """NumPy in place; ``scratch`` is per thread and dtype."""

    def __init__(self) -> None:
        self.scratch: dict[Any, list[Any]] = {}
        self.used = 0

    def run(self, rule: Rule, operands: list[Any]) -> None:
        """Apply ``rule`` to arrays of one shape and dtype, the first of them the parameter."""
        if type(rule) is Fusable and stepped(rule.loop, rule.numbers, operands):
            return
        quiet.run(self._in_blocks, rule, _flattened(operands))

    def _in_blocks(self, rule: Rule, operands: list[Any]) -> None:
        size = len(operands[0]) if operands[0].ndim == 1 else 0
        self.used = 0
        if size <= BLOCK:
            rule(self, *operands)
            return
        for start in range(0, size, BLOCK):
            self.used = 0
            rule(self, *[each[start : start + BLOCK] for each in operands])

    def _new(self, like: Any) -> Any:
        """Scratch memory, valid until the rule returns."""
        size = like.size
        if size > BLOCK:  # strided and large: too rare to keep memory for
            return np.empty_like(like)
        place = self.used
        self.used = place + 1
        kept = self.scratch.setdefault(like.dtype, [])
        if place == len(kept):
            kept.append(np.empty(size, like.dtype))
        elif kept[place].size < size:
            kept[place] = np.empty(size, like.dtype)
        memory = kept[place][:size]
        return memory if like.ndim == 1 else memory.reshape(like.shape)

    def _temporary(self, compute: Any, *args: Any) -> Any:
        """A result that nobody needs once the next line has used it."""
        result = compute(*args, out=self._new(args[0]))
        self.used -= 1
        return result

    def neg(self, x: Any) -> Any:
        return np.negative(x, out=self._new(x))

    def abs(self, x: Any) -> Any:
        return np.abs(x, out=self._new(x))

    def sqrt(self, x: Any) -> Any:
        return np.sqrt(x, out=self._new(x))

    def sign(self, x: Any) -> Any:
        return np.sign(x, out=self._new(x))

    def add(self, x: Any, other: Any, alpha: float = 1.0) -> Any:
        """x + alpha·other"""
        if alpha == 1.0:
            return np.add(x, other, out=self._new(x))
        result = np.multiply(other, alpha, out=self._new(x))
        return np.add(result, x, out=result)

    def mul(self, x: Any, other: Any) -> Any:
        return np.multiply(x, other, out=self._new(x))

    def copy_(self, x: Any, other: Any) -> None:
        np.copyto(x, other)

    def add_(self, x: Any, other: Any, alpha: float = 1.0) -> None:
        """x ← x + alpha·other"""
        np.add(x, other if alpha == 1.0 else self._temporary(np.multiply, other, alpha), out=x)

    def mul_(self, x: Any, other: Any) -> None:
        np.multiply(x, other, out=x)

    def div_(self, x: Any, other: Any) -> None:
        np.divide(x, other, out=x)

    def clamp_(self, x: Any, low: float, high: float) -> None:
        np.clip(x, low, high, out=x)

    def masked_fill_(self, x: Any, mask: Any, value: float) -> None:
        np.copyto(x, value, where=mask)

    def maximum_(self, x: Any, other: Any) -> None:
        np.maximum(x, other, out=x)

    def lerp_(self, x: Any, other: Any, weight: float) -> None:
        """x ← x + weight·(other − x)"""
        difference = self._temporary(np.subtract, other, x)
        np.multiply(difference, weight, out=difference)
        np.add(x, difference, out=x)

    def addcmul_(self, x: Any, left: Any, right: Any, value: float = 1.0) -> None:
        """x ← x + value·left·right"""
        product = self._temporary(np.multiply, left, right)
        if value != 1.0:
            np.multiply(product, value, out=product)
        np.add(x, product, out=x)

    def addcdiv_(self, x: Any, left: Any, right: Any, value: float = 1.0) -> None:
        """x ← x + value·left/right"""
        quotient = self._temporary(np.divide, left, right)
        if value != 1.0:
            np.multiply(quotient, value, out=quotient)
        np.add(x, quotient, out=x)


def _flattened(operands: list[Any]) -> list[Any]:
    """Views with one dimension, where all arrays go through their memory in one and the same way.

    Others keep their shape: NumPy finds its way through any strides.
    """
    if all(each.flags.c_contiguous for each in operands):
        return [each.reshape(-1) for each in operands]
    if all(each.flags.f_contiguous for each in operands):
        return [each.T.reshape(-1) for each in operands]
    return operands


class OnTensors:
    """The same on tensors: half precision, which needs rounding op by op, and the meta device."""

    def run(self, rule: Rule, operands: list[Any]) -> None:
        rule(self, *operands)

    def neg(self, x: Any) -> Any:
        return x.neg()

    def abs(self, x: Any) -> Any:
        return x.abs()

    def sqrt(self, x: Any) -> Any:
        return x.sqrt()

    def sign(self, x: Any) -> Any:
        return x.sign()

    def add(self, x: Any, other: Any, alpha: float = 1.0) -> Any:
        return x.add(other, alpha=alpha)

    def mul(self, x: Any, other: Any) -> Any:
        return x.mul(other)

    def copy_(self, x: Any, other: Any) -> None:
        x.copy_(other)

    def add_(self, x: Any, other: Any, alpha: float = 1.0) -> None:
        x.add_(other, alpha=alpha)

    def mul_(self, x: Any, other: Any) -> None:
        x.mul_(other)

    def div_(self, x: Any, other: Any) -> None:
        x.div_(other)

    def clamp_(self, x: Any, low: float, high: float) -> None:
        x.clamp_(low, high)

    def masked_fill_(self, x: Any, mask: Any, value: float) -> None:
        x.masked_fill_(mask, value)

    def maximum_(self, x: Any, other: Any) -> None:
        x.copy_(x.maximum(other))

    def lerp_(self, x: Any, other: Any, weight: float) -> None:
        x.lerp_(other, weight)

    def addcmul_(self, x: Any, left: Any, right: Any, value: float = 1.0) -> None:
        x.addcmul_(left, right, value=value)

    def addcdiv_(self, x: Any, left: Any, right: Any, value: float = 1.0) -> None:
        x.addcdiv_(left, right, value=value)


arrays = OnArrays()
tensors = OnTensors()
