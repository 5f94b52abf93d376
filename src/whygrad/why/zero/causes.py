"""Why an op lets no gradient through: one row per family of ops, in words.

A row says what kind of cause it is and how to put it; :func:`verdict` finds the row for an op and
an argument.  It needs names and arrays only, so it serves every engine; ops that have no row get a
sentence that states what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np

from whygrad.ops import families as of

__all__ = [
    "BlockedEdge", "Row", "Verdict", "number", "plain_name", "row_for", "share", "verdict",
]  # fmt: skip


@dataclass(frozen=True)
class BlockedEdge:
    """What is known about an op that let nothing through."""

    op: str
    argument: str  # which input of the op
    mask: Any  # the elements where its derivative is 0
    saved: Mapping[str, Any] = field(default_factory=dict)  # arrays and parameters, by name
    value: Any = None  # the input itself, if known
    others: Mapping[str, str] = field(default_factory=dict)  # what the user calls the other inputs
    dtype: Any = None  # of what the op sends back

    @property
    def share(self) -> str:
        """``3 of 4 elements``"""
        return share(int(np.count_nonzero(self.mask)), int(np.size(self.mask)))

    def is_there(self, name: str, value: float) -> bool:
        """Whether a saved value is known to be this number wherever nothing passes."""
        there = self._there(name)
        return there is not None and bool(np.all(there == value))

    def span(self, name: str) -> str:
        """The range of a value where nothing passes, ``between −3 and −1``; empty if unknown."""
        there = self._there(name)
        if there is None or not there.size or there.dtype.kind not in "fiu":
            return ""
        low, high = number(there.min()), number(there.max())
        return low if low == high else f"between {low} and {high}"

    def _there(self, name: str) -> Any:
        """A saved value (or the input) at the elements where nothing passes; None if unknown."""
        known = self.value if name == "input" else self.saved.get(name)
        if known is None or not isinstance(known, (np.ndarray, np.generic, float, int)):
            return None
        try:
            return np.broadcast_to(known, np.shape(self.mask))[np.asarray(self.mask)]
        except ValueError:
            return None


class Verdict(NamedTuple):
    """Why, in a word, a sentence, and what to do about it."""

    cause: str
    sentence: str
    fix: str | None


class Row(NamedTuple):
    """One kind of blocking."""

    cause: str
    words: Callable[[BlockedEdge], str]
    fix: str | None


def number(value: Any) -> str:
    """A number (or an array of one) in a few characters."""
    return f"{float(np.reshape(value, ())):.4g}".replace("-", "−")


def share(count: int, total: int) -> str:
    """``3 of 4 elements``"""
    return "its only element" if total == 1 else f"{count} of {total} elements"


def _with(text: str, span: str) -> str:
    return f"{text} ({span})" if span else text


def _inactive(limit: str) -> Row:
    return Row(
        "inactive",
        lambda c: _with(
            f"{c.op} is inactive for {c.share}: its input is {limit} there", c.span("input")
        ),
        "let some inputs be larger: another initialisation, a bias, a smaller learning rate, or "
        "leaky_relu, which passes a little everywhere",
    )


def _beyond(bounds: Callable[[BlockedEdge], str]) -> Row:
    return Row(
        "clamped",
        lambda c: _with(
            f"{c.op} holds {c.share} at its limits{bounds(c)}, where the derivative is 0",
            c.span("input") or c.span("x"),
        ),
        "widen the limits, keep the input inside them, or clamp a value that needs no gradient",
    )


def _limits(low: str, high: str) -> Callable[[BlockedEdge], str]:
    def said(c: BlockedEdge) -> str:
        known = [(word, c.saved.get(name)) for word, name in (("min", low), ("max", high))]
        told = [f"{word} {number(each)}" for word, each in known if _is_single(each)]
        return f", {' and '.join(told)}" if told else ""

    return said


def _is_single(value: Any) -> bool:
    return isinstance(value, (int, float)) or (
        isinstance(value, (np.ndarray, np.generic)) and np.size(value) == 1
    )


_PICK_FIX = "use the elements that should learn, or choose with weights (softmax) instead of a pick"


def _not_selected(words: Callable[[BlockedEdge], str]) -> Row:
    return Row("not selected", words, _PICK_FIX)


_BRANCH = _not_selected(
    lambda c: (
        f"{c.op} does not choose this branch for {c.share}: the condition is "
        f"{'False' if c.argument in ('a', 'self') else 'True'} there"
    )
)
_LARGER = _not_selected(
    lambda c: f"{c.op} chooses the other argument for {c.share}, where it is larger"
)
_SMALLER = _not_selected(
    lambda c: f"{c.op} chooses the other argument for {c.share}, where it is smaller"
)
_EXTREME = _not_selected(lambda c: f"{c.op} does not choose {c.share}")
_PICKED = _not_selected(lambda c: f"{c.op} does not pick {c.share}")
_PIECES = _not_selected(lambda c: f"the loss does not use {c.share} of what {c.op} took apart")
_BLANKED = _not_selected(lambda c: f"{c.op} replaces {c.share} by 0")
_FILLED = _not_selected(lambda c: f"{c.op} puts another value in the place of {c.share}")
_OVERWRITTEN = Row(
    "overwritten",
    lambda c: f"{c.op} overwrote {c.share}: what was there before has no influence",
    "use the value before the write, or leave these elements out of it",
)
_TWICE = Row(
    "overwritten",
    lambda c: f"{c.op} wrote {c.share} to places that it wrote to again: only the last counts",
    "write to each place once, or add up: accumulate=True, index_add(), scatter_add()",
)


def _product(*factors: str) -> Row:
    """Products: ``factors`` are the arguments that may be the other one."""

    def words(c: BlockedEdge) -> str:
        own = ("beta",) if c.argument in ("input", "self") else ("alpha", "value")
        scales = [name for name in own if _is_zero(c.saved.get(name))]
        told = [c.others[name] for name in factors if name in c.others]
        if scales:
            return f"{c.op} multiplies {c.share} by {scales[0]}, which is 0"
        if not told or told[0] == "0":
            return f"{c.op} multiplies {c.share} by 0"
        return f"{c.op} multiplies {c.share} by {told[0]}, which is 0 there"

    return Row(
        "multiplied by zero",
        words,
        "make the factor different from 0 where this should learn (a mask, a weight that starts "
        "at 0, a scale)",
    )


def _is_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 0


_DROPPED = Row(
    "dropout",
    lambda c: f"dropout masks {c.share}",
    "nothing is wrong if only some are masked: the next step draws other ones; for p = 1 or to "
    "look without noise, use eval mode (training=False)",
)


def _levelled(c: BlockedEdge) -> str:
    known = [(sort, c.span(name)) for name, sort in _IN_AND_OUT]
    said = next((f"{sort} {span}" for sort, span in known if span), "")
    return _with(f"{c.op} is saturated for {c.share}", said)


_IN_AND_OUT = (("input", "input"), ("x", "input"), ("y", "output"))
_SATURATED = Row(
    "saturated",
    _levelled,
    "bring its input closer to 0 (normalise, start with smaller weights), or use an activation "
    "or a loss that does not saturate, such as one that takes logits",
)


_FLAT = Row(
    "flat",
    lambda c: f"{c.op} is flat: its derivative is 0 everywhere",
    "replace it by something smooth, or let the gradient pass straight through: "
    "x + (op(x) - x).detach()",
)


_DRAWN = Row(
    "flat",
    lambda c: f"{c.op} draws at random, and what is drawn has no derivative",
    "draw the noise first and compute with it: mean + std * randn_like(std)",
)


def _stationary(at: str) -> Row:
    return Row(
        "stationary",
        lambda c: f"the derivative of {c.op} is 0 for {c.share}: {at}",
        "if that is the optimum, nothing is wrong; otherwise start from another point",
    )


_AT_ZERO = _stationary("its input is 0 there")
_EQUAL = _stationary("prediction and target are equal there")
_GENERIC = Row(
    "zero derivative",
    lambda c: f"the derivative of {c.op} is 0 for {c.share}",
    None,
)


def _if_there(name: str, value: float, then: Row) -> Callable[[BlockedEdge], Row]:
    """``then``, if a saved value is known to be ``value`` wherever nothing passes."""
    return lambda c: then if c.is_there(name, value) else _GENERIC


def _class_loss(otherwise: Row) -> Callable[[BlockedEdge], Row]:
    """Losses over classes: targets may be ignored, and classes may weigh nothing."""

    def chosen(c: BlockedEdge) -> Row:
        target, ignore = c.saved.get("target"), c.saved.get("ignore_index")
        if isinstance(target, np.ndarray) and ignore is not None and np.all(target == ignore):
            return _not_selected(lambda c: f"every target of {c.op} is ignore_index ({ignore})")
        return otherwise if c.saved.get("weight") is None else _GENERIC

    return chosen


def _softmax(c: BlockedEdge) -> Row:
    y, dim = c.saved.get("y"), c.saved.get("dim")
    dims = dim if isinstance(dim, tuple) else (dim,)
    if not isinstance(y, np.ndarray) or dim is None:
        return _SATURATED
    return _SINGLE if prod(y.shape[each] for each in dims if y.ndim) == 1 else _SATURATED


_SINGLE = Row(
    "flat",
    lambda c: f"{c.op} over a single element is constant",
    "normalise over the dimension that holds the scores, or use sigmoid for a single one",
)


def _power(c: BlockedEdge) -> Row:
    if c.argument == "b":
        return _stationary("the base is 1 there") if c.is_there("a", 1) else _GENERIC
    if c.is_there("b", 0):
        return Row("flat", lambda c: "the exponent is 0, and x ** 0 is constant", None)
    at_zero = c.is_there("a", 0) or c.is_there("input", 0)
    return _stationary("the base is 0 there") if at_zero else _GENERIC


def _norm(c: BlockedEdge) -> Row:
    at_zero = c.is_there("x", 0) or c.is_there("input", 0)
    return _AT_ZERO if at_zero else _EXTREME if c.saved.get("p") == np.inf else _GENERIC


def _embedding(c: BlockedEdge) -> Row:
    if c.saved.get("padding") is None:
        return _PICKED
    return _not_selected(lambda c: f"{c.op} does not pick {c.share}, or they are its padding")


# By argument, where arguments differ; a function where the numbers decide.
Choice = Row | Callable[[BlockedEdge], Row]
Rows = Choice | Mapping[str, Choice]

# The first family that holds an op speaks for it.
TABLE: tuple[tuple[of.Family, Rows], ...] = (
    (of.ABS | of.COSH, _AT_ZERO),
    (of.COS, _stationary("it has a maximum or minimum there")),
    (of.DIV, {"b": _if_there("a", 0, _stationary("the numerator is 0 there")), "": _GENERIC}),
    (of.POWERS, _power),
    (of.NORM, _norm),
    (of.SPREADS, _stationary("it equals the mean there")),
    (of.LERP, {
        "end": _product("weight"),
        "weight": _stationary("both ends are equal there"),
        "": _stationary("the weight is 1 there"),
    }),
    (of.LINEAR_LAYER, _product("x", "weight")),
    (of.PRODUCTS | of.MUL | of.ADDCMUL, _product("a", "b")),
    (of.PROD | of.CUMPROD, _product()),
    (of.CROSS_ENTROPY, _class_loss(_EQUAL)),
    (of.NLL_LOSS, _class_loss(_PICKED)),
    (of.DISTANCE_LOSSES | of.BINARY_WITH_LOGITS, _EQUAL),
    (of.RELU, _inactive("not positive")),
    (of.LEAKY_RELU, _inactive("not positive, and its slope there is 0,")),
    (of.PRELU, {
        "weight": _not_selected(lambda c: f"the input of {c.op} is positive for {c.share}"),
        "": _inactive("not positive, and its weight is 0,"),
    }),
    (of.THRESHOLD, _inactive("not above the threshold")),
    (of.HARDSWISH, _inactive("at most −3")),
    (of.SHRINKS, _inactive("between −λ and λ")),
    (of.RELU6, _beyond(lambda _: ", 0 and 6")),
    (of.HARDTANH, _beyond(_limits("min_val", "max_val"))),
    (of.SIGMOIDS - of.SIGMOID, _beyond(lambda _: ", −3 and 3")),
    (of.CLAMP, {"x": _beyond(_limits("low", "high")), "": _PICKED}),
    (of.CLAMPS, _beyond(lambda _: "")),
    (of.SOFTMAXES, _softmax),
    (of.DROPOUTS, _DROPPED),
    (of.ACTIVATIONS | of.LEVELLING, _SATURATED),
    (of.HEAVISIDE, {"values": _PICKED, "": _FLAT}),
    (of.STEPS | of.WHOLE_QUOTIENT, _FLAT),
    (of.DRAWS | of.NORMAL, _DRAWN),
    (of.WHERE, _BRANCH),
    (of.LARGER, _LARGER),
    (of.SMALLER, _SMALLER),
    (of.EXTREMES | of.RANKED, _EXTREME),
    (of.EMBEDDING, _embedding),
    (of.PICKS | of.RESTRIDED | of.UNFOLD, _PICKED),
    (of.SPLITS, _PIECES),
    (of.TRIANGLES, _BLANKED),
    (of.MASKED_FILL, {"value": _PICKED, "": _FILLED}),
    (of.WRITES, {"base": _OVERWRITTEN, "self": _OVERWRITTEN, "x": _OVERWRITTEN, "": _TWICE}),
)  # fmt: skip


def plain_name(name: str) -> str:
    """``ReluBackward0`` as ``relu``; names of ops stay what they are."""
    stem = re.sub(r"Backward\d*$", "", name)
    if stem == name and not re.search(r"[A-Z]", name):
        return name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", stem).lower()


def row_for(blocked: BlockedEdge) -> Row:
    """The row that speaks for an op, whichever engine names it."""
    name = plain_name(blocked.op)
    rows = next((rows for family, rows in TABLE if name in family), _GENERIC)
    if isinstance(rows, Mapping):
        rows = rows.get(blocked.argument) or rows[""]
    return rows if isinstance(rows, Row) else rows(blocked)


def verdict(blocked: BlockedEdge) -> Verdict:
    """Why the op let nothing through."""
    row = row_for(blocked)
    return Verdict(row.cause, row.words(blocked), row.fix)
