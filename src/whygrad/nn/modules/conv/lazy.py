"""Convolutions that find the number of their input channels by themselves."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.nn.modules.conv.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from whygrad.nn.modules.lazy import LazyTwin
from whygrad.nn.parameter import UninitializedParameter
from whygrad.tensor import Tensor

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _LazyConvolution(LazyTwin):
    """What the six convolutions share."""

    def _prepare(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.register_parameter("weight", UninitializedParameter(device=device, dtype=dtype))
        self.out_channels = out_channels
        if bias:
            self.register_parameter("bias", UninitializedParameter(device=device, dtype=dtype))

    def reset_parameters(self: Any) -> None:
        """As soon as there is something to fill."""
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """``in_channels`` is the size before those that the windows slide over."""
        if self.has_uninitialized_params():
            self.in_channels = self._channels_of(input)
            if self.in_channels % self.groups:
                raise self._refused(ValueError, "in_channels must be divisible by groups")
            outer = (self.out_channels, self.in_channels)
            rows, columns = reversed(outer) if self.transposed else outer
            self.weight.materialize((rows, columns // self.groups, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()
        place = 0 if self.transposed else 1
        self.in_channels = self.weight.shape[place] * (1 if self.transposed else self.groups)

    def _channels_of(self: Any, input: Tensor) -> int:
        if input.ndim not in (self.dims + 1, self.dims + 2):
            raise self._refused(
                RuntimeError,
                f"Expected {self.dims + 1}D (unbatched) or {self.dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {list(input.shape)}",
            )
        return input.shape[-self.dims - 1]

    def _refused(self: Any, kind: type[Exception], cause: str) -> Exception:
        fix = f"the input is (samples, channels, *{self.dims} sizes)"
        call = f"{type(self).__name__}(…)"
        return fail(kind, call=call, cause=cause, fix=fix)


class _LazyConv(_LazyConvolution):
    def __init__(
        self: Any,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(  # type: ignore[call-arg]
            0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode,
        )  # fmt: skip
        self._prepare(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A :class:`Conv1d` that finds ``in_channels`` by itself."""


class LazyConv2d(_LazyConv, Conv2d):
    """A :class:`Conv2d` that finds ``in_channels`` by itself."""


class LazyConv3d(_LazyConv, Conv3d):
    """A :class:`Conv3d` that finds ``in_channels`` by itself."""


class _LazyConvTranspose(_LazyConvolution):
    def __init__(
        self: Any,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(  # type: ignore[call-arg]
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation,
            padding_mode,
        )  # fmt: skip
        self._prepare(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A :class:`ConvTranspose1d` that finds ``in_channels`` by itself."""


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A :class:`ConvTranspose2d` that finds ``in_channels`` by itself."""


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A :class:`ConvTranspose3d` that finds ``in_channels`` by itself."""
