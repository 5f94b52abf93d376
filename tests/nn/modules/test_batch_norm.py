"""Batch and instance norm: statistics of the batch, running statistics, and how they move."""

from __future__ import annotations

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
)

LAYERS = [
    Layer("BatchNorm1d", 3).on(array(5, 3)),
    Layer("BatchNorm1d", 3, eps=0.1).on(array(5, 3, 4)),
    Layer("BatchNorm1d", 3, bias=False).on(array(5, 3)),
    Layer("BatchNorm1d", 3, affine=False).on(array(5, 3)),
    Layer("BatchNorm1d", 3, track_running_stats=False).on(array(5, 3)),
    Layer("BatchNorm1d", 3, momentum=None).on(array(5, 3)),
    Layer("BatchNorm1d", 3, momentum=1.0).on(array(1, 3, 4)),
    Layer("BatchNorm2d", 3).on(array(2, 3, 4, 5)),
    Layer("BatchNorm2d", 3, momentum=0.3, affine=False).on(array(2, 3, 4, 5)),
    Layer("BatchNorm3d", 3).on(array(2, 3, 2, 2, 3)),
    Layer("InstanceNorm1d", 3).on(array(2, 3, 4)),
    Layer("InstanceNorm1d", 3, affine=True, eps=0.1).on(array(3, 4)),
    Layer("InstanceNorm1d", 3, affine=True, track_running_stats=True).on(array(2, 3, 4)),
    Layer("InstanceNorm2d", 3, affine=True, bias=False).on(array(2, 3, 4, 5)),
    Layer("InstanceNorm2d", 3, track_running_stats=True, momentum=0.4).on(array(2, 3, 4, 5)),
    Layer("InstanceNorm2d", 3, affine=True).on(array(3, 4, 5)),
    Layer("InstanceNorm3d", 3, affine=True).on(array(2, 3, 2, 2, 3)),
]


@pytest.mark.parametrize("layer", cases(LAYERS))
def test_like_pytorch(layer: Layer) -> None:
    check_state(layer)
    check_outputs(layer)
    for training in (True, False):
        check_gradients(layer, training)
        check_second_order(layer, training)


@pytest.mark.parametrize("layer", cases(LAYERS))
def test_running_statistics_after_several_steps(layer: Layer) -> None:
    pair = both(layer)
    for step in range(4):
        batch = array(*layer.inputs[0].shape, seed=step, low=-1 - step)
        outputs = []
        for made, library in zip(pair, LIBRARIES, strict=True):
            made.train(step != 2)
            outputs.append(made(library.from_numpy(batch)))
        assert_same(*outputs, f"output of step {step}")
        for (name, mine), (_, theirs) in zip(*(each.named_buffers() for each in pair), strict=True):
            assert_same(mine, theirs, f"{name} after step {step}")


def test_running_statistics_are_written_in_place() -> None:
    layer = whygrad.nn.BatchNorm1d(3)
    mean, version = layer.running_mean, layer.running_mean._version
    layer(whygrad.randn(4, 3, requires_grad=True)).sum().backward()
    assert layer.running_mean is mean
    assert mean._version > version
    assert not mean.requires_grad
    assert layer.num_batches_tracked.item() == 1


def test_two_passes_before_backward() -> None:
    """The second pass moves the running statistics; the first one's backward does not mind."""
    seen: list[list[Any]] = []
    for made, library in zip(both(Layer("BatchNorm1d", 3)), LIBRARIES, strict=True):
        x = library.from_numpy(array(5, 3)).requires_grad_()
        first, second = made(x), made(x * 2)
        (first * second**2).sum().backward()
        seen.append([x.grad, *(each.grad for each in made.parameters())])
    for mine, theirs in zip(*seen, strict=True):
        assert_same(mine, theirs, "gradient")


def test_reset_running_stats() -> None:
    layer = whygrad.nn.BatchNorm1d(3)
    layer(whygrad.randn(4, 3))
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0.0] * 3
    assert layer.running_var.tolist() == [1.0] * 3
    assert layer.num_batches_tracked.item() == 0


def test_track_running_stats_can_be_switched_off_later() -> None:
    outputs = []
    for made, library in zip(both(Layer("BatchNorm1d", 3)), LIBRARIES, strict=True):
        made.track_running_stats = False
        made(library.from_numpy(array(5, 3)))
        assert made.num_batches_tracked.item() == 0
        assert made.running_mean.tolist() == [0.0] * 3
        outputs.append(made.eval()(library.from_numpy(array(5, 3))))
    assert_same(*outputs, "eval")


def test_states_without_a_count_of_batches_load() -> None:
    for library in LIBRARIES:
        layer = library.nn.BatchNorm1d(3)
        state = dict(layer.state_dict())
        del state["num_batches_tracked"]
        assert layer.load_state_dict(state).missing_keys == []


def test_empty_batches() -> None:
    for library in LIBRARIES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer = library.nn.BatchNorm1d(3, track_running_stats=False)
            assert tuple(layer(library.ones(0, 3)).shape) == (0, 3)


@pytest.mark.parametrize(
    ("name", "shape", "own_statistics"),
    [
        ("batch_norm", (5, 3), False),
        ("batch_norm", (5, 3), True),
        ("instance_norm", (2, 3, 4), False),
        ("instance_norm", (2, 3, 4), True),
    ],
)
def test_two_orders_of_arguments(name: str, shape: Any, own_statistics: bool) -> None:
    """``whygrad.batch_norm`` and ``nn.functional.batch_norm`` differ as PyTorch's do."""
    arrays = [array(*shape), array(3), array(3, low=0.5), array(3, seed=1), array(3, seed=2)]
    seen = []
    for library in LIBRARIES:
        x, mean, var, weight, bias = [library.from_numpy(np.array(each)) for each in arrays]
        direct, ordered = getattr(library, name), getattr(library.nn.functional, name)
        rest = (own_statistics, 0.1, 1e-5, False)
        first = direct(x, weight, bias, mean.clone(), var.clone(), *rest)
        seen.append((first, ordered(x, mean, var, weight, bias, own_statistics), mean, var))
    for mine, theirs in zip(*seen, strict=True):
        assert_same(mine, theirs, name)


def test_instance_norm_warns_about_other_channels() -> None:
    for library in LIBRARIES:
        with pytest.warns(UserWarning, match="does not match num_features"):
            library.nn.InstanceNorm1d(3)(library.ones(2, 4, 4))


def test_a_refused_batch_changes_nothing() -> None:
    layer = whygrad.nn.BatchNorm1d(3)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        layer(whygrad.ones(1, 3))
    assert layer.num_batches_tracked.item() == 0
    assert layer.running_mean.tolist() == [0.0] * 3


def test_vmap_of_a_layer_with_running_statistics_is_refused() -> None:
    layer = whygrad.nn.BatchNorm1d(3)
    refusal(
        lambda lib: lib.func.vmap(lib.nn.BatchNorm1d(3))(lib.ones(2, 4, 3)),
        "which will be updated in place, were not batched",
    )
    with pytest.raises(RuntimeError, match="were not batched"):
        whygrad.func.vmap(whygrad.nn.InstanceNorm1d(3, track_running_stats=True))(
            whygrad.ones(2, 2, 3, 4)
        )
    with pytest.raises(RuntimeError, match="were not batched"):
        whygrad.func.vmap(layer)(whygrad.ones(2, 4, 3))
    assert layer.running_var.tolist() == [1.0] * 3


@pytest.mark.parametrize("options", [{"track_running_stats": False}, {"momentum": 0.2}])
def test_vmap_in_the_modes_that_allow_it(options: dict[str, Any]) -> None:
    seen = []
    for made, library in zip(both(Layer("BatchNorm1d", 3, **options)), LIBRARIES, strict=True):
        made.train("momentum" not in options)
        seen.append(library.func.vmap(made)(library.from_numpy(array(2, 4, 3))))
    assert_same(*seen, "vmap")


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (
            lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(1, 3)),
            "Expected more than 1 value per channel when training, got input size",
        ),
        (
            lambda lib: lib.nn.BatchNorm2d(3)(lib.ones(1, 3, 1, 1)),
            "Expected more than 1 value per channel when training, got input size",
        ),
        (lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(3)), "expected 2D or 3D input (got 1D input)"),
        (lambda lib: lib.nn.BatchNorm2d(3)(lib.ones(2, 3)), "expected 4D input (got 2D input)"),
        (lambda lib: lib.nn.BatchNorm3d(3)(lib.ones(2, 3)), "expected 5D input (got 2D input)"),
        (
            lambda lib: lib.nn.InstanceNorm1d(3)(lib.ones(3)),
            "expected 2D or 3D input (got 1D input)",
        ),
        (
            lambda lib: lib.nn.InstanceNorm2d(3)(lib.ones(3, 3)),
            "expected 3D or 4D input (got 2D input)",
        ),
        (
            lambda lib: lib.nn.InstanceNorm1d(3, affine=True)(lib.ones(2, 4, 4)),
            "expected input's size at dim=1 to match num_features (3), but got: 4.",
        ),
        (
            lambda lib: lib.nn.InstanceNorm2d(3, affine=True)(lib.ones(2, 4, 4)),
            "expected input's size at dim=0 to match num_features (3), but got: 2.",
        ),
        (
            lambda lib: lib.nn.InstanceNorm1d(3)(lib.ones(2, 3, 1)),
            "Expected more than 1 spatial element when training, got input size",
        ),
        (lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(2, 4)), "should contain 4 elements not 3"),
        (lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(2, 3).double()), "mixed dtype"),
        (
            lambda lib: lib.nn.functional.batch_norm(lib.ones(2, 3), None, None),
            "running_mean must be defined in evaluation mode",
        ),
        (
            lambda lib: lib.nn.functional.batch_norm(lib.ones(2, 3), lib.ones(3), None),
            "running_var must be defined in evaluation mode",
        ),
        (
            lambda lib: lib.nn.functional.batch_norm(
                lib.ones(2, 3), lib.ones(3), None, training=True
            ),
            "running_mean and running_var must either both be None or neither be None",
        ),
        (
            lambda lib: lib.nn.functional.batch_norm(
                lib.ones(2, 3), None, None, training=True, eps=-1.0
            ),
            "eps must be positive during training, but got -1.0",
        ),
        (
            lambda lib: lib.nn.functional.batch_norm(lib.ones(3), None, None, training=True),
            "Dimension out of range",
        ),
        (
            lambda lib: lib.nn.functional.instance_norm(lib.ones(2, 3, 4), use_input_stats=False),
            "Expected running_mean and running_var to be defined when use_input_stats is false",
        ),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)
