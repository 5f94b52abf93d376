"""Dual numbers: levels, nesting, and the program that confuses careless engines."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch

import whygrad as wg
from whygrad.autograd import forward_ad as fwAD


def t(*values: float) -> wg.Tensor:
    return wg.tensor(list(values), dtype=wg.float64)


def test_tangent_follows_the_value() -> None:
    with fwAD.dual_level():
        x = fwAD.make_dual(t(1.0, 2.0), t(1.0, 0.5))
        primal, tangent = fwAD.unpack_dual((x * x).sum())
    assert primal.item() == 5.0
    assert tangent.item() == 4.0


def test_no_tangent_is_none_not_zero() -> None:
    with fwAD.dual_level():
        assert fwAD.unpack_dual(t(1.0) * 2).tangent is None


def test_tangents_end_with_their_level() -> None:
    with fwAD.dual_level():
        x = fwAD.make_dual(t(1.0), t(1.0))
        y = x * 2
    with fwAD.dual_level():
        assert fwAD.unpack_dual(y).tangent is None


@pytest.mark.parametrize("lib", [wg, torch], ids=["whygrad", "torch"])
def test_views_made_under_no_grad_follow_a_write(lib: Any) -> None:
    duals = lib.autograd.forward_ad
    with duals.dual_level():
        x = duals.make_dual(lib.ones(3), lib.ones(3))
        with lib.no_grad():
            part = x[:2]
        x.mul_(2)
        assert duals.unpack_dual(part).tangent.tolist() == [2.0, 2.0]
        part.fill_(0.5)
        assert duals.unpack_dual(part).tangent.tolist() == [0.0, 0.0]
        assert duals.unpack_dual(x).tangent.tolist() == [0.0, 0.0, 2.0]
        with lib.no_grad():
            constant = lib.ones(3)[:2]
        constant.copy_(x[1:])
        assert duals.unpack_dual(constant).tangent.tolist() == [0.0, 2.0]


def test_detaching_in_place_drops_the_tangent() -> None:
    with fwAD.dual_level():
        x = fwAD.make_dual(t(1.0), t(1.0)) * 2
        assert fwAD.unpack_dual(x.detach_()).tangent is None


def derivative(f: object, x: wg.Tensor) -> wg.Tensor:
    with fwAD.dual_level() as level:
        out = f(fwAD.make_dual(x, wg.ones_like(x)))  # type: ignore[operator]
        tangent = fwAD.unpack_dual(out, level=level).tangent
        return wg.zeros_like(x) if tangent is None else tangent


def test_no_perturbation_confusion() -> None:
    """d/dx [ x · d/dy (x + y) ] at 1 is 1; mixing up the levels gives 2."""
    x = t(1.0)
    result = derivative(lambda x: x * derivative(lambda y: x + y, t(1.0)), x)
    assert result.tolist() == [1.0]


def test_forward_over_reverse() -> None:
    """A Hessian-vector product of Σ x³ is 6 x v."""
    with fwAD.dual_level():
        x = fwAD.make_dual(t(1.0, 2.0).requires_grad_(), t(1.0, 10.0))
        (gradient,) = wg.autograd.grad((x * x * x).sum(), x)
        product = fwAD.unpack_dual(gradient).tangent
    assert product.tolist() == [6.0, 120.0]


def test_reverse_over_forward() -> None:
    x = t(1.0, 2.0).requires_grad_()
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t(1.0, 10.0))
        pushed = fwAD.unpack_dual((dual * dual * dual).sum()).tangent
        pushed.backward()
    assert x.grad.tolist() == [6.0, 120.0]


def test_closing_an_inner_level_keeps_the_tangents_of_the_outer_one() -> None:
    x = t(2.0).requires_grad_()
    with fwAD.dual_level():
        outer = fwAD.make_dual(x, t(1.0))
        with fwAD.dual_level():
            cube = fwAD.unpack_dual(fwAD.make_dual(outer, t(1.0)) ** 3).primal
        (gradient,) = wg.autograd.grad(cube, x)
        assert fwAD.unpack_dual(gradient).tangent.tolist() == [12.0]


def test_an_exception_closes_inner_levels_too() -> None:
    def fails() -> None:
        with fwAD.dual_level():
            fwAD.enter_dual_level()
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    with pytest.raises(RuntimeError, match="innermost open level is None"):
        fwAD.exit_dual_level()


def test_written_tensor_has_the_tangent_of_what_was_written() -> None:
    target = t(0.0, 0.0)
    with fwAD.dual_level():
        target.add_(fwAD.make_dual(t(1.0, 2.0), t(3.0, 4.0)))
        assert fwAD.unpack_dual(target).tangent.tolist() == [3.0, 4.0]
        target.gt_(1.5)
        assert fwAD.unpack_dual(target).tangent.tolist() == [0.0, 0.0]
    assert target._tangent is None


def test_a_write_through_a_view_reaches_the_tangents_of_base_and_views() -> None:
    with fwAD.dual_level():
        dual = fwAD.make_dual(t(1.0, 2.0), t(1.0, 10.0)).clone()
        view, pair = dual[1:], dual.view(1, 2)
        view.mul_(dual[0] * 3)
        assert dual.tolist() == [1.0, 6.0]
        for each in (dual, pair):
            assert fwAD.unpack_dual(each).tangent.flatten().tolist() == [1.0, 36.0]
        assert fwAD.unpack_dual(view).tangent.tolist() == [36.0]
        dual.fill_(1.0)
        assert fwAD.unpack_dual(pair).tangent.tolist() == [[0.0, 0.0]]
        constant = t(0.0, 0.0)
        constant[1:].copy_(fwAD.make_dual(t(5.0), t(7.0)))
        assert fwAD.unpack_dual(constant).tangent.tolist() == [0.0, 7.0]


def test_errors() -> None:
    with pytest.raises(RuntimeError, match="no dual level is open"):
        fwAD.make_dual(t(1.0), t(1.0))
    with fwAD.dual_level(), pytest.raises(RuntimeError, match="shape and dtype"):
        fwAD.make_dual(t(1.0), t(1.0, 2.0))
    with pytest.raises(RuntimeError, match="innermost open level is None"):
        fwAD.exit_dual_level()


def test_no_cycle_remains() -> None:
    gc.collect()
    gc.disable()
    try:
        x = t(1.0).requires_grad_()
        with fwAD.dual_level():
            y = fwAD.make_dual(x, t(1.0)).exp()
            node, value = weakref.ref(y.grad_fn), weakref.ref(y)
            del y
        assert node() is None
        assert value() is None
    finally:
        gc.enable()
