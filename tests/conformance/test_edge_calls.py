"""Calls at the edge of what functions take, each run on both libraries: same result or refusal."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.harness import flatten

NAN, INF = float("nan"), float("inf")

Call = Callable[[Any], Any]


def _search(sequence: list[Any], values: list[Any], right: bool) -> Call:
    return lambda L: L.searchsorted(L.tensor(sequence), L.tensor(values), right=right)


def _complex_sums(values: list[complex]) -> list[Call]:
    return [
        lambda L: L.logsumexp(L.tensor(values), 0),
        lambda L: L.logcumsumexp(L.tensor(values), 0),
    ]


def _gaussian(shape: tuple[int, ...], var: tuple[int, ...]) -> Call:
    def call(L: Any) -> Any:
        of_ones, of_zeros, of_twos = L.ones(shape), L.zeros(shape), L.full(var, 2.0)
        return L.nn.functional.gaussian_nll_loss(of_ones, of_zeros, of_twos, reduction="none")

    return call


def _loss(name: str, input: str, target: str, **options: Any) -> Call:
    def call(L: Any) -> Any:
        given = L.tensor([0.25, 0.5, 0.75]).to(getattr(L, input))
        wanted = L.tensor([1.0, 0.0, 3.0]).to(getattr(L, target))
        return getattr(L.nn.functional, name)(given, wanted, **options)

    return call


def _unique(rows: list[Any], dim: int | None) -> Call:
    return lambda L: L.unique(L.tensor(rows), dim=dim, return_inverse=True, return_counts=True)


def _asarray(kind: str, copy: bool | None, dtype: str | None, requires_grad: bool | None) -> Call:
    def call(L: Any) -> Any:
        x = L.ones(2, requires_grad=kind != "plain")
        x = x * 2 if kind == "computed" else x
        options: dict[str, Any] = {"copy": copy, "requires_grad": requires_grad}
        options = {name: value for name, value in options.items() if value is not None}
        if dtype is not None:
            options["dtype"] = getattr(L, dtype)
        y = L.asarray(x, **options)
        return [y is x, y.requires_grad, y.is_leaf, x.requires_grad, y]

    return call


def _rms_norm(weight: list[complex] | None, eps: float | None) -> Call:
    def call(L: Any) -> Any:
        x = L.tensor([[1 + 2j, 3 - 1j], [0.5j, 2.0]], requires_grad=True)
        scale = None if weight is None else L.tensor(weight)
        y = L.nn.functional.rms_norm(x, (2,), scale, eps)
        return [y, L.autograd.grad(y.abs().sum(), x)[0]]

    return call


GROUPS: dict[str, list[Call]] = {
    "searchsorted with nan": [
        _search(sequence, values, right)
        for sequence in ([1.0, 2.0, 3.0], [1.0, NAN, NAN], [NAN, 1.0, 2.0, 5.0], [NAN])
        for values in ([NAN, 2.0, INF, -INF], [[0.0, NAN], [1.0, 2.0]])
        for right in (False, True)
    ]
    + [
        _search([[1.0, NAN, 3.0], [0.0, 5.0, NAN]], [[NAN, 2.0], [NAN, INF]], right)
        for right in (False, True)
    ]
    + [
        lambda L: L.bucketize(L.tensor([NAN, 2.0, 0.0]), L.tensor([1.0, NAN, NAN]), right=True),
        lambda L: L.searchsorted(L.tensor([1.0, NAN]), NAN),
    ],
    "complex logsumexp": [
        call
        for values in (
            [1 + 4j], [1 + 4j, 2 - 2j], [1000 + 4j, 1000 - 2j], [-1000 + 4j, -999 - 2j, 3j],
            [complex(-INF, 0), 1 + 4j],
        )
        for call in _complex_sums(values)
    ],
    "unique with nan": [
        _unique(rows, dim)
        for rows in (
            [[1.0, NAN], [1.0, NAN], [0.0, 2.0]],
            [[2.0, NAN], [1.0, 5.0], [2.0, 1.0], [NAN, 0.0], [1.0, 5.0]],
            [[NAN, NAN], [NAN, 2.0], [NAN, 1.0]],
        )
        for dim in (None, 0, 1)
    ]
    + [_unique([NAN, 1.0, NAN], 0)],
    "asarray of a tensor": [
        _asarray(kind, copy, dtype, requires_grad)
        for kind in ("plain", "leaf", "computed")
        for copy in (None, True)
        for dtype in (None, "float64")
        for requires_grad in (None, False, True)
    ],
    "gaussian_nll_loss, shapes of var": [
        _gaussian(*shapes)
        for shapes in (
            ((2, 3), (1, 3)), ((2, 3), (2, 1)), ((2, 3), (2,)), ((2, 3), (3,)), ((2, 3), (1, 1)),
            ((2, 3), ()), ((3,), (1,)), ((3,), ()), ((4, 2, 3), (1, 2, 3)), ((4, 2, 3), (4, 1, 3)),
            ((4, 2, 3), (4, 2, 1)), ((4, 2, 3), (4, 1, 1)), ((1, 3), (2, 3)), ((2, 3), (2, 3, 1)),
        )
    ],
    "losses of other dtypes": [
        _loss(name, input, target, **options)
        for name, options in (
            ("mse_loss", {}), ("l1_loss", {"reduction": "none"}), ("huber_loss", {}),
            ("smooth_l1_loss", {}), ("smooth_l1_loss", {"reduction": "sum"}),
            ("binary_cross_entropy_with_logits", {}), ("kl_div", {"reduction": "sum"}),
            ("poisson_nll_loss", {}),
        )
        for input in ("float32", "float64", "int64")
        for target in ("float32", "float64", "int64", "bool")
    ],
    "to and view, told twice": [
        lambda L: L.ones(2).to(L.float64, dtype=L.int32),
        lambda L: L.ones(2).to("cpu", L.int32, dtype=L.int32),
        lambda L: L.ones(2).to(L.ones(2), dtype=L.int32),
        lambda L: L.ones(2).to(L.float32, device="cpu"),
        lambda L: L.ones(2).to("cpu", dtype=L.int32),
        lambda L: L.ones(2).to("cpu", L.int32),
        lambda L: L.ones(2).view(2, dtype=L.int32),
        lambda L: L.ones(2).view(L.int32),
    ],
    "complex numbers, absolute or squared": [
        lambda L: L.tensor([3 + 4j]).abs_(),
        lambda L: L.tensor([3 + 4j]).absolute_(),
        lambda L: L.tensor([3.0 + 4j]).eq_(L.tensor([3.0 + 4j])),
        *(_rms_norm(weight, eps) for weight in (None, [1 + 1j, 2.0]) for eps in (None, 0.5)),
    ],
    "weights of cov": [
        lambda L: L.cov(L.ones(2, 3), aweights=L.zeros(3)),
        lambda L: L.cov(L.ones(2, 3), aweights=L.tensor([1.0, -1.0, 2.0])),
        lambda L: L.cov(L.ones(2, 3), fweights=L.tensor([0, 0, 0])),
        lambda L: L.cov(L.ones(2, 3), fweights=L.tensor([0, 3, 1])),
    ],
}  # fmt: skip


def _outcome(call: Call, library: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # asarray's new default; sizes that broadcast
            return flatten(call(library))
    except Exception as error:
        return error


@pytest.mark.parametrize("group", GROUPS)
def test_same_result_or_refusal(group: str) -> None:
    for number, call in enumerate(GROUPS[group]):
        mine, theirs = _outcome(call, whygrad), _outcome(call, torch)
        where = f"{group}, call {number}: {mine} against {theirs}"
        if isinstance(theirs, Exception):
            assert isinstance(mine, type(theirs)), where
            continue
        assert not isinstance(mine, Exception), where
        for a, b in zip(mine, theirs, strict=True):
            if isinstance(b, torch.Tensor):
                assert a.dtype.name == str(b.dtype).removeprefix("torch."), where
                np.testing.assert_allclose(
                    a.detach().numpy(), b.detach().numpy(), 1e-5, 1e-5, err_msg=where
                )
            else:
                assert a == b, where


@pytest.mark.parametrize("library", [whygrad, torch])
def test_max_norm_is_unknown_to_both_directions(library: Any) -> None:
    """embedding(max_norm=…) shortens rows; forward and reverse mode see the lookup alone."""
    forward_ad = library.autograd.forward_ad
    index = library.tensor([0, 1, 0, 2])
    weight = library.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    direction = library.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(weight.clone(), direction)
        found = library.nn.functional.embedding(index, dual, max_norm=1.0)
        assert forward_ad.unpack_dual(found).tangent.tolist() == direction[index].tolist()
        assert forward_ad.unpack_dual(dual).tangent.tolist() == direction.tolist()
    weight.requires_grad_()
    library.nn.functional.embedding(index, weight, max_norm=1.0).sum().backward()
    assert weight.grad.tolist() == [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0]]
    assert weight.norm(dim=1).max() < 1.0001


@pytest.mark.parametrize("library", [whygrad, torch])
def test_std_of_the_report(library: Any) -> None:
    """A constant feature: exactly 0, slope 0, and a second derivative that is 0."""
    x = library.full((3,), 0.9295139, dtype=library.float64, requires_grad=True)
    y = x.std(unbiased=False)
    y.backward()
    assert y.item() == 0.0
    assert not x.grad.any()
    ones = library.ones(3, dtype=library.float64)
    hessian = library.autograd.functional.hessian(lambda v: v.std(), ones)
    assert not hessian.any()
