"""Where a value goes on and its gradient does not.

A step that was run again knows of every result whether it has a history.  So it can be told which
calls the gradient of the loss gets to, and where the way to the others is cut.  What is computed
under ``no_grad`` is not run again; of that it is known what it was computed from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from whygrad.doctor.source.lines import switched_off
from whygrad.ops import families as ops
from whygrad.recording.calls import Origin, Produced, members
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

__all__ = ["Cut", "Ways", "has_history"]


_FLAT = ops.DRAWS | ops.NORMAL | ops.STEPS


class Cut(NamedTuple):
    """The call that cuts, or the first that takes a value which was cut under ``no_grad``."""

    number: int
    kind: str
    where: Where
    value: Any = None  # the tensor without a past, if no recorded call made it


class Ways:
    """The ways of values and of gradients between the calls of one step."""

    def __init__(self, trace: Trace, root: Traced | None = None) -> None:
        self.trace = trace
        self._root = root or trace.root  # where gradients start from

    @cached_property
    def live(self) -> set[int]:
        """The numbers of the calls that the gradient of the loss gets to."""
        waiting = [self._root]
        seen: set[int] = set()
        while waiting:
            call = waiting.pop()
            if call is None or call.number in seen or not has_history(call):
                continue
            seen.add(call.number)
            waiting += [
                self.trace.made_by(source)
                for given, source in zip(call.inputs[: _valued(call)], call.sources)
                if given.requires_grad
            ]
        return seen

    def uses(self, leaves: Iterable[int]) -> list[Traced]:
        """The calls that compute with one of the program's own tensors, by their ids."""
        found = {call.number: call for leaf in set(leaves) for call in self._users.get(leaf, ())}
        return [found[number] for number in sorted(found)]

    def computed_from(self, leaves: Iterable[int]) -> set[int]:
        """The numbers of the calls whose values depend on such tensors, with gradient or not."""
        wanted = set(leaves)
        found = {each.number for each in self.uses(wanted)}
        for call in self.trace.calls:  # in the order of the program
            sources = call.sources[: _valued(call)]
            if any(source is not None and source.call in found for source in sources) or any(
                self._goes_into(origin, wanted) for origin, _ in self._hidden(call)
            ):
                found.add(call.number)
        return found

    def after(self, numbers: Iterable[int]) -> set[int]:
        """The numbers of these calls and of those that are computed from them."""
        found = set(numbers)
        for call in self.trace.calls:
            sources = call.sources[: _valued(call)]
            before = [source.call for source in sources if source is not None]
            before += [each.call for origin, _ in self._hidden(call) for each in origin.learned
                       if type(each) is Produced]  # fmt: skip
            if found.intersection(before):
                found.add(call.number)
        return found

    def cuts(self, leaves: Iterable[int], among: set[int]) -> list[Cut]:
        """The calls among these at which the way back to such tensors ends, in their order."""
        wanted = set(leaves)
        known = self.computed_from(wanted)
        found = []
        for call in self.trace.calls:
            if call.number not in among & known:
                continue
            if any(each.requires_grad for each in call.inputs) and not has_history(call):
                found.append(Cut(call.number, _kind(call), call.where))
            for origin, tensor in self._hidden(call):
                if self._goes_into(origin, wanted):
                    drawn = origin.op in ops.DRAWS or origin.op in ops.NORMAL
                    model = origin.evaluation  # the line that calls it, not one inside of it
                    where = origin.where if drawn or model is None else model.where
                    where = switched_off(where) or where
                    kind = "sampled" if drawn else "no_grad"
                    found.append(Cut(call.number, kind, where, tensor))
        return found

    def without_history(self, call: Traced) -> set[int]:
        """The calls that a result without a past comes from, back to where it lost that."""
        found: set[int] = set()
        waiting: list[Traced | None] = [call]
        while waiting:
            each = waiting.pop()
            if each is not None and each.number not in found and not has_history(each):
                found.add(each.number)
                waiting += [self.trace.made_by(source) for source in each.sources]
        return found

    def _hidden(self, call: Traced) -> Iterator[tuple[Origin, Any]]:
        """Of the tensors that a call takes, those that were computed without gradients."""
        log = self.trace.snapshot.log
        for each in call.kept:
            origin = None if log is None or type(each) is Produced else log.origin(each)
            if origin is not None and origin.learned and not each.requires_grad:
                yield origin, each

    def _goes_into(self, origin: Origin, leaves: set[int]) -> bool:
        return any(
            bool(self._leaves_behind(each) & leaves) if type(each) is Produced else each in leaves
            for each in origin.learned
        )

    def _leaves_behind(self, source: Produced) -> set[int]:
        """The ids of the tensors that a result was computed from."""
        if source not in self._behind:
            found: set[int] = set()
            seen: set[int] = set()
            waiting = [source.call]
            while waiting:
                number = waiting.pop()
                call = self._calls.get(number)
                if call is None or number in seen:
                    continue
                seen.add(number)
                waiting += [each.call for each in call.sources()]
                found |= {id(each) for each in members([call.args, call.kwargs])
                          if isinstance(each, self.trace.engine.tensor)}  # fmt: skip
            self._behind[source] = found
        return self._behind[source]

    @cached_property
    def _users(self) -> dict[int, list[Traced]]:
        """The calls by the ids of the program's own tensors that they take."""
        found: dict[int, list[Traced]] = {}
        for call in self.trace.calls:
            for each in call.kept:
                found.setdefault(id(each), []).append(call)
        return found

    @cached_property
    def _behind(self) -> dict[Produced, set[int]]:
        return {}

    @cached_property
    def _calls(self) -> dict[int, Any]:
        """All calls of the step, also those that the loss does not depend on."""
        snapshot = self.trace.snapshot
        return {**{each.number: each for each in snapshot.loose}, **snapshot.calls}


def has_history(call: Traced) -> bool:
    """Whether a gradient comes through a call; through a draw, or a rounding, comes only zero."""
    if call.op in _FLAT:
        return False
    return any(getattr(each, "requires_grad", False) for each in call.outputs)


def _valued(call: Traced) -> int | None:
    """Of how many inputs a call takes the values: of the others only the shape or the type."""
    return 1 if call.op in ops.MODELLED else None


def _kind(call: Traced) -> str:
    """How a call cuts the way of the gradient."""
    if call.op == "data":
        return call.op
    if call.op in ops.DETACHES:
        return "detach"
    if call.op in ops.DRAWS | ops.NORMAL:
        return "sampled"
    if call.outputs[0].is_floating_point():
        return "copied"  # torch.tensor() of tensors takes their values only
    return "boolean" if call.op in ops.COMPARISONS else "integer"
