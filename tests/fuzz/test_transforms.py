"""A bounded run of the programs of transforms, and what the fuzzer itself can do."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import whygrad
from tests.fuzz.transforms import excuses, lines
from tests.fuzz.transforms.draw import draw
from tests.fuzz.transforms.judge import difference, shrink
from tests.fuzz.transforms.program import Program
from tests.fuzz.transforms.words import run
from whygrad.autograd import views
from whygrad.func import tape

PROGRAMS = 40


@pytest.fixture(autouse=True)
def _pytorch_may_remark() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("block", range(2))
def test_random_programs_agree_with_pytorch(block: int) -> None:
    for number in range(PROGRAMS):
        program = draw(block * PROGRAMS + number)
        problem = difference(program)
        assert problem is None, f"\n{shrink(program)}\n-> {problem}"


def test_most_programs_are_compared() -> None:
    endings: Counter[str] = Counter()
    for seed in range(40):
        difference(draw(seed), endings)
    assert endings["compared"] > 25, endings


def test_programs_are_reproducible_python() -> None:
    assert draw(5) == draw(5)
    assert str(draw(5)) != str(draw(6))
    for seed in range(50):
        compile(str(draw(seed)), "<program>", "exec")


EVERY_VALUE = (*lines.VALUES, *lines.MATRIX_VALUES, *lines.FRESH, *lines.RANDOM)
EVERY_WRITE = (*lines.WRITES, *lines.MATRIX_WRITES)


@pytest.mark.parametrize("lib", [whygrad, torch], ids=["whygrad", "torch"])
def test_every_line_can_be_carried_out(lib: Any) -> None:
    """One that is always refused tests nothing."""
    for line in (*EVERY_VALUE, *EVERY_WRITE):
        body = ["a, b, n = x * 1, c, 3"]
        body.append(line if line in EVERY_WRITE else f"v = {line}")
        result = "a" if line in EVERY_WRITE else "v"
        run(Program(0, (2, 3), tuple(body), result, (), False), lib)


def _views_not_derived_anew(patch: Any) -> None:
    patch.setattr(views, "_look_again", lambda *_: None)


def _no_tangents_into_grad(patch: Any) -> None:
    patch.setattr(tape, "set_tangents", lambda *_: None)


@pytest.mark.parametrize("plant", [_views_not_derived_anew, _no_tangents_into_grad])
def test_a_planted_bug_is_found_and_shrunk(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[Any], None]
) -> None:
    plant(monkeypatch)
    found = next((seed for seed in range(300) if difference(draw(seed)) is not None), None)
    assert found is not None, "300 programs did not show it"
    small = shrink(draw(found))
    assert difference(small) is not None
    assert len(small.steps) <= 6, small


def test_every_excuse_says_why() -> None:
    for excuse in (*excuses.ONLY_WHYGRAD, *excuses.LOOP_REFUSES):
        assert len(excuse.__doc__ or "") > 40, excuse.__name__
