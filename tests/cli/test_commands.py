"""What a person sees in the terminal."""

from __future__ import annotations

import re
from functools import cache

import pytest
from click.testing import CliRunner

from whygrad.cli.commands import cli


@cache
def whygrad(*args: str, width: int = 100) -> str:
    result = CliRunner(env={"COLUMNS": str(width)}).invoke(cli, args)
    assert result.exit_code == 0, result.output
    return result.output


def test_tour_walks_the_diamond() -> None:
    output = whygrad("tour")
    for text in (
        "L = e * f",
        "MulBackward of L",
        "a ← 10, c ← -10",
        "a ← -6, b ← -4",
        "∂L/∂a = 4, ∂L/∂b = -4, ∂L/∂c = -12",
        "diamond.py:6",
        "hidden_nan.py:5",
        "double where",
        "overwritten.py:6",
        "overwritten.py:5",
    ):
        assert text in output, text


def test_tour_trains_digits() -> None:
    (accuracy,) = re.findall(r"([\d.]+)% of the test digits are read right", whygrad("tour"))
    assert float(accuracy) >= 97


def test_tour_ends_with_the_doctor_on_the_broken_loop() -> None:
    output = whygrad("tour").partition("It prints:")[2]
    assert "\n70 nan\n" in output
    for rule in ("nan-from-log", "missing-zero-grad", "lr-too-high", "outlier-batch"):
        assert rule in output, rule
    assert "4 causes" in output


@pytest.mark.parametrize("width", [80, 100, 140])
def test_tour_fits_the_terminal(width: int) -> None:
    assert max(map(len, whygrad("tour", width=width).splitlines())) <= width


def test_ops_answers_from_the_table_that_runs() -> None:
    def saves(name: str) -> str:
        line = next(x for x in whygrad("ops", name).splitlines() if x.startswith("backward saves"))
        return line.removeprefix("backward saves").strip()

    assert saves("add") == "nothing"
    assert saves("mul") == "input a, input b"
    assert saves("softmax") == "output y"
    assert saves("gelu") == "input x"


def test_ops_lists_every_family() -> None:
    from whygrad.ops.define import table

    output = whygrad("ops", width=200)
    for op in table.values():
        assert op.name in output
        assert f"{op.family} (" in output


def test_ops_one_family() -> None:
    output = whygrad("ops", "--family", "activation")
    assert "relu" in output
    assert "matmul" not in output


def test_unknown_names_get_a_hint() -> None:
    result = CliRunner().invoke(cli, ["ops", "gelo"])
    assert result.exit_code != 0
    assert "did you mean gelu" in result.output
    result = CliRunner().invoke(cli, ["ops", "--family", "nonsense"])
    assert result.exit_code != 0
    assert "there are: " in result.output
