"""Convolution layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from whygrad.errors import describe, fail
from whygrad.nn import functional as F
from whygrad.nn import init
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.ops import functions
from whygrad.tensor import Tensor
from whygrad.tensor.dtypes import DType

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

Sizes = int | tuple[int, ...]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all of them have: the weight, the bias and how the kernel moves."""

    weight: Parameter
    bias: Parameter | None
    dims: int  # of the windows
    padding: Any  # a name or one number per dimension
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        output_padding: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: DType | None,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = self._per_dimension(kernel_size)
        self.stride = self._per_dimension(stride)
        self.padding = padding if isinstance(padding, str) else self._per_dimension(padding)
        self.dilation = self._per_dimension(dilation)
        self.output_padding = self._per_dimension(output_padding)
        self.groups = groups
        self.padding_mode = padding_mode
        problem = self._problem()
        if problem is not None:
            raise fail(
                ValueError,
                call=f"{self._get_name()}({in_channels}, {out_channels}, {kernel_size}, …)",
                cause=problem[0],
                fix=problem[1],
            )
        outer = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        shape = (outer[0], outer[1] // groups, *self.kernel_size)
        empty = functions["empty"]
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _per_dimension(self, value: Sizes) -> tuple[int, ...]:
        return tuple(value) if isinstance(value, Sequence) else (value,) * self.dims

    def _problem(self) -> tuple[str, str] | None:
        """What is wrong with the options, and what to do about it."""
        if self.groups <= 0:
            return "groups must be a positive integer", "groups=1 connects all channels"
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                return (
                    f"{name} must be divisible by groups",
                    f"{getattr(self, name)} channels cannot be shared by {self.groups} groups",
                )
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                return (
                    f"Invalid padding string {self.padding!r}, should be one of 'same', 'valid'",
                    "or give the padding in numbers",
                )
            if self.padding == "same" and any(step != 1 for step in self.stride):
                return (
                    "padding='same' is not supported for strided convolutions",
                    "the output of a strided convolution is smaller: give the padding in numbers",
                )
        if self.padding_mode not in _PADDING_MODES:
            return (
                f"padding_mode must be one of {', '.join(_PADDING_MODES)}, but got "
                f"padding_mode={self.padding_mode!r}",
                "'zeros' is the usual one",
            )
        return None

    def reset_parameters(self) -> None:
        """Draw new numbers: uniform, with a bound that shrinks with the size of a window."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        window = math.prod(self.weight.shape[1:])
        if self.bias is not None and window:
            bound = 1 / math.sqrt(window)
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        none = (0,) * self.dims
        shown = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        if self.padding != none:
            shown.append(f"padding={self.padding}")
        if self.dilation != (1,) * self.dims:
            shown.append(f"dilation={self.dilation}")
        if self.output_padding != none:
            shown.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            shown.append(f"groups={self.groups}")
        if self.bias is None:
            shown.append("bias=False")
        if self.padding_mode != "zeros":
            shown.append(f"padding_mode={self.padding_mode}")
        return ", ".join(shown)


class _Conv(_ConvNd):
    convolve: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._border(), mode=self.padding_mode)
            padding = 0
        return self.convolve(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def _border(self) -> list[int]:
        """(before, after) from the last dimension backwards, as ``pad`` takes it."""
        if self.padding == "valid":
            return [0, 0] * self.dims
        if self.padding == "same":
            totals = [
                apart * (taps - 1)
                for apart, taps in zip(self.dilation, self.kernel_size, strict=True)
            ]
            pairs = [(total // 2, total - total // 2) for total in totals]
        else:
            pairs = [(each, each) for each in self.padding]
        return [each for pair in reversed(pairs) for each in pair]


class Conv1d(_Conv):
    """Convolution over a signal: (samples, channels, length)."""

    dims = 1
    convolve = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution over images: (samples, channels, height, width)."""

    dims = 2
    convolve = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution over volumes: (samples, channels, depth, height, width)."""

    dims = 3
    convolve = staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    convolve: Callable[..., Tensor]
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding,
            groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _problem(self) -> tuple[str, str] | None:
        if self.padding_mode != "zeros":
            return (
                f'Only "zeros" padding mode is supported for {self._get_name()}',
                "padding crops the output here: there is no border to fill",
            )
        if isinstance(self.padding, str):
            return f"padding must be given in numbers, not as {self.padding!r}", "padding=0 is none"
        return super()._problem()

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """``output_size`` chooses among the sizes that the stride makes possible."""
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        return self.convolve(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
            self.dilation,
        )  # fmt: skip

    def _extra(self, input: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        """The output padding that leads to the wanted size."""

        def refused(cause: str) -> ValueError:
            return fail(
                ValueError,
                call=f"{self._get_name()}({describe(input)}, output_size={tuple(output_size)})",
                cause=cause,
                fix="output_size has the last dimensions of the output, or all of them",
            )

        if len(output_size) not in (self.dims, input.ndim):
            raise refused(
                f"for {input.ndim}D input, output_size must have {self.dims} or {input.ndim} "
                f"elements (got {len(output_size)})"
            )
        wanted = tuple(output_size)[-self.dims :]
        least = [
            (size - 1) * step - 2 * border + apart * (taps - 1) + 1
            for size, step, border, apart, taps in zip(
                input.shape[-self.dims :], self.stride, self.padding, self.dilation,
                self.kernel_size, strict=True,
            )
        ]  # fmt: skip
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most)):
            raise refused(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{most} (for an input of {tuple(input.shape[-self.dims :])})"
            )
        return tuple(size - low for low, size in zip(least, wanted, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """The adjoint of :class:`Conv1d`: signals become longer."""

    dims = 1
    convolve = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The adjoint of :class:`Conv2d`: images become larger."""

    dims = 2
    convolve = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The adjoint of :class:`Conv3d`: volumes become larger."""

    dims = 3
    convolve = staticmethod(F.conv_transpose3d)
