"""Why a call made a value that is not finite: the mechanism, and the rule that is named after it.

The call is known (:mod:`.forensics`), with what it was given.  A log of what is not positive, a
quotient by zero, a root at zero are faults of the line that computes them: whatever the learning
rate is, the model can produce such a value.  An overflow in a product is not: something made the
numbers grow, and rules about growth have to say what.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.autograd.source import Where
from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.replay import Trace, Traced, replay
from whygrad.doctor.tape import Produced
from whygrad.doctor.vocabulary import DOMAIN, LOSSES, RESHAPING

if TYPE_CHECKING:
    from whygrad.doctor.case import Case

__all__ = ["Mechanism", "find_mechanism", "overflows_in_half"]

Array = np.ndarray[Any, Any]

_ROOTS = frozenset(
    ("sqrt", "rsqrt", "norm", "std", "var", "cdist", "acos", "asin", "hypot", "dist")
)
_LOGS = frozenset(("log", "log2", "log10", "log1p", "logit", "xlogy", "atanh", "erfinv"))
_QUOTIENTS = frozenset(("div", "rdiv", "div_", "fmod", "remainder", "atan2"))
_EXPONENTIALS = frozenset(("exp", "exp_", "expm1", "exp2", "sinh", "cosh", "rpow"))
_AVERAGES = frozenset(("mean", "std", "var", "var_mean", "std_mean"))
_SOFTMAXES = frozenset(("softmax", "log_softmax", "scaled_dot_product_attention"))
# What probabilities pass through on the way to a log, without becoming something else.
_ARRANGING = RESHAPING | frozenset(
    (
        "getitem", "gather", "slice", "select", "index", "index_select", "take_along_dim", "diagonal",
        "sum", "mul", "add", "sub", "rsub", "stack", "cat", "prod", "max", "amax", "amin", "min",
        "unbind", "split", "chunk", "masked_select", "squeeze", "mean", "div",
    )
)  # fmt: skip
_PROBABILITIES = frozenset(("softmax", "sigmoid", "sigmoid_", "exp"))
# Losses that take probabilities: what comes before them is a part of the loss.
_OF_PROBABILITIES = frozenset(("nll_loss", "binary_cross_entropy", "kl_div"))
_SELECTING = frozenset(("where", "masked_fill", "masked_fill_", "masked_select", "getitem"))
_GROWN = 10.0  # parameters that are this many times their first size have exploded


@dataclass(eq=False)
class Mechanism:
    """The rule that a first bad value belongs to, and what shows it."""

    rule: str
    bad: FirstBad
    where: Where
    because: str  # one sentence with the numbers
    places: list[tuple[str, Where]] = field(default_factory=list)
    by_hand: str | None = None  # "log(softmax)", "log(sigmoid)", "exp / sum of exp", …


def find_mechanism(case: Case, bad: FirstBad) -> Mechanism | None:
    """What is to blame; None when the values had exploded before, or when it is not known."""
    if bad.kind == "data":
        return Mechanism("non-finite-data", bad, bad.where, _of_data(bad))
    if bad.kind == "outside":
        return _of_stray(bad)
    half = overflows_in_half(case, bad)
    if half is not None:
        return half
    call, trace = bad.call, bad.trace
    if bad.kind == "parameter" or call is None or trace is None:
        return None
    found = _of_call(trace, call, bad)
    if found is None:
        return None
    if found.rule == "overflow-in-exp" and found.by_hand is None and _exploded(case, bad):
        return None
    selection = _selection(trace, call) if bad.kind == "backward" else None
    if selection is not None:
        return Mechanism(
            "nan-from-where",
            bad,
            selection.where,
            f"{found.because}; {selection.op} does not select it, and backward() multiplies the"
            " zero it gets by an infinite slope",
            [(f"{call.op} of the branch that is not taken", call.where)],
        )
    return found


# --- what the call was given -----------------------------------------------------------------------


def _of_data(bad: FirstBad) -> str:
    values = bad.after
    count = "" if values is None else f"{_unsound(values)} of {values.size} values"
    shape = "" if values is None else f" of a tensor {list(values.shape)}"
    return f"{count}{shape} are not finite before any call has touched them"


def _of_stray(bad: FirstBad) -> Mechanism | None:
    rule = DOMAIN.get(bad.op)
    if rule is None or bad.after is None:
        return None
    given = "; ".join(str(each) for each in bad.before)
    because = f"{bad.op} got {given} and made {_unsound(bad.after)} values that are not finite"
    return Mechanism(rule, bad, bad.where, because)


def _of_call(trace: Trace, call: Traced, bad: FirstBad) -> Mechanism | None:
    op = call.op.rstrip("_")
    values = [trace.array(each).astype(np.float64) for each in call.inputs]
    if op in _LOGS:
        return _of_log(trace, call, bad, values)
    if op in _EXPONENTIALS or (op in ("pow", "poisson_nll_loss") and _is_power_of(call, values)):
        return _of_exponential(trace, call, bad, values)
    sentence = None
    rule = "nan-from-sqrt"
    if op == "pow":
        rule, sentence = _of_power(call, values)
    elif op in _AVERAGES and bad.kind == "forward":
        rule, sentence = "nan-from-division", _of_average(call)
    elif op in _ROOTS:
        sentence = _of_root(op, call, bad, values)
    elif op in _QUOTIENTS:
        rule, sentence = "nan-from-division", _of_quotient(call, values)
    elif op in _SOFTMAXES:
        rule, sentence = "nan-from-division", _of_softmax(call, values)
    elif op in LOSSES:
        rule, sentence = "nan-from-division", _of_empty_loss(call, values)
    elif op in ("mul", "mul_", "add", "sub"):
        rule, sentence = "nan-from-where", _of_masked(call, values)
    return None if sentence is None else Mechanism(rule, bad, bad.where, sentence)


def _of_power(call: Traced, values: list[Array]) -> tuple[str, str | None]:
    exponent = call.argument(1, "exponent", 2)
    power = values[1] if len(values) > 1 else np.asarray(exponent, dtype=np.float64)
    base = values[0]
    fractional = (power != np.round(power)).any()
    negative, zero = int((base < 0).sum()), int((base == 0).sum())
    if fractional and negative:
        text = f"{negative} of {base.size} values are negative (lowest {base.min():.4g})"
        return "nan-from-sqrt", f"pow with exponent {_short(exponent)}: {text}"
    if zero and (power < 0).any() and not fractional:
        text = f"{zero} of {base.size} values are 0, with a negative exponent"
        return "nan-from-division", f"pow: {text}"
    if zero and (power < 1).any():
        text = f"{zero} of {base.size} values are exactly 0, where its slope is infinite"
        return "nan-from-sqrt", f"pow with exponent {_short(exponent)}: {text}"
    return "nan-from-sqrt", None


def _of_average(call: Traced) -> str | None:
    size = call.before[0].size
    if size == 0:
        return f"{call.op} of no values at all is 0/0: its input has shape {list(call.before[0].shape)}"
    if call.op != "mean":
        shape = list(call.before[0].shape)
        return f"{call.op} divides by n − 1, and there is one value: its input has shape {shape}"
    return None


def _of_root(op: str, call: Traced, bad: FirstBad, values: list[Array]) -> str | None:
    base = values[0]
    if op in ("acos", "asin"):
        beyond = int((np.abs(base) >= 1).sum())
        return f"{op}: {beyond} of {base.size} values are at or beyond ±1" if beyond else None
    if op in ("sqrt", "rsqrt"):
        negative, zero = int((base < 0).sum()), int((base == 0).sum())
        if negative:
            text = f"{negative} of {base.size} values are negative (lowest {base.min():.4g})"
            return f"{op}: {text}"
        if zero:
            slope = "its value" if op == "rsqrt" else "its slope, 1/(2·sqrt(x)),"
            return f"{op}: {zero} of {base.size} values are exactly 0, where {slope} is infinite"
        return None
    if bad.kind != "backward" or call.before[0].largest > 1e18:
        return None
    if op in ("std", "var"):
        return f"{op} is 0: all its values are equal, and the slope of the root at 0 is infinite"
    return f"{op} is 0 for some of its values, where its slope is infinite"


def _of_quotient(call: Traced, values: list[Array]) -> str | None:
    if call.op == "rdiv":
        below, above = values[0], np.asarray(call.argument(1, "other", 1.0), dtype=np.float64)
    else:
        above = values[0]
        second = call.argument(1, "other", 1.0)
        below = values[1] if len(values) > 1 else np.asarray(second, dtype=np.float64)
        if not isinstance(call.args[0], type(call.inputs[0])):  # 1 / x
            above, below = np.asarray(call.args[0], dtype=np.float64), values[0]
    zero = int((below == 0).sum())
    if zero:
        both = " (0/0 in places)" if (np.asarray(above) == 0).any() else ""
        return f"{zero} of {below.size} divisors are exactly 0{both}"
    smallest = float(np.abs(below).min()) if below.size else 1.0
    largest = float(np.abs(above).max()) if np.size(above) else 1.0
    if smallest < 1e-18 and largest * smallest < 1.0:
        return f"the smallest divisor is {smallest:.3g}"
    return None


def _of_softmax(call: Traced, values: list[Array]) -> str | None:
    scores = values[0]
    if call.op == "scaled_dot_product_attention":
        return "a query may look at no key at all: its row of the mask is -inf throughout"
    dim = call.argument(1, "dim", -1)
    if not isinstance(dim, int) or not np.isneginf(scores).any():
        return None
    rows = int(np.isneginf(scores).all(axis=dim).sum())
    return f"{rows} rows of the softmax are -inf throughout, and 0/0 is NaN" if rows else None


def _of_empty_loss(call: Traced, values: list[Array]) -> str | None:
    if any(each.size == 0 for each in values):
        return f"{call.op} averages over no values at all: the batch is empty"
    if call.op in ("cross_entropy", "nll_loss") and len(values) > 1:
        ignored = call.kwargs.get("ignore_index", -100)
        if (values[1] == ignored).all():
            return f"every label is {ignored}, which is ignored: the mean is over no values at all"
    return None


def _of_masked(call: Traced, values: list[Array]) -> str | None:
    scalars = [each for each in call.args if isinstance(each, float) and not np.isfinite(each)]
    if call.op.startswith("mul") and (scalars or any(np.isinf(each).any() for each in values)):
        return "0 × inf is NaN: multiplying by a mask does not remove an infinite value"
    if any(np.isinf(each).any() for each in values):
        return "inf − inf is NaN: values that were masked with -inf meet each other"
    return None


# --- logs ------------------------------------------------------------------------------------------


def _of_log(trace: Trace, call: Traced, bad: FirstBad, values: list[Array]) -> Mechanism | None:
    base = values[-1] if call.op == "xlogy" else values[0]
    if call.op in ("logit", "atanh", "erfinv"):
        outside = int(((base <= (0 if call.op == "logit" else -1)) | (base >= 1)).sum())
        text = f"{call.op}: {outside} of {base.size} values are at or beyond its limits"
        return Mechanism("nan-from-log", bad, bad.where, text) if outside else None
    edge = -1.0 if call.op == "log1p" else 0.0
    below, at = int((base < edge).sum()), int((base == edge).sum())
    if not below and not at and bad.kind == "forward":
        return None
    text = (
        f"{call.op}: {below} of {base.size} values are below {edge:g} (lowest {base.min():.4g})"
        if below
        else f"{call.op}: {at} of {base.size} values are exactly {edge:g}"
    )
    origin = None if below else _probability(trace, call, np.float32(1))
    if origin is None:
        return Mechanism("nan-from-log", bad, bad.where, text)
    by_hand = f"log({origin.op})"
    text += f": {origin.op} has rounded to 0 or 1 ({origin.after[0]})"
    return Mechanism(
        "unstable-loss", bad, bad.where, text, [(f"{origin.op} here", origin.where)], by_hand
    )


def _probability(trace: Trace, log: Traced, one: Any) -> Traced | None:
    """The softmax, sigmoid or exp that a log undoes, if that is where its zero comes from."""
    waiting = [source for source in log.sources if source is not None]
    seen: set[Produced] = set()
    while waiting:
        source = waiting.pop()
        call = trace.made_by(source)
        if call is None or source in seen:
            continue
        seen.add(source)
        if call.op in _PROBABILITIES:
            output = call.after[source.place]
            if output.zeros or (call.op != "exp" and output.high >= one) or not output.finite:
                return call
        elif call.op in _ARRANGING or (call.op in _QUOTIENTS and _has_exp(trace, call)):
            waiting.extend(each for each in call.sources if each is not None)
    return None


# --- exponentials ----------------------------------------------------------------------------------


def _is_power_of(call: Traced, values: list[Array]) -> bool:
    """``torch.pow(2.0, x)``, or a loss that exponentiates what it is given."""
    if call.op == "poisson_nll_loss":
        return bool(call.argument(2, "log_input", True)) and values[0].max(initial=0.0) > 80
    return bool(call.args) and isinstance(call.args[0], (int, float))


def _of_exponential(
    trace: Trace, call: Traced, bad: FirstBad, values: list[Array]
) -> Mechanism | None:
    high = float(np.abs(values[0]).max(initial=0.0) if call.op in ("sinh", "cosh") else 0.0)
    high = high or float(values[0].max(initial=0.0))
    dtype = call.before[0].dtype
    limit = {"float16": 11.09, "float64": 709.78}.get(dtype, 88.72)
    if bad.kind == "forward" and high < limit and call.op in ("exp", "expm1"):
        return None
    if bad.kind == "backward" and high < 0.5 * limit:
        return None
    text = f"{call.op} of {high:.4g} overflows {dtype}, which ends at exp({limit:.4g})"
    by_hand = _exp_in_loss(trace, call)
    if by_hand is None:
        return Mechanism("overflow-in-exp", bad, bad.where, text)
    return Mechanism("unstable-loss", bad, bad.where, f"{text}, in {by_hand}", [], by_hand)


def _exp_in_loss(trace: Trace, exp: Traced) -> str | None:
    """The formula of a loss that an exp is a part of; None if it belongs to the model."""
    later = _descendants(trace, exp)
    if any(given is each for call in later for given in call.inputs
           for each in trace.parameters.values()):  # fmt: skip
        return None
    ops = {call.op for call in later}
    if ops & (LOSSES - _OF_PROBABILITIES) or ops & {"pow", "abs"}:
        return None
    quotients = [call for call in later if call.op in ("div", "rdiv")]
    sums = [call for call in later if call.op == "sum" and exp.number in trace.ancestors(call)]
    if any(_is_normalised(trace, exp, call, sums) for call in quotients):
        return "exp / sum of exp"
    if "log" not in ops and "log1p" not in ops:
        return None
    if sums and any(call.op == "log" and _directly(trace, call, "sum") for call in later):
        return "log(sum of exp)"
    in_model = bool(exp.module) and any(
        mark.path == exp.module and next(mark.module.parameters(), None) is not None
        for mark in trace.marks()
    )
    return None if in_model else "log(1 + exp)"


def _is_normalised(trace: Trace, exp: Traced, quotient: Traced, sums: list[Traced]) -> bool:
    """Whether a quotient has the exp above and its sum below."""
    if len(quotient.sources) < 2:
        return False
    above, below = (trace.made_by(each) for each in quotient.sources[:2])
    if above is None or below is None:
        return False
    numbers = trace.ancestors(below) | {below.number}
    return trace.descends(above, exp) and any(each.number in numbers for each in sums)


def _has_exp(trace: Trace, quotient: Traced) -> bool:
    numbers = trace.ancestors(quotient)
    return any(each.op in ("exp", "softmax") for each in trace.calls if each.number in numbers)


def _directly(trace: Trace, call: Traced, op: str) -> bool:
    made = trace.made_by(call.sources[0]) if call.sources else None
    while made is not None and made.op in RESHAPING and made.sources:
        made = trace.made_by(made.sources[0])
    return made is not None and made.op == op


def _descendants(trace: Trace, call: Traced) -> list[Traced]:
    known = {call.number}
    found = []
    for each in trace.calls:
        if any(source is not None and source.call in known for source in each.sources):
            known.add(each.number)
            found.append(each)
    return found


def _exploded(case: Case, bad: FirstBad) -> bool:
    """Whether parameters had outgrown their first values, with which the step would be sound."""
    assert bad.trace is not None
    snapshot, first = bad.trace.snapshot, case.first
    if first is None or first is snapshot:
        return False
    values = {name: value for name, value in first.values.items() if name in snapshot.values}
    size_now = _norm(snapshot.engine, {name: snapshot.values[name] for name in values})
    if size_now < _GROWN * _norm(snapshot.engine, values):
        return False
    again = replay(snapshot, values=values)
    return bool(np.isfinite(again.loss)) and all(each[2].finite for each in again.arrivals)


def _norm(engine: Any, values: dict[int, Any]) -> float:
    squares = [np.square(engine.array(each).astype(np.float64)).sum() for each in values.values()]
    return float(np.sqrt(sum(squares)))


# --- branches that are not taken -------------------------------------------------------------------


def _selection(trace: Trace, call: Traced) -> Traced | None:
    """The call that leaves out the values at which ``call`` has no finite slope."""
    singular = _singular(trace, call)
    waiting = [Produced(call.number, 0)]
    shape = call.after[0].shape
    seen: set[Produced] = set()
    while waiting:
        source = waiting.pop(0)
        if source in seen:
            continue
        seen.add(source)
        for each in trace.consumers(source):
            if each.op in _SELECTING and _leaves_out(trace, each, source, singular):
                return each
            if each.after and each.after[0].shape == shape and len(each.outputs) == 1:
                waiting.append(Produced(each.number, 0))
    return None


def _leaves_out(trace: Trace, call: Traced, source: Produced, singular: Array | None) -> bool:
    """Whether a selection takes none of the singular values."""
    places = [place for place, each in enumerate(call.sources) if each == source]
    masks = [place for place, each in enumerate(call.before) if each.dtype == "bool"]
    if not masks or masks[0] in places or not places:
        return False
    taken = trace.array(call.inputs[masks[0]])
    given = call.inputs[places[0]]
    other = len(call.args) > 2 and call.args[2] is given  # where(mask, one, other)
    if call.op.startswith("masked_fill") or (call.op == "where" and other):
        taken = ~taken
    if singular is None:
        return True
    try:
        taken, singular = np.broadcast_arrays(taken, singular)
    except ValueError:
        return True
    return not bool((taken & singular).any())


def _singular(trace: Trace, call: Traced) -> Array | None:
    """Where the slope of an elementwise call is not finite."""
    op, values = call.op, [trace.array(each) for each in call.inputs]
    with np.errstate(all="ignore"):
        unsound = ~np.isfinite(trace.array(call.outputs[0]))
        if op in ("sqrt", "rsqrt", "log", "log2", "log10", "pow", "xlogy"):
            return unsound | (values[0] <= 0)
        if op in ("div", "rdiv"):
            below = values[-1]
            return unsound | (below == 0)
    return unsound if unsound.any() else None


# --- half precision --------------------------------------------------------------------------------


def overflows_in_half(case: Case, bad: FirstBad) -> Mechanism | None:
    """Whether the same step is sound when float16 is replaced by float32."""
    trace = bad.trace
    if trace is None or not _has_half(trace):
        return None
    if bad.kind == "parameter":
        name = case.run.parameters.get(_leaf_of(trace, bad.given))
        step = _update_before(case, bad.step)
        text = (
            f"the update before step {bad.step} made {'it' if name is None else name.name} not"
            f" finite, from finite gradients: in float16 an eps of 1e-8 is 0 and 65504 is the end"
        )
        return Mechanism("float16-range", bad, step or bad.where, text)
    again = replay(trace.snapshot, wide=True)
    sound = np.isfinite(again.loss) and all(each[2].finite for each in again.arrivals)
    if again.error is not None or not sound or _exploded(case, bad):
        return None
    given = "; ".join(str(each) for each in bad.before)
    text = f"{bad.op} got {given}; the same step computed in float32 is finite throughout"
    return Mechanism("float16-range", bad, bad.where, text)


def _has_half(trace: Trace) -> bool:
    return any(
        each.dtype == "float16" for call in trace.calls for each in (*call.before, *call.after)
    )


def _leaf_of(trace: Trace, given: Any) -> int:
    return next((name for name, each in trace.parameters.items() if each is given), 0)


def _update_before(case: Case, number: int) -> Where | None:
    """The line of the update that came before a pass."""
    for course in case.courses:
        for step in course.steps:
            if step.passes and step.passes[-1].number == number - 1:
                return step.where
    return None


def _unsound(values: Any) -> int:
    return int(values.nans + values.infs)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else "a tensor"
