"""Changing what the elements are or where they live."""

from __future__ import annotations

from typing import Any

from whygrad import device as devices
from whygrad import dtypes
from whygrad.errors import describe, fail
from whygrad.ops.define import composite, define
from whygrad.tensor import Tensor, wrap

define(
    "cast(x; dtype)",
    "y = x rounded to another dtype;  ∂x = incoming rounded back",
    forward=lambda x, dtype: x.astype(dtype.numpy),
    vjp={"x": lambda xp, incoming, x_dtype: xp.cast(incoming, dtypes.of(x_dtype))},
    linear=True,
    meta=lambda x, dtype: (x.shape, dtype.numpy),
    public=lambda input, dtype: (input, dtypes.of(dtype)),
    method=False,
    torch="Tensor.to",
    samples=lambda make: [make.call(make(3, 4), dtypes.float32)],
)


def to(input: Tensor, *args: Any, copy: bool = False, **kwargs: Any) -> Tensor:
    """``to(dtype)``, ``to(device)``, ``to(other)``: this tensor itself if nothing changes."""
    dtype, device = _target(input, args, kwargs)
    result = input
    if dtype is not input.dtype:
        result = _cast(input, dtype)
    if device.key != input.device.key:
        result = _move(result, device)
    return result.clone() if copy and result is input else result


def _cast(input: Tensor, dtype: dtypes.DType) -> Tensor:
    from whygrad.ops.define import table

    result: Tensor = table["cast"].call(input, dtype)
    return result


def _target(
    input: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dtypes.DType, devices.Device]:
    dtype, device = kwargs.get("dtype"), kwargs.get("device")
    for arg in args:
        if isinstance(arg, Tensor):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, devices.Device) or arg in devices.devices:
            device = arg
        elif not isinstance(arg, bool):
            dtype = arg
    return (
        input.dtype if dtype is None else dtypes.of(dtype),
        input.device if device is None else devices.of(device),
    )


def _move(input: Tensor, device: devices.Device) -> Tensor:
    if device.type == "meta":
        moved = wrap(devices.meta_array(input.shape, input._array.dtype))
        return moved
    raise fail(
        RuntimeError,
        call=f"to({device}) of {describe(input)} on {input.device}",
        cause="a meta tensor has no data that could be copied",
        fix=f"make a new one: whygrad.empty({tuple(input.shape)}, device='cpu')",
    )


composite(
    to,
    "y = x with another dtype or on another device",
    samples=lambda make: [make.call(make(3, 4), dtype=None)],
)
