"""Lazy modules: layers that learn the size of their input from the first batch.

A lazy module has parameters without a shape.  The first call (or a state that is loaded) gives them
one, and the module becomes an ordinary one of its ``cls_to_become``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from whygrad.autograd.modes import no_grad
from whygrad.errors import fail
from whygrad.nn.batch_norm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from whygrad.nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from whygrad.nn.linear import Linear
from whygrad.nn.module import Module
from whygrad.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from whygrad.tensor import Tensor

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LazyModuleMixin",
]


class LazyModuleMixin:
    """Put in front of a module: subclasses define ``initialize_parameters``."""

    cls_to_become: ClassVar[type[Module] | None] = None

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.initialize_parameters(*args, **kwargs)
        if self.has_uninitialized_params():
            raise fail(
                RuntimeError,
                call=f"{type(self).__name__}(…)",
                cause=f"module {self._get_name()} has not been fully initialized",
                fix="give every lazy parameter a shape in initialize_parameters()",
            )
        if self.cls_to_become is None:
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
        self.__class__ = self.cls_to_become
        return self(*args, **kwargs)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, by what the module is called with."""
        raise fail(
            NotImplementedError,
            call=f"{type(self).__name__}(…)",
            cause=f"initialize_parameters is not implemented for {type(self).__name__}",
            fix="define def initialize_parameters(self, input): … in the class",
        )

    def has_uninitialized_params(self: Any) -> bool:
        """Whether any parameter or buffer still lacks its shape."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _load_from_state_dict(self: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
        """What is loaded says how large it is; what neither side knows stays unknown."""
        both_unknown = []
        for name, own in self._own_state().items():
            given = state_dict.get(prefix + name)
            if is_lazy(own) and is_lazy(given):
                both_unknown.append(prefix + name)
            elif is_lazy(own) and isinstance(given, Tensor):
                with no_grad():
                    own.materialize(given.shape)
        if not both_unknown:
            super()._load_from_state_dict(state_dict, prefix, *rest)  # type: ignore[misc]


class LazyLinear(LazyModuleMixin, Linear):
    """A :class:`Linear` that finds ``in_features`` by itself."""

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """As soon as there is something to fill."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """``in_features`` is the last size of the input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))  # type: ignore[attr-defined]
            if self.bias is not None:
                self.bias.materialize((self.out_features,))  # type: ignore[attr-defined]
            self.reset_parameters()
        self.in_features = self.weight.shape[-1]


class _LazyConvolution(LazyModuleMixin):
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

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A :class:`Conv2d` that finds ``in_channels`` by itself."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A :class:`Conv3d` that finds ``in_channels`` by itself."""

    cls_to_become = Conv3d


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

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A :class:`ConvTranspose2d` that finds ``in_channels`` by itself."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A :class:`ConvTranspose3d` that finds ``in_channels`` by itself."""

    cls_to_become = ConvTranspose3d


class _LazyNorm(LazyModuleMixin):
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

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A :class:`BatchNorm2d` that finds ``num_features`` by itself."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A :class:`BatchNorm3d` that finds ``num_features`` by itself."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An :class:`InstanceNorm1d` that finds ``num_features`` by itself."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An :class:`InstanceNorm2d` that finds ``num_features`` by itself."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An :class:`InstanceNorm3d` that finds ``num_features`` by itself."""

    cls_to_become = InstanceNorm3d
