"""First values of parameters: distributions, exact properties, errors, nothing in the graph."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.nn.layers import LIBRARIES, refusal

init = whygrad.nn.init
SHAPE = (400, 300)
DRAWN: dict[str, tuple[dict[str, Any], float, float]] = {
    # name: (arguments, standard deviation, largest absolute value)
    "uniform_": ({"a": -2.0, "b": 2.0}, 2 / math.sqrt(3), 2.0),
    "normal_": ({"mean": 0.0, "std": 0.5}, 0.5, math.inf),
    "trunc_normal_": ({"std": 1.0}, 0.8796, 2.0),
    "xavier_uniform_": ({"gain": 2.0}, 2 * math.sqrt(2 / 700), 2 * math.sqrt(6 / 700)),
    "xavier_normal_": ({}, math.sqrt(2 / 700), math.inf),
    "kaiming_uniform_": ({}, math.sqrt(2 / 300), math.sqrt(6 / 300)),
    "kaiming_normal_": (
        {"a": 0.2, "mode": "fan_out"}, math.sqrt(2 / (1 + 0.2**2) / 400), math.inf,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_distribution(name: str) -> None:
    arguments, std, largest = DRAWN[name]
    whygrad.manual_seed(0)
    values = getattr(init, name)(whygrad.empty(SHAPE), **arguments).numpy()
    theirs = getattr(torch.nn.init, name)(torch.empty(SHAPE), **arguments).numpy()
    assert abs(values.mean()) < 0.02 * std
    assert abs(values.std() - std) < 0.02 * std
    assert np.abs(values).max() <= largest * (1 + 1e-6)
    steps = np.linspace(0.05, 0.95, 19)
    mine, expected = np.quantile(values, steps), np.quantile(theirs, steps)
    np.testing.assert_allclose(mine, expected, atol=0.03 * std)


@pytest.mark.parametrize("name", [*DRAWN, "orthogonal_", "sparse_"])
def test_deterministic_in_place_and_unrecorded(name: str) -> None:
    arguments = {"sparsity": 0.5} if name == "sparse_" else {}
    parameter = whygrad.nn.Parameter(whygrad.empty(6, 4))
    fill = getattr(init, name)

    def drawn(**more: Any) -> Any:
        version = parameter._version
        assert fill(parameter, **arguments, **more) is parameter
        assert parameter._version > version
        assert parameter.is_leaf
        assert parameter.requires_grad
        return parameter.tolist()

    whygrad.manual_seed(3)
    first = drawn()
    whygrad.manual_seed(3)
    assert drawn() == first
    assert drawn() != first

    whygrad.manual_seed(4)
    generator = whygrad.Generator().manual_seed(3)
    seeded = drawn(generator=generator)
    assert seeded == drawn(generator=whygrad.Generator().manual_seed(3)) == first


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (6, 2, 3)])
@pytest.mark.parametrize("gain", [1.0, 2.5])
def test_orthogonal_rows_or_columns(shape: Any, gain: float) -> None:
    matrix = init.orthogonal_(whygrad.empty(shape, dtype=whygrad.float64), gain).numpy()
    matrix = matrix.reshape(shape[0], -1)
    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, gain**2 * np.eye(len(product)), atol=1e-12)


def test_orthogonal_matrices_are_equally_likely() -> None:
    """Without freeing the signs that QR chooses, the diagonal would lean to one side."""
    whygrad.manual_seed(0)
    corners = [float(init.orthogonal_(whygrad.empty(2, 2))[0, 0]) for _ in range(500)]
    assert abs(np.mean(corners)) < 0.1


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_eye(shape: Any) -> None:
    assert init.eye_(whygrad.ones(shape)).tolist() == np.eye(*shape).tolist()


@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 2, 3, 3), (2, 4, 2, 3), (2, 2, 3, 3, 3)])
@pytest.mark.parametrize("groups", [1, 2])
def test_dirac(shape: Any, groups: int) -> None:
    if shape[0] % groups:
        refusal(lambda lib: lib.nn.init.dirac_(lib.empty(shape), groups), "divisible by groups")
        return
    mine = init.dirac_(whygrad.ones(shape), groups).tolist()
    assert mine == torch.nn.init.dirac_(torch.ones(shape), groups).tolist()


def test_constants() -> None:
    assert init.constant_(whygrad.empty(2), 0.5).tolist() == [0.5, 0.5]
    assert init.ones_(whygrad.empty(2)).tolist() == [1.0, 1.0]
    assert init.zeros_(whygrad.empty(2, dtype=whygrad.int64)).tolist() == [0, 0]


def test_sparse_columns_have_their_share_of_zeros() -> None:
    whygrad.manual_seed(0)
    values = init.sparse_(whygrad.empty(1000, 50), 0.305, std=0.2).numpy()
    assert ((values == 0).sum(0) == 305).all()
    assert abs(values[values != 0].std() - 0.2) < 0.005
    assert len({tuple(column == 0) for column in values.T}) > 40


@pytest.mark.parametrize(
    ("name", "param"),
    [(name, None) for name in (
        "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
        "conv_transpose3d", "sigmoid", "tanh", "relu", "selu", "leaky_relu",
    )] + [("leaky_relu", 0.2), ("leaky_relu", 1)],
)  # fmt: skip
def test_gain(name: str, param: Any) -> None:
    assert init.calculate_gain(name, param) == torch.nn.init.calculate_gain(name, param)


@pytest.mark.parametrize("shape", [(3, 4), (5, 2, 3), (5, 2, 3, 3)])
def test_fans(shape: Any) -> None:
    mine = init._calculate_fan_in_and_fan_out(whygrad.empty(shape))
    assert mine == torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(shape))


def test_trunc_normal_between_any_bounds() -> None:
    whygrad.manual_seed(0)
    values = init.trunc_normal_(whygrad.empty(200_000), mean=1.0, std=2.0, a=0.5, b=4.0).numpy()
    scipy_stats = pytest.importorskip("scipy.stats")
    bell = scipy_stats.truncnorm((0.5 - 1) / 2, (4 - 1) / 2, 1, 2)
    assert values.min() >= 0.5
    assert values.max() <= 4.0
    assert abs(values.mean() - bell.mean()) < 0.01
    assert abs(values.std() - bell.std()) < 0.01


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_trunc_normal_in_every_precision(dtype: str) -> None:
    values = init.trunc_normal_(whygrad.empty(5000, dtype=getattr(whygrad, dtype)))
    assert float(values.abs().max()) <= 2.0
    assert abs(float(values.float().std()) - 0.88) < 0.05


def test_trunc_normal_warns_far_from_the_mean() -> None:
    for library in LIBRARIES:
        with pytest.warns(UserWarning, match="mean is more than 2 std from"):
            library.nn.init.trunc_normal_(library.empty(3), mean=5.0)


def test_empty_tensors_stay() -> None:
    for library in LIBRARIES:
        for name in ("kaiming_uniform_", "kaiming_normal_"):
            with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
                getattr(library.nn.init, name)(library.empty(0, 3))
        assert library.nn.init.orthogonal_(library.empty(0, 3)).tolist() == []
    assert init.xavier_uniform_(whygrad.empty(0, 0)).tolist() == []


def test_grad_mode_and_recording_do_not_matter() -> None:
    with whygrad.enable_grad():
        parameter = whygrad.nn.Parameter(whygrad.empty(3, 3))
        init.kaiming_uniform_(parameter)
        assert parameter.grad_fn is None
        assert whygrad.is_grad_enabled()


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda i, e: i.calculate_gain("swish"), "Unsupported nonlinearity swish"),
        (lambda i, e: i.calculate_gain("leaky_relu", True), "negative_slope True not a valid"),
        (lambda i, e: i.calculate_gain("leaky_relu", "a"), "negative_slope a not a valid number"),
        (lambda i, e: i.xavier_uniform_(e(3)), "fewer than 2 dimensions"),
        (lambda i, e: i.kaiming_normal_(e(3)), "fewer than 2 dimensions"),
        (lambda i, e: i.kaiming_normal_(e(3, 3), mode="fan_avg"), "Mode fan_avg not supported"),
        (lambda i, e: i.kaiming_uniform_(e(3, 3), nonlinearity="x"), "Unsupported nonlinearity x"),
        (lambda i, e: i.eye_(e(3)), "Only tensors with 2 dimensions are supported"),
        (lambda i, e: i.sparse_(e(3), 0.1), "Only tensors with 2 dimensions are supported"),
        (lambda i, e: i.dirac_(e(3, 3)), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda i, e: i.orthogonal_(e(3)), "Only tensors with 2 or more dimensions are supported"),
        (lambda i, e: i.uniform_(e(3), 2.0, 1.0), "uniform_ expects to return a [from, to) range"),
        (lambda i, e: i.normal_(e(3), 0.0, -1.0), "normal expects std >= 0.0"),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(lambda lib: program(lib.nn.init, lib.empty), phrase)


def test_a_refusal_changes_nothing() -> None:
    parameter = whygrad.ones(3, 3)
    with warnings.catch_warnings(), pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.kaiming_uniform_(parameter, nonlinearity="nothing")
    assert parameter.tolist() == np.ones((3, 3)).tolist()
