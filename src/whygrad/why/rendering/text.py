"""An explanation as text: paths of single numbers, or a table of contributions."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from whygrad.source import Where
from whygrad.why.names import shortened
from whygrad.why.rendering.figures import counted, described, short
from whygrad.why.rendering.steps import Row, derivative, place_in, routes, rows_of, sum_of
from whygrad.why.rendering.tables import Table, table_of

if TYPE_CHECKING:
    from whygrad.why.explanation import Explanation
    from whygrad.why.paths import Path, Paths

__all__ = ["has_table", "headline", "lines_used", "text_of"]

_LEAST, _USUAL, _MOST = 60, 80, 100
_LINES = 8  # source lines that are listed
_FACTORS = 6  # of a product that is spelled out
_ROWS = 40  # of all paths together


def text_of(explanation: Explanation, width: int | None = None) -> str:
    """What ``print`` shows."""
    if width is None:
        width = min(shutil.get_terminal_size((_USUAL, 24)).columns, _MOST)
    width = max(width, _LEAST)
    paths = explanation.paths
    blocks = [wrap(headline(explanation), width)]
    if has_table(explanation):
        blocks.append(_aligned(table_of(explanation), width))
    if paths is not None:
        blocks += _paths(paths, width)
    blocks.append(lines_used(explanation))
    blocks += [
        wrap(f"note: {note}", width, subsequent_indent="      ") for note in explanation.notes
    ]
    return "\n\n".join(
        "\n".join(shortened(line.rstrip(), width) for line in block) for block in blocks if block
    )


def has_table(explanation: Explanation) -> bool:
    """Whether contributions are listed: not if all paths are, which say more."""
    paths = explanation.paths
    return bool(explanation.contributions) and (paths is None or paths.left_out > 0)


def headline(explanation: Explanation) -> str:
    """The gradient, and how many terms it is the sum of."""
    return f"{_result(explanation)}: {_origin(explanation)}"


def _result(explanation: Explanation) -> str:
    slope = derivative(explanation.root.name, explanation.target.name)
    if explanation.index is not None:
        place = ", ".join(map(str, explanation.index))
        element = np.asarray(explanation.gradient)[explanation.index]
        return f"({slope})[{place}] = {short(element.item())}"
    joint = "=" if explanation.target.is_scalar else "has"
    return f"{slope} {joint} {described(explanation.gradient)}"


def _origin(explanation: Explanation) -> str:
    paths, count = explanation.paths, len(explanation.contributions)
    if not count:
        return "it is where backward starts"
    noun, many = ("contribution", count) if paths is None else ("path", paths.count)
    return f"from one {noun}" if many == 1 else f"the sum of {counted(many, noun)}"


def _paths(paths: Paths, width: int) -> list[list[str]]:
    """Every path with its factors; where that is too much, only the largest has them."""
    rows = [rows_of(path, paths.seed) for path in paths.shown]
    titles = [
        _title(path, route, factors, width)
        for path, route, factors in zip(paths.shown, routes(paths.shown), rows, strict=True)
    ]
    if sum(map(len, rows)) <= _ROWS:
        grid = iter(_grid([row for factors in rows for row in factors], width))
        blocks = [
            [title, *(next(grid) for _ in factors)]
            for title, factors in zip(titles, rows, strict=True)
        ]
    else:
        largest = max(range(len(rows)), key=lambda place: abs(paths.shown[place].product))
        blocks = [titles, ["  the largest of them", *_grid(rows[largest], width)]]
    if paths.left_out:
        many = counted(len(paths.shown), "path")
        blocks.insert(0, [f"  the {many} with the largest product"])
    return [*blocks, _sum(paths)]


def _sum(paths: Paths) -> list[str]:
    products = [path.product for path in paths.shown]
    lines = []
    if paths.left_out:
        rest = counted(paths.left_out, "path")
        lines.append(f"  {rest} not shown, with the sum {short(paths.left_out_sum)}")
        products.append(paths.left_out_sum)
    if paths.count > 1:
        lines.append(f"  sum: {sum_of(products, paths.total)}")
    return lines


def _title(path: Path, route: str, factors: list[Row], width: int) -> str:
    result = short(path.product)
    if 1 < len(factors) <= _FACTORS:
        result = " × ".join(row.number for row in factors) + f" = {result}"
    return f"  {shortened(route, width - len(result) - 4)}: {result}"


def _grid(rows: list[Row], width: int) -> list[str]:
    """The factors of all paths under each other."""
    longest = max(len(row.number) for row in rows)
    cells = [
        [
            row.slope,
            f"= {row.symbol}" if row.symbol else "",
            f"= {row.number:>{longest}}",
            row.op,
            place_in(row.where),
        ]
        for row in rows
    ]
    return _columns(cells, "<<<<<", width, indent=4)


def _aligned(table: Table, width: int) -> list[str]:
    sides = "<<" + ">" * (len(table.head) - 3) + "<"
    lines = _columns([table.head, *table.rows, table.total], sides, width, indent=2)
    body = [lines[0]]
    for line, remarks in zip(lines[1:-1], table.remarks, strict=True):
        body += [line, *(f"    {remark}" for remark in remarks)]
    if len(table.rows) > 1:
        body.append(lines[-1])
    return [*body, *(f"  {line}" for line in table.foot)]


def _columns(rows: Sequence[list[str]], sides: str, width: int, indent: int) -> list[str]:
    """Cells under each other; the first column gives way if there is not enough room."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    kept = [place for place, size in enumerate(widths) if size]
    room = width - indent - sum(widths[place] + 2 for place in kept[1:])
    widths[0] = min(widths[0], max(room, 12))
    return [
        " " * indent
        + "  ".join(f"{shortened(row[i], widths[i]):{sides[i]}{widths[i]}}" for i in kept)
        for row in rows
    ]


def lines_used(explanation: Explanation) -> list[str]:
    """The source lines that the rows refer to, each once."""
    places: dict[str, Where] = {}
    paths = explanation.paths
    if paths is not None:
        used = [row.where for path in paths.shown for row in rows_of(path, 1.0)]
    else:
        used = [use.where for use in explanation.contributions]
    for where in used:
        if where is not None:
            places.setdefault(str(where), where)
    lines = list(places)
    more = [f"… and {counted(len(lines) - _LINES, 'more line')}"] if len(lines) > _LINES else []
    return [*lines[:_LINES], *more]
