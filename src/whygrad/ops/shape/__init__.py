"""The same elements in another arrangement."""

from whygrad.ops.shape import (  # noqa: F401  (each declares its ops)
    axes,
    diagonals,
    joining,
    padding,
    parts,
    pixels,
    rearrange,
    reshaping,
    splitting,
    strided,
    views,
)
