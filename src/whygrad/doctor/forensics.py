"""Where the first value came from that is not finite.

NaN and Inf are contagious: where they are noticed, in the loss or in a parameter, is seldom where
they were made.  The step is run again with a look at every value, and followed from the place where
the trouble was noticed back to the call that took sound values and made an unsound one.  What that
call is guilty of is not asked here: see :mod:`.mechanism`.

Not every infinity is trouble.  A mask of ``-inf`` that a softmax turns into zeros is how it is
done, and a NaN in the branch that ``where`` does not take never arrives.  So the search does not
start at the first unsound value of a step but at the loss and the gradients, and goes backwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Range
from whygrad.recording.record import Parameter, Snapshot, Stray
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.doctor.evidence.case import Case

__all__ = ["FirstBad", "find_first_bad"]

# Calls that have a finite answer for -inf: a mask may pass through them.
_TAKES_MASKS = (
    ops.SOFTMAXES | ops.LOGSUMEXP | ops.EXP | ops.SIGMOIDS | ops.EXTREMES | ops.MAXIMUM | ops.RELU
    | ops.ATTENTION | ops.CROSS_ENTROPY | ops.TOPK
)  # fmt: skip
# Calls that put an infinity where the program wants one.
_PLACES_MASKS = ops.CHOICES | ops.FILLS | ops.SETITEM | ops.TRIANGLES
_COMPARING = ops.COMPARISONS | ops.DETACHES
_PASSES_BEFORE = 8  # of one update: its gradients may come from any of them


@dataclass(eq=False)
class FirstBad:
    """The first value that is not finite, and the call that made it."""

    kind: str  # made in "forward" or "backward", or found in "data", a "parameter", or "outside"
    step: int
    where: Where
    op: str  # the call that made it, or that met it first
    before: list[Range] = field(default_factory=list)  # what the call was given
    after: Range | None = None  # what it made: its result, or the gradient it handed on
    trace: Trace | None = None
    call: Traced | None = None
    given: Any = None  # the tensor of the data or the parameter
    carriers: list[Traced] = field(default_factory=list)  # the calls that handed it on, in order
    stray: Stray | None = None  # what is known of a call that no gradient flows through
    parameter: str = ""  # the name of the parameter that holds it …
    updated_at: Where | None = None  # … and the update that wrote it there

    @property
    def module(self) -> str:
        """The path of the module in whose forward the call was made."""
        return "" if self.call is None or self.where != self.call.where else self.call.module or ""

    @property
    def arrived(self) -> Range | None:
        """The gradient that the call was given, if it made another one that is not finite."""
        return self.call.gradients.get(0) if self.call and self.kind == "backward" else None

    @property
    def reproduced(self) -> bool:
        """Whether the step came out the same when it was run again."""
        return self.trace is None or self.trace.reproduced or self.trace.snapshot.loss is None


def find_first_bad(case: Case) -> FirstBad | None:
    """The origin of what went wrong first in a run; None if nothing did, or it cannot be told."""
    incident = case.incident
    if incident is not None:
        for step, snapshot in _candidates(case, incident.step, incident.snapshot):
            trace = case.trace(snapshot)
            found = None if trace is None else _search(case, trace, step)
            if found is not None:
                return _before_update(case, found) or found
        return None
    if case.run.error is not None:
        trace = case.trace(case.run.last_snapshot)
        if trace is not None:
            found = _search(case, trace, len(case.run.passes))
            if found is not None:
                return found
    return _in_an_evaluation(case)


def _candidates(case: Case, step: int, snapshot: Snapshot | None) -> Iterable[tuple[int, Snapshot]]:
    """The step that was noticed, then the passes before it whose gradients were in the same sum."""
    if snapshot is not None:
        yield step, snapshot
    for each in reversed(case.run.passes[max(0, step - _PASSES_BEFORE) : step]):
        if each.snapshot is not None:
            yield each.number, each.snapshot


def _before_update(case: Case, found: FirstBad) -> FirstBad | None:
    """If parameters were unsound already: the pass whose gradients made them so."""
    if found.kind != "parameter":
        return None
    for each in reversed(case.run.passes[max(0, found.step - _PASSES_BEFORE) : found.step]):
        trace = case.trace(each.snapshot)
        earlier = None if trace is None else _search(case, trace, each.number)
        if earlier is not None and earlier.kind != "parameter":
            return earlier
    return None


def _search(case: Case, trace: Trace, step: int) -> FirstBad | None:
    root = trace.root
    if root is not None and not _sound(root.after):
        return _followed(case, trace, [root], step)
    if root is None:
        ends = [each for each in trace.calls if _is_unsound_end(trace, each)]
        return _followed(case, trace, ends[-1:], step) if ends else None
    maker = _maker_of_gradient(trace)
    if maker is None:
        return None
    call, gradient = maker
    if not _sound(call.before):
        return _followed(case, trace, [call], step)
    found = FirstBad("backward", step, call.where, call.op, call.before, gradient, trace, call)
    found.carriers = [
        each for each in trace.calls if any(not grad.finite for grad in each.gradients.values())
    ]
    return found


def _is_unsound_end(trace: Trace, call: Traced) -> bool:
    """Whether a call made NaN that no other call took: the program stopped over it."""
    if not any(each.nans for each in call.after):
        return False
    sources = [Produced(call.number, place) for place in range(len(call.outputs))]
    return all(each.op in _COMPARING for source in sources for each in trace.consumers(source))


# --- forward --------------------------------------------------------------------------------------


def _followed(case: Case, trace: Trace, starts: list[Traced], step: int) -> FirstBad | None:
    """Walk from unsound calls to what they got it from, and take the earliest origin."""
    origins: list[FirstBad] = []
    seen: set[int] = set()
    carriers: list[Traced] = []
    waiting = list(starts)
    while waiting:
        call = waiting.pop()
        if call.number in seen:
            continue
        seen.add(call.number)
        places = _contagious(trace, call)
        if places:
            carriers.append(call)
        else:
            origins.append(_made_by(trace, call, step))
        for place in places:
            made = trace.made_by(call.sources[place])
            if made is None:
                origins.append(_found_in(case, trace, call, place, step))
            else:
                waiting.append(made)
    if not origins:
        return None
    first = min(origins, key=_rank)
    first.carriers = sorted(carriers, key=lambda each: each.number)
    return first


def _rank(origin: FirstBad) -> tuple[int, int]:
    """Parameters were unsound before the step began, data before its first call."""
    order = ("parameter", "outside", "data", "forward")
    return order.index(origin.kind), origin.call.number if origin.call is not None else -1


def _contagious(trace: Trace, call: Traced) -> list[int]:
    """The inputs from which the call may have its unsound values."""
    if any(each.nans for each in call.after):
        nans = [place for place, each in enumerate(call.before) if each.nans]
        if nans:
            return nans
    infinite = [place for place, each in enumerate(call.before) if not each.finite]
    masks = all(_is_mask(trace, call, place) for place in infinite)
    if masks and (call.op in _TAKES_MASKS or any(each.nans for each in call.after)):
        return []
    return infinite


def _is_mask(trace: Trace, call: Traced, place: int) -> bool:
    """Whether an input has infinities that the program put there on purpose."""
    if call.before[place].nans:
        return False
    source = call.sources[place]
    at: Traced | None = trace.made_by(source)
    values = trace.array(call.inputs[place])
    for _ in range(8):
        if at is None:
            break
        if at.op in _PLACES_MASKS and all(each.finite for each in at.before[:1]):
            return True
        bad = [where for where, each in enumerate(at.before) if not each.finite]
        if not bad:
            return False
        values = trace.array(at.inputs[bad[0]])
        at = trace.made_by(at.sources[bad[0]])
    if source is not None and at is not None:
        return False
    finite = values[np.isfinite(values)]
    return bool((finite == 0).all()) and not bool(np.isposinf(values).any())


def _made_by(trace: Trace, call: Traced, step: int) -> FirstBad:
    after = next((each for each in call.after if not each.finite), None)
    return FirstBad("forward", step, call.where, call.op, call.before, after, trace, call)


def _found_in(case: Case, trace: Trace, call: Traced, place: int, step: int) -> FirstBad:
    """The call was given the unsound value by nobody: it is in a parameter or in the data."""
    given = call.inputs[place]
    found = FirstBad("data", step, call.where, call.op, call.before, None, trace, call, given)
    found.after = call.before[place]
    kept = None if call.sources[place] is not None else call.kept[place]
    if any(given is each for each in trace.parameters.values()):
        found.kind = "parameter"
        leaf = next(name for name, each in trace.parameters.items() if each is given)
        known = case.run.parameters.get(leaf)
        found.parameter = "" if known is None else known.name
        found.updated_at = _update_before(case, known, step)
        found.stray = next((each for each in case.run.strays if _was_update(each, step)), None)
        if found.stray is not None:
            _point_at(found, found.stray)
        return found
    log = trace.snapshot.log
    origin = None if log is None or kept is None else log.origin(kept)
    if origin is not None:
        earlier = _earlier(case, origin.op, origin.where, step)
        if earlier is not None:
            return earlier
        found.op, found.where = origin.op, origin.where
    else:
        known = case.run.parameters.get(id(kept))  # frozen weights are data
        made = None if known is None else known.written_at or known.made_at
        found.where = made or _given_to_model(trace, kept) or found.where
    found.stray = _made_outside(case, found)
    if found.stray is not None:
        _point_at(found, found.stray)
    return found


def _update_before(case: Case, parameter: Parameter | None, step: int) -> Where | None:
    """The last update of a parameter before a step."""
    made = [
        update
        for course in case.courses
        if parameter is None or not parameter.optimizers
        or course.optimizer.number in parameter.optimizers
        for update in course.steps
        if update.number < step and update.where is not None
    ]  # fmt: skip
    return max(made, key=lambda each: each.number).where if made else None


def _earlier(case: Case, op: str, where: Where, step: int) -> FirstBad | None:
    """The data were computed before the loop: the first step's recipe still has those calls."""
    trace = case.trace(case.first)
    if trace is None:
        return None
    for each in trace.calls:
        if each.op == op and each.where == where and not _sound(each.after):
            return _followed(case, trace, [each], step)
    return None


def _given_to_model(trace: Trace, tensor: Any) -> Where | None:
    """The line that handed a tensor to the model."""
    for mark in trace.marks():
        inputs = mark.inputs if isinstance(mark.inputs, (tuple, list)) else (mark.inputs,)
        if mark.depth == 0 and any(each is tensor for each in inputs if each is not None):
            return mark.where
    return None


# --- outside of the graph -------------------------------------------------------------------------


def _was_update(stray: Stray, step: int) -> bool:
    """Whether a stray call belongs to the update before a step."""
    return stray.passes == step and stray.op in ops.RISKY and stray.given is None


def _made_outside(case: Case, found: FirstBad) -> Stray | None:
    """The call that made data unsound, if it was seen doing so."""
    shape = None if found.after is None else found.after.shape
    for each in case.run.strays:
        if each.op not in ops.RISKY or each.given is not None or each.passes > found.step:
            continue
        if each.where == found.where or each.after.shape == shape:
            return each
    return None


def _point_at(found: FirstBad, stray: Stray) -> None:
    found.kind, found.op, found.where = "outside", stray.op, stray.where
    found.before, found.after = stray.before, stray.after


def _in_an_evaluation(case: Case) -> FirstBad | None:
    """A figure that was computed without gradients is not finite."""
    figures = [*case.run.evaluations, *case.run.figures]
    bad = min((each.after for each in figures if not np.isfinite(each.value)), default=None)
    if bad is None:
        return None
    for stray in case.run.strays:
        if stray.passes == bad:
            found = FirstBad("outside", max(0, bad - 1), stray.where, stray.op)
            found.stray = stray
            _point_at(found, stray)
            if stray.given is not None and stray.given_at is not None:
                found.kind, found.op, found.where = "data", stray.given, stray.given_at
            return found
    return None


# --- backward -------------------------------------------------------------------------------------


def _maker_of_gradient(trace: Trace) -> tuple[Traced, Range] | None:
    """The call whose derivative made the first gradient that is not finite, and that gradient."""
    for number, place, gradient in trace.arrivals:
        if gradient.finite:
            continue
        consumers = [
            each
            for each in trace.calls
            if (Produced(number, place) in each.sources if number >= 0 else _takes(each, place))
        ]
        sound = [each for each in consumers if all(got.finite for got in each.gradients.values())]
        suspects = [each for each in sound if each.gradients] or sound or consumers
        if not suspects:
            return None
        return max(suspects, key=lambda each: (each.op in ops.RISKY, each.number)), gradient
    return None


def _takes(call: Traced, place: int) -> bool:
    return any(id(each) == -place for each in call.inputs)


def _sound(ranges: list[Range]) -> bool:
    return all(each.finite for each in ranges)
