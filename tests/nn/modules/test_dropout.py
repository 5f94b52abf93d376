"""Dropout layers: what is dropped, what the rest becomes, and when nothing happens."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.nn.layers import LIBRARIES, Layer, check_state, refusal

NAMES = [
    "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout",
]  # fmt: skip
PER_ELEMENT = ("Dropout", "AlphaDropout")
SHAPES = {
    "Dropout": (40, 50, 20),
    "Dropout1d": (40, 50, 20),
    "Dropout2d": (40, 50, 4, 5),
    "Dropout3d": (40, 50, 2, 2, 5),
    "AlphaDropout": (40, 50, 20),
    "FeatureAlphaDropout": (40, 50, 20),
}


@pytest.mark.parametrize("name", NAMES)
def test_state_and_repr(name: str) -> None:
    check_state(Layer(name))
    check_state(Layer(name, 0.2, inplace=True))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_happens_in_eval_or_at_zero(name: str) -> None:
    x = whygrad.ones(SHAPES[name])
    for library in LIBRARIES:
        layer = getattr(library.nn, name)(0.7)
        given = library.ones(SHAPES[name])
        assert bool((layer.eval()(given) == given).all())
    assert getattr(whygrad.nn, name)(0.0)(x) is x


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("inplace", [False, True])
def test_whole_channels_are_dropped_with_probability_p(name: str, inplace: bool) -> None:
    whygrad.manual_seed(0)
    x = whygrad.randn(SHAPES[name])
    before = x.clone()
    y = getattr(whygrad.nn, name)(0.3, inplace)(x)
    assert (y is x) == inplace
    changed = y.numpy() / before.numpy()
    kept = np.isclose(y.numpy(), before.numpy() / 0.7, 1e-5)
    if name in ("AlphaDropout", "FeatureAlphaDropout"):
        scale = ((1.7580993408473766**2 * 0.3 + 1) * 0.7) ** -0.5
        shift = 1.7580993408473766 * scale * 0.3
        kept = np.isclose(y.numpy(), before.numpy() * scale + shift, 1e-4, 1e-5)
        low = -1.7580993408473766 * scale + shift
        assert np.isclose(y.numpy()[~kept], low, 1e-4, 1e-5).all()
    else:
        assert (changed[~kept] == 0).all()
    rows = kept.reshape(kept.shape[0] * kept.shape[1], -1)
    if name in PER_ELEMENT:
        assert abs(kept.mean() - 0.7) < 0.01
    else:
        assert (rows == rows[:, :1]).all()
        assert abs(rows[:, 0].mean() - 0.7) < 0.03


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    whygrad.manual_seed(1)
    y = whygrad.nn.AlphaDropout(0.4)(whygrad.randn(400, 500))
    assert abs(float(y.mean())) < 0.01
    assert abs(float(y.var()) - 1) < 0.01


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_goes_where_the_signal_went(name: str) -> None:
    whygrad.manual_seed(2)
    x = whygrad.ones((4, 5, 3) + (2,) * (len(SHAPES[name]) - 3), dtype=whygrad.float64)
    x.requires_grad_()
    y = getattr(whygrad.nn, name)(0.5)(x)
    y.sum().backward()
    slope = y.detach() - y.detach().min()  # 0 where dropped
    np.testing.assert_allclose(x.grad.numpy() != 0, slope.numpy() != 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("inplace", [False, True])
def test_everything_is_dropped_at_one(name: str, inplace: bool) -> None:
    for library in LIBRARIES:
        x = library.ones((2, 3, 2) + (2,) * (len(SHAPES[name]) - 3))
        assert float(getattr(library.nn, name)(1.0, inplace)(x).abs().sum()) == 0.0


def test_draws_follow_the_seed() -> None:
    layer, x = whygrad.nn.Dropout(), whygrad.ones(50)

    def drawn() -> Any:
        whygrad.manual_seed(5)
        return layer(x).tolist()

    assert drawn() == drawn()


@pytest.mark.parametrize(
    ("name", "shape"),
    [("dropout1d", (3, 4)), ("dropout3d", (3, 4, 2, 2))],
)
def test_one_sample_without_a_batch(name: str, shape: tuple[int, ...]) -> None:
    whygrad.manual_seed(0)
    y = getattr(whygrad.nn.functional, name)(whygrad.ones(shape), 0.5, True).numpy()
    rows = y.reshape(shape[0], -1)
    assert (rows == rows[:, :1]).all()


@pytest.mark.parametrize(
    ("name", "shape", "phrase"),
    [
        ("dropout2d", (2, 3, 4), "assuming that channel-wise 1D dropout"),
        ("dropout2d", (2, 3), "Received a 2-D input to dropout2d"),
        ("dropout2d", (2, 3, 2, 2, 2), "Received a 5-D input to dropout2d"),
        ("dropout3d", (2, 3, 4), "Received a 3-D input to dropout3d"),
    ],
)
def test_unusual_shapes_are_warned_about(name: str, shape: Any, phrase: str) -> None:
    for library in LIBRARIES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(library.nn.functional, name)(library.ones(shape), 0.5, True)
        assert any(phrase in str(each.message) for each in caught)


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.Dropout(1.5), "has to be between 0 and 1, but got 1.5"),
        (lambda lib: lib.nn.AlphaDropout(-0.1), "has to be between 0 and 1, but got -0.1"),
        (lambda lib: lib.nn.functional.dropout2d(lib.ones(2, 3), 2.0), "between 0 and 1"),
        (lambda lib: lib.nn.Dropout1d()(lib.ones(3)), "Expected 2D or 3D input"),
        (lambda lib: lib.nn.Dropout1d()(lib.ones(3, 3, 3, 3)), "received a 4D input"),
        (lambda lib: lib.nn.Dropout2d()(lib.ones(3)), "requires at least 2 dimensions"),
        (lambda lib: lib.nn.FeatureAlphaDropout()(lib.ones(3)), "requires at least 2 dimensions"),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)
