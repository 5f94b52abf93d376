"""Paths in words: what each one goes through, and the rows of its product."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygrad.source import Where
from whygrad.why.flow import Edge
from whygrad.why.names import shortened
from whygrad.why.paths import Path
from whygrad.why.rendering.figures import short

__all__ = ["Row", "derivative", "place_in", "routes", "rows_of", "sum_of"]

_PLAIN = re.compile(r"\w+(\.\w+|\[[^\[\]]*\])*")
_LONGEST_NAME = 24
_ROWS = 12  # of one path; a longer one is shown by its ends
_TERMS = 8  # of a sum that is spelled out


@dataclass(frozen=True)
class Row:
    """One factor of a path: ``d(a*b)/da = b = 3``, and the op it belongs to."""

    slope: str
    symbol: str  # the same as an expression, where that is known; else empty
    number: str
    op: str = ""
    where: Where | None = None


def derivative(y: str, x: str) -> str:
    """``dL/da``, with parentheses around what is more than a name."""
    parts = (shortened(name, _LONGEST_NAME) for name in (y, x))
    return "/".join(f"d{name}" if _PLAIN.fullmatch(name) else f"d({name})" for name in parts)


def rows_of(path: Path, seed: float) -> list[Row]:
    """The factors from the result to the target."""
    edges = path.edges
    rows = [] if seed == 1.0 else [Row("the gradient to start from", "", short(seed))]
    if len(edges) <= _ROWS:
        return rows + [_row(edge) for edge in edges]
    end = _ROWS // 2
    between = edges[end:-end]
    product = 1.0
    for edge in between:
        product *= edge.slope or 0.0
    hidden = Row(f"… {len(between):,} more factors", "", short(product))
    return [*rows, *map(_row, edges[:end]), hidden, *map(_row, edges[-end:])]


def _row(edge: Edge) -> Row:
    consumer = edge.consumer
    slope = derivative(consumer.name, edge.source.name)
    return Row(slope, _symbol(edge), short(edge.slope), consumer.op or "", consumer.where)


def _symbol(edge: Edge) -> str:
    """The slope of a product is the other factor; nothing if the numbers do not bear it out."""
    inputs = edge.consumer.inputs
    if edge.consumer.op not in ("*", "mul") or len(inputs) != 2:
        return ""
    (other,) = (each.source for each in inputs if each is not edge)
    if other.value is None or np.asarray(other.value).item() != edge.slope:
        return ""
    return "" if other.name == short(edge.slope) else shortened(other.name, _LONGEST_NAME)


def routes(paths: Sequence[Path]) -> list[str]:
    """What each path goes through, as briefly as tells them apart."""
    briefly = [_through(path, 1) for path in paths]
    found = briefly if len(set(briefly)) == len(paths) else [_through(path, 3) for path in paths]
    seen = Counter(found)
    found = [
        f"{route}, {_arguments(path)}" if seen[route] > 1 and _arguments(path) else route
        for path, route in zip(paths, found, strict=True)
    ]
    if len(set(found)) == len(found):
        return found
    return [f"{number}. {route}" for number, route in enumerate(found, 1)]


def _through(path: Path, most: int) -> str:
    between = [shortened(box.name, _LONGEST_NAME) for box in path.boxes[1:-1]]
    if not between:
        return "directly"
    if len(between) > most > 1:
        between = [*between[: most - 1], "…", between[-1]]
    return "through " + " → ".join(between[: most + 1] if most > 1 else between[:1])


def _arguments(path: Path) -> str:
    """Where a value is used twice by one op, which of the two."""
    found = [
        f"argument {edge.position + 1} of {shortened(edge.consumer.name, _LONGEST_NAME)}"
        for edge in path.edges
        if sum(each.source is edge.source for each in edge.consumer.inputs) > 1
    ]
    return " and ".join(found) if len(found) <= 2 else ""


def sum_of(terms: Sequence[float], total: float) -> str:
    """``-6 + 10 = 4``, or only the total of many."""
    if len(terms) > _TERMS:
        return short(total)
    text = short(terms[0])
    for term in terms[1:]:
        text += f" - {short(-term)}" if term < 0 else f" + {short(term)}"
    return f"{text} = {short(total)}"


def place_in(where: Where | None) -> str:
    """``train.py:12``"""
    return "" if where is None else f"{os.path.basename(where.file)}:{where.line}"
