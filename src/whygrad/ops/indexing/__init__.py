"""Picking and placing elements: ``x[...]``, gather, scatter, masks, search."""

from whygrad.ops.indexing import (  # noqa: F401  (each declares its ops)
    brackets,
    embedding,
    masking,
    placing,
    positions,
    scatter,
    searching,
    selection,
    subscripts,
)
