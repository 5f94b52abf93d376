"""The same elements in another arrangement."""

from whygrad.ops.shape import (
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
