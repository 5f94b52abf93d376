"""Reductions and norms where numbers are equal, zero, huge or denormal, to second order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.derivatives.extremes import PATTERNS, differences, orders, selected, variants
from tests.conformance.harness import Side, whygrad_side
from whygrad.nn import functional
from whygrad.ops.define import Op, table
from whygrad.ops.namespace import raw
from whygrad.ops.samples import Call, samples_of

IN_FLOAT32 = ("large", "opposite", "denormal")  # where the precision makes a difference

# (op, pattern) → why another answer than PyTorch's is right there, or as right.
_TIES = "which of several equal elements it takes PyTorch leaves open"
_NO_ONE_ANSWER = "singular vectors of equal or zero singular values are anybody's choice"
_DIVIDES = "PyTorch divides a product by its factors, whose reciprocals overflow; ours does not"
_LAST_DIGIT = "exp(x − y) with y near 1e4 in float32 has three digits; both round y differently"
EXPLAINED: dict[tuple[str, str], str] = {
    **{(op, pattern): _TIES for op in ("topk", "kthvalue") for pattern in PATTERNS},
    **{
        (op, pattern): _NO_ONE_ANSWER
        for op in ("linalg_norm", "linalg_matrix_norm")
        for pattern in PATTERNS
        if pattern != "zero"
    },
    ("cumprod", "denormal"): _DIVIDES,
    ("logcumsumexp", "large"): _LAST_DIGIT,
    ("logcumsumexp", "opposite"): _LAST_DIGIT,
    ("ctc_loss", "opposite"): _LAST_DIGIT,
    ("kl_div", "denormal"): "PyTorch's vectorised log is off by 5e-5 for denormals",
    ("soft_margin_loss", "opposite"): "PyTorch's log(1 + exp(1e8)) overflows; ours is 1e8",
    **{
        ("linear_cross_entropy", pattern): "logits near 1e8 have eight digits after the product"
        for pattern in ("large", "negative", "opposite")
    },
    ("cross_entropy", "opposite"): "class weights that sum to 0: −inf or NaN",
}


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """PyTorch's threads cost more than they bring on a few numbers."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _found(op: Op, pattern: str) -> list[str]:
    dtypes = ("float64", "float32") if pattern in IN_FLOAT32 else ("float64",)
    return [
        f"{op.name}({call!r}) in {dtype}, {pattern}: {order} {what}"
        for dtype in dtypes
        for call in variants(op, pattern, dtype)
        for order, what in differences(op, call, dtype)
    ]


OPS = [pytest.param(op, id=op.name) for op in table.values() if selected(op)]


@pytest.mark.parametrize("op", OPS)
def test_matches_pytorch_at_the_extremes(op: Op) -> None:
    explained, needed = [each for each in PATTERNS if (op.name, each) in EXPLAINED], False
    for pattern in PATTERNS:
        found = _found(op, pattern)
        if pattern in explained:
            needed = needed or bool(found)
        else:
            assert not found, "\n".join(found[:3])
    assert needed == bool(explained), f"{op.name}: nothing left to explain"


# What has a mean in it: of n equal numbers it is that number, and nothing deviates from it.
AWKWARD = (0.1, 0.9295139, 10000.1, -10000.1, 1 / 3, 1e-30, 3e30)
MOMENTS = ("var", "std", "var_mean", "std_mean")


def _filled(call: Call, value: float) -> Call:
    """The sample with one number in its first argument; the rest as it is."""
    return Call((np.full(call.args[0].shape, value), *call.args[1:]), call.kwargs, call.around)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MOMENTS)
def test_equal_numbers_do_not_deviate(name: str, dtype: str) -> None:
    """Exactly 0 with gradient 0, where PyTorch is off by a rounding; std with second derivative 0.

    (That of var is not 0 anywhere.)
    """
    op, count = table[name], 3 if name.startswith("std") else 2

    def spread(*args: Any, **kwargs: Any) -> Any:
        out = op.public(*args, **kwargs)
        return out[0] if isinstance(out, tuple) else out

    for value in AWKWARD:
        for call in samples_of(op):
            side: Side = whygrad_side(_filled(call, value), dtype)
            for results in orders(side, spread, whygrad)[:count]:
                (result,) = results
                assert not result.numpy(force=True).any(), f"{name}({call!r}) of {value}: {result}"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("value", AWKWARD)
def test_many_equal_numbers_do_not_deviate(value: float, dtype: str) -> None:
    """Whatever their number, and however they lie in memory."""
    many = whygrad.from_numpy(np.full((70, 501), value, dtype))
    lying = (many, many.T, many[::2, 1::3], many[:, :7], many.flip(0), many.expand(2, 70, 501))
    for x in lying:
        for dim in (None, 0, -1):
            assert not x.std(dim).any(), (value, x.stride())
            assert not x.var(dim, correction=0).any(), (value, x.stride())


STANDARDIZING: dict[str, Callable[[Any, Any, Any], Any]] = {
    "layer": lambda x, weight, bias: functional.layer_norm(x, x.shape[1:2], weight, bias),
    "batch": lambda x, weight, bias: functional.batch_norm(x, None, None, weight, bias, True),
    "group": lambda x, weight, bias: functional.group_norm(x, 2, weight, bias),
    "instance": lambda x, weight, bias: functional.instance_norm(
        x[..., None].expand(*x.shape, 3), None, None, weight, bias
    ),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", STANDARDIZING)
def test_equal_numbers_are_standardized_to_zero(name: str, dtype: str) -> None:
    """Small ones, and enough for the fused kernels."""
    for shape in ((3, 6), (48, 700)):
        for value in AWKWARD[:5]:
            x = whygrad.from_numpy(np.full(shape, value, dtype)).requires_grad_()
            weight = whygrad.from_numpy(np.full(shape[1], 2.0, dtype)).requires_grad_()
            out = STANDARDIZING[name](x, weight, whygrad.zeros_like(weight))
            assert not out.any(), f"{name} norm of {shape} times {value}"
            out.sum().backward()
            assert weight.grad is not None
            assert not weight.grad.any()


@pytest.fixture
def spoiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Op]]:
    """An op whose row is changed for the length of one test."""

    def spoil(name: str, **row: Any) -> Op:
        op = table[name]
        for field, value in row.items():
            monkeypatch.setattr(op, field, value)
            if field == "forward":
                monkeypatch.setattr(raw, name, value)
        monkeypatch.setattr(op, "_plans", {})
        op.table.clear()
        return op

    yield spoil
    monkeypatch.undo()
    for op in table.values():
        if op.kind != "composite":
            op.table.clear()


def test_a_slope_that_is_nan_at_the_next_order_is_caught(spoiled: Callable[..., Op]) -> None:
    def rule(xp: Any, incoming: Any, x: Any, y: Any, dim: Any, correction: float) -> Any:
        return incoming * xp.where(y == 0, 0.0, 1.0 / y) * xp.deviation(x, dim)

    spoiled("std", vjp={"x": rule})
    found = [each for each in _found(table["std"], "zero") if "float64[3, 4]) in" in each]
    assert len(found) == 1
    assert "second derivative" in found[0]


def test_a_rounded_mean_is_caught(spoiled: Callable[..., Op]) -> None:
    spoiled("deviation", forward=lambda x, dim: x - np.mean(x, dim, keepdims=True) * (1 + 1e-15))
    assert any("gradient" in each for each in _found(table["var"], "large"))
    with pytest.raises(AssertionError):
        test_equal_numbers_do_not_deviate("var", "float64")
