"""The way forward: look at every result, remember who made what is not finite.

A :class:`Watch` is what ``detect_anomaly()`` returns.  It sees each op call of the thread just
after it ran.  Nothing is raised here: whether a NaN does harm is known at ``backward()``.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.autograd.anomaly_mode import finite
from whygrad.autograd.anomaly_mode.contents import Contents
from whygrad.autograd.anomaly_mode.examination import examined, found
from whygrad.autograd.anomaly_mode.findings import During, Finding, Memo, Trail, mark, trail_of
from whygrad.dispatch import quiet
from whygrad.errors import describe_call
from whygrad.source import Calls, Where, caller, callers
from whygrad.tensor import Tensor

if TYPE_CHECKING:
    from whygrad.dispatch.paths import Entry
    from whygrad.ops.define import Op
    from whygrad.tensor.graph.node import Node

__all__ = ["Suspect", "Watch", "given"]


@dataclass
class Suspect:
    """A finding, and the ``backward()`` that decided about it."""

    finding: Finding
    times: int = 1
    judged_at: Where | None = None
    harmful: bool = False


class Watch:
    """Sees every op call of a thread, and keeps what it found."""

    def __init__(self, check_nan: bool, allow_inf: bool) -> None:
        self.check_nan = check_nan
        self.allow_inf = allow_inf
        self.during: During | None = None  # the rule that a recorded backward pass is running
        self.contents = Contents()
        self.suspects: dict[Any, Suspect] = {}
        # By line: an in-place op copies its result to where the array is not known by its trail.
        self._by_line: dict[Where, Trail] = {}

    def __call__(self, op: Op, below: Entry, args: tuple[Any, ...]) -> Any:
        result = below(*args)
        if type(result) is Tensor:
            self._look(op, args, result)
        elif isinstance(result, tuple):
            for each in result:
                self._look(op, args, each)
        return result

    def _look(self, op: Op, args: tuple[Any, ...], out: Tensor) -> None:
        array, node = out._array, out._node
        fresh = type(array) is np.ndarray and op.kind != "view"
        if fresh:
            self.contents.allocated(array, args)
        if node is not None and node.plan is not None and node.extras.memo is None:
            node.extras.memo = Memo(callers(), self.during, self.contents.prints(node))
        if self.check_nan and fresh and not quiet.run(finite.all_finite, array):
            self._note(op, args, out)

    def _note(self, op: Op, args: tuple[Any, ...], out: Tensor) -> None:
        with np.errstate(all="ignore"):
            trail, finding = self._examined(op, args, out)
        mark(out._array, trail)
        self._by_line[caller()] = trail
        if finding is not None and self.during is None:
            self.suspect(finding)

    def _examined(self, op: Op, args: tuple[Any, ...], out: Tensor) -> tuple[Trail, Finding | None]:
        """Who is to blame for a result that is not finite; a finding if it is this call."""
        kind = finite.trouble(out._array)
        assert kind is not None
        operands = {
            name: (value, array)
            for name, value in _operands(op, args)
            if (array := _array(value)) is not None
        }
        where, calls, node = self._scene(out)
        return examined(
            op,
            out._array,
            kind,
            {
                name: array
                for name, (_, array) in operands.items()
                if op.kind == "elementwise" or name not in op.param_names
            },
            [
                self.trail(value, fed)
                for value, array in operands.values()
                if (fed := finite.trouble(array)) is not None
            ],
            where=where,
            calls=calls,
            during=self.during,
            call=describe_call(op.name, (*op.tensor_names, *op.param_names), args),
            node_reference=None if node is None else weakref.ref(node),
        )

    def _scene(self, out: Tensor) -> tuple[Where, Calls, Node | None]:
        """Where ``out`` was just computed, and the node of that call."""
        return caller(), callers(), out._node

    def trail(self, value: Any, kind: finite.Trouble) -> Trail:
        """Where the bad numbers of an operand come from."""
        known = trail_of(finite.numbers(value))
        if known is None and isinstance(value, Tensor):
            _, line = value._storage.last_writer or (None, None)
            known = None if line is None else self._by_line.get(line)
        return known or Trail(kind, (given(value, kind),))

    def suspect(self, finding: Finding) -> None:
        """Keep a finding for the report; the same line counts once."""
        known = self.suspects.get(_key(finding))
        self.suspects[_key(finding)] = Suspect(finding, 1 if known is None else known.times + 1)

    def blame(self, findings: tuple[Finding, ...], where: Where) -> None:
        """The backward pass at ``where`` failed because of these."""
        for finding in findings:
            self.suspects[_key(finding)] = Suspect(finding, 1, where, harmful=True)

    def clear(self, where: Where) -> None:
        """The backward pass at ``where`` found the loss and every gradient in order."""
        for suspect in self.suspects.values():
            suspect.judged_at = suspect.judged_at or where

    @property
    def harmless(self) -> list[Finding]:
        """What was not finite and yet reached neither a loss nor a gradient."""
        suspects = self.suspects.values()
        return [each.finding for each in suspects if each.judged_at and not each.harmful]

    def report(self) -> str:
        """Everything that was not finite, and whether it did harm, in words."""
        from whygrad.autograd.anomaly_mode.wording import report

        return report(list(self.suspects.values()))


def _key(finding: Finding) -> tuple[Any, ...]:
    return finding.name, finding.where, finding.kind


def _operands(op: Op, args: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Every tensor and number of a call, by name."""
    for name, value in zip((*op.tensor_names, *op.param_names), args, strict=False):
        if isinstance(value, (list, tuple)) and name in op.tensor_names:
            for index, each in enumerate(value):
                yield f"{name}[{index}]", each
        elif isinstance(value, (Tensor, float, int)) and not isinstance(value, bool):
            yield name, value


def _array(value: Any) -> Any:
    return finite.numbers(value) if isinstance(value, Tensor) else np.asarray(value)


def given(value: Any, kind: finite.Trouble, writer: str | None = None) -> Finding:
    """A number that no op made: data, or something written on purpose."""
    where = caller()
    if not isinstance(value, Tensor):
        writer = f"the number {value}"
    elif writer is None:
        last = value._storage.last_writer
        if last is not None:
            writer, where = last
        elif value._node is not None:
            where = value._node.where
    with np.errstate(all="ignore"):
        return found(_array(value), kind, where=where, writer=writer)
