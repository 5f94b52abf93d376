"""Less common pooling layers: p-norms, windows at random places, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from whygrad.errors import fail
from whygrad.nn import functional as F
from whygrad.nn.modules.module import Module
from whygrad.tensor import Tensor

__all__ = [
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


def _numbers(value: Any, dims: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


class _MaxUnpoolNd(Module):
    _dims: ClassVar[int]
    unpool: Callable[..., Tensor]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _numbers(kernel_size, self._dims)
        self.stride = _numbers(kernel_size if stride is None else stride, self._dims)
        self.padding = _numbers(padding, self._dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return self.unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Values put where :class:`MaxPool1d` found them, zeros elsewhere."""

    _dims = 1
    unpool = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """Values put where :class:`MaxPool2d` found them, zeros elsewhere."""

    _dims = 2
    unpool = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """Values put where :class:`MaxPool3d` found them, zeros elsewhere."""

    _dims = 3
    unpool = staticmethod(F.max_unpool3d)


class _LPPoolNd(Module):
    pool: Callable[..., Tensor]

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self.pool(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of every window of a signal."""

    pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The p-norm of every window of an image."""

    pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """The p-norm of every window of a volume."""

    pool = staticmethod(F.lp_pool3d)


class _FractionalMaxPool(Module):
    _dims: ClassVar[int]
    pool: Callable[..., Any]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = _numbers(kernel_size, self._dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else _numbers(output_size, self._dims)
        self.output_ratio = None if output_ratio is None else _numbers(output_ratio, self._dims)
        cause = None
        if output_size is None and output_ratio is None:
            cause = "requires specifying either an output size, or a pooling ratio"
        elif output_size is not None and output_ratio is not None:
            cause = "only one of output_size and output_ratio may be specified"
        elif self.output_ratio is not None and not all(0 < each < 1 for each in self.output_ratio):
            cause = f"output_ratio must be between 0 and 1 (got {output_ratio})"
        if cause is not None:
            raise fail(
                ValueError,
                call=f"{type(self).__name__}({kernel_size}, {output_size}, {output_ratio})",
                cause=f"{type(self).__name__} {cause}",
                fix="say how large the output should be: output_size=…",
            )

    def forward(self, input: Tensor) -> Any:
        return self.pool(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows of an image that begin at random places."""

    _dims = 2
    pool = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows of a volume that begin at random places."""

    _dims = 3
    pool = staticmethod(F.fractional_max_pool3d)
