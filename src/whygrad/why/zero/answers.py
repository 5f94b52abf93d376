"""Why is this gradient zero?

:func:`why_zero` walks back from the loss without touching anything and finds the op that let
nothing through (:mod:`.walk`), puts it into words (:mod:`.causes`), and shows the way from
the loss with what survives each op.  :func:`diagnose` knows no engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.source import Where
from whygrad.tensor import Tensor
from whygrad.why.answer import NOTHING_WRONG, Answer, Section
from whygrad.why.names import shortened
from whygrad.why.zero.causes import number, row_for
from whygrad.why.zero.report import (
    WIDTH,
    ZeroReport,
    all_told,
    cancelled_fix,
    evidence,
    path,
    sum_of,
    verdict_on,
    way_through,
    where_of,
)
from whygrad.why.zero.walk import WEAK, Event, Passage, ZeroWalk

__all__ = ["ZeroReport", "diagnose", "why_zero"]

_ROUNDING = 5e-7  # what is left of numbers around 1 that cancel in float32


def why_zero(
    x: Any,
    loss: Any,
    *,
    gradient: Tensor | None = None,
    index: int | tuple[int, ...] | None = None,
    tolerance: float = 1e-10,
) -> Answer:
    """Why the gradient of ``x`` is zero: which op on the way from ``loss`` let nothing through.

    ``index`` asks about one element of ``x``; ``gradient`` is what ``backward`` would be given for
    a loss that is not a single number.  A gradient counts as *practically* zero if it is smaller
    than ``tolerance`` times the largest on the way to it; with ``tolerance=0`` only exact zeros do.

    The answer's ``cause`` is one of ``"inactive"``, ``"clamped"``, ``"not selected"``,
    ``"multiplied by zero"``, ``"dropout"``, ``"saturated"``, ``"underflow"``, ``"flat"``,
    ``"stationary"``, ``"overwritten"``, ``"cancelled"``, ``"vanishing"``, ``"zero derivative"``,
    ``"empty"``, ``"zero incoming"``, ``"no path"``, ``"nan"``, ``"inf"`` or ``"nothing wrong"``.

    Nothing is changed: no ``.grad``, nothing freed, and hooks are not called.
    """
    if isinstance(x, Tensor) and isinstance(loss, Tensor):
        from whygrad.why.zero import tape

        return diagnose(tape.report(x, loss, gradient, index, tolerance))
    from whygrad.scalar import Value

    if isinstance(x, Value) and isinstance(loss, Value):
        from whygrad.why.zero import scalar

        return diagnose(scalar.report(x, loss, tolerance))
    raise fail(
        TypeError,
        call=f"why_zero({describe(x)}, {describe(loss)})",
        cause="it needs two tensors or two Values: what the gradient is of, and the loss",
        fix="pass whygrad tensors or Values; for PyTorch's there is whygrad.torch.why_zero",
    )


def diagnose(report: ZeroReport) -> Answer:
    """The cause of the zeros, or that there are none."""
    walk, tolerance = report.walk, report.tolerance
    if not (isinstance(tolerance, Real) and tolerance >= 0):
        raise fail(
            ValueError,
            call=f"{report.question[:-1]}, tolerance={tolerance!r})",
            cause="the tolerance is relative to the largest gradient on the way",
            fix="pass a number from 0 on",
        )
    if walk is None or walk.gradient is None:
        return _no_path(report)
    gradient = np.asarray(walk.gradient)
    chosen = gradient if report.index is None else gradient[report.index]
    zeros, size = int(np.count_nonzero(chosen == 0)), int(np.size(chosen))
    peak = float(np.max(np.abs(chosen), initial=0))
    if not np.isfinite(peak):
        kind = "nan" if np.isnan(peak) else "inf"
        return Answer(
            report.question,
            kind,
            f"the gradient of {report.x} is not zero: it holds {kind}",
            fix=f"ask why_nan({report.loss}) who made it",
        )
    if size and zeros == size:
        return _all_zero(report, walk, chosen)
    tiny = np.isfinite(walk.largest) and peak <= tolerance * walk.largest
    if size and (tiny or (tolerance and _residue(walk, way_through(walk, None)))):
        return _practically(report, walk, chosen, peak)
    return _healthy(report, walk, chosen, zeros)


def _no_path(report: ZeroReport) -> Answer:
    if report.grad_may_be_none:
        what, fix = "it is None, not zero", f"ask why_none({report.x}, {report.loss}) for the cut"
    else:
        what = f"{report.loss} was not computed from it, and 0 is what a grad begins with"
        fix = f"use {report.x} in the computation of {report.loss}"
    headline = f"no gradient flows from {report.loss} to {report.x}: {what}"
    return Answer(report.question, "no path", headline, fix=fix)


def _healthy(report: ZeroReport, walk: ZeroWalk, chosen: Any, zeros: int) -> Answer:
    size = int(np.size(chosen))
    if size == 1:
        told = f"it is {number(np.real(np.asarray(chosen).item()))}"
    else:
        norm = float(np.linalg.norm(np.asarray(chosen, np.float64).ravel()))
        told = f"its norm is {number(norm)}, and {zeros or 'none'} of its {size} elements "
        told += "are zero" if zeros > 1 else "is zero"
    sections = []
    if zeros:
        events = _ranked(walk, report.index)
        lines = all_told(report, events)
        sections = [Section("where the zeros come from", lines), *_notes(report)]
    return Answer(
        report.question,
        NOTHING_WRONG,
        f"nothing wrong: the gradient of {report.x} is not zero; {told}",
        sections=tuple(sections),
        evidence={"elements": size, "zeros": zeros},
    )


def _ranked(walk: ZeroWalk, index: tuple[int, ...] | None) -> list[Event]:
    """What made the zeros, the main event first: before others, an op that let nothing through."""
    shares = {
        event: int(np.count_nonzero(mask if index is None else mask[index]))
        for event, mask in walk.blame.items()
    }

    def rank(event: Event) -> tuple[bool, int, bool, int]:
        return event.reason == "several", -shares[event], not np.all(event.mask), -event.killed

    return sorted((event for event, share in shares.items() if share), key=rank)


def _all_zero(report: ZeroReport, walk: ZeroWalk, chosen: Any) -> Answer:
    events = _ranked(walk, report.index)
    verdicts = [verdict_on(report, event) for event in events]
    main = verdicts[0]
    sentences = list(dict.fromkeys(each.sentence for each in verdicts))
    headline = "; ".join(sentences[:2])
    if len(sentences) > 2:
        headline += f"; and {len(sentences) - 2} more"
    sections = []
    if len(events) > 1 or events[0].terms:
        sections.append(Section("what made it zero", all_told(report, events)))
    sections += [path(report, walk, events[0]), *_closed(report, walk), *_notes(report)]
    return Answer(
        report.question,
        main.cause,
        headline,
        where_of(events[0]),
        main.fix,
        tuple(sections),
        {
            "elements": int(np.size(chosen)),
            "zeros": int(np.size(chosen)),
            "events": [
                evidence(event, each.cause) for event, each in zip(events, verdicts, strict=True)
            ],
        },
    )


def _closed(report: ZeroReport, walk: ZeroWalk) -> list[Section]:
    """Ops further down that would have let nothing through either."""
    lines = all_told(report, walk.closed)
    return [Section("further down, nothing would get through here either", lines)] if lines else []


def _notes(report: ZeroReport) -> list[Section]:
    return [Section("not looked at", report.notes)] if report.notes else []


def _practically(report: ZeroReport, walk: ZeroWalk, chosen: Any, peak: float) -> Answer:
    """Not zero, but so small that it might as well be."""
    way = way_through(walk, None)
    cause, sentence, where, fix = _shrinking(report, walk, way)
    size = "the gradient is practically zero: "
    size += f"{number(peak)} at most, {number(peak / walk.largest)} of the largest on the way"
    weakest = sorted((each for each in way if each.factor < 1), key=lambda each: each.factor)[:5]
    lines = tuple(
        shortened(f"{each.edge.op} passes on {number(each.factor)} at {each.edge.where}", WIDTH)
        for each in weakest
    )
    shrinking = [Section("where it shrinks most", lines)] if lines else []
    sections = [*shrinking, path(report, walk, None)]
    return Answer(
        report.question,
        cause,
        f"{sentence}; {size}",
        where,
        fix,
        (*sections, *_notes(report)),
        {"elements": int(np.size(chosen)), "largest": peak, "relative": peak / walk.largest},
    )


def _residue(walk: ZeroWalk, way: Sequence[Passage]) -> Passage | Event | None:
    """Where contributions cancel so well that what is left is rounding."""
    met = sum(abs(term.value) for term in walk.terms)
    if len(walk.terms) > 1 and float(np.max(np.abs(walk.gradient))) < _ROUNDING * met:
        return Event("cancelled", None, np.ones(()), 0, terms=walk.terms)
    rounded = (each for each in way if each.factor < _ROUNDING and each.opposed < WEAK)
    return next(rounded, None)


def _shrinking(
    report: ZeroReport, walk: ZeroWalk, way: Sequence[Passage]
) -> tuple[str, str, Where | None, str | None]:
    """The cause, a sentence, a line and a fix for a gradient that is practically zero."""
    residue = _residue(walk, way)
    if isinstance(residue, Event):
        sentence = f"contributions cancel up to rounding: {sum_of(residue)}"
        return "cancelled", sentence, where_of(residue), cancelled_fix("")
    if residue is not None:
        edge = residue.edge
        sentence = f"{edge.op} adds up contributions that cancel up to rounding"
        return "cancelled", sentence, edge.where, cancelled_fix(edge.op)
    weakest = min(way, key=lambda each: each.factor)
    op, where = weakest.edge.op, weakest.edge.where
    blocked = report.blocked(weakest)
    row = row_for(blocked)
    if weakest.factor < WEAK and row.cause == "saturated":
        return "saturated", row.words(blocked), where, row.fix
    if weakest.factor < WEAK:
        factor = number(weakest.factor)
        return "vanishing", f"{op} passes on {factor} of the gradient that reaches it", where, None
    product = number(prod(each.factor for each in way if each.factor < 1))
    return (
        "vanishing",
        f"many ops shrink the gradient a little, together by {product}",
        where,
        "shorten the way (residual connections), normalise in between, or use activations with "
        "larger derivatives",
    )
