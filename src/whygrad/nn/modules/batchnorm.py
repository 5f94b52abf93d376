"""Layers that normalise channels and may remember their statistics: batch and instance norm."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from whygrad.errors import describe, fail
from whygrad.nn import functional, init
from whygrad.nn.modules.lazy import LazyTwin
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import (
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
    is_lazy,
)
from whygrad.ops import functions
from whygrad.tensor import Tensor, dtypes, modes

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """Scale, shift and running statistics, one number per channel each."""

    _dims: ClassVar[tuple[int, ...]]  # how many dimensions an input may have

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        device: Any,
        dtype: Any,
        bias: bool,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats

        def empty(**kind: Any) -> Tensor:
            made: Tensor = functions["empty"](num_features, device=device, **kind)
            return made

        self.register_parameter("weight", Parameter(empty(dtype=dtype)) if affine else None)
        self.register_parameter("bias", Parameter(empty(dtype=dtype)) if affine and bias else None)
        for name in ("running_mean", "running_var"):
            self.register_buffer(name, empty(dtype=dtype) if track_running_stats else None)
        counter = self._counter(device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", counter)
        self.reset_parameters()

    @staticmethod
    def _counter(device: Any) -> Tensor:
        zero: Tensor = functions["zeros"]((), dtype=dtypes.of("int64"), device=device)
        return zero

    def reset_running_stats(self) -> None:
        """Forget the batches seen: mean 0, variance 1."""
        if self.running_mean is not None:
            init.zeros_(self.running_mean)
        if self.running_var is not None:
            init.ones_(self.running_var)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Scale 1, shift 0, no batches seen."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in self._dims:
            allowed = " or ".join(f"{dims}D" for dims in self._dims)
            raise self._refuse(
                input,
                f"expected {allowed} input (got {input.ndim}D input)",
                "dimensions are (samples, channels, positions…)",
            )

    def _refuse(self, input: Tensor, cause: str, fix: str) -> ValueError:
        call = f"{type(self).__name__}({self.num_features}) of {describe(input)}"
        return fail(ValueError, call=call, cause=cause, fix=fix)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """States without a count of batches, as older ones are, keep the module's own."""
        key = prefix + "num_batches_tracked"
        if self.num_batches_tracked is not None and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, *rest)


class _BatchNorm(_NormBase):
    """Mean 0 and variance 1 per channel over the batch, then a learned scale and shift.

    In training the running statistics follow the batch's by ``momentum``, or are the plain average
    of all batches if it is None; in ``eval()`` they are used in place of the batch's.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        counts = self.training and self.track_running_stats
        normalized = functional.batch_norm(
            input,
            self.running_mean if not self.training or counts else None,
            self.running_var if not self.training or counts else None,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            self._share_of_this_batch(),
            self.eps,
        )
        if counts and self.num_batches_tracked is not None:
            with modes.no_grad():
                self.num_batches_tracked.add_(1)
        return normalized

    def _forget_statistics(self) -> None:
        """Use those of the batch only: see ``func.replace_all_batch_norm_modules_``."""
        self.running_mean = self.running_var = self.num_batches_tracked = None
        self.track_running_stats = False

    def _share_of_this_batch(self) -> float:
        """How far the running statistics move towards this batch's."""
        if self.momentum is not None:
            return self.momentum
        if not self.training or self.num_batches_tracked is None:
            return 0.0
        return 1.0 / (int(self.num_batches_tracked.item()) + 1)


class BatchNorm1d(_BatchNorm):
    __doc__ = f"{_BatchNorm.__doc__}\n    Takes (N, C) or (N, C, L).\n    "
    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = f"{_BatchNorm.__doc__}\n    Takes (N, C, H, W).\n    "
    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    __doc__ = f"{_BatchNorm.__doc__}\n    Takes (N, C, D, H, W).\n    "
    _dims = (5,)


class _InstanceNorm(_NormBase):
    """Mean 0 and variance 1 over each channel of each sample.

    With ``track_running_stats`` averages over samples are kept, and used in ``eval()``.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        single = input.ndim == self._dims[0]
        self._check_channels(input, 0 if single else 1)
        normalized = functional.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return normalized.squeeze(0) if single else normalized

    def _check_channels(self, input: Tensor, dim: int) -> None:
        if input.shape[dim] == self.num_features:
            return
        if self.affine:
            raise self._refuse(
                input,
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), "
                f"but got: {input.shape[dim]}.",
                "dimensions are (samples, channels, positions…), or without samples",
            )
        warnings.warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning "
            "by not passing in num_features, which is not used because affine=False",
            stacklevel=4,
        )


class InstanceNorm1d(_InstanceNorm):
    __doc__ = f"{_InstanceNorm.__doc__}\n    Takes (N, C, L) or (C, L).\n    "
    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    __doc__ = f"{_InstanceNorm.__doc__}\n    Takes (N, C, H, W) or (C, H, W).\n    "
    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    __doc__ = f"{_InstanceNorm.__doc__}\n    Takes (N, C, D, H, W) or (C, D, H, W).\n    "
    _dims = (4, 5)


class SyncBatchNorm(_BatchNorm):
    """What batch norm computes: one process has the statistics of all there are."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise self._refuse(
                input,
                f"expected at least 2D input (got {input.ndim}D input)",
                "dimensions are (samples, channels, positions…)",
            )

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with every batch norm in it replaced; they keep their parameters."""
        result: Any = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group, bias=module.bias is not None,
            )  # fmt: skip
            for home in ("_parameters", "_buffers"):
                getattr(result, home).update(getattr(module, home))
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _LazyNorm(LazyTwin):
    """What batch and instance norms share."""

    def __init__(
        self: Any,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)  # type: ignore[call-arg]
        self.affine = affine
        self.track_running_stats = track_running_stats
        kind = {"device": device, "dtype": dtype}
        if affine:
            self.register_parameter("weight", UninitializedParameter(**kind))
            if bias:
                self.register_parameter("bias", UninitializedParameter(**kind))
        if track_running_stats:
            self.register_buffer("running_mean", UninitializedBuffer(**kind))
            self.register_buffer("running_var", UninitializedBuffer(**kind))
            self.register_buffer("num_batches_tracked", self._counter(device))

    def reset_parameters(self: Any) -> None:
        """As soon as there is something to fill."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor) -> None:
        """``num_features`` is the number of channels of the input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for name in ("weight", "bias", "running_mean", "running_var"):
                if is_lazy(getattr(self, name)):
                    getattr(self, name).materialize((self.num_features,))
            self.reset_parameters()
        elif self.num_features == 0:
            self.num_features = input.shape[1]


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A :class:`BatchNorm1d` that finds ``num_features`` by itself."""


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A :class:`BatchNorm2d` that finds ``num_features`` by itself."""


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A :class:`BatchNorm3d` that finds ``num_features`` by itself."""


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An :class:`InstanceNorm1d` that finds ``num_features`` by itself."""


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An :class:`InstanceNorm2d` that finds ``num_features`` by itself."""


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An :class:`InstanceNorm3d` that finds ``num_features`` by itself."""
