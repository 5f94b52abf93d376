"""Losses and the linear layer: stability, PyTorch's conditions, refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

import whygrad

F = whygrad.nn.functional
TF = torch.nn.functional


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_cross_entropy_gradient_is_p_minus_one_hot_over_batch(scale: float) -> None:
    rng = np.random.default_rng(0)
    logits, target = rng.normal(size=(6, 5)) * scale, rng.integers(0, 5, 6)
    x = whygrad.tensor(logits, dtype=whygrad.float64, requires_grad=True)
    loss = F.cross_entropy(x, whygrad.from_numpy(target))
    loss.backward()
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    p = shifted / shifted.sum(1, keepdims=True)
    np.testing.assert_allclose(x.grad.numpy(), (p - np.eye(5)[target]) / 6, 1e-12, 1e-15)
    assert np.isfinite(loss.item())


@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_cross_entropy_in_forward_mode_keeps_the_dtype(reduction: str) -> None:
    x, target = whygrad.randn(3, 4), whygrad.tensor([0, 1, 2])
    loss = partial(F.cross_entropy, target=target, reduction=reduction)
    value, tangent = whygrad.func.jvp(loss, (x,), (whygrad.ones(3, 4),))
    assert value.dtype == tangent.dtype == whygrad.float32


def test_an_impossible_class_elsewhere_does_no_harm() -> None:
    x = whygrad.tensor([[0.0, -np.inf]], requires_grad=True)
    loss = F.cross_entropy(x, whygrad.tensor([0]))
    loss.backward()
    assert loss.item() == 0.0
    assert x.grad.tolist() == [[0.0, 0.0]]


def test_mean_over_nothing_is_nan_with_zero_gradient() -> None:
    x = whygrad.ones(2, 3, requires_grad=True)
    loss = F.cross_entropy(x, whygrad.tensor([-100, -100]))
    loss.backward()
    assert np.isnan(loss.item())
    assert x.grad.tolist() == [[0.0] * 3] * 2


def test_byte_targets_and_single_examples() -> None:
    x = whygrad.tensor([[1.0, 2.0], [3.0, 5.0]])
    target = whygrad.tensor([1, 0])
    by_byte = F.cross_entropy(x, target.to(whygrad.uint8))
    assert by_byte.item() == F.cross_entropy(x, target).item()
    assert F.cross_entropy(x[0], target[:1], reduction="none").shape == ()


def test_binary_cross_entropy_is_finite_at_the_ends() -> None:
    data, target = [0.0, 1.0, 0.5, 1.0, 0.0], [0.0, 1.0, 0.5, 0.0, 1.0]
    results = []
    for library, functional in ((whygrad, F), (torch, TF)):
        x = library.tensor(data, requires_grad=True)
        loss = functional.binary_cross_entropy(x, library.tensor(target), reduction="none")
        loss.sum().backward()
        results.append((loss.detach().numpy(), x.grad.numpy()))
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-6)


def test_size_average_still_decides_and_warns() -> None:
    x, y = whygrad.tensor([1.0, 3.0]), whygrad.tensor([0.0, 0.0])
    with pytest.warns(UserWarning, match="please use reduction='sum'") as caught:
        assert F.mse_loss(x, y, size_average=False).item() == 10.0
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="please use reduction='none'"):
        assert F.l1_loss(x, y, reduce=False).tolist() == [1.0, 3.0]


def test_a_broadcast_target_warns() -> None:
    with pytest.warns(UserWarning, match="different to the input size") as caught:
        F.mse_loss(whygrad.ones(4, 1), whygrad.ones(4))
    assert caught[0].filename == __file__


def test_l1_loss_has_slope_zero_at_zero() -> None:
    x = whygrad.tensor([1.0, 2.0], requires_grad=True)
    F.l1_loss(x, whygrad.tensor([1.0, 0.0]), reduction="sum").backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_linear_saves_only_what_the_wanted_gradients_need() -> None:
    x, weight = whygrad.ones(4, 3), whygrad.ones(2, 3)
    bias = whygrad.ones(2, requires_grad=True)
    assert F.linear(x, weight, bias).grad_fn.saved == {}
    x.requires_grad_()
    assert "weight" in F.linear(x, weight, bias).grad_fn.saved
    assert "x" not in F.linear(x, weight, bias).grad_fn.saved


def _loss(*, logits: tuple[int, ...] = (4, 3), **options: object) -> object:
    arguments = {"target": whygrad.tensor([0, 2, 1, 1]), **options}
    return F.cross_entropy(whygrad.ones(*logits), **arguments)


_probabilities = whygrad.ones(2, 3) / 2

REFUSED = {
    "Target 3 is out of bounds": (IndexError, lambda: _loss(target=whygrad.tensor([0, 2, 3, 1]))),
    "Target -1 is out of bounds": (IndexError, lambda: _loss(target=whygrad.tensor([0, -1, 1, 1]))),
    "dtype to be int64 or uint8": (RuntimeError, lambda: _loss(target=whygrad.ones(4))),
    "to match target batch_size \\(3\\)": (
        ValueError,
        lambda: _loss(target=whygrad.tensor([0, 1, 2])),
    ),
    "multi-target not supported": (
        RuntimeError,
        lambda: _loss(target=whygrad.tensor([[0], [1], [2], [0]])),
    ),
    "Expected target size \\[4, 2\\], got \\[4\\]": (RuntimeError, lambda: _loss(logits=(4, 3, 2))),
    "1 or more dimensions": (
        ValueError,
        lambda: F.nll_loss(whygrad.tensor(1.0), whygrad.tensor(0)),
    ),
    "all 3 classes or no classes": (RuntimeError, lambda: _loss(weight=whygrad.ones(2))),
    "expected scalar type float32": (RuntimeError, lambda: _loss(weight=whygrad.ones(3).double())),
    "not differentiable with respect to argument 'weight'": (
        RuntimeError,
        lambda: _loss(weight=whygrad.ones(3, requires_grad=True)),
    ),
    "is not a valid value for reduction": (ValueError, lambda: _loss(reduction="x")),
    "label_smoothing must be between": (RuntimeError, lambda: _loss(label_smoothing=2.0)),
    "ignore_index is not supported for floating": (
        RuntimeError,
        lambda: _loss(target=whygrad.ones(4, 3) / 3, ignore_index=1),
    ),
    "Expected floating point type for target with class probabilities": (
        RuntimeError,
        lambda: _loss(target=whygrad.ones(4, 3).long()),
    ),
    "Weights and input must have the same size": (
        ValueError,
        lambda: F.mse_loss(whygrad.ones(2), whygrad.ones(2), weight=whygrad.ones(3)),
    ),
    "between 0 and 1 \\(and none NaN\\); the smallest is -1, the largest 2": (
        RuntimeError,
        lambda: F.binary_cross_entropy(whygrad.tensor([-1.0, 2.0]), whygrad.ones(2)),
    ),
    "is deprecated. Please ensure they have the same size": (
        ValueError,
        lambda: F.binary_cross_entropy(_probabilities, whygrad.ones(3)),
    ),
    "Found dtype float64 but expected float32": (
        RuntimeError,
        lambda: F.binary_cross_entropy(_probabilities, _probabilities.double()),
    ),
    "must be the same as input size": (
        ValueError,
        lambda: F.binary_cross_entropy_with_logits(whygrad.ones(2, 3), whygrad.ones(3)),
    ),
    "shapes cannot be multiplied \\(4x3 and 2x5\\)": (
        RuntimeError,
        lambda: F.linear(whygrad.ones(4, 3), whygrad.ones(5, 2)),
    ),
    "to have the same dtype, but got float32 and float64": (
        RuntimeError,
        lambda: F.linear(whygrad.ones(4, 3), whygrad.ones(5, 3).double()),
    ),
    "at least 1D and weight must be a matrix": (
        RuntimeError,
        lambda: F.linear(whygrad.tensor(1.0), whygrad.ones(5, 3)),
    ),
    "cannot be expanded to the output's": (
        RuntimeError,
        lambda: F.linear(whygrad.ones(4, 3), whygrad.ones(5, 3), whygrad.ones(4)),
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_say_why(words: str) -> None:
    kind, call = REFUSED[words]
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "fix:" in str(caught.value)
