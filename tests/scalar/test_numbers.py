"""What a ``Value`` is as a number: comparisons, operands of other types, and what it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import whygrad
from whygrad import Value
from whygrad.scalar.numbers import CAUSES

nan, inf = math.nan, math.inf


def test_compares_by_value() -> None:
    small, large, again = Value(1.0), Value(2.0), Value(2.0)
    assert small < large
    assert large <= again
    assert large == again
    assert large == 2
    assert not large != again  # noqa: SIM202
    assert large >= 2.0
    assert 1.5 > small  # noqa: SIM300
    assert 3 != large  # noqa: SIM300
    assert np.float64(1.5) < large
    assert max(small, large) is large
    assert min([large, small]) is small
    assert sorted([large, small])[0] is small
    assert len({small, large, again}) == 3
    assert small != "1"
    assert small != None  # noqa: E711
    assert Value(nan) != Value(nan)
    assert not Value(nan) >= 1.0
    with pytest.raises(TypeError, match="not supported between"):
        assert small < "1"


@pytest.mark.parametrize(
    "number", [2, 2.0, True, Fraction(2), np.float32(2), np.float64(2), np.int64(2), np.uint8(2)]
)
def test_numbers_on_either_side(number: Any) -> None:
    x = Value(3.0)
    plain = float(number)
    for made, expected in (
        (x + number, 3 + plain), (number + x, 3 + plain), (x - number, 3 - plain),
        (number - x, plain - 3), (x * number, 3 * plain), (number * x, 3 * plain),
        (x / number, 3 / plain), (number / x, plain / 3), (x**number, 3**plain),
        (number**x, plain**3), (x.max(number), 3.0), (x.min(number), plain),
        (Value(number), plain),
    ):  # fmt: skip
        assert type(made) is Value
        assert type(made.data) is float
        assert all(type(slope) is float or slope == 0 for slope in made._slopes)
        assert made.data == pytest.approx(expected, rel=1e-15)


def test_looks_like_a_number() -> None:
    x = Value(2.5, label="x")
    assert float(x) == 2.5
    assert repr(x) == "Value(data=2.5, grad=0.0, label='x')"
    assert repr(x * 2) == "Value(data=5.0, grad=0.0)"
    assert f"{x:.3f}" == "2.500"
    assert f"{x}" == repr(x)
    assert not Value(0)
    assert math.sqrt(Value(9)) == 3.0
    y = x + 1
    y.label = "y"
    assert "label='y'" in repr(y)


REFUSED = [
    (lambda: Value(0.0).log(), ValueError, "log(0)", "only a positive number has a real logarithm"),
    (lambda: Value(-2.0).log(), ValueError, "log(-2)", "only a positive number"),
    (lambda: Value(-1.0).sqrt(), ValueError, "sqrt(-1)", "a negative number has no real square"),
    (lambda: Value(0.0) ** -1, ZeroDivisionError, "0 ** -1", "zero to a negative power divides"),
    (lambda: 0 ** Value(-1.0), ZeroDivisionError, "0 ** -1", "zero to a negative power divides"),
    (lambda: Value(-8.0) ** (1 / 3), ValueError, "-8 ** 0.333333", "a negative number to a fract"),
    (lambda: Value(1e200) ** 2, OverflowError, "1e+200 ** 2", "beyond the largest float"),
    (lambda: Value(1.0) / 0, ZeroDivisionError, "1 / 0", "the divisor is zero"),
    (lambda: 1 / Value(0.0), ZeroDivisionError, "1 / 0", "the divisor is zero"),
    (lambda: Value(710.0).exp(), OverflowError, "exp(710)", "exp ends at 709.78"),
    (lambda: Value(inf).sin(), ValueError, "sin(inf)", "infinity is not an angle"),
    (lambda: Value(-inf).cos(), ValueError, "cos(-inf)", "infinity is not an angle"),
    (lambda: Value("2"), TypeError, "Value('2')", "with numbers and Values, not with str"),
    (lambda: Value(None), TypeError, "Value(None)", "not with NoneType"),  # type: ignore[arg-type]
    (lambda: Value(1j), TypeError, "Value(1j)", "not with complex"),  # type: ignore[arg-type]
    (lambda: Value(1.0) + "2", TypeError, "a Value + '2'", "not with str"),
    (lambda: {1} + Value(1.0), TypeError, "a Value + {1}", "not with set"),
    (lambda: None * Value(1.0), TypeError, "a Value * None", "not with NoneType"),
    (lambda: Value(1.0) - None, TypeError, "a Value - None", "not with NoneType"),
    (lambda: Value(1.0) / "a", TypeError, "a Value / 'a'", "not with str"),
    (lambda: Value(1.0) ** [], TypeError, "a Value ** []", "not with list"),
    (lambda: Value(1.0).max("a"), TypeError, "a Value max 'a'", "not with str"),
    (lambda: np.ones(3) * Value(1.0), TypeError, "a Value * float64[3]", "not with ndarray"),
    (lambda: Value(1.0) * whygrad.ones(2), TypeError, "a Value * float32[2]", "not with Tensor"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "restated", "cause"), REFUSED)
def test_refused(call: Callable[[], Any], kind: type[Exception], restated: str, cause: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    first, why, fix, line = str(caught.value).splitlines()
    assert first == restated
    assert why.startswith("  cause: ")
    assert cause in why
    assert fix.startswith("  fix:   ")
    assert line.startswith("  at:    ")
    assert "test_numbers.py" in line


def test_every_cause_is_tested() -> None:
    known = {cause for cause, _ in CAUSES.values()}
    messages = []
    for call, kind, _, _ in REFUSED:
        with pytest.raises(kind) as caught:
            call()
        messages.append(str(caught.value).splitlines()[1].removeprefix("  cause: "))
    assert known <= set(messages)
