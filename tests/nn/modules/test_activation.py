"""Every activation layer beside PyTorch's, and the two functions that draw."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.nn.layers import (
    LIBRARIES,
    Layer,
    array,
    assert_same,
    cases,
    check_gradients,
    check_outputs,
    check_second_order,
    check_state,
    refusal,
)

X = array(3, 4, low=-5.0, high=7.0)
INPLACE = [
    "ReLU", "ReLU6", "LeakyReLU", "RReLU", "ELU", "CELU", "SELU", "SiLU", "Mish", "Hardtanh",
    "Hardsigmoid", "Hardswish",
]  # fmt: skip
LAYERS = [
    *(Layer(name).on(X) for name in INPLACE if name not in ("RReLU", "Hardsigmoid")),
    Layer("LeakyReLU", 0.3).on(X),
    Layer("RReLU", 0.2, 0.2).on(X),
    Layer("PReLU").on(X),
    Layer("PReLU", 4, init=0.5).on(X),
    Layer("ELU", alpha=0.7).on(X),
    Layer("CELU", 2.0).on(X),
    Layer("GELU").on(X),
    Layer("GELU", approximate="tanh").on(X),
    Layer("GLU").on(X),
    Layer("GLU", dim=0).on(array(4, 3)),
    Layer("Sigmoid").on(X),
    Layer("LogSigmoid").on(X),
    Layer("Tanh").on(X),
    Layer("Tanhshrink").on(X),
    Layer("Softsign").on(X),
    Layer("Softplus").on(X),
    Layer("Softplus", 2.0, 3.0).on(X),
    Layer("Softshrink", 0.3).on(X),
    Layer("Hardshrink", lambd=0.3).on(X),
    Layer("Hardtanh", -0.5, 2.0).on(X),
    Layer("Threshold", 0.5, 9.0).on(X),
    Layer("Softmax", dim=1).on(X),
    Layer("Softmin", 0).on(X),
    Layer("LogSoftmax", 1).on(X),
    Layer("Softmax2d").on(array(2, 3, 2, 2)),
    Layer("Softmax2d").on(array(3, 2, 2)),
]


@pytest.mark.parametrize("layer", cases(LAYERS))
def test_like_pytorch(layer: Layer) -> None:
    check_state(layer)
    check_outputs(layer)
    check_gradients(layer)
    check_second_order(layer)


def test_hardsigmoid() -> None:
    """PyTorch rounds its slope of 1/6 to float32, so gradients agree to that only."""
    check_state(Layer("Hardsigmoid"))
    check_outputs(Layer("Hardsigmoid").on(X))
    x = whygrad.from_numpy(np.array(X)).requires_grad_()
    whygrad.nn.Hardsigmoid()(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(np.abs(X) < 3, 1 / 6, 0.0))


@pytest.mark.parametrize("name", INPLACE)
def test_in_place(name: str) -> None:
    check_state(Layer(name, inplace=True))
    seen: list[list[Any]] = []
    for library in LIBRARIES:
        layer = getattr(library.nn, name)(inplace=True).eval()
        x = library.from_numpy(np.array(X)).requires_grad_()
        middle = x * 1.5
        assert layer(middle) is middle
        (middle * library.from_numpy(array(3, 4, seed=4))).sum().backward()
        seen.append([middle, x.grad])
    for mine, theirs in zip(*seen, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-6, 1e-7)


@pytest.mark.parametrize("inplace", [False, True])
def test_rrelu_draws_a_slope_per_element_in_training(inplace: bool) -> None:
    whygrad.manual_seed(0)
    x = whygrad.full((100, 100), -1.0, dtype=whygrad.float64, requires_grad=True)
    layer = whygrad.nn.RReLU(0.1, 0.3, inplace)
    y = layer(x * 1)
    slopes = -y.detach().numpy()
    assert slopes.min() >= 0.1
    assert slopes.max() <= 0.3
    assert abs(slopes.mean() - 0.2) < 0.002
    assert len(np.unique(slopes)) > 9000
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slopes)
    positive = layer(whygrad.ones(3))
    assert positive.tolist() == [1.0, 1.0, 1.0]


def test_gumbel_softmax_draws_with_the_probabilities_of_softmax() -> None:
    whygrad.manual_seed(0)
    logits = whygrad.tensor([0.1, 0.6, 0.3]).log()
    drawn = whygrad.nn.functional.gumbel_softmax(logits.expand(40_000, 3), hard=True)
    assert set(np.unique(drawn.numpy().round(5))) == {0.0, 1.0}
    np.testing.assert_allclose(drawn.numpy().sum(1), 1, 1e-6)
    np.testing.assert_allclose(drawn.numpy().mean(0), [0.1, 0.6, 0.3], atol=0.01)


def test_hard_gumbel_softmax_has_the_gradient_of_the_soft_one() -> None:
    grads = []
    for hard in (False, True):
        whygrad.manual_seed(1)
        x = whygrad.from_numpy(np.array(X)).requires_grad_()
        y = whygrad.nn.functional.gumbel_softmax(x, tau=0.7, hard=hard, dim=0)
        (y * whygrad.from_numpy(array(3, 4, seed=2))).sum().backward()
        grads.append(x.grad)
    np.testing.assert_allclose(grads[0].numpy(), grads[1].numpy())


def test_gumbel_softmax_warns_about_eps() -> None:
    for library in LIBRARIES:
        with pytest.warns(UserWarning, match="deprecated and has no effect"):
            library.nn.functional.gumbel_softmax(library.ones(3), eps=1e-3)


def test_softmax_without_a_dimension_warns() -> None:
    for library in LIBRARIES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            library.nn.Softmax()(library.ones(2, 3))
        assert any("Implicit dimension choice" in str(each.message) for each in caught)


@pytest.mark.parametrize("layer", cases(LAYERS))
def test_copies_and_pickles(layer: Layer) -> None:
    made = layer.made(whygrad)
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert repr(twin) == repr(made)
        assert twin != made
        assert twin is not made
        x = whygrad.from_numpy(np.array(layer.inputs[0])).float()
        assert twin(x).tolist() == made(x).tolist()


def test_layers_are_told_apart_by_identity() -> None:
    """Equal fields make no equal layers: a set of modules holds both."""
    assert len({whygrad.nn.ReLU(), whygrad.nn.ReLU()}) == 2


def test_subclasses_may_have_their_own_constructor() -> None:
    class Shifted(whygrad.nn.ELU):
        def __init__(self, shift: float) -> None:
            super().__init__(alpha=0.5)
            self.shift = whygrad.nn.Parameter(whygrad.tensor(shift))

        def forward(self, input: Any) -> Any:
            return super().forward(input) + self.shift

    layer = Shifted(1.0)
    assert [name for name, _ in layer.named_parameters()] == ["shift"]
    assert repr(layer) == "Shifted(alpha=0.5)"
    assert layer(whygrad.zeros(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.Hardtanh(1.0, -1.0), "max_val (-1.0) must be greater than min_val"),
        (lambda lib: lib.nn.Softmax2d()(lib.ones(2, 3)), "expected input to be 3D or 4D, got 2D"),
        (
            lambda lib: lib.nn.RReLU(0.5, 0.2)(lib.ones(3)),
            "Lower bound should be less than or equal to the upper bound",
        ),
        (
            lambda lib: lib.nn.PReLU(3)(lib.ones(2, 4)),
            "Mismatch of parameter numbers and input channel size",
        ),
        (lambda lib: lib.nn.GLU()(lib.ones(3)), "must be even"),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


def test_inplace_on_a_leaf_is_refused() -> None:
    refusal(
        lambda lib: lib.nn.ReLU(inplace=True)(lib.ones(3, requires_grad=True)),
        "leaf Variable that requires grad",
    )


def test_prelu_learns_its_slope() -> None:
    seen = []
    for library in LIBRARIES:
        layer = library.nn.PReLU(3)
        layer(-library.ones(2, 3)).sum().backward()
        seen.append((layer.weight, layer.weight.grad))
    for mine, theirs in zip(*seen, strict=True):
        assert_same(mine, theirs, "slope")
