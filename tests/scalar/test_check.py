"""Finite differences for functions of one Value."""

from __future__ import annotations

import math
from typing import Any

import pytest

from whygrad import Value
from whygrad.scalar.check import check_gradient, numeric_gradient
from whygrad.scalar.value import result


def log_sigmoid(x: Any) -> Any:
    return x.sigmoid().log()


@pytest.mark.parametrize("x", [-20.0, -3.0, -0.5, 0.0, 1.0, 4.0])
def test_log_sigmoid(x: float) -> None:
    leaf = Value(x)
    log_sigmoid(leaf).backward()
    assert leaf.grad == pytest.approx(1 / (1 + math.exp(x)), rel=1e-12)
    assert numeric_gradient(log_sigmoid, x) == pytest.approx(leaf.grad, abs=1e-8)
    assert check_gradient(log_sigmoid, x).ok


def test_epsilon_is_the_callers_choice() -> None:
    assert numeric_gradient(lambda x: x**3, 2.0, epsilon=0.5) == 12.25
    assert numeric_gradient(lambda x: x**3, 2.0, epsilon=1e-4) == pytest.approx(12, rel=1e-8)


@pytest.mark.parametrize("x", [-2.0, 0.5, 3.0])
def test_one_epsilon_too_large_and_one_too_small(x: float) -> None:
    check = check_gradient(log_sigmoid, x)
    assert 1e-1 in check.too_large
    assert 1e-12 in check.too_small
    assert max(check.too_small) < check.best.epsilon < min(check.too_large)
    assert 1e-7 < check.best.epsilon < 1e-3
    for epsilon in (*check.too_large, *check.too_small):
        error = abs(numeric_gradient(log_sigmoid, x, epsilon) - check.gradient)
        assert error > 100 * check.best.error


def test_a_parabola_has_no_truncation() -> None:
    check = check_gradient(lambda x: x * x, 3.0)
    assert check.ok
    assert check.too_large == ()
    assert check.best.epsilon == 0.1


def test_table() -> None:
    lines = str(check_gradient(log_sigmoid, 0.5, epsilons=(1e-1, 1e-4, 1e-5, 1e-6, 1e-13))).split(
        "\n"
    )
    assert lines[0] == "at x = 0.5, backward() gives 0.377540668798"
    assert lines[2] == "epsilon  centred difference     error"
    assert lines[3] == "  1e-01       0.37763650957   9.6e-05  too large: truncation"
    assert lines[5].startswith("  1e-05")
    assert lines[5].endswith("best")
    assert lines[7].startswith("  1e-13")
    assert lines[7].endswith("too small: cancellation")
    assert lines[-1].startswith("they agree to ")
    assert lines[-1].endswith(" with epsilon 1e-05")
    assert max(map(len, lines)) <= 80


def test_a_wrong_rule_is_caught() -> None:
    def wrong_square(x: Value) -> Value:
        return result(x.data**2, "square", (x,), (x.data,))

    check = check_gradient(wrong_square, 3.0)
    assert not check.ok
    assert check.too_large == check.too_small == ()
    assert "none comes closer than 1.0e+00: the gradient is wrong" in str(check)
    assert "best" not in str(check)


def test_a_kink() -> None:
    assert not check_gradient(lambda x: x.relu(), 0.0).ok
    assert "or f has a kink near x" in str(check_gradient(lambda x: x.relu(), 0.0))


def test_steps_out_of_the_domain() -> None:
    check = check_gradient(lambda x: x.log(), 0.05)
    assert check.ok
    assert math.isnan(check.steps[0].estimate)
    assert "f is not defined on both sides" in str(check)


def test_large_arguments() -> None:
    """Where the smallest epsilons vanish in x + epsilon."""
    assert check_gradient(lambda x: x**3, 2000.0).ok


def test_constants() -> None:
    assert check_gradient(lambda x: 5.0, 1.0).gradient == 0.0
    assert check_gradient(lambda x: 5.0, 1.0).ok


def test_refused() -> None:
    for epsilon in (0.0, -1e-3, math.nan):
        with pytest.raises(ValueError, match=r"epsilon is a distance, so it must be positive"):
            numeric_gradient(log_sigmoid, 1.0, epsilon)
        with pytest.raises(ValueError, match=r"epsilon is a distance, so it must be positive"):
            check_gradient(log_sigmoid, 1.0, [epsilon])
    with pytest.raises(TypeError, match=r"not with NoneType"):
        check_gradient(lambda x: None, 1.0)
    with pytest.raises(ValueError, match=r"log\(-0.05\)"):
        numeric_gradient(lambda x: x.log(), 0.05, 0.1)
    with pytest.raises(ValueError, match="at least one epsilon"):
        check_gradient(log_sigmoid, 1.0, [])
