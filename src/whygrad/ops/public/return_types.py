"""Results with names: ``x.sort().values``, as in PyTorch."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "frexp",
    "geqrf",
    "histogram",
    "histogramdd",
    "kthvalue",
    "linalg_cholesky_ex",
    "linalg_eig",
    "linalg_eigh",
    "linalg_inv_ex",
    "linalg_ldl_factor",
    "linalg_ldl_factor_ex",
    "linalg_lstsq",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_qr",
    "linalg_solve_ex",
    "linalg_svd",
    "lu_unpack",
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
    "triangular_solve",
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
frexp = named("frexp", "mantissa", "exponent")
histogram = named("histogram", "hist", "bin_edges")
histogramdd = named("histogramdd", "hist", "bin_edges")
linalg_eigh = named("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_lstsq = named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_qr = named("linalg_qr", "Q", "R")
linalg_svd = named("linalg_svd", "U", "S", "Vh")
slogdet = named("slogdet", "sign", "logabsdet")
svd = named("svd", "U", "S", "V")
geqrf = named("geqrf", "a", "tau")
linalg_cholesky_ex = named("linalg_cholesky_ex", "L", "info")
linalg_eig = named("linalg_eig", "eigenvalues", "eigenvectors")
linalg_inv_ex = named("linalg_inv_ex", "inverse", "info")
linalg_ldl_factor = named("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = named("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_lu = named("linalg_lu", "P", "L", "U")
linalg_lu_factor = named("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = named("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_solve_ex = named("linalg_solve_ex", "result", "info")
lu_unpack = named("lu_unpack", "P", "L", "U")
triangular_solve = named("triangular_solve", "solution", "cloned_coefficient")
