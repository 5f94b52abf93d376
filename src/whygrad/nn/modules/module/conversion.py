"""The whole module as another dtype or on another device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from whygrad.errors import fail
from whygrad.nn.parameter import Parameter, is_lazy
from whygrad.ops import functions
from whygrad.ops.creation.conversion import type_target
from whygrad.tensor import Tensor, devices, dtypes, modes

__all__ = ["Conversion"]

C = TypeVar("C", bound="Conversion")


class Conversion:
    """The part of ``Module`` that converts parameters and buffers, in place."""

    def to(self: C, *args: Any, **kwargs: Any) -> C:
        """Move to a device, to a floating-point dtype, or to those of a tensor.

        ``memory_format=whygrad.channels_last`` concerns what has four dimensions.
        Integer buffers keep their dtype.  Parameters stay the objects they are, so an optimizer
        goes on with them.
        """
        memory_format = kwargs.pop("memory_format", None)
        device, dtype = _target(*args, **kwargs)

        def convert(tensor: Tensor) -> Tensor:
            wanted = dtype if tensor.dtype.is_floating_point else None
            fits = memory_format is not None and len(memory_format.dims or ()) == tensor.ndim
            chosen = memory_format if fits else None
            return tensor.to(device=device, dtype=wanted, memory_format=chosen)

        return self._apply(convert)

    def float(self: C) -> C:
        """Floating-point parameters and buffers as float32."""
        return self.to(dtypes.of("float32"))

    def double(self: C) -> C:
        """Floating-point parameters and buffers as float64."""
        return self.to(dtypes.of("float64"))

    def half(self: C) -> C:
        """Floating-point parameters and buffers as float16."""
        return self.to(dtypes.of("float16"))

    def bfloat16(self: C) -> C:
        """Floating-point parameters and buffers as bfloat16."""
        return self.to(dtypes.of("bfloat16"))

    def type(self: C, dst_type: Any) -> C:
        """All parameters and buffers as ``dst_type``."""
        chosen = type_target(dst_type)
        return self._apply(lambda tensor: tensor.to(*chosen))

    def cpu(self: C) -> C:
        """Parameters and buffers on the CPU."""
        return self.to("cpu")

    def cuda(self: C, device: Any = None) -> C:
        """Raises if there is anything to move: there is no CUDA here."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def xpu(self: C, device: Any = None) -> C:
        """Raises if there is anything to move: there is no XPU here."""
        return self._apply(lambda tensor: tensor.xpu(device))

    def ipu(self: C, device: Any = None) -> C:
        """Raises if there is anything to move: there is no IPU here."""
        return self.to("ipu" if device is None else device)

    def mtia(self: C, device: Any = None) -> C:
        """Raises if there is anything to move: there is no MTIA here."""
        return self.to("mtia" if device is None else device)

    def share_memory(self: C) -> C:
        """Itself: the threads of one process share all memory, and no other process is asked."""
        return self

    def to_empty(self: C, *, device: Any, recurse: bool = True) -> C:
        """Move to a device without the numbers: for models that were built on "meta"."""
        empty_like = functions["empty_like"]
        return self._apply(lambda tensor: empty_like(tensor, device=device), recurse)

    def _apply(self: Any, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Replace the data of every parameter, gradient and buffer by what ``fn`` makes of it."""
        moved: dict[Parameter, Parameter] = {}
        with modes.no_grad():
            for module in self.modules() if recurse else (self,):
                for name, param in module._parameters.items():
                    if param is not None:
                        if param not in moved:
                            moved[param] = _converted(param, fn)
                        module._parameters[name] = moved[param]
                for name, buffer in module._buffers.items():
                    if is_lazy(buffer):
                        buffer.convert(fn)
                    elif buffer is not None:
                        module._buffers[name] = fn(buffer)
        return self


def _converted(param: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    """The same parameter with other data; on another device it has to be another one."""
    if is_lazy(param):
        param.convert(fn)  # type: ignore[attr-defined]
        return param
    data, gradient = fn(param.detach()), param._grad
    if data.device == param.device:
        param._grad = None
        param.data = data
    else:
        param = Parameter(data, param.requires_grad)
    if gradient is not None:
        param._grad = fn(gradient)
    return param


def _target(
    tensor: Any = None, dtype: Any = None, device: Any = None, non_blocking: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """What ``to`` was asked for: ``to(device, dtype)``, ``to(dtype)``, ``to(tensor)``, keywords."""
    if isinstance(tensor, Tensor):
        return tensor.device, _floating(tensor.dtype)
    if tensor is not None:
        try:
            dtype = dtypes.of(tensor)
        except (TypeError, ValueError):
            device = tensor
    chosen = None if dtype is None else _floating(dtypes.of(dtype))
    return (None if device is None else devices.Device(device)), chosen


def _floating(dtype: dtypes.DType) -> dtypes.DType:
    if dtype.is_floating_point or dtype.is_complex:
        return dtype
    raise fail(
        TypeError,
        call=f"module.to({dtype})",
        cause=f"nn.Module.to only accepts floating point or complex dtypes, but got {dtype}",
        fix="convert single tensors with tensor.to(dtype)",
    )
