"""Sums of many float32 numbers are as good as float32 allows, along every axis.

Adding one by one loses a digit per factor of ten; the oracle is the same computation in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whygrad
from whygrad.nn import functional
from whygrad.ops import totals

SHAPES = ((1_200_000,), (150_000, 8), (3000, 400), (2, 600_000), (250, 30, 160))
GOOD = 2e-6  # of the largest result; PyTorch reaches 2e-7 to 1e-6

OPS: dict[str, Callable[[Any, int], Any]] = {
    "sum": lambda x, dim: x.sum(dim),
    "mean": lambda x, dim: x.mean(dim),
    "nansum": lambda x, dim: x.nansum(dim),
    "var": lambda x, dim: x.var(dim),
    "std": lambda x, dim: x.std(dim),
    "norm": lambda x, dim: x.norm(2, dim),
    "norm1": lambda x, dim: x.norm(1, dim),
    "logsumexp": lambda x, dim: x.logsumexp(dim),
    "softmax": lambda x, dim: x.softmax(dim),
    "log_softmax": lambda x, dim: x.log_softmax(dim),
    "layer_norm": lambda x, dim: functional.layer_norm(x.movedim(dim, -1), (x.shape[dim],)),
    "rms_norm": lambda x, dim: functional.rms_norm(x.movedim(dim, -1), (x.shape[dim],), eps=1e-6),
    "batch_norm": lambda x, dim: functional.batch_norm(
        x.movedim(dim, 0).reshape(x.shape[dim], -1), None, None, training=True
    ),
    "group_norm": lambda x, dim: functional.group_norm(x.movedim(dim, -1).reshape(2, 1, -1), 1),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_axis(shape: tuple[int, ...]) -> None:
    single = np.random.default_rng(0).uniform(0.5, 1.5, shape).astype(np.float32)
    for name, op in OPS.items():
        for dim, size in enumerate(shape):
            if size == 2 and name.endswith("_norm"):
                continue  # two numbers close together: their difference has few digits
            got = op(whygrad.from_numpy(single), dim).numpy()
            exact = op(whygrad.from_numpy(single.astype(np.float64)), dim).numpy()
            error = np.max(np.abs(got - exact)) / np.max(np.abs(exact))
            assert error < GOOD, f"{name} along {dim} of {shape}: {error:.1e}"


def test_gradients_of_what_was_broadcast() -> None:
    """The bias of a layer gets the sum over a whole batch."""
    x = whygrad.from_numpy(np.random.default_rng(0).uniform(0, 1, (200_000, 5)).astype(np.float32))
    bias = whygrad.zeros(5, requires_grad=True)
    ((x + bias) * x).sum().backward()
    assert bias.grad is not None
    np.testing.assert_allclose(bias.grad.numpy(), x.numpy().sum(0, dtype=np.float64), 1e-6)


def test_losses() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(0.5, 1.5, (300_000, 4)).astype(np.float32) for _ in range(2))
    for loss in (functional.mse_loss, functional.l1_loss, functional.cross_entropy):
        single, double = (
            float(loss(whygrad.from_numpy(a.astype(kind)), whygrad.from_numpy(b.astype(kind))))
            for kind in ("float32", "float64")
        )
        assert abs(single / double - 1) < GOOD, loss.__name__


def test_adding_one_by_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals, "_LONG", 10**9)
    with pytest.raises(AssertionError, match="sum along 0"):
        test_every_axis((150_000, 8))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_blocks_leave_nothing_out(dtype: str) -> None:
    """Odd sizes, odd strides, several axes."""
    rng = np.random.default_rng(0)
    x = (rng.integers(-8, 9, (7, 131, 1037)) / 8).astype(dtype)  # sums of these are exact
    for view in (x, x[:, ::2, 1::3], x[::-1], x.transpose(2, 0, 1), x[:, :1], x[..., :0]):
        for axis in ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1), (0, 1, 2), ()):
            for keep in (False, True):
                mine = totals.add_up(view, axis, keep)
                np.testing.assert_array_equal(mine, np.sum(view, axis=axis, keepdims=keep))
        rows = view.reshape(view.shape[0], -1)
        np.testing.assert_array_equal(totals.add_rows(rows), rows.sum(1))
        np.testing.assert_array_equal(totals.add_columns(rows.T), rows.T.sum(0))
