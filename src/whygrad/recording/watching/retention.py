"""Whose graphs are still alive, and who holds them.

A loss that is put into a list keeps the graph of its step, and so does an output.  Each pass leaves
a weak reference to both; at sampled passes those that are still there are counted.  When nearly all
of them are, one look at the garbage collector's book tells the name of what holds them.

A running total keeps them in another way: each sum has the one before in its graph.  So a result
that was computed with one from before the last update has an *age*, and hands it on.
"""

from __future__ import annotations

import gc
import sys
import weakref
from types import FrameType
from typing import Any

from whygrad.recording.calls import Produced
from whygrad.recording.record import Run
from whygrad.recording.variables import running
from whygrad.source import Where, program_frame

__all__ = ["Retention"]

_MANY = 12  # graphs that are alive before it is worth a look who holds them
_DEPTH = 3  # containers in containers
_REMEMBERED = 10_000  # calls whose age is kept


class Retention:
    """The graphs of one run's passes."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._graphs: list[tuple[int, weakref.ref[Any], bool]] = []
        self._watched = 0  # passes whose outputs were noted, which those that go by unseen are not
        self._latest = -1
        self._counted: dict[Where, int] = {}  # lines that carry old graphs, the last time
        self._ages: dict[int, int] = {}  # calls with a graph from before the last update: updates

    def note(self, tensor: Any, number: int, output: bool = False) -> None:
        """``tensor`` is a loss of the pass ``number``, or an output of a model."""
        if not tensor.is_leaf:  # cheaper to ask than whether there is a grad_fn
            self._graphs.append((number, weakref.ref(tensor), output))
            if output and number != self._latest:
                self._latest = number
                self._watched += 1

    def follow(
        self, given: tuple[Any, ...], result: Any, number: int, update: int, frame: FrameType
    ) -> None:
        """The call ``number`` was made; those before ``update`` belong to earlier updates."""
        age, ages = 0, self._ages
        for each in given:
            if type(each) is Produced and (each.call < update or each.call in ages):
                age = max(age, ages.get(each.call, 0) + (each.call < update))
        if age and getattr(result, "requires_grad", False):
            if len(ages) > _REMEMBERED:
                self._ages = ages = {each: ages[each] for each in list(ages)[-_REMEMBERED // 2 :]}
            ages[number] = age
            if age > len(self._run.courses) + 1:
                where, carried = Where(frame.f_code, frame.f_lasti), self._run.carried
                if self._counted.get(where) != update:  # once for each update
                    self._counted[where] = update
                    carried[where] = carried.get(where, 0) + 1

    def count(self, number: int) -> None:
        """Enter how many passes have a tensor that is alive."""
        there = [
            (each, reference, output)
            for each, reference, output in self._graphs
            if (tensor := reference()) is not None and tensor.grad_fn is not None
        ]
        self._graphs = there
        alive = len({each for each, *_ in there})
        kept = len({each for each, _, output in there if output})
        if kept >= _MANY:  # as among those that were looked at, so among the others
            alive = max(alive, round(number * kept / self._watched))
        self._run.retained.append((number, alive))
        if alive >= _MANY and number <= alive * 1.25 and not self._run.holders:
            self._run.holders = _names_of_holders(there[0][1]())


def _names_of_holders(tensor: Any) -> list[str]:
    """The names of variables and attributes that a tensor is kept under, or what contains it."""
    found: list[str] = []
    known = _variables()
    inside, seen = [tensor], {id(tensor), id(known)}
    for _ in range(_DEPTH):
        outside = []
        for held in inside:
            for holder in gc.get_referrers(held):
                if id(holder) in seen or not _is_container(holder):
                    continue
                seen.add(id(holder))
                outside.append(holder)
                found += [name for name, value in known if value is holder]
        found += [key for holder in outside for key in _attributes_holding(holder)]
        if found:
            break
        inside = outside
    return list(dict.fromkeys(found))


def _is_container(thing: Any) -> bool:
    return isinstance(thing, (list, dict, tuple, set)) or type(thing).__name__ == "deque"


def _attributes_holding(container: Any) -> list[str]:
    """The names under which objects and modules hold a container."""
    found: list[str] = []
    for owner in gc.get_referrers(container):
        names = owner if isinstance(owner, dict) else getattr(owner, "__dict__", {})
        if names is not container:
            keys = [key for key, value in list(names.items()) if value is container]
            found += [key for key in keys if isinstance(key, str)]
    return found


def _variables() -> list[tuple[str, Any]]:
    """The local variables of the user's functions that are running."""
    frames = running(program_frame(sys._getframe(1)))
    return [variable for frame in frames for variable in frame.f_locals.items()]
