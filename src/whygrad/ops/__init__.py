"""The op table and what is made from it: public functions and tensor methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.dispatch.calls import method_of
from whygrad.ops import (  # noqa: F401  (each declares its ops)
    activation,
    arithmetic,
    comparison,
    creation,
    exponential,
    indexing,
    inplace,
    inplace_geometry,
    linalg,
    loss,
    operators,
    reduction,
    shape,
    sparse,
)
from whygrad.ops.define import aliases, table
from whygrad.tensor import Tensor

__all__ = ["functions", "table"]

functions: dict[str, Callable[..., Any]] = {
    name: op.public for name, op in table.items() if op.public_name == name
}

for _op in table.values():
    if _op.method:
        setattr(Tensor, _op.name, method_of(_op))
creation.conversion.install()
operators.install()
inplace.install()
inplace_geometry.install()
sparse.algebra.install()
sparse.parts.install()
for _name, _original in aliases.items():
    functions[_name] = functions[_original]
    for _suffix in ("", "_"):
        if hasattr(Tensor, _original + _suffix):
            setattr(Tensor, _name + _suffix, getattr(Tensor, _original + _suffix))
