"""``map_location``: on which device a tensor of a file is put."""

from __future__ import annotations

from typing import Any

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor
from whygrad.tensor.devices import Device

__all__ = ["Placement"]


class Placement:
    """Brings tensors to the device that ``map_location`` names for where they were.

    Without one they are on the CPU, wherever they were when the file was written.
    """

    def __init__(self, map_location: Any) -> None:
        self.chosen = map_location
        if isinstance(map_location, str):
            self.chosen = Device(map_location)
        elif not (
            map_location is None
            or isinstance(map_location, (Device, dict))
            or callable(map_location)
        ):
            raise fail(
                TypeError,
                call=f"whygrad.load(…, map_location={describe(map_location)})",
                cause="map_location is the name of a device, a device, a dict or a function",
                fix="pass map_location='cpu'",
            )

    def __call__(self, location: str, tensor: Tensor) -> Tensor:
        chosen = self.chosen
        if isinstance(chosen, dict):
            chosen = chosen.get(location)
        elif chosen is not None and not isinstance(chosen, Device):
            chosen = getattr(chosen(tensor._storage, location), "device", None)
        return tensor if chosen is None else tensor.to(chosen)
