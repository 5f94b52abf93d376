"""Clipping: PyTorch's norms and results, and what makes the two ways differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

LIBRARIES = {"whygrad": whygrad, "torch": torch}
BOTH = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)


def parameters(library: Any, dtype: str = "float64") -> list[Any]:
    """Three with gradients, one without."""
    rng = np.random.default_rng(3)
    made = []
    for shape in ((3, 4), (4,), ()):
        leaf = library.zeros(shape, dtype=getattr(library, dtype)).requires_grad_()
        leaf.grad = library.tensor(rng.normal(size=shape), dtype=getattr(library, dtype))
        made.append(leaf)
    return [*made, library.zeros(2).requires_grad_()]


def gradients(params: list[Any]) -> list[Any]:
    return [each.grad.double().numpy() for each in params if each.grad is not None]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("norm_type", [2, 2.0, 1, 3.5, float("inf"), "inf", float("-inf"), 0])
@pytest.mark.parametrize("max_norm", [0.5, 1e6, 0])
def test_by_norm(max_norm: float, norm_type: Any, dtype: str) -> None:
    results = []
    for library in LIBRARIES.values():
        params = parameters(library, dtype)
        total = library.nn.utils.clip_grad_norm_(params, max_norm, norm_type, foreach=False)
        assert total.dtype is getattr(library, dtype)
        assert not total.requires_grad
        results.append([total.item(), *gradients(params)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12 if dtype == "float64" else 1e-5)


@BOTH
def test_one_tensor_and_generators(library: Any) -> None:
    clip = library.nn.utils.clip_grad_norm_
    param = parameters(library)[0]
    total = clip(param, 1.0)
    assert clip((each for each in [param]), 1.0).item() <= 1.0
    assert total.item() > 1.0
    assert clip([], 1.0).item() == 0.0
    with pytest.warns(UserWarning, match="`parameters` is an empty generator"):
        clip((each for each in []), 1.0)


@BOTH
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite(library: Any, bad: float) -> None:
    params = parameters(library)
    params[0].grad[0, 0] = bad
    before = gradients(params)[1].copy()
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        library.nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    np.testing.assert_array_equal(gradients(params)[1], before)
    total = library.nn.utils.clip_grad_norm_(params, 1.0)
    np.testing.assert_equal(total.item(), bad)
    after = gradients(params)
    assert np.isnan(after[1]).all() if np.isnan(bad) else (after[1] == 0).all()


@BOTH
def test_total_norm_by_itself(library: Any) -> None:
    params = parameters(library)
    utils = library.nn.utils
    given = [each.grad for each in params[:3]]
    total = utils.get_total_norm(given)
    assert total.item() == pytest.approx(
        np.sqrt(sum((each**2).sum() for each in gradients(params)))
    )
    utils.clip_grads_with_norm_(params, 0.1, total)
    assert utils.get_total_norm(given).item() == pytest.approx(0.1, rel=1e-4)
    assert utils.get_total_norm([]).item() == 0.0


def test_by_value() -> None:
    results = []
    for library in LIBRARIES.values():
        params = parameters(library)
        library.nn.utils.clip_grad_value_(params, 0.5)
        library.nn.utils.clip_grad_value_(params[0], 0.25)
        results.append(gradients(params))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_only_by_norm_the_direction_stays() -> None:
    def cosine(clip: Callable[[Any], Any]) -> float:
        leaf = whygrad.zeros(2).requires_grad_()
        leaf.grad = whygrad.tensor([10.0, 1.0])
        clip(leaf)
        assert leaf.grad is not None
        x, y = leaf.grad.tolist()
        return float((10 * x + y) / np.hypot(x, y) / np.hypot(10, 1))

    assert cosine(lambda leaf: whygrad.nn.utils.clip_grad_norm_(leaf, 1.0)) == pytest.approx(1.0)
    assert cosine(lambda leaf: whygrad.nn.utils.clip_grad_value_(leaf, 1.0)) < 0.8


def test_after_a_backward_through_a_sum() -> None:
    """The gradient of a sum is one number in many places: it can still be written to."""
    x = whygrad.ones(4).requires_grad_()
    x.sum().backward()
    assert whygrad.nn.utils.clip_grad_norm_([x], 1.0).item() == 2.0
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 0.5, rtol=1e-5)
