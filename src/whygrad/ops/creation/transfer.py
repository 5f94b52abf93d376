"""Between devices: the one op whose argument and result live in different places."""

from __future__ import annotations

from typing import Any

from whygrad.dispatch import register
from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims
from whygrad.ops.define import define, table
from whygrad.tensor import Tensor, devices, keys

__all__ = ["move"]

Array = Any


def _move(x: Array, device: devices.Device, source: devices.Device) -> Array:
    return device.from_numpy(source.to_numpy(x))


define(
    "move(x; device, source)",
    "y = x on another device;  ∂x = incoming on the device of x",
    forward=_move,
    vjp={"x": lambda xp, incoming, device, source: xp.move(incoming, source, device)},
    linear=True,
    batching=leading_dims,
    public=lambda input, device: (input, devices.of(device), input.device),
    internal=True,
    samples=lambda make: [make.call(make(3, 4), "cpu"), make.call(make(), "cpu")],
)
# The kernel asks the two devices, so it serves every pair of them: no key is required.
register(table["move"], 0, _move)


def move(input: Tensor, device: devices.Device) -> Tensor:
    """``input`` on ``device``: itself if it is there already."""
    if input._keys & keys.DEVICES == device.key:
        return input
    if input._keys & keys.LAYOUTS:
        raise fail(
            RuntimeError,
            call=f"to({device}) of {describe(input)} in layout {input.layout.name}",
            cause="only strided tensors move between devices",
            fix="convert it first: x.to_dense()",
        )
    result: Tensor = table["move"].call(input, device, input.device)
    return result
