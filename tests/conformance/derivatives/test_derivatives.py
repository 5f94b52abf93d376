"""Every rule of every op against central differences, in float64, to second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.conformance.harness import every_sample, flatten, whygrad_side
from whygrad.autograd.checks.gradcheck import gradcheck, gradgradcheck
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of
from whygrad.tensor import Tensor

SMALL = 40  # elements up to which the whole Jacobian is compared, not only a random projection


def as_function(op: Op, call: Call) -> tuple[Callable[..., Any], list[Tensor]]:
    """The sample as a function of its differentiable inputs only."""
    side = whygrad_side(call, "float64")

    def function(*inputs: Tensor) -> Any:
        replacement = dict(zip(map(id, side.inputs), inputs, strict=True))

        def swap(value: Any) -> Any:
            if isinstance(value, Tensor):
                return replacement.get(id(value), value)
            if isinstance(value, (list, tuple)):
                return type(value)(swap(each) for each in value)
            return value

        outputs = call.on(op.public)(
            *swap(side.args), **{name: swap(value) for name, value in side.kwargs.items()}
        )
        return tuple(
            part
            for out in flatten(outputs)
            if isinstance(out, Tensor) and out.dtype.is_differentiable
            for part in ((out.real, out.imag) if out.dtype.is_complex else (out,))
        )

    return function, side.inputs


def is_fast(inputs: list[Tensor]) -> bool:
    return sum(each.numel() for each in inputs) > SMALL


def has_derivative(function: Callable[..., Any], inputs: list[Tensor]) -> bool:
    return bool(inputs) and any(out.requires_grad for out in function(*inputs))


# Steps have no slope; type_as in the table converts to integers.
WITHOUT_DERIVATIVE = {"floor_divide", "heaviside", "type_as"}


def test_every_derivative_is_checked() -> None:
    """The checks below pass over samples without a gradient; every op needs one that has it."""
    unchecked = {
        op.name
        for op in table.values()
        if op.differentiable
        and op.complex_rule != "own"  # test_complex.py compares these
        and not any(has_derivative(*as_function(op, call)) for call in samples_of(op))
    }
    assert unchecked == WITHOUT_DERIVATIVE


@every_sample(lambda op: op.differentiable)
def test_first_order(op: Op, call: Call) -> None:
    function, inputs = as_function(op, call)
    if has_derivative(function, inputs):
        gradcheck(function, inputs, check_forward_ad=True, fast_mode=is_fast(inputs))


@every_sample(lambda op: op.differentiable)
def test_second_order(op: Op, call: Call) -> None:
    function, inputs = as_function(op, call)
    if has_derivative(function, inputs):
        gradgradcheck(function, inputs, check_fwd_over_rev=True, fast_mode=True, atol=1e-4)


@every_sample(lambda op: op.differentiable)
def test_reverse_over_forward(op: Op, call: Call) -> None:
    """The reverse derivative of a forward derivative."""
    from whygrad.autograd import forward_ad
    from whygrad.tensor import wrap

    function, inputs = as_function(op, call)
    if not has_derivative(function, inputs):
        return
    rng = np.random.default_rng(5)
    directions = [np.asarray(rng.normal(size=each.shape)) for each in inputs]

    def pushed(*at: Tensor) -> Any:
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, wrap(v)) for x, v in zip(at, directions)]
            tangents = [forward_ad.unpack_dual(out).tangent for out in function(*duals)]
        return [each for each in tangents if each is not None]

    gradcheck(pushed, inputs, fast_mode=True, atol=1e-4)


@every_sample(lambda op: op.differentiable)
def test_forward_over_forward(op: Op, call: Call) -> None:
    """d/ds d/dt f(x + s·u + t·v): nested forward mode against differences of the first order."""
    from whygrad.autograd import forward_ad
    from whygrad.tensor import wrap

    function, inputs = as_function(op, call)
    if not has_derivative(function, inputs):
        return
    rng = np.random.default_rng(3)
    u, v = ([np.asarray(rng.normal(size=each.shape)) for each in inputs] for _ in range(2))
    values = [np.array(each._array) for each in inputs]

    def derivative(at: list[Any], outer: list[Any] | None) -> list[Any]:
        with forward_ad.dual_level() as first:
            points = [wrap(np.array(each)) for each in at]
            if outer is not None:
                points = [forward_ad.make_dual(p, wrap(d)) for p, d in zip(points, outer)]
            with forward_ad.dual_level() as second:
                duals = [forward_ad.make_dual(p, wrap(d)) for p, d in zip(points, v)]
                pushed = [
                    forward_ad.unpack_dual(out, level=second).tangent for out in function(*duals)
                ]
                if outer is not None:
                    pushed = [
                        forward_ad.unpack_dual(each, level=first).tangent
                        if each is not None
                        else None
                        for each in pushed
                    ]
                return [None if each is None else np.array(each._array) for each in pushed]

    eps = 1e-6
    above = derivative([x + eps * d for x, d in zip(values, u)], None)
    below = derivative([x - eps * d for x, d in zip(values, u)], None)
    for position, (nested, hi, lo) in enumerate(zip(derivative(values, u), above, below)):
        if hi is None:
            assert nested is None
            continue
        numeric = (hi - lo) / (2 * eps)
        analytic = np.zeros_like(numeric) if nested is None else nested
        np.testing.assert_allclose(
            analytic, numeric, 1e-3, 1e-4, err_msg=f"{op.name}, output {position}"
        )
