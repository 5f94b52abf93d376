"""A bounded run of the fuzzer; ``make fuzz`` runs longer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.fuzz.ops.compare import difference, shrink
from tests.fuzz.ops.generate import EXCLUDED, Generator
from tests.fuzz.ops.program import STATES, Program, Step
from whygrad.ops.define import table

PROGRAMS = 25


@pytest.fixture(autouse=True)
def _pytorch_may_remark() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.fixture(scope="module")
def generator() -> Generator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Generator()


@pytest.mark.parametrize("block", range(16))
def test_random_programs_agree_with_pytorch(generator: Generator, block: int) -> None:
    for number in range(PROGRAMS):
        program = generator.draw(1_000_000 + block * PROGRAMS + number)
        problem = difference(program)
        assert problem is None, f"\n{shrink(program)}\n-> {problem}"


def test_programs_are_reproducible(generator: Generator) -> None:
    assert str(generator.draw(5)) == str(generator.draw(5))


def test_excluded_ops_exist() -> None:
    assert set(EXCLUDED) <= set(table), "an exclusion that excludes nothing"


def test_a_wrong_rule_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    op = table["sin"]
    monkeypatch.setattr(op, "vjp", {"x": lambda xp, incoming, x: incoming * xp.sin(x)})
    monkeypatch.setattr(op, "_plans", {})
    op.table.clear()
    try:
        steps = [
            Step("scale", (0,), (2.0,)),
            Step("op", (0,), ("sin", 0, 0)),
            Step("sum", (0,), (0,)),
        ]
        program = Program(0, [((3,), "float64", True)], steps)
        assert "gradient of leaf 0" in (difference(program) or "")
        assert [step.kind for step in shrink(program).steps] == ["op"]
    finally:
        op.table.clear()


@pytest.mark.parametrize("kind", ["out", "dtype", "pattern"])
def test_options_and_extremes_are_drawn(generator: Generator, kind: str) -> None:
    drawn = [step for seed in range(150) for step in generator.draw(seed).steps]
    assert sum(step.kind == kind for step in drawn) > 3


def test_a_write_outside_a_view_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = STATES["gaps"]

    def crowded(lib: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        whole, target = gaps(lib, shape, dtype)
        return (whole + 1, target) if lib is whygrad else (whole, target)

    monkeypatch.setitem(STATES, "gaps", crowded)
    program = Program(0, [((3,), "float64", True)], [Step("out", (0,), ("sin", 0, "gaps"))])
    assert "t1" in (difference(program) or "")


def test_numbers_stay_comparable(generator: Generator) -> None:
    """The generator keeps to numbers whose rounding says nothing."""
    drawn = [generator.draw(seed) for seed in range(30)]
    lengths = [len(program.steps) for program in drawn]
    assert np.mean(lengths) > 2, "most steps were thrown away"
