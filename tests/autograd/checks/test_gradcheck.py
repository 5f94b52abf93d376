"""gradcheck, gradgradcheck and the sweep, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.autograd import gradcheck, gradcheck_report, gradcheck_sweep, gradgradcheck
from whygrad.ops.define import define, table


@pytest.fixture
def x() -> wg.Tensor:
    return wg.tensor(np.random.default_rng(0).uniform(0.5, 1.5, (2, 3)), requires_grad=True)


@pytest.fixture
def wrong_cube() -> Any:
    """y = x³ with a derivative of 2x²."""
    op = define(
        "wrong_cube(x)",
        "y = x³",
        forward=lambda x: x * x * x,
        vjp={"x": lambda xp, incoming, x: incoming * 2 * x * x},
        jvp=lambda xp, tangents, x: tangents[0] * 3 * x * x,
        method=False,
    )
    yield op.call
    del table["wrong_cube"]


def cube(x: wg.Tensor) -> wg.Tensor:
    return x * x * x


@pytest.mark.parametrize("fast_mode", [False, True])
def test_right_function_passes(x: wg.Tensor, fast_mode: bool) -> None:
    assert gradcheck(cube, x, check_forward_ad=True, fast_mode=fast_mode) is True
    assert gradgradcheck(cube, x, check_fwd_over_rev=True, fast_mode=fast_mode) is True


@pytest.mark.parametrize("fast_mode", [False, True])
def test_wrong_rule_fails(x: wg.Tensor, wrong_cube: Any, fast_mode: bool) -> None:
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(wrong_cube, x, fast_mode=fast_mode)
    assert gradcheck(wrong_cube, x, raise_exception=False, fast_mode=fast_mode) is False


def test_report_names_the_worst_element(x: wg.Tensor, wrong_cube: Any) -> None:
    report = gradcheck_report(wrong_cube, x)
    assert not report
    reverse, forward = report.comparisons
    assert (reverse.mode, reverse.passed) == ("reverse", False)
    assert (forward.mode, forward.passed) == ("forward", True)
    flat = x.detach().numpy().reshape(-1)
    worst = int(np.argmax(flat))
    assert reverse.index == (worst, worst)
    assert reverse.analytic == pytest.approx(2 * flat[worst] ** 2)
    assert reverse.numeric == pytest.approx(3 * flat[worst] ** 2)
    assert reverse.relative_error == pytest.approx(1 / 3, rel=1e-6)
    assert report.worst is reverse
    assert "worst at" in str(report)


def test_float32_is_refused_with_the_reason(x: wg.Tensor) -> None:
    low = x.detach().float().requires_grad_()
    with pytest.raises(RuntimeError, match=r"float32\[2, 3\].*too few digits.*\.double\(\)"):
        gradcheck(cube, low)
    assert "too few digits" in gradcheck_report(cube, low).refused
    with pytest.raises(RuntimeError, match="too few digits"):
        gradgradcheck(cube, low)


def test_nothing_to_check_is_refused(x: wg.Tensor) -> None:
    with pytest.raises(RuntimeError, match="none of the inputs requires grad"):
        gradcheck(cube, x.detach())


def test_both_modes_off_is_refused(x: wg.Tensor) -> None:
    with pytest.raises(ValueError, match="nothing would be checked"):
        gradcheck(cube, x, check_backward_ad=False)


def test_nondeterminism_is_detected(x: wg.Tensor) -> None:
    def noisy(x: wg.Tensor) -> wg.Tensor:
        return x * wg.rand(2, 3, dtype=wg.float64)

    with pytest.raises(RuntimeError, match="not deterministic"):
        gradcheck(noisy, x)


def test_several_inputs_and_outputs(x: wg.Tensor) -> None:
    weight = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64, requires_grad=True)
    constant = wg.tensor([0.5, 0.5, 0.5], dtype=wg.float64)
    report = gradcheck_report(lambda x, c, w: ((x * w).sum(1), x * c), (x, constant, weight))
    assert report
    assert {(each.output, each.input) for each in report.comparisons} == {
        (0, 0), (1, 0), (0, 2), (1, 2),
    }  # fmt: skip


def test_constants_stay_constants(x: wg.Tensor) -> None:
    constant = wg.ones(2, 3, dtype=wg.float64)
    assert gradgradcheck(lambda a, b: a * a * b, (x, constant), check_fwd_over_rev=True)
    assert not constant.requires_grad


@pytest.mark.parametrize(
    ("function", "words"),
    [(lambda a: None, "no tensor"), (lambda a: a.to(wg.complex128), "complex numbers")],
)
def test_a_function_without_real_outputs_is_refused(
    x: wg.Tensor, function: Any, words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        gradcheck(function, x)


def test_sweep_is_a_pair_of_us(x: wg.Tensor, tmp_path: Path) -> None:
    sweep = gradcheck_sweep(lambda x: (x**4).sum(), x)
    assert sweep.digits("central", 1e-4) > 7.5
    assert max(sweep.digits("central", eps) for eps in (1e-4, 1e-5, 1e-6)) > 8
    assert 3 < sweep.digits("forward", 1e-4) < 5.5
    for errors in (sweep.central, sweep.forward):
        bottom = int(np.argmin(errors))
        assert 0 < bottom < len(errors) - 1, "both ends are worse than the middle"
    assert "best step" in str(sweep)
    for suffix in ("svg", "png"):
        picture = sweep.draw(tmp_path / f"sweep.{suffix}")
        assert picture.stat().st_size > 1000


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_shape_that_depends_on_values_is_refused(fast_mode: bool) -> None:
    import torch

    for library in (wg, torch):
        x = library.tensor([1.0, 2.0, 3.0], dtype=library.float64, requires_grad=True)
        with pytest.raises(AssertionError, match="same shape when inputs are perturbed"):
            library.autograd.gradcheck(lambda x: x[x > 2.0], x, fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_function_without_jvp_is_reported_without_forward_mode(
    x: wg.Tensor, fast_mode: bool
) -> None:
    class Square(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * gradient

    report = gradcheck_report(Square.apply, x, fast_mode=fast_mode)
    assert report.passed
    assert str(report).endswith("forward mode skipped: no jvp")
    with pytest.raises(NotImplementedError, match="jvp"):
        gradcheck(Square.apply, x, check_forward_ad=True)
