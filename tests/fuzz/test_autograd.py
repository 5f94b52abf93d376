"""A bounded run of the programs over everything autograd has, and what the fuzzer itself can do."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, product
from typing import Any

import pytest
import torch

import whygrad
from tests.fuzz.autograd import judge, lines
from tests.fuzz.autograd.draw import draw
from tests.fuzz.autograd.excuses import left_out, only_pytorch, only_whygrad, other_gradients
from tests.fuzz.autograd.judge import difference, shrink
from tests.fuzz.autograd.program import Leaf, Program, Step
from tests.fuzz.autograd.session import Session
from whygrad.autograd import arrivals, views
from whygrad.autograd.hooks import nodes as hooks
from whygrad.autograd.recompute.inputs import Memory
from whygrad.errors import fail
from whygrad.ops.inplace import writing
from whygrad.tensor.graph.node import Node

PROGRAMS = 40


@pytest.fixture(autouse=True)
def _pytorch_may_remark() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.mark.parametrize("block", range(10))
def test_random_programs_agree_with_pytorch(block: int) -> None:
    for number in range(PROGRAMS):
        program = draw(block * PROGRAMS + number)
        problem = difference(program)
        assert problem is None, f"\n{shrink(program)}\n-> {problem}"


def test_most_programs_are_compared_to_the_end() -> None:
    endings: Counter[str] = Counter()
    for seed in range(100):
        difference(draw(seed), endings)
    assert endings["compared to the end"] > 70, endings


def test_programs_are_reproducible() -> None:
    assert draw(5) == draw(5)
    assert str(draw(5)) != str(draw(6))


def test_a_program_prints_as_python() -> None:
    for seed in range(50):
        compile(str(draw(seed)), "<program>", "exec")


# Every line works in both libraries for some operands; one that is always refused tests nothing.
LEAVES = (Leaf((2, 2), True), Leaf((1,), False), Leaf((2, 2), False), Leaf((3, 2), False))
EVERYTHING = [*lines.VALUES, *lines.VIEWS, *lines.WRITES, *lines.MARKS, *lines.PASSES,
              *lines.GRADIENTS]  # fmt: skip
BEFORE = (Step(4, "a.clone()", 0, 0), Step(5, "loss(a, b).backward(retain_graph=True)", 0, 4),
          Step(6, "keep(a.register_hook(observe()))", 0, 0))  # fmt: skip


@pytest.mark.parametrize("line", dict.fromkeys(EVERYTHING))
@pytest.mark.parametrize("lib", [whygrad, torch], ids=["whygrad", "torch"])
def test_every_line_is_carried_out_somewhere(lib: Any, line: str) -> None:
    refusals = []
    for a, b in product((4, 3, 2, 0), (4, 1)):
        session = Session(Program(0, LEAVES, BEFORE), lib)
        for step in BEFORE:
            session.attempt(step)
        refusals.append(session.attempt(Step(7, line, a, b)))
        if refusals[-1] is None:
            return
    raise AssertionError(refusals)


def broken(name: str, *expected: str) -> Any:
    """A planted bug: who plants it, and what the smallest program must contain."""
    return lambda plant: pytest.param(plant, expected, id=name)


def _never(*_: Any, **__: Any) -> None:
    """What should be done is not done."""


@broken("a view that is not derived anew", r"\.(data|detach)|\[|view|_\(|op\(")
def _forgets_views(patch: Any) -> None:
    patch.setattr(views, "_look_again", _never)


@broken("a saved value that is not guarded", r"_\(|\] \S?= | \S?= ")
def _guards_nothing(patch: Any) -> None:
    patch.setattr(Node, "check_versions", _never)


@broken("a hook that is not called", r"hook\(")
def _calls_no_hook(patch: Any) -> None:
    patch.setattr(hooks.Hook, "__call__", _never)


@broken("a gradient that replaces the one before", r"backward\(")
def _does_not_accumulate(patch: Any) -> None:
    def replaces(tensor: Any, gradient: Any, *_: Any) -> None:
        tensor._grad = gradient

    patch.setattr(arrivals, "add_to_grad", replaces)


@broken("a recomputation from other values", r"checkpoint\(")
def _recomputes_something_else(patch: Any) -> None:
    take = Memory.take
    patch.setattr(Memory, "take", lambda self: take(self)._replace(array=self.array * 1.5))


@broken("a write that is refused for no reason", r"_\(|\] \S?= | \S?= ")
def _refuses_writes(patch: Any) -> None:
    def refuse(*_: Any) -> None:
        raise fail(RuntimeError, call="a write", cause="no reason", fix="none")

    patch.setattr(writing, "check_writable", refuse)


@broken("a write before its check", r"_\(|\] \S?= | \S?= ")
def _writes_before_checking(patch: Any) -> None:
    check = writing.check_writable

    def late(target: Any, *args: Any, **kwargs: Any) -> None:
        target._array[...] = 0.125
        check(target, *args, **kwargs)

    patch.setattr(writing, "check_writable", late)


@broken("an error without an explanation", r"_\(|\] \S?= | \S?= ")
def _raises_raw(patch: Any) -> None:
    def refuse(*_: Any) -> None:
        raise KeyError("base")

    patch.setattr(writing, "check_writable", refuse)


BUGS = [_forgets_views, _guards_nothing, _calls_no_hook, _does_not_accumulate,
        _recomputes_something_else, _refuses_writes, _writes_before_checking,
        _raises_raw]  # fmt: skip


@pytest.mark.parametrize(("plant", "expected"), BUGS)
def test_a_planted_bug_is_found_and_shrunk(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[Any], None], expected: tuple[str, ...]
) -> None:
    plant(monkeypatch)
    found = next((seed for seed in range(600) if difference(draw(seed)) is not None), None)
    assert found is not None, "600 programs did not show it"
    small = shrink(draw(found))
    assert difference(small) is not None
    assert len(small.steps) <= 4, small
    assert all(re.search(each, str(small)) for each in expected), small


def test_every_excuse_says_why() -> None:
    tables = (
        left_out.REASONS,
        only_whygrad.EXCUSES,
        only_pytorch.EXCUSES,
        other_gradients.EXCUSES,
    )
    for excuse in chain(*tables):
        assert len(excuse.__doc__ or "") > 40, excuse.__name__


def test_finite_differences_judge_where_pytorch_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch saved the result of prod, whygrad did not: is whygrad's gradient right?"""
    steps = (Step(1, "a.prod(0)", 0, 0), Step(2, "a.mul_(0.5)", 1, 1))
    program = Program(0, (Leaf((3,), True),), steps)
    endings: Counter[str] = Counter()
    assert difference(program, endings) is None
    assert list(endings) == ["only PyTorch refuses the last backward"]
    gradients = judge.Ending.gradients
    monkeypatch.setattr(
        judge.Ending,
        "gradients",
        lambda self, session: (
            [each * 2 for each in gradients(self, session)]
            if session.lib is whygrad
            else gradients(self, session)
        ),
    )
    assert "by finite differences" in (difference(program) or "")
