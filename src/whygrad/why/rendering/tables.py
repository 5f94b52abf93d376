"""The contributions to a gradient as rows: what text and HTML have in common."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from whygrad.why.contributions import Contribution, Terms, norm_of
from whygrad.why.rendering.figures import counted, percent, short
from whygrad.why.rendering.steps import place_in

if TYPE_CHECKING:
    from whygrad.why.explanation import Explanation

__all__ = ["Table", "table_of"]

_MOST = 20


@dataclass(frozen=True)
class Table:
    """Cells as text; ``remarks`` belong below the row of the same number."""

    head: list[str]
    rows: list[list[str]]
    remarks: list[list[str]]
    total: list[str]
    foot: list[str]  # what was left out, and how to read a column


def table_of(explanation: Explanation) -> Table:
    """One row per use of the value, largest first."""
    uses = sorted(explanation.contributions, key=_weight, reverse=True)
    shown, rest = uses[:_MOST], uses[_MOST:]
    columns = _columns(explanation)
    foot = [] if not rest else [_left_out(rest)]
    if len(uses) > 1 and "cosine" in columns and uses[0].share is not None:
        foot.append("share: of the gradient, by projection on it; below 0 pulls the other way")
    return Table(
        ["through", "used as", *columns, "line"],
        [[use.name, _role(use), *_cells(use, columns), place_in(use.where)] for use in shown],
        [[*_broadcast(use), *_terms(use)] for use in shown],
        _total(explanation, columns),
        foot,
    )


def _columns(explanation: Explanation) -> list[str]:
    if explanation.index is None and not explanation.target.is_scalar:
        return ["norm", "share", "cosine"]
    if explanation.paths is not None:
        return ["sent back", "share", "paths"]
    return ["sent back", "share"]


def _cells(use: Contribution, columns: list[str]) -> list[str]:
    cells = {
        "norm": short(use.norm),
        "sent back": short(_number(use)) if "sent back" in columns else "",
        "share": percent(use.share),
        "cosine": "–" if use.cosine is None else f"{use.cosine:.3f}",
        "paths": "" if use.paths is None else counted(use.paths, "path").split()[0],
    }
    return [cells[column] for column in columns]


def _total(explanation: Explanation, columns: list[str]) -> list[str]:
    shares = [use.share for use in explanation.contributions]
    known = [share for share in shares if share is not None]
    gradient = np.asarray(explanation.gradient)
    whole = gradient if explanation.index is None else gradient[explanation.index]
    paths = explanation.paths
    cells = {
        "norm": short(norm_of(gradient)),
        "sent back": short(whole.item()) if "sent back" in columns else "",
        "share": percent(sum(known)) if len(known) == len(shares) else "–",
        "cosine": "",
        "paths": "" if paths is None else counted(paths.count, "path").split()[0],
    }
    return ["sum", "", *(cells[column] for column in columns), ""]


def _number(use: Contribution) -> complex:
    number: complex = np.asarray(use.value).item() if use.element is None else use.element
    return number


def _weight(use: Contribution) -> float:
    weight = use.norm if use.element is None else abs(use.element)
    return float("inf") if isnan(weight) else weight


def _role(use: Contribution) -> str:
    op = use.op or ""
    return f"{use.argument} of {op}" if use.argument else op


def _left_out(rest: list[Contribution]) -> str:
    together = sum(np.asarray(use.value) for use in rest)
    uses = counted(len(rest), "smaller one")
    if rest[0].element is not None:
        return f"{uses} not shown, with the sum {short(sum(use.element for use in rest))}"
    if np.size(together) == 1:
        return f"{uses} not shown, with the sum {short(np.asarray(together).item())}"
    return f"{uses} not shown; the norm of their sum is {short(norm_of(together))}"


def _broadcast(use: Contribution) -> list[str]:
    if not use.summed:
        return []
    axes = " and ".join(map(str, use.summed))
    noun = "axis" if len(use.summed) == 1 else "axes"
    return [f"broadcast, so summed over {noun} {axes} of {use.stretched}"]


def _terms(use: Contribution) -> list[str]:
    terms: Terms | None = use.terms
    if terms is None:
        return []
    elements = counted(terms.of, "element")
    lines = [f"from {terms.count} of {elements} of the gradient of {use.name}, times their slope:"]
    for term in terms.largest:
        place = f"[{', '.join(map(str, term.index))}]"
        product = f"{short(term.incoming)} × {short(term.slope)} = {short(term.product)}"
        lines.append(f"  {place}: {product}")
    hidden = terms.count - len(terms.largest)
    if hidden:
        lines.append(f"  {hidden:,} more, with the sum {short(terms.left_out_sum)}")
    return lines
