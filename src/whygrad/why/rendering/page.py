"""An explanation in a notebook: a table and the picture, no scripts, no outside resources."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from whygrad.why.drawing import svg
from whygrad.why.rendering.figures import counted, short
from whygrad.why.rendering.steps import place_in, routes, rows_of, sum_of
from whygrad.why.rendering.tables import table_of
from whygrad.why.rendering.text import has_table, headline, lines_used

if TYPE_CHECKING:
    from whygrad.why.explanation import Explanation
    from whygrad.why.paths import Paths

__all__ = ["html_of"]

_CELL = "text-align:left;padding:2px 8px"
_FAINT = "color:#666"


def html_of(explanation: Explanation) -> str:
    """What a notebook shows."""
    paths = explanation.paths
    parts = [f"<div><b>{escape(headline(explanation))}</b></div>"]
    if has_table(explanation):
        parts.append(_table(explanation))
    if paths is not None:
        parts.append(_paths(paths))
    parts += [_faint(line) for line in lines_used(explanation)]
    parts += [_faint(f"note: {note}") for note in explanation.notes]
    return f"<div>{''.join(parts)}{svg(explanation.flow)}</div>"


def _table(explanation: Explanation) -> str:
    table = table_of(explanation)
    rows = [_row(table.head, "th")]
    for cells, remarks in zip(table.rows, table.remarks, strict=True):
        rows.append(_row(cells))
        rows += [_wide(f"<span style='{_FAINT}'>{escape(remark)}</span>") for remark in remarks]
    if len(table.rows) > 1:
        rows.append(_row(table.total, "th"))
    return _framed(rows) + "".join(_faint(line) for line in table.foot)


def _paths(paths: Paths) -> str:
    rows = []
    for path, route in zip(paths.shown, routes(paths.shown), strict=True):
        rows.append(_wide(f"<b>{escape(route)}: {short(path.product)}</b>"))
        for row in rows_of(path, paths.seed):
            number = f"{row.symbol} = {row.number}" if row.symbol else row.number
            rows.append(_row([row.slope, number, row.op, place_in(row.where)]))
    products = [path.product for path in paths.shown]
    if paths.left_out:
        products.append(paths.left_out_sum)
        hidden = f"{counted(paths.left_out, 'path')} not shown, with the sum"
        rows.append(_wide(escape(f"{hidden} {short(paths.left_out_sum)}")))
    if paths.count > 1:
        rows.append(_wide(f"<b>sum: {escape(sum_of(products, paths.total))}</b>"))
    return _framed(rows)


def _framed(rows: Sequence[str]) -> str:
    return f"<table style='border-collapse:collapse'>{''.join(rows)}</table>"


def _row(cells: Sequence[str], tag: str = "td") -> str:
    content = (f"<{tag} style='{_CELL}'>{escape(cell)}</{tag}>" for cell in cells)
    return f"<tr>{''.join(content)}</tr>"


def _wide(content: str) -> str:
    return f"<tr><td colspan='8' style='{_CELL}'>{content}</td></tr>"


def _faint(text: str) -> str:
    return f"<div style='{_FAINT}'>{escape(text)}</div>"
