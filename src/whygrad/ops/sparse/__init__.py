"""Sparse layouts: COO and CSR."""

from whygrad.ops.sparse import (  # noqa: F401  (each declares its ops)
    algebra,
    creation,
    layouts,
    parts,
    pattern,
)
