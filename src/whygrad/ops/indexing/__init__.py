"""Picking and placing elements: ``x[...]``, gather, scatter, masks, search."""

from whygrad.ops.indexing import (  # noqa: F401  (each declares its ops)
    brackets,
    embedding,
    embedding_bag,
    masking,
    placing,
    positions,
    runs,
    scatter,
    scatter_reduce,
    searching,
    selection,
    subscripts,
)
