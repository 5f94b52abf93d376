"""Results with names: ``x.sort().values``, as in PyTorch."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "kthvalue",
    "linalg_eigh",
    "linalg_lstsq",
    "linalg_qr",
    "linalg_svd",
    "max",
    "median",
    "min",
    "mode",
    "named",
    "nanmedian",
    "slogdet",
    "sort",
    "svd",
    "topk",
]


def _show(self: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"whygrad.return_types.{type(self).__name__}(\n{fields})"


def named(op: str, *fields: str) -> Any:
    """A tuple type for the results of ``op``; it prints and unpacks like PyTorch's."""
    plain: Any = namedtuple(op, fields)  # type: ignore[misc]  # the fields are known at run time
    return type(op, (plain,), {"__module__": __name__, "__repr__": _show, "__slots__": ()})


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
linalg_eigh = named("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_lstsq = named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_qr = named("linalg_qr", "Q", "R")
linalg_svd = named("linalg_svd", "U", "S", "Vh")
slogdet = named("slogdet", "sign", "logabsdet")
svd = named("svd", "U", "S", "V")
