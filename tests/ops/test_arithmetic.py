"""What samples cannot express about arithmetic: integers, Python numbers, exact kinks, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.tensor import Tensor

INF, NAN = math.inf, math.nan


def both(call: Any) -> tuple[Any, Any]:
    """The same expression on whygrad and on PyTorch; ``call(library)``."""
    return call(whygrad), call(torch)


def assert_same(call: Any) -> None:
    mine, theirs = both(call)
    assert mine.dtype.name == str(theirs.dtype).removeprefix("torch.")
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-6)


def gradients(library: Any, function: Any, *values: Any) -> list[Any]:
    inputs = [library.tensor(v, dtype=library.float64, requires_grad=True) for v in values]
    function(library)(*inputs).sum().backward()
    return [each.grad.numpy() for each in inputs]


def assert_same_gradients(function: Any, *values: Any) -> None:
    mine, theirs = both(lambda library: gradients(library, function, *values))
    for position, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        np.testing.assert_allclose(a, b, err_msg=f"input {position}")


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.tensor([1], dtype=t.uint8) + (-1),
        lambda t: t.tensor([1], dtype=t.int8) + 300,
        lambda t: t.tensor([1], dtype=t.uint8) * -1,
        lambda t: 3 - t.tensor([5], dtype=t.uint8),
        lambda t: t.tensor([7], dtype=t.int32) * 2**40,
        lambda t: t.tensor([200], dtype=t.uint8) // -1,
        lambda t: t.tensor([1], dtype=t.uint8).add_(-1),
        lambda t: t.tensor([5, -7]) // 2,
        lambda t: t.tensor([5, -7]) % 3,
        lambda t: t.fmod(t.tensor([5, -7]), 3),
        lambda t: t.tensor([5, -7]) / 2,
        lambda t: t.tensor([True, False]) + t.tensor([True, True]),
        lambda t: t.tensor([True, False]) * t.tensor([True, True]),
        lambda t: t.tensor([True, False]) + 1,
        lambda t: t.add(t.tensor([1.0, 2.0]), t.tensor([3, 4]), alpha=0.5),
        lambda t: t.add(t.tensor([True, False]), t.tensor([False, False]), alpha=2),
        lambda t: t.sub(t.tensor([1, 2]), 3, alpha=2),
        lambda t: t.addcmul(t.tensor([1, 2]), t.tensor([3, 4]), t.tensor([5, 6]), value=0.5),
        lambda t: t.square(t.tensor([True, False])),
        lambda t: t.sign(t.tensor([True, False])),
        lambda t: t.sign(t.tensor([NAN, -3.0, 0.0])),
        lambda t: t.abs(t.tensor([3 + 4j])),
        lambda t: t.sgn(t.tensor([3 + 4j, 0j])),
        lambda t: t.floor(t.tensor([3, -4])),
        lambda t: t.round(t.tensor([3, -4])),
        lambda t: t.heaviside(t.tensor([NAN, 0.0]), t.tensor([0.5, 0.5])),
        lambda t: t.tensor([INF, 1.0, -1.0]) // t.tensor([1.0, INF, INF]),
        lambda t: t.tensor([INF, 1.0, -1.0, 1.0]) % t.tensor([1.0, INF, INF, 0.0]),
        lambda t: t.clamp(t.tensor([3, -4]), min=0.5),
        lambda t: t.clamp(t.tensor([NAN, 2.0]), 1, -1),
        lambda t: t.nan_to_num(t.tensor([True, False])),
        lambda t: t.lerp(
            t.tensor([1.0, 2.0]), t.tensor([3.0, 4.0]), t.tensor(0.3, dtype=t.float64)
        ),
    ],
)
def test_numbers_as_in_pytorch(call: Any) -> None:
    assert_same(call)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.pow(t.tensor([1, -1, 2, 0, -1]), t.tensor([-1, -3, -2, -1, -2])),
        lambda t: t.pow(2, t.tensor([-1, 3])),
        lambda t: t.pow(2.5, t.tensor([2, -1])),
        lambda t: t.tensor([4, 9]) ** 0.5,
        lambda t: t.tensor([True, False]) ** 2,
        lambda t: t.tensor([1.5, -2.0]) ** t.tensor([True, False]),
        lambda t: t.tensor([0.0, -0.0, -INF, NAN]) ** 0,
        lambda t: t.tensor([0.0, 2.0, -INF, NAN]) ** -1,
        lambda t: t.tensor([0.0, 4.0, -2.0, INF]) ** 0.5,
        lambda t: t.tensor([0.0, 4.0, -2.0, INF]) ** -0.5,
        lambda t: t.tensor([0.0, 4.0, -2.0, INF]) ** -2,
        lambda t: 2 ** t.tensor([1.0, -1.0]),
    ],
)
def test_powers_as_in_pytorch(call: Any) -> None:
    assert_same(call)


@pytest.mark.parametrize("exponent", [1, 2, 3, 4])
def test_a_power_can_be_differentiated_once_past_its_degree(exponent: int) -> None:
    def derivatives(library: Any) -> list[float]:
        x = library.tensor(1.5, requires_grad=True)
        found = [x**exponent]
        for _ in range(exponent + 1):
            found += library.autograd.grad(found[-1], x, create_graph=True)
        return [each.item() for each in found]

    mine, theirs = both(derivatives)
    assert mine == theirs
    assert mine[-1] == 0


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda t: t.maximum, ([1.0, 2.0, NAN, 1.0], [1.0, 1.0, 1.0, NAN])),
        (lambda t: t.minimum, ([1.0, 2.0, NAN, 1.0], [1.0, 1.0, 1.0, NAN])),
        (lambda t: t.fmax, ([1.0, 2.0, NAN, 1.0, NAN], [1.0, 1.0, 1.0, NAN, NAN])),
        (lambda t: t.fmin, ([1.0, 2.0, NAN, 1.0, NAN], [1.0, 1.0, 1.0, NAN, NAN])),
        (lambda t: lambda x: t.clamp(x, -1, 1), ([-1.0, 1.0, 0.0, NAN, 2.0],)),
        (lambda t: lambda x: t.clamp(x, 1, -1), ([-1.0, 1.0, 0.0, NAN, 2.0],)),
        (lambda t: lambda x: t.clamp_min(x, 0), ([-1.0, 1.0, 0.0, NAN],)),
        (lambda t: lambda x: t.clamp_max(x, 0), ([-1.0, 1.0, 0.0, NAN],)),
        (
            lambda t: t.clamp,
            (
                [-1.0, 1.0, 0.0, NAN, 2.0, 0.0, 0.0],
                [-1.0, -1.0, -1.0, -1.0, -1.0, 1.0, NAN],
                [1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0],
            ),
        ),
        (lambda t: lambda x, y: t.clamp(x, min=y), ([-1.0, 1.0, 2.0], [-1.0, 2.0, NAN])),
        (lambda t: t.pow, ([0.0, 0.0, 0.0, -1.0, 2.0], [0.0, 1.0, -1.0, 2.0, 0.0])),
        (lambda t: lambda y: t.pow(0.0, y), ([0.0, 1.0, -1.0],)),
        (lambda t: lambda y: t.pow(-2.0, y), ([0.0, 1.0, -1.0],)),
        (lambda t: lambda x: t.pow(x, 0), ([0.0, 1.0, NAN],)),
        (lambda t: lambda x: t.pow(x, 1), ([0.0, 1.0, NAN],)),
        (lambda t: lambda x: t.pow(x, 0.5), ([0.0, 1.0, NAN],)),
        (lambda t: t.abs, ([0.0, -0.0, NAN, INF],)),
        (lambda t: t.fmod, ([5.0, -7.0, 3.0], [3.0, 3.0, 0.0])),
        (lambda t: t.remainder, ([5.0, -7.0, 6.0, 3.0], [3.0, 3.0, 3.0, 0.0])),
        (
            lambda t: lambda a, b: t.div(a, b, rounding_mode="floor"),
            ([5.0, -7.0, 6.0], [3.0, 3.0, 3.0]),
        ),
        (
            lambda t: lambda a, b: t.div(a, b, rounding_mode="trunc"),
            ([5.0, -7.0, 6.0], [3.0, 3.0, 3.0]),
        ),
        (lambda t: t.nan_to_num, ([0.0, INF, NAN],)),
        (lambda t: t.sqrt, ([0.0, 1.0, -1.0],)),
        (lambda t: t.rsqrt, ([0.0, 1.0],)),
        (lambda t: t.reciprocal, ([0.0, 1.0],)),
        (lambda t: t.hypot, ([0.0, 3.0], [0.0, 4.0])),
    ],
)
def test_subgradients_as_in_pytorch(function: Any, values: Any) -> None:
    assert_same_gradients(function, *values)


def test_heaviside_gives_its_values_the_gradient_where_they_are_used() -> None:
    values = whygrad.tensor([0.5, 0.5], requires_grad=True)
    whygrad.heaviside(whygrad.tensor([0.0, 1.0]), values).sum().backward()
    assert values.grad.tolist() == [1.0, 0.0]


def test_floor_divide_is_flat() -> None:
    x = whygrad.tensor([5.0, 7.0], requires_grad=True)
    (x // 2).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_positive_is_the_tensor_itself() -> None:
    x = whygrad.tensor([1.0], requires_grad=True)
    assert whygrad.positive(x) is x


@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("absolute", "abs"),
        ("clip", "clamp"),
        ("divide", "div"),
        ("fix", "trunc"),
        ("multiply", "mul"),
        ("negative", "neg"),
        ("subtract", "sub"),
        ("true_divide", "div"),
        ("arcsin", "asin"),
        ("arctan2", "atan2"),
    ],
)
def test_second_names(name: str, original: str) -> None:
    assert getattr(whygrad, name) is getattr(whygrad, original)
    assert getattr(Tensor, name) is getattr(Tensor, original)
    assert getattr(Tensor, f"{name}_") is getattr(Tensor, f"{original}_")


BOOLS = "whygrad.tensor([True, False])"
INTS = "whygrad.tensor([5, 7])"
COMPLEX = "whygrad.tensor([1 + 2j])"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (f"{BOOLS} - {BOOLS}", "with a bool tensor is not supported"),
        (f"{INTS} - {BOOLS}", "with a bool tensor is not supported"),
        (f"1 - {BOOLS}", "invert a mask with `~`"),
        (f"{INTS} - True", "with a bool tensor is not supported"),
        (f"-{BOOLS}", "Negation, the `-` operator, on a bool tensor is not supported"),
        (f"whygrad.positive({BOOLS})", "The `+` operator, on a bool tensor is not supported"),
        (f"abs({BOOLS})", "not implemented for 'Bool'"),
        (f"whygrad.floor({BOOLS})", "floor is not implemented for 'Bool'"),
        (f"{BOOLS} ** {BOOLS}", "\"pow\" not implemented for 'Bool'"),
        (f"{BOOLS} ** True", "\"pow\" not implemented for 'Bool'"),
        (f"{BOOLS} // {BOOLS}", "floor_divide is not implemented for 'Bool'"),
        (f"{INTS} // 0", "ZeroDivisionError: integer division by zero"),
        (f"{INTS} % whygrad.tensor([1, 0])", "ZeroDivisionError"),
        (f"whygrad.fmod({INTS}, 0)", "fmod(input: int64[2], other=0)"),
        (f"whygrad.div({INTS}, 0, rounding_mode='trunc')", "ZeroDivisionError"),
        (f"whygrad.div({INTS}, 2, rounding_mode='up')", "one of None, 'trunc', or 'floor'"),
        (f"{INTS} ** -1", "Integers to negative integer powers are not allowed"),
        (f"whygrad.add({INTS}, 1, alpha=0.5)", "alpha must not be a floating point number"),
        (f"whygrad.add({INTS}.double(), 1, alpha=1j)", "alpha must not be a complex number"),
        (f"whygrad.sub({INTS}, 1, alpha=True)", "Boolean alpha only supported for Boolean"),
        (f"whygrad.addcdiv({INTS}, {INTS}, {INTS})", "Integer division with addcdiv"),
        (f"whygrad.round({INTS}, decimals=1)", "with decimals is not implemented for integers"),
        (f"whygrad.clamp({INTS})", "At least one of 'min' or 'max' must not be None"),
        (f"whygrad.maximum({COMPLEX}, {COMPLEX})", "complex numbers have no order"),
        (f"whygrad.clamp({COMPLEX}, 1)", "complex numbers have no order"),
        (f"{INTS}.div_(2)", "result type float32 can't be cast to the desired output type int64"),
        (f"{INTS}.sub_(True)", "with a bool tensor is not supported"),
        ("whygrad.tensor([1.0]).add_(whygrad.tensor([1.0, 2.0]))", "doesn't match the broadcast"),
        (f"whygrad.polygamma(-1, {INTS})", "does not support negative n"),
    ],
)
def test_errors(expression: str, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        eval(expression)
    assert words in str(caught.value)
    assert "fix:" in str(caught.value)


def test_integer_bounds_of_clamp_are_numbers_of_the_dtype() -> None:
    x = whygrad.tensor([1, 2], dtype=whygrad.uint8)
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8 without overflow"):
        x.clamp(max=300)
    assert x.clamp_min(-1).tolist() == [255, 255]  # wraps around, as in PyTorch
