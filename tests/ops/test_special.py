"""Edges of the exponential, trigonometric and special functions."""

from __future__ import annotations

import math
import subprocess
import sys
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.ops.test_arithmetic import assert_same, assert_same_gradients
from whygrad.ops.define import Op, table

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sigmoid_saturates_without_overflow(dtype: str) -> None:
    x = np.array([-1e4, -90.0, -30.0, 0.0, 30.0, 1e4, INF, -INF, NAN], dtype)
    mine = whygrad.sigmoid(whygrad.from_numpy(x)).numpy()
    theirs = torch.sigmoid(torch.from_numpy(x)).numpy()
    assert mine.dtype == dtype
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def _is_map(op: Op) -> bool:
    families = ("exponential", "trigonometry", "special")
    return op.family in families and op.tensor_names == ("x",) and op.name != "polygamma"


@pytest.mark.parametrize(
    "name",
    [op.name for op in table.values() if _is_map(op)],
)
def test_edges_as_in_pytorch(name: str) -> None:
    at = [0.0, 0.5, 1.0, -1.0, 2.5, -2.5, NAN] + ([] if name == "sinc" else [INF, -INF])
    if name == "special_airy_ai":
        at.remove(-2.5)  # PyTorch's has six digits there
    function = attrgetter(str(table[name].public_name))
    assert_same(lambda t: function(t)(t.tensor(at, dtype=t.float64)))
    assert_same(lambda t: function(t)(t.tensor([1, 0])))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.xlogy(t.tensor([0.0, 0.0, 1.0, 0.0]), t.tensor([0.0, 1.0, 0.0, NAN])),
        lambda t: t.xlogy(t.tensor([1.0, 2.0]), 2),
        lambda t: t.xlogy(2, t.tensor([1.0, 2.0])),
        lambda t: t.atan2(t.tensor([True]), t.tensor([False])),
        lambda t: t.logaddexp(t.tensor([1000.0, -INF, INF]), t.tensor([1000.0, -INF, INF])),
        lambda t: t.logit(t.tensor([-1.0, 0.3, 2.0]), eps=0.1),
        lambda t: t.polygamma(0, t.tensor([1.5, -2.5], dtype=t.float64)),
        lambda t: t.polygamma(2, t.tensor([1.5, -2.5], dtype=t.float64)),
        lambda t: t.tensor([1.5, 2.5]).polygamma(1),
        lambda t: t.sigmoid(t.tensor([1 + 2j])),
        lambda t: t.sinc(t.tensor([1 + 2j, 0j])),
    ],
)
def test_values_as_in_pytorch(call: Any) -> None:
    assert_same(call)


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda t: t.logaddexp, ([INF, -INF, 0.0, INF], [INF, -INF, -INF, 0.0])),
        (lambda t: t.logit, ([0.0, 1.0, 0.5, 2.0, -1.0],)),
        (lambda t: lambda x: t.logit(x, 0.1), ([0.0, 0.1, 0.5, 0.9, -1.0, NAN],)),
        (lambda t: t.xlogy, ([0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, NAN, -1.0])),
        (lambda t: t.atan2, ([0.0, 3.0], [0.0, 4.0])),
        (lambda t: t.sinc, ([0.0, 0.5, 1.0],)),
        (lambda t: t.asin, ([1.0, -1.0, 2.0],)),
        (lambda t: t.acosh, ([1.0, 0.5, -2.0],)),
        (lambda t: t.log, ([0.0, -1.0],)),
        (lambda t: t.lgamma, ([0.0, -1.0, 2.0, -1.5],)),
        (lambda t: t.digamma, ([0.0, 2.0, -1.5],)),
        (lambda t: t.erfinv, ([1.0, -1.0, 0.0, 2.0],)),
    ],
)
def test_gradients_at_the_edges(function: Any, values: Any) -> None:
    assert_same_gradients(function, *values)


def test_float32_stays_float32_in_both_directions() -> None:
    for name in ("erf", "erfc", "erfinv", "lgamma", "digamma", "sigmoid", "logit", "sinc"):
        x = whygrad.tensor([0.3, 0.6], requires_grad=True)
        y = getattr(whygrad, name)(x)
        y.sum().backward()
        assert (y.dtype, x.grad.dtype) == (whygrad.float32, whygrad.float32), name


def test_scipy_is_loaded_only_when_needed() -> None:
    script = (
        "import sys, whygrad\n"
        "assert 'scipy.special' not in sys.modules\n"
        "whygrad.erf(whygrad.tensor([1.0]))\n"
        "assert 'scipy.special' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
