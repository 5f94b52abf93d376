"""Both libraries, step by step: the first difference in words.

After every step the libraries must agree in what they refused, in values, in what requires grad,
in what hooks saw and in ``.grad``.  A refused step changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np
import torch

import whygrad
from tests.conformance.harness import as_numpy
from tests.fuzz.autograd.ending import Ending
from tests.fuzz.autograd.excuses import only_pytorch, only_whygrad, other_gradients, states
from tests.fuzz.autograd.excuses.case import Case, Excuse
from tests.fuzz.autograd.excuses.left_out import is_left_out, partial_overlap
from tests.fuzz.autograd.numeric import compare_with_numbers
from tests.fuzz.autograd.program import Program, Step
from tests.fuzz.autograd.session import Session
from tests.fuzz.autograd.words import Skip
from whygrad.errors import explained

__all__ = ["difference", "shrink"]

LIMIT = 1e4  # larger numbers only test how rounding errors grow


class Difference(Exception):
    """The libraries do not agree."""


class Finished(Exception):
    """Nothing more can be compared, and why."""


def difference(program: Program, endings: Counter[str] | None = None) -> str | None:
    """None if the libraries agree, else the first difference; ``endings`` counts how it ended."""
    try:
        Judge(program).follow()
        ending = "compared to the end"
    except Difference as found:
        return str(found)
    except Finished as reason:
        ending = str(reason)
    if endings is not None:
        endings[ending] += 1
    return None


def shrink(program: Program) -> Program:
    """Drop steps while a difference stays."""
    for position in reversed(range(len(program.steps))):
        smaller = program.without(position)
        if difference(smaller) is not None:
            return shrink(smaller)
    settled = program.settled()
    return program if difference(settled) is None else settled


class Judge:
    """One program on both libraries."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.mine = Session(program, whygrad)
        self.theirs = Session(program, torch)
        self.done: list[Step] = []
        self.precision = _precision(program)

    def follow(self) -> None:
        """Raise Difference or Finished, or do nothing if all agrees to the end."""
        with self.mine.surroundings(), self.theirs.surroundings():
            self.follow_inside()

    def follow_inside(self) -> None:
        for step in self.program.steps:
            if is_left_out(step, self.mine, self.theirs):
                continue
            if self.take(step):
                self.done.append(step)
                try:
                    self.compare(step)
                except Difference as found:
                    raise Difference(f"{step.text()}\n   {found}") from None
        self.take_last()

    @property
    def so_far(self) -> Program:
        return replace(self.program, steps=tuple(self.done))

    def case(self, step: Step | None, **details: Any) -> Case:
        return Case(self.so_far, step, self.mine, self.theirs, **details)

    def take(self, step: Step) -> bool:
        """Whether both libraries carried out the step."""
        backward = step.role in ("pass", "gradient")
        if backward:
            self.finish_if(states.hooks_of_a_view_lost)
        values = self.mine.pool.values()
        nodes = [each._node for each in values]
        before = [_state(each) for each in values] if step.role in ("write", "mark") else None
        their_refusal = self.theirs.attempt(step)
        if their_refusal is not None and partial_overlap(their_refusal):
            return False
        refusal = self.mine.attempt(step)
        if refusal is None and their_refusal is None:
            if step.role == "write":
                self.mine.note_write(step, nodes)
            return True
        if refusal is None or (isinstance(refusal, Skip) and not isinstance(their_refusal, Skip)):
            self.excuse(self.case(step, error=their_refusal), only_pytorch.EXCUSES)
            raise Difference(f"{step.text()}: only PyTorch refuses: {their_refusal}")
        if before is not None and [_state(each) for each in values] != before:
            raise Difference(f"{step.text()}: refused, and something changed: {refusal}")
        if _is_raw(refusal):
            raise Difference(f"{step.text()}: raw {type(refusal).__name__}: {refusal}")
        if their_refusal is None:
            self.excuse(self.case(step, error=refusal), only_whygrad.EXCUSES)
            raise Difference(f"{step.text()}: only whygrad refuses: {refusal}")
        if step.role == "write":
            self.finish_if_half_written()
        if "don't yet support saved tensor hooks" in str(their_refusal):
            # In a checkpoint PyTorch stops there; whygrad went on, and left hooks behind.
            raise Finished("a region that each refuses at a line of its own")
        if step.role == "gradient":
            self.finish_if_hooks_ran()
        if backward and not _before_anything_ran(their_refusal):
            raise Finished("a backward in the middle is refused by both")  # PyTorch's is half done
        return False

    def excuse(self, case: Case, known: tuple[Excuse, ...]) -> None:
        for excuse in known:
            if excuse(case):
                raise Finished(excuse.__name__)

    def finish_if(self, excuse: Callable[[Session], bool]) -> None:
        if excuse(self.theirs):
            raise Finished(excuse.__name__)

    def finish_if_half_written(self) -> None:
        """PyTorch's masked_scatter_ counts its source while it writes, for example."""
        for number, tensor in self.mine.pool.items():
            ours, other = as_numpy(tensor), as_numpy(self.theirs.pool[number])
            if ours.shape != other.shape or not np.allclose(ours, other, equal_nan=True):
                raise Finished("a write that PyTorch refused half way")

    def finish_if_hooks_ran(self) -> None:
        """PyTorch runs the hooks of a root that leads to nothing; whygrad walks nowhere."""
        try:
            self.compare_gradients()
            self.compare_events()
        except Difference:
            raise Finished("hooks of a root that leads to nothing") from None

    def compare(self, step: Step) -> None:
        if step.role == "value":
            self.compare_state(step, step.number)
            return
        try:
            for number in self.mine.pool:
                self.compare_state(step, number)
            self.compare_gradients()
            self.compare_events()
        except Difference:
            if step.role in ("pass", "gradient"):
                self.excuse(self.case(step), other_gradients.EXCUSES)
            raise

    def compare_state(self, step: Step, number: int) -> None:
        """What a value is, apart from its gradient."""
        ours, other = self.mine.pool[number], self.theirs.pool[number]
        self.compare_values(f"t{number}", ours, other)
        if states.constant_derivative(step, ours, other):
            raise Finished(states.constant_derivative.__name__)
        self.compare_flags(f"t{number}", ours, other)
        if self.program.has_duals:
            self.compare_tangents(step, f"the tangent of t{number}", ours, other)

    def compare_tangents(self, step: Step, name: str, ours: Any, other: Any) -> None:
        try:
            theirs = self.theirs.tangent(other)
        except RuntimeError:
            return  # see only_pytorch.unreadable_part
        if states.tangent_dropped(step, theirs):
            raise Finished(states.tangent_dropped.__name__)
        mine = self.mine.tangent(ours)
        if mine is None and (theirs is None or not theirs.any()):  # zeros may be None
            return
        self.compare_values(name, mine, None if theirs is None else theirs.to(other.dtype))

    def compare_gradients(self) -> None:
        for number in self.mine.collecting():
            ours, other = self.mine.pool[number], self.theirs.pool[number]
            if not self.mine.written_unseen(ours):
                self.compare_values(f"t{number}.grad", ours.grad, other.grad)
                self.compare_recorded(f"t{number}.grad", ours.grad, other.grad)

    def compare_recorded(self, name: str, ours: Any, other: Any) -> None:
        """Whether a gradient can be differentiated again."""
        if ours is not None and ours.requires_grad != other.requires_grad:
            if other.requires_grad and states.leads_nowhere(other):
                return
            recorded = f"{ours.requires_grad} against {other.requires_grad}"
            raise Difference(f"{name}.requires_grad is {recorded}")

    def compare_values(self, name: str, ours: Any, other: Any) -> None:
        if ours is None or other is None:
            if ours is not other:
                raise Difference(f"{name}: {ours} against {other}")
            return
        a, b = as_numpy(ours), as_numpy(other)
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Difference(f"{name}: {a.dtype}{list(a.shape)} against {b.dtype}{list(b.shape)}")
        if not b.size:
            return
        scale = float(np.abs(b).max())
        if not scale < LIMIT:
            raise Finished("the numbers became too large")
        if not np.abs(a - b).max() <= self.precision * max(scale, 1.0):
            raise Difference(f"{name}:\n{a} against\n{b}")

    def compare_flags(self, name: str, ours: Any, other: Any) -> None:
        try:
            leaf = other.is_leaf  # PyTorch brings the history of a view up to date when asked
        except RuntimeError:
            return  # it cannot: see only_pytorch.unreadable_part
        if other.requires_grad and not ours.requires_grad and states.leads_nowhere(other):
            return
        for excuse in (states.view_older_than_leaf, states.cut_off_by_a_data_write):
            if other.requires_grad and not ours.requires_grad and excuse(ours, other):
                raise Finished(excuse.__name__)
        for flag, a, b in (
            ("requires_grad", ours.requires_grad, other.requires_grad),
            ("is_leaf", ours.is_leaf, leaf),
            ("retains_grad", ours.retains_grad, other.retains_grad and not leaf),
        ):
            if a != b:
                raise Difference(f"{name}.{flag} is {a} against {b}")

    def compare_events(self) -> None:
        ours, others = self.mine.words.events, self.theirs.words.events
        if self.precision > 1e-4 or states.derived_in_another_order(self.theirs):
            # With several dtypes, conversions are nodes of whygrad's that come in between.
            ours.sort(key=itemgetter(0))
            others.sort(key=itemgetter(0))
        names, others_names = [name for name, _ in ours], [name for name, _ in others]
        if names != others_names:
            raise Difference(f"hooks ran in the order {names} against {others_names}")
        for (name, a), (_, b) in zip(ours, others, strict=True):
            if len(a) != len(b):
                raise Difference(f"{name} saw {len(a)} gradients against {len(b)}")
            for each, other in zip(a, b, strict=True):
                self.compare_values(f"what {name} saw", each, other)
        ours.clear()
        others.clear()

    def take_last(self) -> None:
        """Gradients of everything, at the end."""
        ending = Ending.of(self.program, self.mine)
        if not ending.asking:
            raise Finished("nothing requires grad at the end")
        self.finish_if(states.hooks_of_a_view_lost)
        ours, others = ending.gradients(self.mine), ending.gradients(self.theirs)
        if isinstance(ours, Exception):
            if not explained(ours):
                raise Difference(f"backward: raw {type(ours).__name__}: {ours}")
            if isinstance(others, Exception):
                raise Finished("the last backward is refused by both")
            self.excuse(self.case(None, error=ours), only_whygrad.EXCUSES)
            raise Difference(f"backward: only whygrad refuses: {ours}")
        if isinstance(others, Exception):
            self.ask_numbers(ours, f"PyTorch: {others}")
            raise Finished("only PyTorch refuses the last backward")
        try:
            for position, (a, b) in enumerate(zip(ours, others, strict=True)):
                self.compare_values(f"gradient {position}", a, b)
            self.compare_events()
        except Difference:
            self.ask_numbers(ours, "PyTorch does not agree")
            self.excuse(self.case(None, gradients=ours), other_gradients.EXCUSES)
            raise

    def ask_numbers(self, gradients: list[Any], remark: str) -> None:
        problem = compare_with_numbers(self.so_far, gradients)
        if problem is not None:
            raise Difference(f"{problem}; {remark}")


def _precision(program: Program) -> float:
    if any(leaf.dtype != "float64" for leaf in program.leaves):
        return 2e-3
    return 1e-7 if any(step.line.startswith("op(") for step in program.steps) else 1e-9


def _is_raw(refusal: Any) -> bool:
    """An error that whygrad does not explain, and that is not of the line's own making."""
    return not (explained(refusal) or isinstance(refusal, Skip) or refusal.of_the_line)


def _before_anything_ran(refusal: Exception | None) -> bool:
    return isinstance(refusal, Skip) or "require grad" in str(refusal)


def _state(tensor: Any) -> tuple[Any, ...]:
    version = None if tensor.is_inference() else tensor._version
    return tensor._array.tobytes(), version, id(tensor._node), tensor._slot, tensor._keys
