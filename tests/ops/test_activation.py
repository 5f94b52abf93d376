"""Activations: special values, in-place forms, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad

F = whygrad.nn.functional
TF = torch.nn.functional

EDGES = [
    np.inf, -np.inf, 0.0, -0.0, 1e4, -1e4, 3.0, -3.0, 0.5, -0.5, 1.0, -1.0, 6.0, 20.0,
]  # fmt: skip
ONE_ARGUMENT = [
    "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "logsigmoid", "mish", "relu", "relu6", "selu", "silu", "softplus", "softshrink", "tanhshrink",
]  # fmt: skip
WITH_INPLACE = [
    "celu", "elu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "mish", "relu", "relu6",
    "selu", "silu",
]  # fmt: skip


def value_and_gradient(library: Any, function: Any, data: Any, dtype: str) -> tuple[Any, Any]:
    x = library.tensor(data, dtype=getattr(library, dtype), requires_grad=True)
    y = function(x)
    y.backward(library.ones_like(y))
    return y.detach().numpy(), x.grad.numpy()


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_edges_are_pytorchs(name: str) -> None:
    mine = value_and_gradient(whygrad, getattr(F, name), EDGES, "float64")
    theirs = value_and_gradient(torch, getattr(TF, name), EDGES, "float64")
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, 1e-7, 1e-15)


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_nan_stays_nan_and_float32_stays_float32(name: str) -> None:
    value, gradient = value_and_gradient(whygrad, getattr(F, name), [np.nan, 1.0], "float32")
    assert np.isnan(value[0])
    assert value.dtype == gradient.dtype == np.float32


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_infinite_logits_are_pytorchs(name: str) -> None:
    inf = np.inf
    rows = [[-inf, -inf], [inf, 0.0], [0.0, -inf], [1e4, -1e4], [-1e4, -1e4]]
    mine = value_and_gradient(whygrad, lambda x: getattr(F, name)(x, -1), rows, "float32")
    theirs = value_and_gradient(torch, lambda x: getattr(TF, name)(x, -1), rows, "float32")
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, 1e-6, 1e-7)


def test_an_infinite_gradient_dies_at_a_flat_piece() -> None:
    x = whygrad.tensor([-1.0, 2.0], requires_grad=True)
    F.relu(x).backward(whygrad.tensor([np.inf, np.inf]))
    assert x.grad.tolist() == [0.0, np.inf]


def test_large_arrays_take_the_same_values_as_small_ones() -> None:
    rows = np.random.default_rng(0).normal(size=(64, 100)).astype(np.float32)
    for name in ("relu", "leaky_relu", "elu", "hardswish", "hardshrink"):
        mine = value_and_gradient(whygrad, getattr(F, name), rows, "float32")
        theirs = value_and_gradient(torch, getattr(TF, name), rows, "float32")
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a, b, 1e-5, 1e-6)


@pytest.mark.parametrize("name", WITH_INPLACE)
def test_inplace_writes_and_differentiates(name: str) -> None:
    data = [-4.0, -0.7, 0.3, 2.0]
    x = whygrad.tensor(data, requires_grad=True)
    y = x * 1.0
    result = getattr(F, name)(y, inplace=True)
    assert result is y
    y.sum().backward()
    expected = value_and_gradient(torch, getattr(TF, name), data, "float32")
    np.testing.assert_allclose(y.detach().numpy(), expected[0], 1e-6)
    np.testing.assert_allclose(x.grad.numpy(), expected[1], 1e-6)


def test_inplace_may_be_given_by_position() -> None:
    x = whygrad.tensor([-1.0, 2.0])
    assert F.relu(x, True) is x
    assert F.leaky_relu(x, 0.5, True) is x
    assert F.threshold(x, 1.0, 7.0, True) is x
    assert x.tolist() == [7.0, 2.0]


@pytest.mark.parametrize("name", ["gelu", "elu", "silu", "softmax", "hardswish", "prelu"])
def test_integers_are_refused(name: str) -> None:
    x = whygrad.tensor([1, 2])
    rest = {"softmax": (0,), "prelu": (whygrad.tensor(1),)}.get(name, ())
    with pytest.raises(RuntimeError, match="not implemented for integer tensors"):
        getattr(F, name)(x, *rest)


def test_integers_where_pytorch_takes_them() -> None:
    x = whygrad.tensor([-4, -1, 0, 2, 7])
    assert F.relu(x).tolist() == [0, 0, 0, 2, 7]
    assert F.relu6(x).tolist() == [0, 0, 0, 2, 6]
    assert F.softsign(x).dtype is whygrad.float32


def test_softmax_without_dim_warns_and_chooses_as_pytorch_does() -> None:
    x = whygrad.tensor([[1.0, 2.0], [3.0, 5.0]])
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax") as caught:
        y = F.softmax(x)
    assert caught[0].filename == __file__
    assert y.tolist() == F.softmax(x, 1).tolist()


def test_dropout_keeps_the_mean_and_the_seed() -> None:
    x = whygrad.ones(10_000, requires_grad=True)
    whygrad.manual_seed(3)
    y = F.dropout(x, 0.25)
    assert set(np.unique(y.detach().numpy())) == {0.0, np.float32(1 / 0.75)}
    assert abs(y.mean().item() - 1.0) < 0.05
    y.sum().backward()
    assert (x.grad == y).all().item()
    whygrad.manual_seed(3)
    assert whygrad.equal(F.dropout(x, 0.25), y)
    assert F.dropout(x, 0.25, training=False) is x


REFUSED = {
    "min_val cannot be greater": (ValueError, lambda x: F.hardtanh(x, 1.0, -1.0)),
    "unsigned type with negative": (
        RuntimeError,
        lambda x: F.hardtanh(x.to(whygrad.uint8)),
    ),
    "lambda must be greater or equal to 0": (RuntimeError, lambda x: F.softshrink(x, -1.0)),
    "alpha cannot be 0": (RuntimeError, lambda x: F.celu(x, 0.0)),
    "either none or tanh": (RuntimeError, lambda x: F.gelu(x, approximate="x")),
    "Halving dimension must be even": (RuntimeError, lambda x: F.glu(x)),
    "halving size must be even": (RuntimeError, lambda x: F.glu(x[0, 0])),
    "Dimension out of range": (IndexError, lambda x: F.softmax(x, 2)),
    "has to be between 0 and 1": (ValueError, lambda x: F.dropout(x, 1.5)),
    "Type promoting not supported": (RuntimeError, lambda x: F.prelu(x, whygrad.ones(1).double())),
    "scalar or 1D tensor": (RuntimeError, lambda x: F.prelu(x, whygrad.ones(1, 3))),
    "Mismatch of parameter numbers": (RuntimeError, lambda x: F.prelu(x, whygrad.ones(2))),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_say_why(words: str) -> None:
    kind, call = REFUSED[words]
    with pytest.raises(kind, match=words):
        call(whygrad.ones(2, 3))


def test_functional_lists_its_names() -> None:
    assert list(F.__all__) == sorted(F.__all__)
    for name in F.__all__:
        assert callable(getattr(F, name))
        assert hasattr(TF, name)


@pytest.mark.parametrize("name", ["hardtanh", "hardshrink", "softshrink"])
def test_no_slope_at_nan(name: str) -> None:
    """PyTorch's choice: what is not inside an interval gets no gradient."""
    x = whygrad.tensor([float("nan"), 0.75], requires_grad=True)
    getattr(whygrad.nn.functional, name)(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 1.0]
