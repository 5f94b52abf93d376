"""Why an op lets no gradient through: one row per op, in words.

A row says what kind of cause it is and how to put it; :func:`verdict` finds the row for an op and
an argument.  It needs names and arrays only, so it serves every engine; ops that have no row get a
sentence that states what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Circumstances", "Row", "Verdict", "number", "plain_name", "row_for", "share", "verdict",
]  # fmt: skip


@dataclass(frozen=True)
class Circumstances:
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

    def span(self, name: str) -> str:
        """The range of a value where nothing passes, ``between −3 and −1``; empty if unknown."""
        known = self.value if name == "input" else self.saved.get(name)
        if known is None or not isinstance(known, (np.ndarray, np.generic, float, int)):
            return ""
        try:
            there = np.broadcast_to(known, np.shape(self.mask))[np.asarray(self.mask)]
        except ValueError:
            return ""
        if not there.size or there.dtype.kind not in "fiu":
            return ""
        low, high = number(there.min()), number(there.max())
        return low if low == high else f"between {low} and {high}"


class Verdict(NamedTuple):
    """Why, in a word, a sentence, and what to do about it."""

    cause: str
    sentence: str
    fix: str | None


class Row(NamedTuple):
    """One kind of annihilation."""

    cause: str
    words: Callable[[Circumstances], str]
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


def _beyond(bounds: Callable[[Circumstances], str]) -> Row:
    return Row(
        "clamped",
        lambda c: _with(
            f"{c.op} holds {c.share} at its limits{bounds(c)}, where the derivative is 0",
            c.span("input") or c.span("x"),
        ),
        "widen the limits, keep the input inside them, or clamp a value that needs no gradient",
    )


def _limits(low: str, high: str) -> Callable[[Circumstances], str]:
    def said(c: Circumstances) -> str:
        known = [(word, c.saved.get(name)) for word, name in (("min", low), ("max", high))]
        told = [f"{word} {number(each)}" for word, each in known if _is_single(each)]
        return f", {' and '.join(told)}" if told else ""

    return said


def _is_single(value: Any) -> bool:
    return isinstance(value, (int, float)) or (
        isinstance(value, (np.ndarray, np.generic)) and np.size(value) == 1
    )


_PICK_FIX = "use the elements that should learn, or choose with weights (softmax) instead of a pick"


def _not_selected(words: Callable[[Circumstances], str]) -> Row:
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
_EXTREME = _not_selected(lambda c: f"{c.op.removesuffix('_of_all')} does not choose {c.share}")
_PICKED = _not_selected(lambda c: f"{c.op} does not pick {c.share}")
_BLANKED = _not_selected(lambda c: f"{c.op} replaces {c.share} by 0")
_OVERWRITTEN = Row(
    "overwritten",
    lambda c: f"{c.op} overwrote {c.share}: what was there before has no influence",
    "use the value before the write, or leave these elements out of it",
)
_UNUSED = Row(
    "not selected",
    lambda c: (
        f"what {c.op} wrote over a later write, or outside: {c.share} of it have no influence"
    ),
    None,
)


def _factor(*names: str) -> Row:
    """Products: ``names`` are the saved factors, of which the one that is there is the other."""

    def words(c: Circumstances) -> str:
        told = [c.others[name] for name in names if name in c.others]
        by = f" by {told[0]}, which is 0 there" if told and told[0] != "0" else " by 0"
        return f"{c.op} multiplies {c.share}{by}"

    return Row(
        "multiplied by zero",
        words,
        "make the factor different from 0 where this should learn (a mask, a weight that starts "
        "at 0, a scale)",
    )


_DROPPED = Row(
    "dropout",
    lambda c: f"dropout masks {c.share}",
    "nothing is wrong if only some are masked: the next step draws other ones; for p = 1 or to "
    "look without noise, use eval mode (training=False)",
)


def _saturated(kept: str) -> Row:
    def words(c: Circumstances) -> str:
        span, sort = c.span("input"), "input"
        if not span:
            span, sort = c.span(kept), "output" if kept == "y" else "input"
        return _with(f"{c.op} is saturated for {c.share}", f"{sort} {span}" if span else "")

    return Row(
        "saturated",
        words,
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


def _class_loss(otherwise: Row) -> Callable[[Circumstances], Row]:
    """Losses over classes: targets may be ignored."""

    def chosen(c: Circumstances) -> Row:
        target, ignore = c.saved.get("target"), c.saved.get("ignore_index")
        if isinstance(target, np.ndarray) and ignore is not None and np.all(target == ignore):
            return _not_selected(lambda c: f"every target of {c.op} is ignore_index ({ignore})")
        return otherwise

    return chosen


def _softmax(c: Circumstances) -> Row:
    y, dim = c.saved.get("y"), c.saved.get("dim")
    dims = dim if isinstance(dim, tuple) else (dim,)
    if isinstance(y, np.ndarray) and dim is not None and all(y.shape[d] == 1 for d in dims):
        return Row(
            "flat",
            lambda c: f"{c.op} over a single element is constant",
            "normalise over the dimension that holds the scores, or use sigmoid for a single one",
        )
    return _saturated("y")


def _power(c: Circumstances) -> Row:
    exponent = c.saved.get("b")
    if exponent is not None and not np.any(exponent):
        return Row("flat", lambda c: "the exponent is 0, and x ** 0 is constant", None)
    return _stationary("the base is 0 there")


# by argument, where arguments differ; a function where the numbers decide
Rows = Row | Mapping[str, Row] | Callable[[Circumstances], Row]

TABLE: dict[str, Rows] = {
    "abs": _AT_ZERO,
    "addcmul": _factor("a", "b"),
    "clamp": {"x": _beyond(_limits("low", "high")), "": _PICKED},
    "cos": _stationary("it has a maximum or minimum there"),
    "cosh": _AT_ZERO,
    "cross_entropy": _class_loss(_saturated("x")),
    "div": {"b": _stationary("the numerator is 0 there"), "": _GENERIC},
    "drop": _DROPPED,
    "elu": _saturated("x"),
    "hardshrink": _inactive("between −λ and λ"),
    "hardsigmoid": _beyond(lambda _: ", −3 and 3"),
    "hardswish": _inactive("at most −3"),
    "hardtanh": _beyond(_limits("min_val", "max_val")),
    "l1_loss": _EQUAL,
    "leaky_relu": _inactive("not positive, and its slope there is 0,"),
    "lerp": _factor("weight"),
    "mse_loss": _EQUAL,
    "log_softmax": _softmax,
    "nll_loss": _class_loss(_not_selected(lambda c: f"{c.op} does not pick {c.share}")),
    "norm": _AT_ZERO,
    "pow": _power,
    "prelu": _inactive("not positive, and its weight is 0,"),
    "prod": _factor(),
    "relu": _inactive("not positive"),
    "relu6": _beyond(lambda _: ", 0 and 6"),
    "sin": _stationary("it has a maximum or minimum there"),
    "softmax": _softmax,
    "softshrink": _inactive("between −λ and λ"),
    "std": _stationary("all its elements are equal"),
    "threshold": _inactive("not above the threshold"),
    "var": _stationary("its element is the mean"),
    "where": _BRANCH,
}
for _names, _row in (
    ("celu gelu logsigmoid mish selu silu softplus atan erf erfc softsign", _saturated("x")),
    ("exp exp2 expm1 sigmoid tanh", _saturated("y")),
    ("binary_cross_entropy_with_logits logcumsumexp logsumexp logaddexp", _saturated("x")),
    ("ceil floor floor_divide heaviside round sgn sign trunc", _FLAT),
    ("copy fill zero", {"x": _OVERWRITTEN, "self": _OVERWRITTEN, "": _PICKED}),
    ("fmax maximum", _LARGER),
    ("fmin minimum", _SMALLER),
    ("amax amin max max_of_all min min_of_all mode kthvalue topk cummax cummin", _EXTREME),
    ("median median_of_all nanmedian nanmedian_of_all", _EXTREME),
    ("as_strided diagonal embedding gather gather_last index index_last index_select", _PICKED),
    ("masked_select narrow select slice split split_with_sizes unbind unfold take", _PICKED),
    ("masked_fill", {"value": _PICKED, "": _BLANKED}),
    ("tril triu", _BLANKED),
    ("copy_slices", {"base": _OVERWRITTEN, "": _UNUSED}),
    ("index_put scatter", {"x": _OVERWRITTEN, "self": _OVERWRITTEN, "": _UNUSED}),
    ("scatter_amax scatter_amin", _EXTREME),
    ("adaptive_max_pool2d max_pool2d_with_indices max_pool3d_with_indices", _EXTREME),
    ("bernoulli normal poisson", _DRAWN),
    ("addbmm addmm addmv baddbmm bmm dot einsum_pair matmul mm mul mv", _factor("a", "b")),
    ("linear", _factor("x", "weight")),
    ("native_dropout fused_dropout dropout feature_dropout", _DROPPED),
    ("clamp_max clamp_min", _beyond(lambda _: "")),
):
    TABLE.update(dict.fromkeys(_names.split(), _row))
TABLE["s_where"] = TABLE["where"]
TABLE["cumprod"] = TABLE["prod"]


def plain_name(name: str) -> str:
    """``ReluBackward0`` as ``relu``; names of ops stay what they are."""
    stem = re.sub(r"Backward\d*$", "", name)
    if stem == name and not re.search(r"[A-Z]", name):
        return name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", stem).lower()


def row_for(circumstances: Circumstances) -> Row:
    """The row that speaks for an op, whichever engine names it."""
    rows = TABLE.get(plain_name(circumstances.op), _GENERIC)
    if isinstance(rows, Row):
        return rows
    if isinstance(rows, Mapping):
        return rows.get(circumstances.argument) or rows[""]
    return rows(circumstances)


def verdict(circumstances: Circumstances) -> Verdict:
    """Why the op let nothing through."""
    row = row_for(circumstances)
    return Verdict(row.cause, row.words(circumstances), row.fix)
