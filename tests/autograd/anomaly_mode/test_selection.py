"""Results that are thrown away, and the double where."""

from __future__ import annotations

from typing import Any

import pytest

import whygrad as wg
from tests.autograd.anomaly_mode.catching import caught
from tests.autograd.programs import error_of
from tests.autograd.tensors import leaf
from whygrad.autograd import detect_anomaly


@pytest.mark.parametrize(
    ("program", "better"),
    [
        ("whygrad.where(x > 0, x.sqrt(), 0.0)", "whygrad.where(x > 0, x, 1.0).sqrt()"),
        ("whygrad.where(x <= 0, 0.0, x.sqrt())", "whygrad.where(x <= 0, 1.0, x).sqrt()"),
        ("x.sqrt().where(x > 0, 0.0)", "x.where(x > 0, 1.0).sqrt()"),
        ("x.sqrt().masked_fill(x == 0, 0.0)", "x.masked_fill(x == 0, 1.0).sqrt()"),
        ("whygrad.where(x > 0, 1 / x, 0.0)", "1 / whygrad.where(x > 0, x, 1.0)"),
        ("whygrad.where(x > 0, x ** 0.5, 0.0)", "whygrad.where(x > 0, x, 1.0) ** 0.5"),
        ("whygrad.where(x > 0, whygrad.log(x), 0.0)", "whygrad.log(whygrad.where(x > 0, x, 1.0))"),
        ("whygrad.where(x > 0, x.sqrt() * x + 1, 0.0)", "whygrad.where(x > 0, x, 1.0).sqrt()"),
        ("whygrad.where(\nx > 0,\nx.sqrt(),\n0.0\n)", "whygrad.where(x > 0, x, 1.0).sqrt()"),
        ("x.sqrt() * (x > 0)", "whygrad.where(x > 0, x, 1.0).sqrt()"),
        ("x.sqrt() * keep", "whygrad.where(keep != 0, x, 1.0).sqrt()"),
    ],
)
def test_double_where(program: str, better: str) -> None:
    setup = "x = whygrad.tensor([0.0, 4.0], requires_grad=True)\nkeep = (x > 0).float()\n"
    text = error_of(
        f"{setup}with whygrad.autograd.detect_anomaly():\n"
        f"    y = ({program})\n"
        "    y.sum().backward()\n"
    )
    assert f"write {better} in place of " in text
    assert "sends 0 back" in text or "the 0 comes from mul" in text


def test_double_where_is_right() -> None:
    x = leaf(0.0, 4.0)
    with detect_anomaly() as watch:
        wg.where(x > 0, wg.where(x > 0, x, 1.0).sqrt(), 0.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]
    assert watch.report() == "no op made a NaN or an Inf"


def test_where_on_a_line_that_cannot_be_parsed(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    arguments = (x > 0, x.sqrt(), 0.0)
    error = caught(wg.where(*arguments).sum().backward)
    assert "safe = whygrad.where(mask, x, 1.0)" in error.fix
    assert "where does not choose the second argument there" in str(error)


def test_nan_that_comes_back_through_a_saved_value(watch: Any) -> None:
    x, w = leaf(-1.0, 4.0), leaf(1.0, 1.0)
    y = wg.where(x > 0, x.log() * w, 0.0)
    error = caught(y.sum().backward)
    assert error.op == "log"
    assert "wg.where(x > 0, x, 1.0).log() in place of x.log()" in error.fix


@pytest.mark.parametrize(
    ("drop", "fix"),
    [
        (lambda y: y.clamp(min=0.1), "limit what goes into sqrt"),
        (lambda y: y[1:], "pick before the op"),
        (lambda y: y[[1]], "pick before the op"),
    ],
)
def test_other_ways_to_drop_a_result(watch: Any, drop: Any, fix: str) -> None:
    x = leaf(0.0, 4.0)
    assert caught(drop(x.sqrt()).sum().backward).fix.startswith(fix)
