"""Layers that pad, resize, pool in less common ways and unpool, against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.nn.layers import (
    LIBRARIES,
    Layer,
    array,
    assert_same,
    both,
    check_gradients,
    check_outputs,
    check_state,
    refusal,
    tensors,
)

SHAPES = {1: (2, 1, 5), 2: (1, 2, 4, 5), 3: (1, 1, 3, 4, 4)}
PADDINGS = [
    Layer(f"{kind}Pad{dims}d", padding, *extra).on(array(*shape))
    for dims, shape in SHAPES.items()
    for kind, extra in (
        ("Constant", (1.5,)), ("Zero", ()), ("Reflection", ()), ("Replication", ()),
        ("Circular", ()),
    )
    for padding in (1, tuple(number % 3 for number in range(2 * dims)))
]  # fmt: skip
RESIZED = [
    Layer("Upsample", scale_factor=2).on(array(1, 2, 3)),
    Layer("Upsample", (3, 5), mode="bilinear").on(array(1, 2, 4, 3)),
    Layer("Upsample", scale_factor=(1.5, 2.0), mode="bicubic", align_corners=True).on(
        array(1, 1, 3, 2)
    ),
    Layer("Upsample", scale_factor=1.7, mode="linear", recompute_scale_factor=True).on(
        array(1, 2, 4)
    ),
    Layer("UpsamplingNearest2d", scale_factor=2).on(array(1, 2, 2, 3)),
    Layer("UpsamplingBilinear2d", size=(4, 3)).on(array(1, 2, 2, 3)),
]
POOLED = [
    Layer("LPPool1d", 2, 2).on(array(1, 2, 5)),
    Layer("LPPool2d", 2, (2, 3), stride=1).on(array(1, 2, 4, 4)),
    Layer("LPPool3d", 2, 2, ceil_mode=True).on(array(1, 1, 3, 3, 3)),
    Layer("ChannelShuffle", 2).on(array(1, 4, 2, 3)),
    Layer("MaxUnpool1d", 2).on(array(1, 1, 2), np.array([[[1, 2]]])),
    Layer("MaxUnpool2d", 2, stride=(2, 1)).on(array(1, 1, 1, 2), np.array([[[[1, 5]]]])),
    Layer("MaxUnpool3d", (1, 2, 2)).on(array(1, 1, 1, 1, 1), np.array([[[[[3]]]]])),
    Layer("CTCLoss").on(
        array(4, 2, 3), np.array([[1, 2], [2, 1]]), np.array([4, 3]), np.array([2, 1])
    ),
    Layer("CTCLoss", 2, "sum", zero_infinity=True).on(
        array(2, 2, 3), np.array([[1, 1], [1, 0]]), np.array([2, 2]), np.array([2, 1])
    ),
    Layer("EmbeddingBag", 5, 3).on(np.array([[1, 2], [4, 4]])),
    Layer("EmbeddingBag", 5, 3, mode="sum", padding_idx=-1).on(
        np.array([1, 2, 4, 0]), np.array([0, 2])
    ),
    Layer("EmbeddingBag", 5, 3, mode="max", include_last_offset=True).on(
        np.array([1, 2, 4, 0]), np.array([0, 2, 2, 4])
    ),
    Layer("EmbeddingBag", 5, 3, max_norm=0.5, norm_type=1.0).on(np.array([[1, 2], [4, 4]])),
]  # fmt: skip


@pytest.mark.parametrize("layers", [PADDINGS, RESIZED, POOLED], ids=["pad", "resize", "pool"])
def test_like_pytorch(layers: list[Layer]) -> None:
    for layer in layers:
        check_state(layer)
        check_outputs(layer)
        check_gradients(layer)


def test_a_shortened_table_is_pytorchs() -> None:
    layer = Layer("EmbeddingBag", 5, 3, max_norm=0.5).on(np.array([[1, 2], [4, 4]]))
    mine, theirs = both(layer)
    for made, library in ((mine, whygrad), (theirs, torch)):
        made(*tensors(library, layer.inputs))
    assert_same(mine.weight, theirs.weight, "the table after the lookup")


@pytest.mark.parametrize("name", ["FractionalMaxPool2d", "FractionalMaxPool3d"])
def test_random_windows(name: str) -> None:
    dims = int(name[-2])
    x, places = array(2, 3, *(7,) * dims), array(2, 3, dims, low=0.0, high=1.0)
    found = []
    for library in LIBRARIES:
        samples = library.from_numpy(places)
        layer = getattr(library.nn, name)(2, 3, return_indices=True, _random_samples=samples)
        found.append(layer(library.from_numpy(x)))
    for mine, theirs in zip(*found, strict=True):
        assert_same(mine, theirs, name)
    drawn = getattr(whygrad.nn, name)(2, output_ratio=0.5)(whygrad.from_numpy(x))
    assert drawn.shape == (2, 3, *(3,) * dims)


def test_unpooling_undoes_pooling() -> None:
    x = array(2, 3, 5, 4)
    outputs = []
    for library in LIBRARIES:
        values, indices = library.nn.MaxPool2d(2, return_indices=True)(library.from_numpy(x))
        outputs.append(library.nn.MaxUnpool2d(2)(values, indices, output_size=x.shape))
    assert_same(*outputs, "unpooled")


def test_older_names_warn() -> None:
    x = array(1, 1, 2, 3)
    for name in ("upsample", "upsample_nearest", "upsample_bilinear"):
        outputs = []
        for library in LIBRARIES:
            function = getattr(library.nn.functional, name)
            with pytest.warns(UserWarning, match=f"{name}` is deprecated"):
                outputs.append(function(library.from_numpy(x), scale_factor=2))
        assert_same(*outputs, name)
    with pytest.warns(FutureWarning, match="NLLLoss2d has been deprecated"):
        whygrad.nn.NLLLoss2d()


def image(library: Any, *shape: int) -> Any:
    return library.ones(*shape or (1, 1, 4, 4))


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.Upsample(mode="bilinear")(image(lib)), "size or scale_factor"),
        (lambda lib: lib.nn.Upsample(2, 2)(image(lib)), "only one of size or scale_factor"),
        (lambda lib: lib.nn.Upsample(2, mode="linear")(image(lib)), "4D"),
        (
            lambda lib: lib.nn.Upsample(2, align_corners=True)(image(lib)),
            "align_corners option can only be set",
        ),
        (lambda lib: lib.nn.Upsample((1, 2, 3))(image(lib)), "same number of spatial dimensions"),
        (lambda lib: lib.nn.Upsample(0)(image(lib)), "should be greater than 0"),
        (lambda lib: lib.nn.ReflectionPad2d(4)(image(lib)), "Padding size should be less than"),
        (lambda lib: lib.nn.CircularPad2d(1)(image(lib, 4, 4)), "expected 3D or 4D input"),
        (
            lambda lib: lib.nn.functional.grid_sample(image(lib), lib.ones(2, 1, 1, 2)),
            "same batch size",
        ),
        (
            lambda lib: lib.nn.functional.grid_sample(image(lib), lib.ones(1, 1, 1, 2), "cubic"),
            "expected mode to be",
        ),
        (
            lambda lib: lib.nn.functional.affine_grid(lib.ones(1, 3, 3), (1, 1, 2, 2)),
            "Expected a batch of 2D affine matrices",
        ),
        (lambda lib: lib.nn.EmbeddingBag(3, 2)(lib.tensor([1])), "offsets has to be a 1D Tensor"),
        (
            lambda lib: lib.nn.EmbeddingBag(3, 2)(
                lib.tensor([[1]]), per_sample_weights=lib.ones(1, 1)
            ),
            "only supported for mode='sum'",
        ),
        (lambda lib: lib.nn.FractionalMaxPool2d(2), "requires specifying either an output size"),
        (
            lambda lib: lib.nn.CTCLoss()(
                lib.ones(2, 1, 3), lib.tensor([[1]]), lib.tensor([3]), lib.tensor([1])
            ),
            "Expected input_lengths to have value at most",
        ),
    ],
)  # fmt: skip
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


def test_a_padding_of_one_s_own_has_the_dimensions_of_its_base() -> None:
    class Mirror(whygrad.nn.ReflectionPad2d):
        pass

    assert Mirror(1).padding == (1, 1, 1, 1)
