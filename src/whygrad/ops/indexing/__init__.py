"""Picking and placing elements: ``x[...]``, gather, scatter, masks, search."""

from whygrad.ops.indexing import (
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
