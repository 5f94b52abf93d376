"""The best of several epochs, chosen by a comparison that asks for the worse one."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof
from whygrad.doctor.source.judging.flow import Flow
from whygrad.doctor.source.lines import code_at
from whygrad.doctor.source.loops import loops_around
from whygrad.recording.judging.looks import Judged

__all__ = ["FORMS"]

_Tell = Callable[..., Finding]

_LESS = re.compile(r"loss|err|mse|mae|nll|ppl|perplexity|(?:^|_)[wc]er(?:_|$)", re.IGNORECASE)
_HELD_OUT = re.compile(r"val|test|dev|eval|epoch", re.IGNORECASE)
_MORE = re.compile(r"acc|f1|auc|iou|dice|r2|bleu|recall|precision|psnr|ssim", re.IGNORECASE)


def _worse_is_kept(
    case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell
) -> Finding | None:
    """A figure whose name says which way is better, kept when it is worse."""
    sides = looks[-1].name.split(" ? ")
    if looks[-1].kind != "choice" or len(looks) < case.limit("times"):
        return None
    at = next((place for place, each in enumerate(sides) if "best" in each.lower()), None)
    if at is None or sum("best" in each.lower() for each in sides) != 1:
        return None
    named = sides[1 - at]
    if bool(_LESS.search(named)) == bool(_MORE.search(named)) or not _is_of_epochs(looks, named):
        return None
    wanted = -1 if _LESS.search(named) else 1
    asked = _asked(looks[-1])
    if asked is None or (asked if at == 1 else -asked) == wanted:
        return None
    pairs = [(one.number, one.other)[:: 1 if at == 1 else -1] for one in looks]
    known = [(new, best) for new, best in pairs if new is not None and best is not None]
    passed = [each for each in known if math.isfinite(each[0]) and wanted * (each[0] - each[1]) > 0]
    if not passed:
        return None  # never was there a better one
    new, best = passed[-1]
    return tell(
        f"{code_at(looks[-1].where)} keeps a {'larger' if wanted < 0 else 'smaller'} {named} as "
        "the best one",
        f"with {named} at {new:.4g} and {sides[at]} at {best:.4g} the better one was not kept",
        where=looks[-1].where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix=f"if {named} {'<' if wanted < 0 else '>'} {sides[at]}:",
    )


def _is_of_epochs(looks: list[Judged], named: str) -> bool:
    """Whether epochs are compared: an attack looks for the largest loss, among its own tries."""
    loops = loops_around(looks[-1].where)
    around = [ast.unparse(each.node.target) for each in loops[:1] if isinstance(each.node, ast.For)]
    epochs = bool(_HELD_OUT.search(named)) or any("ep" in each.lower() for each in around)
    return epochs and len({each.after for each in looks}) == len(looks)


def _asked(look: Judged) -> int | None:
    """1 if the first number is to be larger, -1 if it is to be smaller."""
    text = look.where.text
    return None if (">" in text) == ("<" in text) else 1 if ">" in text else -1


FORMS = (_worse_is_kept,)
