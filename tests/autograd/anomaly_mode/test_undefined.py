"""What the rows of the op table say is undefined, met by the program it is about."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

import whygrad as wg
from tests.autograd.anomaly_mode.catching import caught
from tests.autograd.tensors import leaf
from whygrad.ops.define import table

F = wg.nn.functional
Program = Callable[[Any], Any]

# by op: programs whose forward pass goes wrong at these numbers, and why
FORWARD_PROGRAMS: list[tuple[str, list[float], Program, str]] = [
    ("acos", [2.0], lambda x: x.acos(), "between −1 and 1 only"),
    ("acosh", [0.5], lambda x: x.acosh(), "from 1 upwards only"),
    ("addcdiv", [1.0], lambda x: wg.addcdiv(x, x, x * 0), "a division by 0"),
    ("asin", [-1.5], lambda x: x.asin(), "between −1 and 1 only"),
    ("atanh", [1.0], lambda x: x.atanh(), "infinite at ±1"),
    ("cast", [1e300], lambda x: x.float(), "too large for the new dtype"),
    ("cosh", [1e4], lambda x: x.cosh(), "larger than the dtype can hold"),
    (
        "cross_entropy",
        [1.0, 2.0],
        lambda x: F.cross_entropy((x * 0 - inf)[None], wg.tensor([0])),
        "every class of a sample has the score −inf",
    ),
    (
        "cross_entropy",
        [1.0, 2.0],
        lambda x: F.cross_entropy(x[None], wg.tensor([-100])),
        "the mean of nothing",
    ),
    ("div", [0.0], lambda x: x / x, "0 / 0 is not a number"),
    ("div", [0.0], lambda x: 1 / x, "a division by 0"),
    ("erfinv", [2.0], lambda x: x.erfinv(), "between −1 and 1 only"),
    ("erfinv", [1.0], lambda x: x.erfinv(), "infinite at ±1"),
    ("exp", [1e4], lambda x: x.exp(), "larger than the dtype can hold"),
    ("exp2", [1e4], lambda x: x.exp2(), "larger than the dtype can hold"),
    ("expm1", [1e4], lambda x: x.expm1(), "larger than the dtype can hold"),
    ("fmod", [1.0], lambda x: wg.fmod(x, x * 0), "a division by 0"),
    ("linalg_slogdet", [0.0], lambda x: x[None].slogdet()[1], "of a singular matrix is 0"),
    ("log", [0.0], lambda x: x.log(), "log(0) is −inf"),
    ("log", [-1.0], lambda x: x.log(), "no real logarithm"),
    ("log10", [-1.0], lambda x: x.log10(), "no real logarithm"),
    ("log1p", [-1.0], lambda x: x.log1p(), "needs x above −1"),
    ("log2", [0.0], lambda x: x.log2(), "log(0) is −inf"),
    ("log_softmax", [1.0, 2.0], lambda x: (x * 0 - inf).log_softmax(0), "every score of a row"),
    ("logit", [2.0], lambda x: x.logit(), "between 0 and 1 only"),
    ("mean", [1.0], lambda x: x[:0].mean(), "the mean of no elements"),
    ("mean", [1e308, 1e308], lambda x: x.mean(), "beyond 1.79e+308, the largest float64"),
    ("pow", [0.0], lambda x: x**-2, "0 to a negative power"),
    ("pow", [-1.0], lambda x: x**0.5, "no real power"),
    ("pow", [1e300], lambda x: x**2, "larger than the dtype can hold"),
    ("reciprocal", [0.0], lambda x: x.reciprocal(), "a division by 0"),
    ("remainder", [1.0], lambda x: wg.remainder(x, x * 0), "a division by 0"),
    ("rsqrt", [0.0], lambda x: x.rsqrt(), "a division by 0"),
    ("rsqrt", [-1.0], lambda x: x.rsqrt(), "no real square root"),
    ("sinh", [1e4], lambda x: x.sinh(), "larger than the dtype can hold"),
    ("softmax", [1.0, 2.0], lambda x: (x * 0 - inf).softmax(0), "every score of a row"),
    ("sqrt", [-1.0], lambda x: x.sqrt(), "no real square root"),
    ("softmax", [1.0, 2.0], lambda x: (x + inf).softmax(0), "inf went in"),
    ("std", [1.0], lambda x: x.std(), "n − 1 = 0"),
    ("std", [1e308, -1e308], lambda x: x.std(), "beyond 1.79e+308, the largest float64"),
    ("var", [1.0], lambda x: x.var(), "n − 1 = 0"),
    ("xlogy", [1.0], lambda x: wg.xlogy(x, x - 2), "no real logarithm"),
    ("xlogy", [1.0], lambda x: wg.xlogy(x, x * 0), "log(0) is −inf"),
]

# by op: programs with a finite value whose derivative is not finite
BACKWARD_PROGRAMS: list[tuple[str, list[float], Program, str]] = [
    ("acos", [1.0], lambda x: x.acos(), "infinite at ±1"),
    ("acosh", [1.0], lambda x: x.acosh(), "infinite at 1"),
    ("asin", [-1.0], lambda x: x.asin(), "infinite at ±1"),
    ("hypot", [0.0], lambda x: wg.hypot(x, x), "no slope at the origin"),
    ("linalg_eigh", [1.0, 1.0], lambda x: wg.linalg.eigh(x.diag())[1], "two of them are equal"),
    ("linalg_svd", [1.0, 1.0], lambda x: wg.linalg.svd(x.diag())[0], "two of them are equal"),
    ("pow", [0.0], lambda x: x**0.5, "infinite at 0 for p below 1"),
    ("sqrt", [0.0], lambda x: x.sqrt(), "infinite at 0"),
]

# the same after the value has been thrown away
DROPPED_PROGRAMS: list[tuple[str, list[float], Program, str]] = [
    ("addcdiv", [0.0], lambda x: wg.addcdiv(x, x + 1, x), "a division by 0"),
    ("atanh", [1.0], lambda x: x.atanh(), "infinite at ±1"),
    ("div", [0.0], lambda x: 1 / x, "a division by 0"),
    ("erfinv", [1.0], lambda x: x.erfinv(), "infinite at ±1"),
    ("fmod", [1.0], lambda x: wg.fmod(x, x * 0), "a division by 0"),
    ("log", [0.0], lambda x: x.log(), "infinite at 0"),
    ("log10", [0.0], lambda x: x.log10(), "infinite at 0"),
    ("log1p", [-1.0], lambda x: x.log1p(), "infinite at −1"),
    ("log2", [0.0], lambda x: x.log2(), "infinite at 0"),
    ("logit", [0.0], lambda x: x.logit(), "infinite at 0 and 1"),
    ("reciprocal", [0.0], lambda x: x.reciprocal(), "a division by 0"),
    ("remainder", [1.0], lambda x: wg.remainder(x, x * 0), "a division by 0"),
    ("rsqrt", [0.0], lambda x: x.rsqrt(), "a division by 0"),
    ("xlogy", [1.0], lambda x: wg.xlogy(x, x * 0), "infinite at 0"),
]


@pytest.mark.parametrize(("op", "values", "program", "why"), FORWARD_PROGRAMS)
def test_forward(watch: Any, op: str, values: list[float], program: Program, why: str) -> None:
    error = caught(program(leaf(*values)).sum().backward)
    assert (error.op, error.backward) == (op, False)
    assert why in str(error)


@pytest.mark.parametrize(("op", "values", "program", "why"), BACKWARD_PROGRAMS)
def test_backward(watch: Any, op: str, values: list[float], program: Program, why: str) -> None:
    error = caught(program(leaf(*values)).sum().backward)
    assert (error.op, error.backward) == (op, True)
    assert why in str(error)


@pytest.mark.parametrize(("op", "values", "program", "why"), DROPPED_PROGRAMS)
def test_dropped(watch: Any, op: str, values: list[float], program: Program, why: str) -> None:
    result = program(leaf(*values))
    error = caught(wg.where(result == 0.123, result, 0.0).sum().backward)
    assert error.op == op
    assert "does not choose" in str(error)
    assert why in str(error) or not error.backward


def test_every_row_is_met() -> None:
    said = [(op.name, case.backward) for op in table.values() for case in op.undefined]
    met = [(op, False) for op, *_ in FORWARD_PROGRAMS]
    met += [(op, True) for op, *_ in BACKWARD_PROGRAMS + DROPPED_PROGRAMS]
    assert set(said) == set(met)


def test_an_overflow_is_no_fractional_power(watch: Any) -> None:
    error = caught((leaf(-1e200) ** 2).sum().backward)
    assert "larger than the dtype can hold" in str(error)
