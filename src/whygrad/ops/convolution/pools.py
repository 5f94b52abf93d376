"""What the pooling functions share: arguments as PyTorch takes them, checked, and exact pads."""

from __future__ import annotations

import operator
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.convolution.windows import Dims, Pads, exact_pads, spans
from whygrad.tensor import Tensor

__all__ = ["Pooling"]

_COUNTS = {1: "one int", 2: "two ints", 3: "three ints"}


class Pooling:
    """One call of a pooling function: which windows it asks for."""

    def __init__(self, name: str, dims: int, input: Tensor) -> None:
        self.name = name
        self.dims = dims
        self.input = input
        # pooling treats everything before the last ``dims`` dimensions alike
        self.sizes = tuple(input.shape[-dims:])
        if input.ndim not in (dims + 1, dims + 2) or 0 in input.shape[-dims - 1 :]:
            raise self.refused(
                f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim "
                f"batch size for input, but got: {list(input.shape)}",
                f"pass (samples, channels, *{dims} sizes), or one sample without the first",
            )

    def refused(self, cause: str, fix: str) -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"{self.name}(input: {describe(self.input)}, …)",
            cause=f"{self.name}: {cause}",
            fix=fix,
        )

    def numbers(self, value: Any, name: str) -> Dims:
        """One integer per dimension; a single one stands for all."""
        if not isinstance(value, (tuple, list)):
            value = (value,)
        found = tuple(map(operator.index, value))
        if len(found) == 1:
            return found * self.dims
        if len(found) != self.dims:
            counts = "" if self.dims == 1 else f", or a tuple of {_COUNTS[self.dims]}"
            raise self.refused(
                f"{name} must either be a single int{counts}, but got {len(found)}",
                f"give {name} for the last {self.dims} dimensions",
            )
        return found

    def windows(
        self, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> tuple[Dims, Dims, Pads, Dims]:
        """Kernel, stride, exact pads and dilation."""
        kernel = self.numbers(kernel_size, "kernel_size")
        empty = stride is None or (isinstance(stride, (tuple, list)) and not stride)
        steps = kernel if empty else self.numbers(stride, "stride")
        border = self.numbers(padding, "padding")
        apart = self.numbers(dilation, "dilation")
        for name, found in (("kernel_size", kernel), ("stride", steps), ("dilation", apart)):
            if min(found) < 1:
                raise self.refused(
                    f"{name} should be greater than zero, but got {list(found)} (stride should "
                    "not be zero)",
                    f"{name} starts at 1",
                )
        reach = spans(kernel, apart)
        if min(border) < 0:
            raise self.refused(
                f"pad must be non-negative, but got pad: {list(border)}", "padding starts at 0"
            )
        if any(pad > span // 2 for pad, span in zip(border, reach, strict=True)):
            raise self.refused(
                "pad should be at most half of effective kernel size, but got "
                f"pad={list(border)}, kernel_size={list(kernel)} and dilation={list(apart)}",
                "a window that lies in the border only has nothing to look at: pad less",
            )
        pads: Pads = tuple((pad, pad) for pad in border)
        if ceil_mode:
            pads = tuple(
                (before, after + _shortfall(size, before, span, step))
                for size, (before, after), span, step in zip(
                    self.sizes, pads, reach, steps, strict=True
                )
            )
        pads = exact_pads(self.sizes, kernel, steps, pads, apart)
        self._check_reach(pads, reach, steps)
        return kernel, steps, pads, apart

    def _check_reach(self, pads: Pads, reach: Dims, steps: Dims) -> None:
        counts = [
            (size + before + after - span) // step + 1
            for size, (before, after), span, step in zip(
                self.sizes, pads, reach, steps, strict=True
            )
        ]
        if min(counts) < 1:
            inside = self.input.shape[-self.dims - 1]
            raise self.refused(
                f"Given input size: ({_by(inside, *self.sizes)}). Calculated output size: "
                f"({_by(inside, *counts)}). Output size is too small",
                "use a smaller kernel, pad, or pool less before",
            )


def _shortfall(size: int, pad: int, span: int, step: int) -> int:
    """How far the last window of ceil mode reaches beyond the border: not if it starts there."""
    missing = -(size + 2 * pad - span) % step
    count = (size + 2 * pad - span + missing) // step + 1
    return 0 if (count - 1) * step >= size + pad else missing


def _by(*sizes: int) -> str:
    return "x".join(map(str, sizes))
