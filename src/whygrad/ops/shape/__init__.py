"""The same elements in another arrangement."""

from whygrad.ops.shape import (  # noqa: F401  (each declares its ops)
    axes,
    complex_parts,
    copies,
    diagonals,
    grouping,
    joining,
    padding,
    parts,
    pixels,
    placed,
    rearrange,
    reshaping,
    splitting,
    strided,
    views,
)
