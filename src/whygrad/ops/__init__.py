"""The op table and what is made from it: public functions and tensor methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.ops import (  # noqa: F401  (each declares its ops)
    activation,
    arithmetic,
    comparison,
    conversion,
    creation,
    exponential,
    indexing,
    inplace,
    joining,
    linalg,
    operators,
    ordering,
    padding,
    products,
    reduction,
    selection,
    sparse,
    views,
)
from whygrad.ops.define import table
from whygrad.tensor import Tensor

__all__ = ["functions", "table"]

functions: dict[str, Callable[..., Any]] = {name: op.public for name, op in table.items()}

for _op in table.values():
    if _op.method:
        setattr(Tensor, _op.name, _op.public)
operators.install()
inplace.install()
