"""Results with names: ``x.sort().values``, as in PyTorch."""
# Written by scripts/stubs.py from the op table: run `make stubs` instead of editing.

from typing import Any, NamedTuple

from whygrad.tensor import Tensor

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

class aminmax(NamedTuple):
    min: Tensor
    max: Tensor

class cummax(NamedTuple):
    values: Tensor
    indices: Tensor

class cummin(NamedTuple):
    values: Tensor
    indices: Tensor

class kthvalue(NamedTuple):
    values: Tensor
    indices: Tensor

class linalg_eigh(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class linalg_lstsq(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor

class linalg_qr(NamedTuple):
    Q: Tensor
    R: Tensor

class linalg_svd(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor

class max(NamedTuple):
    values: Tensor
    indices: Tensor

class median(NamedTuple):
    values: Tensor
    indices: Tensor

class min(NamedTuple):
    values: Tensor
    indices: Tensor

class mode(NamedTuple):
    values: Tensor
    indices: Tensor

def named(op: str, *fields: str) -> Any:
    """A tuple type for the results of ``op``; it prints and unpacks like PyTorch's."""

class nanmedian(NamedTuple):
    values: Tensor
    indices: Tensor

class slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor

class sort(NamedTuple):
    values: Tensor
    indices: Tensor

class svd(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor

class topk(NamedTuple):
    values: Tensor
    indices: Tensor
