"""Linear, Bilinear, Identity, and the layers that only rearrange."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.nn.layers import (
    Layer,
    array,
    cases,
    check_gradients,
    check_outputs,
    check_second_order,
    check_state,
    refusal,
)

LAYERS = [
    Layer("Linear", 3, 2).on(array(4, 3)),
    Layer("Linear", 3, 2, bias=False).on(array(2, 4, 3)),
    Layer("Linear", 3, 1).on(array(3)),
    Layer("Bilinear", 3, 4, 2).on(array(5, 3), array(5, 4)),
    Layer("Bilinear", 3, 4, 2, bias=False).on(array(2, 5, 3), array(2, 5, 4)),
    Layer("Identity", 3, unused=True).on(array(4, 3)),
    Layer("Flatten").on(array(2, 3, 4)),
    Layer("Flatten", 0, 1).on(array(2, 3, 4)),
    Layer("Unflatten", 1, (2, 3)).on(array(4, 6)),
    Layer("Unflatten", -1, [3, -1]).on(array(4, 6)),
    Layer("PixelShuffle", 2).on(array(2, 8, 3, 2)),
    Layer("PixelUnshuffle", 2).on(array(2, 2, 4, 6)),
]


@pytest.mark.parametrize("layer", cases(LAYERS))
def test_like_pytorch(layer: Layer) -> None:
    check_state(layer)
    check_outputs(layer)
    check_gradients(layer)
    check_second_order(layer)


@pytest.mark.parametrize(
    ("name", "sizes", "bound"),
    [("Linear", (400, 300), 1 / math.sqrt(400)), ("Bilinear", (25, 30, 40), 1 / math.sqrt(25))],
)
def test_first_values_fill_the_interval_of_pytorch(name: str, sizes: Any, bound: float) -> None:
    whygrad.manual_seed(0)
    layer = getattr(whygrad.nn, name)(*sizes)
    for parameter, reached in ((layer.weight, 0.99), (layer.bias, 0.8)):
        values = parameter.detach().numpy()
        assert reached * bound < np.abs(values).max() <= bound
    assert abs(layer.weight.mean().item()) < 0.02 * bound


def test_first_values_follow_the_seed() -> None:
    def drawn() -> Any:
        whygrad.manual_seed(3)
        return whygrad.nn.Linear(3, 2).weight.tolist()

    assert drawn() == drawn()


def test_dtype_and_device_of_the_constructor() -> None:
    layer = whygrad.nn.Linear(3, 2, dtype=whygrad.float64, device="meta")
    assert layer.weight.dtype is whygrad.float64
    assert layer(whygrad.empty(4, 3, dtype=whygrad.float64, device="meta")).shape == (4, 2)


def test_a_layer_without_inputs_gives_its_bias() -> None:
    with pytest.warns(UserWarning, match="zero-element"):
        layer = whygrad.nn.Linear(0, 3)
    assert layer(whygrad.empty(2, 0)).tolist() == [layer.bias.tolist()] * 2


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.Linear(3, 2)(lib.ones(4, 2)), "shapes cannot be multiplied (4x2 and"),
        (lambda lib: lib.nn.Bilinear(0, 2, 3), "in1_features must be > 0, but got"),
        (
            lambda lib: lib.nn.Bilinear(3, 4, 2)(lib.ones(5, 3), lib.ones(6, 4)),
            "batch dimensions do not match at dim 0: got 5 and 6",
        ),
        (
            lambda lib: lib.nn.Bilinear(3, 4, 2)(lib.ones(5, 2), lib.ones(5, 4)),
            "input1 size does not match weight size: got 2 but expected 3",
        ),
        (
            lambda lib: lib.nn.Bilinear(3, 4, 2)(lib.ones(5, 3), lib.ones(5, 1)),
            "input2 size does not match weight size: got 1 but expected 4",
        ),
        (
            lambda lib: lib.nn.Bilinear(3, 4, 2)(lib.ones(5, 3), lib.ones(1, 5, 4)),
            "input dimensions do not match: got 2 and 3",
        ),
        (
            lambda lib: lib.nn.functional.bilinear(
                lib.ones(5, 3), lib.ones(5, 4), lib.ones(2, 3, 4), lib.ones(3)
            ),
            "bias size does not match weight size: got 3 but expected 2",
        ),
        (
            lambda lib: lib.nn.Bilinear(3, 4, 2)(lib.ones(5, 3).double(), lib.ones(5, 4)),
            "All tensors must have the same dtype",
        ),
        (lambda lib: lib.nn.Unflatten(1, 2), "must be a tuple of ints, but found type int"),
        (lambda lib: lib.nn.Unflatten(1, (2, "a")), "found element of type str at pos 1"),
        (lambda lib: lib.nn.PixelShuffle(2)(lib.ones(2, 3)), "at least 3 dimensions"),
        (lambda lib: lib.nn.PixelShuffle(2)(lib.ones(3, 2, 2)), "is not divisible by 4"),
        (lambda lib: lib.nn.PixelUnshuffle(2)(lib.ones(3, 3, 2)), "is not divisible by 2"),
        (lambda lib: lib.nn.PixelUnshuffle(2)(lib.ones(3, 2, 3)), "is not divisible by 2"),
        (lambda lib: lib.nn.PixelUnshuffle(0)(lib.ones(3, 2, 3)), "positive"),
    ],
)  # fmt: skip
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)
