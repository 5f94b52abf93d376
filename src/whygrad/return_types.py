"""Results with names: ``x.sort().values``, as in PyTorch."""

from __future__ import annotations

import sys
from collections import namedtuple
from typing import Any

__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "kthvalue",
    "max",
    "median",
    "min",
    "mode",
    "named",
    "nanmedian",
    "sort",
    "topk",
]


def _show(self: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"whygrad.return_types.{type(self).__name__}(\n{fields})"


def named(op: str, *fields: str) -> Any:
    """A tuple type for the results of ``op``; it prints and unpacks like PyTorch's."""
    module = sys._getframe(1).f_globals["__name__"]
    kind: Any = namedtuple(op, fields, module=module)  # type: ignore[misc]  # noqa: PYI024
    kind.__repr__ = _show
    return kind


aminmax = named("aminmax", "min", "max")
cummax = named("cummax", "values", "indices")
cummin = named("cummin", "values", "indices")
kthvalue = named("kthvalue", "values", "indices")
max = named("max", "values", "indices")
median = named("median", "values", "indices")
min = named("min", "values", "indices")
mode = named("mode", "values", "indices")
nanmedian = named("nanmedian", "values", "indices")
sort = named("sort", "values", "indices")
topk = named("topk", "values", "indices")
