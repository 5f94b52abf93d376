"""Reductions: dtypes, overloads, empty inputs, error texts, gradients at ties, zeros and NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

NAN, INF = math.nan, math.inf


def gradient(library: Any, function: Any, values: Any) -> Any:
    """d(sum of function)/dx as an array, on either library."""
    x = library.tensor(values, dtype=library.float64, requires_grad=True)
    function(x).sum().backward()
    return x.grad.numpy()


def assert_same_gradient(function: Any, values: Any) -> None:
    np.testing.assert_allclose(
        gradient(whygrad, function, values), gradient(torch, function, values), 1e-12, 1e-12
    )


# --- dtypes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "prod", "nansum"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_integers_are_added_up_in_int64(name: str, dtype: str) -> None:
    x = whygrad.tensor([[1, 0], [1, 1]], dtype=getattr(whygrad, dtype))
    assert getattr(x, name)().dtype is whygrad.int64
    assert getattr(x, name)(dim=1).dtype is whygrad.int64


def test_uint8_wraps_nowhere() -> None:
    assert whygrad.tensor([200, 100], dtype=whygrad.uint8).sum().item() == 300


def test_half_sums_are_rounded_once() -> None:
    x = whygrad.tensor(np.full(4096, 1.0, np.float16))
    assert x.sum().item() == 4096.0
    assert x.mean().item() == 1.0
    assert x.sum().dtype is whygrad.float16


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("mean", "could not infer output dtype"),
        ("nanmean", "expected input to have floating point or complex dtype"),
        ("var", "std and var only support floating point and complex dtypes"),
        ("std", "std and var only support floating point and complex dtypes"),
        ("norm", "Expected a floating point or complex tensor as input"),
    ],
)
def test_fractions_of_integers_are_refused(name: str, phrase: str) -> None:
    for library in (whygrad, torch):
        with pytest.raises(RuntimeError, match=phrase):
            getattr(library.tensor([1, 2]), name)()
    with pytest.raises(RuntimeError, match=rf"{name}\(\) of int64\[2\]"):
        getattr(whygrad.tensor([1, 2]), name)()


def test_mean_of_integers_with_a_dtype() -> None:
    y = whygrad.tensor([1, 2]).mean(dtype=whygrad.float64)
    assert (y.item(), y.dtype) == (1.5, whygrad.float64)


def test_norm_in_another_dtype() -> None:
    y = whygrad.tensor([3.0, 4.0]).norm(dim=0, dtype=whygrad.float64)
    assert (y.item(), y.dtype) == (5.0, whygrad.float64)


def test_all_keeps_uint8() -> None:
    assert whygrad.tensor([1, 2], dtype=whygrad.uint8).all().dtype is whygrad.uint8
    assert whygrad.tensor([1.0, NAN]).all().dtype is whygrad.bool


def test_not_a_tensor() -> None:
    with pytest.raises(TypeError, match="this op takes a tensor"):
        whygrad.sum([1.0, 2.0])


# --- few or no elements -----------------------------------------------------------------------


def test_variance_of_too_few_samples_is_silent() -> None:
    assert math.isnan(whygrad.tensor([1.0]).var().item())
    assert math.isnan(whygrad.tensor([]).std().item())
    assert whygrad.tensor([1.0, 2.0]).var(correction=3).item() == INF
    assert np.isnan(gradient(whygrad, lambda x: x.var(), [1.0])).all()


def test_empty_sums_have_a_value() -> None:
    empty = whygrad.tensor([])
    assert empty.sum().item() == 0.0
    assert empty.prod().item() == 1.0
    assert empty.norm().item() == 0.0
    assert math.isnan(empty.mean().item())
    assert empty.all().item() is True
    assert empty.any().item() is False
    assert empty.logsumexp(0).item() == -INF
    assert math.isnan(empty.median().item())


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "aminmax", "argmax", "argmin"])
def test_no_extremum_of_nothing(name: str) -> None:
    kind = IndexError if name.startswith("arg") else RuntimeError
    with pytest.raises(kind, match="Expected reduction dim to be specified") as told:
        getattr(whygrad.zeros(0, 3), name)()
    assert f"{name}() of float32[0, 3]" in str(told.value)
    assert "test_reduction.py" in str(told.value)


@pytest.mark.parametrize(
    "name",
    ["max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "median", "nanmedian", "mode"],
)
def test_no_extremum_along_an_empty_dimension(name: str) -> None:
    phrase = "Expected reduction dim 0 to have non-zero size"
    for library in (whygrad, torch):
        with pytest.raises(IndexError, match=phrase):
            getattr(library.zeros(0, 3), name)(dim=0)
    with pytest.raises(IndexError, match=rf"{name}\(dim=0\) of float32\[0, 3\]"):
        getattr(whygrad.zeros(0, 3), name)(dim=0)
    nothing = getattr(whygrad.zeros(3, 0), name)(dim=0)
    assert tuple((nothing[0] if isinstance(nothing, tuple) else nothing).shape) == (0,)


def test_no_norm_of_nothing() -> None:
    for library in (whygrad, torch):
        with pytest.raises(RuntimeError, match="the operation does not have an identity"):
            library.zeros(0).norm(INF)


# --- overloads --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.var(True),
        lambda x: x.var(False),
        lambda x: x.var(0, False, True),
        lambda x: x.var((0, 1), unbiased=False),
        lambda x: x.std(dim=None, correction=0),
        lambda x: x.std(1, correction=0.5, keepdim=True),
        lambda x: x.norm("fro", (0, 1), keepdim=True),
        lambda x: x.norm(p=0),
        lambda x: x.norm(-1.0, dim=1),
        lambda x: x.all(dim=()),
        lambda x: x.argmax(keepdim=True),
        lambda x: x.max(x * 0.5),
        lambda x: x.min(other=x * 0.5),
        lambda x: x.max(1, True)[0],
        lambda x: x.prod(1, keepdim=True),
        lambda x: x.sum([]),
        lambda x: x.amax((-1, 0)),
    ],
)
def test_forms_of_arguments(call: Any) -> None:
    data = [[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]
    mine, theirs = call(whygrad.tensor(data)), call(torch.tensor(data))
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), 1e-6)
    assert tuple(mine.shape) == tuple(theirs.shape)


def test_var_takes_one_way_of_saying_it() -> None:
    with pytest.raises(TypeError, match="invalid combination of arguments: both say what"):
        whygrad.tensor([1.0, 2.0]).var(unbiased=True, correction=1)


def test_keepdim_needs_dim() -> None:
    for library in (whygrad, torch):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            library.tensor([1.0]).max(keepdim=True)


def test_unknown_norm() -> None:
    with pytest.raises(RuntimeError, match="Order foo not supported"):
        whygrad.tensor([[1.0]]).norm("foo")


def test_nuclear_norm() -> None:
    assert_same_gradient(lambda x: x.norm("nuc"), [[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])


def test_dimension_out_of_range() -> None:
    with pytest.raises(IndexError, match=r"Dimension out of range[^\0]*at: .*test_reduction.py"):
        whygrad.tensor([1.0]).sum(1)
    with pytest.raises(RuntimeError, match="appears multiple times in the list of dims"):
        whygrad.tensor([[1.0]]).sum((0, 0))


def test_complex_numbers_have_no_order() -> None:
    x = whygrad.tensor([1.0, 2.0]).to(whygrad.complex64)
    for name in ("max", "amin", "argmax", "sort", "median"):
        with pytest.raises(RuntimeError, match="complex numbers have no order"):
            getattr(x, name)()


# --- named results ------------------------------------------------------------------------------


def test_results_have_names() -> None:
    x = whygrad.tensor([[1.0, 3.0, 2.0]])
    found = x.max(1)
    values, indices = found
    assert found.values is values
    assert found.indices is indices
    assert type(found).__name__ == "max"
    lines = repr(found).splitlines()
    assert lines[0] == "whygrad.return_types.max("
    assert lines[1].startswith("values=")
    assert lines[-1].startswith("indices=")
    assert lines[-1].endswith(")")
    assert x.aminmax().min.item() == 1.0
    assert isinstance(x.sort(), whygrad.return_types.sort)


# --- gradients at ties, zeros and NaN -----------------------------------------------------------

TIED = [1.0, 2.0, 2.0, 1.0]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.max(),
        lambda x: x.min(),
        lambda x: x.amax(),
        lambda x: x.amin(0),
        lambda x: x.median(),
        lambda x: x.nanmedian(),
        lambda x: x.max(0)[0],
        lambda x: x.min(0)[0],
        lambda x: x.aminmax()[0] + 3 * x.aminmax()[1],
        lambda x: x.norm(INF),
        lambda x: x.norm(-INF),
        lambda x: x.cummax(0)[0],
        lambda x: x.cummin(0)[0],
        lambda x: x.sort(stable=True)[0][1:3],
        lambda x: x.sort(stable=True, descending=True)[0][1:3],
        lambda x: x.mode()[0],
        lambda x: x.max(x.flip(0)),
    ],
)
def test_ties_as_in_pytorch(function: Any) -> None:
    assert_same_gradient(function, TIED)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.max(),
        lambda x: x.amax(),
        lambda x: x.median(),
        lambda x: x.nanmedian(),
        lambda x: x.nansum(),
        lambda x: x.nanmean(),
        lambda x: x.max(0)[0],
        lambda x: x.cummax(0)[0],
    ],
)
@pytest.mark.parametrize("values", [[NAN, 1.0, NAN, 2.0], [3.0, NAN, 4.0], [NAN, NAN]])
def test_nan_as_in_pytorch(function: Any, values: Any) -> None:
    assert_same_gradient(function, values)


@pytest.mark.parametrize("p", [1, 2, 3, 1.5, 0.5])
@pytest.mark.parametrize("values", [[0.0, 0.0], [0.0, 1.0, -2.0]])
def test_norm_at_zero(p: float, values: Any) -> None:
    assert_same_gradient(lambda x: x.norm(p), values)


def test_norm_that_counts_has_no_gradient() -> None:
    x = whygrad.tensor([0.0, 1.0], requires_grad=True)
    x.norm(0).backward()
    assert x.grad is None


@pytest.mark.parametrize("values", [[-INF, 1.0], [-INF, -INF], [INF, 1.0]])
def test_logsumexp_at_infinity(values: Any) -> None:
    assert_same_gradient(lambda x: x.logsumexp(0), values)


@pytest.mark.parametrize("values", [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 3.0, 0.0], [0.0] * 3])
@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_products_with_zeros_to_second_order(name: str, values: Any) -> None:
    def hessian(library: Any) -> Any:
        x = library.tensor(values, dtype=library.float64, requires_grad=True)
        y = getattr(x, name)(dim=0)
        weights = library.tensor([0.5, 2.0, 3.0], dtype=library.float64)
        total = (y * weights).sum()
        (first,) = library.autograd.grad(total, x, create_graph=True)
        rows = [library.autograd.grad(first[i], x, retain_graph=True)[0] for i in range(3)]
        return first.detach().numpy(), np.stack([row.numpy() for row in rows])

    for mine, theirs in zip(hessian(whygrad), hessian(torch), strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-12, 1e-12)


def test_mean_saves_no_data() -> None:
    x = whygrad.tensor(np.ones((3, 4)), requires_grad=True)
    assert x.mean().grad_fn.op.saves() == ()
    assert x.sum().grad_fn.op.saves() == ()
    assert x.max(1).values.grad_fn.op.saves() == ("indices",)


@pytest.mark.parametrize("name", ["trapezoid", "cumulative_trapezoid"])
def test_trapezoid_needs_one_position_per_sample(name: str) -> None:
    with pytest.raises(RuntimeError, match="There must be one `x` value for each sample point"):
        getattr(whygrad, name)(whygrad.ones(2, 1), whygrad.ones(3), dim=0)
