"""Sorting and ranks: ties, NaN, limits of k, quantiles; scans and their helpers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.ops.define import table

NAN = math.nan


def same(mine: Any, theirs: Any) -> None:
    np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize("descending", [False, True])
def test_equal_elements_keep_their_order(descending: bool) -> None:
    data = np.random.default_rng(0).integers(0, 4, (5, 50))
    mine = whygrad.from_numpy(data).sort(1, descending=descending, stable=True)
    theirs = torch.from_numpy(data).sort(dim=1, descending=descending, stable=True)
    same(mine.values, theirs.values)
    same(mine.indices, theirs.indices)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [0, 1, 7, 49, 50])
def test_topk_of_long_lanes(k: int, largest: bool) -> None:
    data = np.random.default_rng(1).normal(size=(3, 50))
    data[1, 4] = NAN
    mine = whygrad.from_numpy(data).topk(k, 1, largest)
    theirs = torch.from_numpy(data).topk(k, 1, largest)
    same(mine.values, theirs.values)
    same(mine.indices, theirs.indices)


@pytest.mark.parametrize("size", [1, 2, 5, 8])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_lower_median_with_missing_values(name: str, size: int) -> None:
    data = np.random.default_rng(2).permutation(np.arange(4.0 * size)).reshape(4, size)
    data[1, 0] = data[2, -1] = NAN
    data[3] = NAN
    for dim in (0, 1):
        mine = getattr(whygrad.from_numpy(data), name)(dim)
        theirs = getattr(torch.from_numpy(data), name)(dim)
        same(mine.values, theirs.values)
        known = ~theirs.values.isnan().numpy() if name == "nanmedian" else slice(None)
        np.testing.assert_array_equal(mine.indices.numpy()[known], theirs.indices.numpy()[known])
    same(getattr(whygrad.from_numpy(data), name)(), getattr(torch.from_numpy(data), name)())


def test_mode_is_the_smallest_of_the_most_common() -> None:
    data = np.random.default_rng(3).integers(0, 3, (6, 9))
    mine, theirs = whygrad.from_numpy(data).mode(1), torch.from_numpy(data).mode(1)
    same(mine.values, theirs.values)
    same(mine.indices, theirs.indices)


def test_k_out_of_range() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for library in (whygrad, torch):
        for k in (-1, 4):
            with pytest.raises(RuntimeError, match="selected index k out of range"):
                library.from_numpy(x).topk(k)
        for k in (0, 4):
            phrase = "selected number k out of range for dimension 1"
            with pytest.raises(RuntimeError, match=phrase):
                library.from_numpy(x).kthvalue(k)
    with pytest.raises(RuntimeError, match="dimension 1 has 3 elements: pass a k from 0 to 3"):
        whygrad.from_numpy(x).topk(4)
    with pytest.raises(RuntimeError, match="k counts from 1: pass a k from 1 to 3"):
        whygrad.from_numpy(x).kthvalue(0)


@pytest.mark.parametrize(
    ("args", "kwargs", "kind", "phrase"),
    [
        ((1.5,), {}, RuntimeError, r"q values must be in the range \[0, 1\]"),
        ((0.5,), {"interpolation": "foo"}, RuntimeError, "but got foo"),
        (([0.5],), {}, TypeError, "q must be a float or a tensor, not list"),
        ((whygrad.zeros(1, 1),), {}, RuntimeError, "q must be a scalar or 1D tensor"),
        (
            (whygrad.zeros(1, dtype=whygrad.float64),),
            {},
            RuntimeError,
            "must be same dtype as the input",
        ),
    ],
)
def test_quantile_refuses(args: Any, kwargs: Any, kind: Any, phrase: str) -> None:
    with pytest.raises(kind, match=phrase):
        whygrad.tensor([1.0, 2.0]).quantile(*args, **kwargs)


def test_quantile_needs_float_elements() -> None:
    with pytest.raises(RuntimeError, match="must be either float or double dtype"):
        whygrad.tensor([1, 2]).quantile(0.5)
    with pytest.raises(RuntimeError, match="input tensor must be non-empty"):
        whygrad.tensor([]).quantile(0.5)


def test_diff_refuses() -> None:
    for library in (whygrad, torch):
        with pytest.raises(RuntimeError, match="expects input to be at least one-dimensional"):
            library.tensor(1.0).diff()
        with pytest.raises(RuntimeError, match="order must be non-negative but got -1"):
            library.tensor([1.0]).diff(-1)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 33])
def test_recurrence_is_what_the_loop_computes(size: int, reverse: bool) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, size, 3))
    a[size // 2] = 0.0
    expected, state = np.empty_like(b), np.zeros(3)
    for t in reversed(range(size)) if reverse else range(size):
        state = expected[t] = a[t] * state + b[t]
    got = table["recurrence"].call(whygrad.from_numpy(a), whygrad.from_numpy(b), 0, reverse)
    np.testing.assert_allclose(got.numpy(), expected, 1e-12, 1e-12)


def test_shift_moves_by_one() -> None:
    x = whygrad.tensor([1.0, 2.0, 3.0])
    assert table["shift"].call(x, 0, 1, 9.0).tolist() == [9.0, 1.0, 2.0]
    assert table["shift"].call(x, 0, -1, 9.0).tolist() == [2.0, 3.0, 9.0]


def test_running_maximum_of_nan() -> None:
    data = np.array([1.0, 3.0, NAN, 5.0, NAN])
    for name in ("cummax", "cummin"):
        mine = getattr(whygrad.from_numpy(data), name)(0)
        theirs = getattr(torch.from_numpy(data), name)(0)
        same(mine.values, theirs.values)
        same(mine.indices, theirs.indices)


def test_logcumsumexp_does_not_overflow() -> None:
    data = [1000.0, 1001.0, -1000.0]

    def run(library: Any) -> Any:
        x = library.tensor(data, dtype=library.float64, requires_grad=True)
        y = x.logcumsumexp(0)
        y.sum().backward()
        return y.detach().numpy(), x.grad.numpy()

    for mine, theirs in zip(run(whygrad), run(torch), strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-12, 1e-12)


def test_running_totals_in_place() -> None:
    x = whygrad.tensor([1.0, 2.0, 3.0])
    assert x.cumsum_(0) is x
    assert x.tolist() == [1.0, 3.0, 6.0]
    x.cumprod_(0)
    assert x.tolist() == [1.0, 3.0, 18.0]
