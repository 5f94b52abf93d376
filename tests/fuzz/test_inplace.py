"""A bounded run of the programs that write in place."""

from __future__ import annotations

import pytest

import whygrad
from tests.fuzz.inplace import WRITERS, Program, Step, difference, draw, shrink
from whygrad.autograd import views

PROGRAMS = 100


@pytest.mark.parametrize("block", range(6))
def test_writes_agree_with_pytorch(block: int) -> None:
    for number in range(PROGRAMS):
        program = draw(block * PROGRAMS + number)
        problem = difference(program)
        assert problem is None, f"\n{shrink(program)}\n-> {problem}"


@pytest.mark.parametrize("kind", WRITERS)
def test_every_write_is_carried_out_somewhere(kind: str) -> None:
    """A writer that is always refused would test nothing."""
    target = whygrad.rand(2, 2, dtype=whygrad.float64)
    before = target._version
    WRITERS[kind](whygrad, target, whygrad.rand(1, dtype=whygrad.float64))
    assert target._version > before


def test_a_missing_check_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "_look_again", lambda *_: None)
    steps = (
        Step("a * 0.5", 0, 0, True),
        Step("sin(a)", 0, 0, True),
        Step("view_as(a)", 1, 0, True),
        Step("a.mul_(0.5)", 3, 0, True),
    )
    program = Program(0, (3,), (True,), steps)
    assert difference(program) is not None
    assert [step.kind for step in shrink(program).steps][-2:] == ["view_as(a)", "a.mul_(0.5)"]
