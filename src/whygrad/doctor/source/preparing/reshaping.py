"""Where the text gives data another shape before a model sees them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.ops.families import RESHAPES
from whygrad.source import Where

__all__ = ["reshaped_to"]


def reshaped_to(file: str, shape: tuple[int, ...]) -> Iterator[Where]:
    """Lines that reshape to samples of this shape, as far as their sizes are told as numbers."""
    source = source_of(file)
    inside = {
        id(call)
        for function in source.nodes(ast.FunctionDef)
        if function.name == "forward"
        for call in walked(function, ast.Call)
    }
    for call in source.nodes(ast.Call):
        if called(call) not in RESHAPES or id(call) in inside:
            continue
        sizes = list(call.args)
        if sizes and isinstance(sizes[-1], (ast.Tuple, ast.List)):
            sizes = sizes[-1].elts
        if len(sizes) not in (len(shape), len(shape) + 1):
            continue
        told = [each.value if isinstance(each, ast.Constant) else None for each in sizes]
        fits = all(one in (None, size) for one, size in zip(told[-len(shape) :], shape))
        known = any(one == size for one, size in zip(told[-len(shape) :], shape))
        where = source.place(call.lineno)
        if fits and known and where is not None:
            yield where
