"""Convolution layers against PyTorch's."""

from __future__ import annotations

import copy
import math
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
    both,
    cases,
    check_gradients,
    check_outputs,
    check_second_order,
    check_state,
    refusal,
    tensors,
)

LAYERS = [
    Layer("Conv1d", 3, 4, 3).on(array(2, 3, 6)),
    Layer("Conv1d", 3, 4, 3, padding="same").on(array(3, 6)),
    Layer("Conv1d", 4, 2, 2, 2, 1, 2, 2, False).on(array(2, 4, 7)),
    Layer("Conv1d", 2, 2, 3, padding=2, padding_mode="reflect").on(array(2, 2, 5)),
    Layer("Conv1d", 2, 2, 4, padding="same", padding_mode="circular").on(array(1, 2, 6)),
    Layer("Conv2d", 2, 3, 3).on(array(2, 2, 5, 4)),
    Layer("Conv2d", 2, 3, (3, 2), padding=1).on(array(2, 5, 4)),
    Layer("Conv2d", 2, 3, 3, stride=2, padding=(1, 2), bias=False).on(array(1, 2, 6, 5)),
    Layer("Conv2d", 4, 6, 2, stride=(1, 2), dilation=2, groups=2).on(array(2, 4, 4, 5)),
    Layer("Conv2d", 3, 3, 3, padding=1, groups=3).on(array(2, 3, 4, 4)),
    Layer("Conv2d", 2, 3, 3, padding="valid", padding_mode="reflect").on(array(1, 2, 4, 4)),
    Layer("Conv2d", 2, 3, 3, padding=(2, 1), padding_mode="replicate").on(array(1, 2, 4, 4)),
    Layer("Conv2d", 2, 3, 3, padding=(2, 1), padding_mode="circular").on(array(1, 2, 4, 4)),
    Layer("Conv2d", 3, 4, 1).on(array(2, 3, 3, 3)),
    Layer("Conv2d", 3, 4, 3).on(array(0, 3, 5, 5)),
    Layer("Conv3d", 2, 2, (2, 1, 2), padding=(1, 0, 1)).on(array(1, 2, 2, 3, 3)),
    Layer("Conv3d", 2, 2, 2, stride=(1, 2, 1), groups=2).on(array(2, 2, 3, 3, 3)),
    Layer("ConvTranspose1d", 3, 4, 3).on(array(2, 3, 4)),
    Layer("ConvTranspose1d", 4, 2, 3, 2, 1, 1, 2, False, 2).on(array(2, 4, 4)),
    Layer("ConvTranspose2d", 2, 3, 3).on(array(2, 2, 3, 4)),
    Layer("ConvTranspose2d", 2, 3, 4, stride=2, padding=1).on(array(2, 3, 3)),
    Layer("ConvTranspose2d", 2, 3, 3, 2, 1, 1).on(array(1, 2, 3, 2)),
    Layer("ConvTranspose2d", 2, 4, (2, 3), (1, 3), (0, 1), groups=2).on(array(1, 2, 2, 3)),
    Layer("ConvTranspose2d", 2, 2, 2, dilation=2, output_padding=1).on(array(1, 2, 2, 3)),
    Layer("ConvTranspose3d", 2, 1, 2, stride=(1, 2, 1), padding=(0, 1, 0)).on(array(1, 2, 2, 2, 2)),
]


@pytest.mark.filterwarnings("ignore:Using padding='same'")  # PyTorch says that it copies
@pytest.mark.parametrize("layer", cases(LAYERS))
def test_like_pytorch(layer: Layer) -> None:
    check_state(layer)
    check_outputs(layer)
    check_gradients(layer)
    check_second_order(layer)


@pytest.mark.parametrize("output_size", [(9, 10), (10, 9), (1, 3, 9, 9)])
def test_output_size_of_a_transposed_convolution(output_size: Any) -> None:
    layer = Layer("ConvTranspose2d", 2, 3, 3, stride=2).on(array(1, 2, 4, 4))
    outputs = [
        made(*tensors(library, layer.inputs), output_size=output_size)
        for made, library in zip(both(layer), LIBRARIES, strict=True)
    ]
    assert_same(*outputs, "output")


@pytest.mark.parametrize(
    "layer",
    [Layer("Conv2d", 40, 30, 3, groups=5), Layer("ConvTranspose2d", 40, 30, 3, groups=5)],
    ids=repr,
)
def test_first_values_fill_the_interval_of_pytorch(layer: Layer) -> None:
    made = layer.made(whygrad)
    bound = 1 / math.sqrt(math.prod(made.weight.shape[1:]))
    for parameter in (made.weight, made.bias):
        values = parameter.detach().numpy()
        assert np.abs(values).max() <= bound
        assert np.abs(values).max() > 0.85 * bound


@pytest.mark.parametrize("name", ["Conv2d", "ConvTranspose2d"])
def test_attributes_are_pytorchs(name: str) -> None:
    mine, theirs = (
        getattr(library.nn, name)(4, 6, 3, stride=2, padding=1, dilation=2, groups=2)
        for library in LIBRARIES
    )
    for each in (
        "in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation",
        "output_padding", "groups", "padding_mode", "transposed",
    ):  # fmt: skip
        assert getattr(mine, each) == getattr(theirs, each), each


def test_without_bias_there_is_none() -> None:
    layer = whygrad.nn.Conv1d(2, 3, 2, bias=False)
    assert layer.bias is None
    assert list(layer.state_dict()) == ["weight"]


def test_device_dtype_and_copies() -> None:
    layer = whygrad.nn.Conv2d(3, 4, 3, device="meta", dtype=whygrad.float64)
    assert layer.weight.dtype is whygrad.float64
    x = whygrad.empty(2, 3, 5, 5, dtype=whygrad.float64, device="meta")
    assert layer(x).shape == (2, 4, 3, 3)
    twin = copy.deepcopy(whygrad.nn.Conv2d(1, 2, 3))
    assert twin(whygrad.ones(1, 1, 3, 3)).shape == (1, 2, 1, 1)


def test_a_small_network_learns_like_pytorchs() -> None:
    """Ten steps of gradient descent on a network of these layers."""
    images, targets = array(8, 1, 8, 8), np.arange(8) % 3
    losses = []
    state: Any = None
    for library in reversed(LIBRARIES):  # PyTorch first, whose start whygrad takes over
        nn = library.nn
        model = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 6, 3, groups=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(6, 3),
        ).double()  # fmt: skip
        if state is None:
            state = {name: each.clone() for name, each in model.state_dict().items()}
        else:
            model.load_state_dict(
                {name: whygrad.from_numpy(each.numpy()) for name, each in state.items()}
            )
        x, y = library.from_numpy(images), library.from_numpy(targets)
        history = []
        for _ in range(10):
            loss = nn.functional.cross_entropy(model(x), y)
            model.zero_grad()
            loss.backward()
            with library.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.5 * parameter.grad
            history.append(loss.item())
        losses.append(history)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-9)


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.Conv2d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
        (lambda lib: lib.nn.Conv2d(4, 3, 3, groups=2), "out_channels must be divisible by groups"),
        (lambda lib: lib.nn.Conv2d(3, 4, 3, groups=0), "groups must be a positive integer"),
        (lambda lib: lib.nn.Conv2d(3, 4, 3, padding="x"), "Invalid padding string 'x'"),
        (
            lambda lib: lib.nn.Conv2d(3, 4, 3, padding="same", stride=2),
            "padding='same' is not supported for strided convolutions",
        ),
        (lambda lib: lib.nn.Conv2d(3, 4, 3, padding_mode="x"), "but got padding_mode='x'"),
        (
            lambda lib: lib.nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect"),
            'Only "zeros" padding mode is supported for ConvTranspose2d',
        ),
        (
            lambda lib: lib.nn.ConvTranspose2d(3, 4, 3, 2)(lib.ones(1, 3, 4, 4), (12, 9)),
            "requested an output size of (12, 9), but valid sizes range from [9, 9] to [10, 10]",
        ),
        (
            lambda lib: lib.nn.ConvTranspose2d(3, 4, 3, 2)(lib.ones(1, 3, 4, 4), (12,)),
            "output_size must have 2 or 4 elements (got 1)",
        ),
        (
            lambda lib: lib.nn.Conv2d(3, 4, 3)(lib.ones(1, 2, 5, 5)),
            "to have 3 channels, but got 2 channels instead",
        ),
    ],
)  # fmt: skip
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


def test_a_transposed_convolution_takes_its_padding_in_numbers() -> None:
    with pytest.raises(ValueError, match="padding must be given in numbers, not as 'same'"):
        whygrad.nn.ConvTranspose2d(3, 4, 3, padding="same")  # type: ignore[arg-type]


def test_a_kernel_without_elements_warns_and_is_refused_when_used() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = whygrad.nn.Conv2d(3, 4, 0)
    with pytest.raises(RuntimeError, match="kernel size should be greater than zero"):
        layer(whygrad.ones(1, 3, 4, 4))
