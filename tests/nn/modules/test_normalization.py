"""Layer, RMS, group and local response norm, and their functions."""

from __future__ import annotations

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

LAYERS = [
    Layer("LayerNorm", 4).on(array(3, 4)),
    Layer("LayerNorm", (3, 4), eps=0.1).on(array(2, 3, 4)),
    Layer("LayerNorm", [4], bias=False).on(array(2, 3, 4)),
    Layer("LayerNorm", 4, elementwise_affine=False).on(array(2, 3, 4)),
    Layer("LayerNorm", 5).on(array(5)),
    Layer("LayerNorm", 4).on(array(0, 4)),
    Layer("RMSNorm", 4).on(array(3, 4)),
    Layer("RMSNorm", (3, 4), eps=0.1).on(array(2, 3, 4)),
    Layer("RMSNorm", 4, elementwise_affine=False).on(array(2, 3, 4)),
    Layer("GroupNorm", 2, 4).on(array(3, 4, 5)),
    Layer("GroupNorm", 1, 4, eps=0.1, bias=False).on(array(3, 4)),
    Layer("GroupNorm", 4, 4, affine=False).on(array(2, 4, 3, 2)),
    Layer("LocalResponseNorm", 3, alpha=0.5).on(array(2, 5, 4)),
    Layer("LocalResponseNorm", 2, 0.5, 0.6, 2.0).on(array(2, 5, 3, 2)),
]


@pytest.mark.parametrize("layer", cases(LAYERS))
def test_like_pytorch(layer: Layer) -> None:
    check_state(layer)
    check_outputs(layer)
    check_gradients(layer)
    check_second_order(layer)


@pytest.mark.parametrize("name", ["LayerNorm", "RMSNorm"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_low_precision_rounds_once(name: str, dtype: str) -> None:
    """Computed wide and rounded at the end, forward and backward."""
    exact = getattr(whygrad.nn, name)(64).double()
    rough = getattr(whygrad.nn, name)(64).to(getattr(whygrad, dtype))
    x = whygrad.from_numpy(array(8, 64)).to(getattr(whygrad, dtype))
    weights = whygrad.from_numpy(array(8, 64, seed=1)).to(getattr(whygrad, dtype))
    seen = []
    for layer, kind in ((exact, whygrad.float64), (rough, x.dtype)):
        leaf = x.to(kind).requires_grad_()
        y = layer(leaf)
        (y * weights.to(kind)).sum().backward()
        seen.append([each.to(whygrad.float64).numpy() for each in (y.detach(), leaf.grad)])
    allowed = 4 * whygrad.finfo(getattr(whygrad, dtype)).eps
    for wide, narrow in zip(*seen, strict=True):
        np.testing.assert_allclose(narrow, wide, allowed, allowed * np.abs(wide).max())


@pytest.mark.parametrize(
    "function",
    [
        lambda lib, x, w, b: lib.nn.functional.layer_norm(x, (4,), w, b),
        lambda lib, x, w, b: lib.nn.functional.rms_norm(x, (4,), w),
        lambda lib, x, w, b: lib.nn.functional.batch_norm(x, None, None, w, b, True),
    ],
    ids=["layer_norm", "rms_norm", "batch_norm"],
)
@pytest.mark.parametrize("needed", [(True, False, False), (False, True, False), (True, True, True)])
def test_gradients_of_those_who_ask(function: Any, needed: tuple[bool, ...]) -> None:
    seen: list[list[Any]] = []
    for library in LIBRARIES:
        leaves = [
            library.from_numpy(array(*shape, seed=7)).requires_grad_(needs)
            for shape, needs in zip(((5, 4), (4,), (4,)), needed, strict=True)
        ]
        (function(library, *leaves) ** 2).sum().backward()
        seen.append([each.grad for each in leaves])
    for mine, theirs in zip(*seen, strict=True):
        assert_same(mine, theirs, "gradient")


def test_large_offsets_do_not_cancel() -> None:
    """Mean 10⁴ and spread 1 in float32: the variance is taken around the mean."""
    x = (10_000 + array(6, 50)).astype(np.float32)
    expected = (x - x.mean(1, keepdims=True, dtype=np.float64)) / x.std(
        1, keepdims=True, dtype=np.float64
    )
    y = whygrad.layer_norm(whygrad.from_numpy(x), (50,))
    np.testing.assert_allclose(y.numpy(), expected, 2e-3, 2e-3)


def test_nan_stays_in_its_row() -> None:
    x = array(3, 4)
    x[1, 2] = np.nan
    y = whygrad.nn.LayerNorm(4).double()(whygrad.from_numpy(x)).detach().numpy()
    assert np.isnan(y[1]).all()
    assert not np.isnan(y[[0, 2]]).any()


def test_what_is_saved_is_the_input_and_two_numbers_per_row() -> None:
    x = whygrad.randn(6, 8, requires_grad=True)
    y = whygrad.nn.LayerNorm(8)(x)
    saved = y.grad_fn.saved
    assert saved["x"].shape == (6, 8)
    assert saved["mean"].shape == saved["var"].shape == (6, 1)
    assert set(saved) == {"x", "weight", "mean", "var", "needs", "rank", "eps"}


def test_normalize_writes_out() -> None:
    outs = []
    for library in LIBRARIES:
        out = library.empty(3, 4, dtype=library.float64)
        x = library.from_numpy(array(3, 4))
        assert library.nn.functional.normalize(x, out=out) is out
        outs.append(out)
    assert_same(*outs, "out")


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (
            lambda lib: lib.nn.LayerNorm(5)(lib.ones(3, 4)),
            "Given normalized_shape=[5], expected input with shape [*, 5], but got input of "
            "size[3, 4]",
        ),
        (
            lambda lib: lib.nn.functional.layer_norm(lib.ones(3, 4), 4),
            "argument 'normalized_shape'",
        ),
        (
            lambda lib: lib.nn.functional.layer_norm(lib.ones(3, 4), []),
            "Expected normalized_shape to be at least 1-dimensional",
        ),
        (
            lambda lib: lib.nn.functional.layer_norm(lib.ones(3, 4), [4], lib.ones(3)),
            "Expected weight to be of same shape as normalized_shape, but got weight of shape [3]",
        ),
        (
            lambda lib: lib.nn.functional.layer_norm(lib.ones(3, 4), [4], None, lib.ones(3)),
            "Expected bias to be of same shape as normalized_shape",
        ),
        (
            lambda lib: lib.nn.LayerNorm(4)(lib.ones(3, 4).double()),
            "mixed dtype",
        ),
        (
            lambda lib: lib.nn.RMSNorm(5)(lib.ones(3, 4)),
            "Given normalized_shape=[5], expected input with shape",
        ),
        (lambda lib: lib.nn.GroupNorm(2, 3), "num_channels (3) must be divisible by num_groups"),
        (
            lambda lib: lib.nn.functional.group_norm(lib.ones(2, 3, 4), 2),
            "Expected number of channels in input to be divisible by num_groups",
        ),
        (
            lambda lib: lib.nn.GroupNorm(3, 3)(lib.ones(2, 6, 4)),
            "Expected weight to be a vector of size equal to the number of channels in input",
        ),
        (
            lambda lib: lib.nn.functional.group_norm(lib.ones(3), 3),
            "Expected at least 2 dimensions for input tensor but received 1",
        ),
        (
            lambda lib: lib.nn.functional.group_norm(lib.ones(1, 3), 3),
            "Expected more than 1 value per channel when training, got input size [1, 3]",
        ),
        (
            lambda lib: lib.nn.LocalResponseNorm(2)(lib.ones(3, 4)),
            "Expected 3D or higher dimensionality",
        ),
        (
            lambda lib: lib.nn.LocalResponseNorm(0)(lib.ones(3, 4, 2)),
            "size should be greater than zero, but got",
        ),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_integers_are_refused(name: str) -> None:
    for library in LIBRARIES:
        with pytest.raises((RuntimeError, NotImplementedError), match="not implemented"):
            getattr(library.nn.functional, name)(library.ones(3, 4).long(), (4,))
