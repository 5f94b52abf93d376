"""Sparse layouts: COO and CSR."""

from whygrad.ops.sparse import (
    algebra,
    creation,
    layouts,
    parts,
    pattern,
)
