"""Pooling layers against PyTorch's."""

from __future__ import annotations

from typing import Any

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
    check_state,
    refusal,
    tensors,
)

LAYERS = [
    Layer("MaxPool1d", 2).on(array(2, 3, 6)),
    Layer("MaxPool1d", 3, 2, 1, 1, ceil_mode=True).on(array(3, 7)),
    Layer("MaxPool2d", 2).on(array(2, 3, 4, 5)),
    Layer("MaxPool2d", (3, 2), stride=1, padding=(1, 0)).on(array(3, 4, 5)),
    Layer("MaxPool2d", 2, 2, 1, 2).on(array(1, 2, 7, 6)),
    Layer("MaxPool2d", 3, 2, 1, ceil_mode=True).on(array(1, 2, 6, 5)),
    Layer("MaxPool2d", 2).on(array(0, 3, 4, 4)),
    Layer("MaxPool3d", 2, 1).on(array(1, 2, 3, 2, 3)),
    Layer("AvgPool1d", 2).on(array(2, 3, 6)),
    Layer("AvgPool1d", 3, 2, 1, True, False).on(array(3, 6)),
    Layer("AvgPool2d", 2).on(array(2, 3, 4, 5)),
    Layer("AvgPool2d", (3, 2), 1, (1, 0), count_include_pad=False).on(array(3, 4, 5)),
    Layer("AvgPool2d", 3, 2, 1, ceil_mode=True).on(array(1, 2, 6, 5)),
    Layer("AvgPool2d", 2, divisor_override=3).on(array(1, 2, 4, 4)),
    Layer("AvgPool3d", 2, 1).on(array(1, 2, 3, 2, 3)),
    Layer("AdaptiveAvgPool1d", 3).on(array(2, 3, 7)),
    Layer("AdaptiveAvgPool2d", 1).on(array(2, 3, 4, 5)),
    Layer("AdaptiveAvgPool2d", (2, None)).on(array(3, 4, 5)),
    Layer("AdaptiveAvgPool2d", (3, 2)).on(array(1, 2, 7, 5)),
    Layer("AdaptiveAvgPool3d", 2).on(array(1, 2, 3, 4, 3)),
    Layer("AdaptiveMaxPool1d", 3).on(array(2, 3, 7)),
    Layer("AdaptiveMaxPool2d", (3, 2)).on(array(1, 2, 7, 6)),
    Layer("AdaptiveMaxPool2d", 2).on(array(2, 4, 4)),
    Layer("AdaptiveMaxPool3d", (1, 2, 3)).on(array(1, 2, 3, 4, 3)),
    Layer("Unfold", 2).on(array(2, 2, 3, 4)),
    Layer("Unfold", (2, 3), 2, (1, 2), (1, 2)).on(array(2, 4, 5)),
    Layer("Fold", (3, 4), 2).on(array(2, 8, 6)),
    Layer("Fold", (4, 5), (2, 1), padding=1, stride=2).on(array(4, 12)),
]


@pytest.mark.parametrize("layer", cases(LAYERS))
def test_like_pytorch(layer: Layer) -> None:
    check_state(layer)
    check_outputs(layer)
    check_gradients(layer)


WITH_INDICES = [
    Layer("MaxPool1d", 3, 2, 1, return_indices=True).on(array(2, 3, 6)),
    Layer("MaxPool2d", 3, 2, 1, return_indices=True, ceil_mode=True).on(array(2, 2, 6, 5)),
    Layer("MaxPool2d", 2, 1, 1, 2, return_indices=True).on(array(2, 5, 4)),
    Layer("MaxPool3d", 2, return_indices=True).on(array(1, 2, 4, 2, 5)),
    Layer("AdaptiveMaxPool1d", 3, return_indices=True).on(array(2, 3, 7)),
    Layer("AdaptiveMaxPool2d", (3, 2), return_indices=True).on(array(2, 2, 5, 6)),
]


@pytest.mark.parametrize("layer", cases(WITH_INDICES))
def test_indices_like_pytorch(layer: Layer) -> None:
    outputs = [layer.made(library)(*tensors(library, layer.inputs)) for library in LIBRARIES]
    for mine, theirs, what in zip(*outputs, ("values", "indices"), strict=True):
        assert_same(mine, theirs, what)
    assert not outputs[0][1].requires_grad


def test_unfold_then_multiply_is_a_convolution() -> None:
    x, weight = whygrad.randn(2, 3, 6, 5), whygrad.randn(4, 3, 2, 3)
    columns = whygrad.nn.Unfold((2, 3), padding=1)(x)
    y = (weight.reshape(4, -1) @ columns).reshape(2, 4, 7, 5)
    expected = whygrad.nn.functional.conv2d(x, weight, padding=1)
    assert whygrad.allclose(y, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.MaxPool2d(2, padding=2)(lib.ones(1, 1, 5, 5)), "pad should be at most"),
        (lambda lib: lib.nn.MaxPool2d(7)(lib.ones(1, 1, 5, 5)), "Output size is too small"),
        (lambda lib: lib.nn.AvgPool2d(7)(lib.ones(1, 1, 5, 5)), "Output size is too small"),
        (
            lambda lib: lib.nn.AdaptiveAvgPool2d(2)(lib.ones(5, 5)),
            "Expected 3D or 4D tensor, but got",
        ),
        (lambda lib: lib.nn.Unfold(7)(lib.ones(1, 1, 5, 5)), "must be at least one"),
        (lambda lib: lib.nn.Fold(3, 2)(lib.ones(1, 8, 5)), "number of sliding blocks 2 * 2 = 4"),
        (lambda lib: lib.nn.Fold(3, 2)(lib.ones(1, 7, 4)), "to be divisible by the product"),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)
