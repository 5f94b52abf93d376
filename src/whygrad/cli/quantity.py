"""An option that is a number with a unit: ``20s``, ``500MB``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

__all__ = ["Quantity"]


class Quantity(click.ParamType[float]):
    """Converts to the unit of size 1; a number alone has the unit that ``units`` names first."""

    name = "quantity"

    def __init__(self, units: Mapping[str, float]) -> None:
        self._units = units

    def convert(self, value: Any, param: Any, context: Any) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+\.?\d*)\s*([A-Za-z]*)", value.strip())
        first = next(iter(self._units))
        sizes = {unit.lower(): size for unit, size in self._units.items()}
        size = None if found is None else sizes.get((found[2] or first).lower())
        if found is None or size is None:
            units = ", ".join(self._units)
            self.fail(f"{value!r} is no number with one of the units {units}: 20{first}", param)
        return float(found[1]) * size
