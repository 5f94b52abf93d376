"""Parameters as one vector, and parameters that are computed from others."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.utils.parametrizations

import whygrad
import whygrad.nn.utils.parametrizations

LIBRARIES = {"whygrad": whygrad, "torch": torch}
BOTH = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
VALUES = np.random.default_rng(4).normal(size=(3, 4, 2))


class Layer(whygrad.nn.Module):
    """y = x·weight + bias"""

    def __init__(self) -> None:
        super().__init__()
        self.weight = whygrad.nn.Parameter(whygrad.tensor(VALUES))
        self.bias = whygrad.nn.Parameter(whygrad.zeros(2, dtype=whygrad.float64))

    def forward(self, x: Any) -> Any:
        return (x * self.weight).sum((0, 1)) + self.bias


class TorchLayer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(VALUES))
        self.bias = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))

    forward = Layer.forward


def layer(library: Any) -> Any:
    return Layer() if library is whygrad else TorchLayer()


def used(library: Any, module: Any) -> dict[str, Any]:
    """The output and all gradients of a module, and the shapes of its state."""
    output = module(library.tensor(VALUES[:, ::-1].copy()))
    (output**2).sum().backward()
    found = {name: each.grad.numpy() for name, each in module.named_parameters()}
    shapes = {name: tuple(each.shape) for name, each in module.state_dict().items()}
    return {"output": output.detach().numpy(), "shapes": shapes, **found}


def assert_same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert list(ours) == list(theirs)
    assert ours.pop("shapes") == theirs.pop("shapes")
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-10, atol=1e-12, err_msg=name)


# --- vectors --------------------------------------------------------------------------------------


@BOTH
def test_there_and_back(library: Any) -> None:
    utils, module = library.nn.utils, layer(library)
    vector = utils.parameters_to_vector(module.parameters())
    assert tuple(vector.shape) == (26,)
    np.testing.assert_array_equal(vector.detach().numpy()[:24], VALUES.ravel())
    vector.sum().backward()
    assert module.bias.grad.tolist() == [1.0, 1.0]
    utils.vector_to_parameters(library.arange(26, dtype=library.float64), module.parameters())
    assert module.bias.tolist() == [24.0, 25.0]
    assert module.weight.requires_grad
    assert module.weight.is_leaf


def test_vectors_refused() -> None:
    module = Layer()
    with pytest.raises(TypeError, match=r"expected whygrad\.Tensor, but got: list"):
        whygrad.nn.utils.vector_to_parameters([1.0], module.parameters())  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="have 26 elements, the vector has 3"):
        whygrad.nn.utils.vector_to_parameters(whygrad.zeros(3), module.parameters())
    np.testing.assert_array_equal(module.weight.detach().numpy(), VALUES)
    both = [whygrad.zeros(2), whygrad.zeros(2, device="meta")]
    with pytest.raises(TypeError, match="two parameters on different devices"):
        whygrad.nn.utils.parameters_to_vector(both)


# --- weight norm ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, 2, None])
def test_weight_norm(dim: int | None) -> None:
    results = []
    for library in LIBRARIES.values():
        module = library.nn.utils.parametrizations.weight_norm(layer(library), dim=dim)
        np.testing.assert_allclose(module.weight.detach().numpy(), VALUES, rtol=1e-12)
        results.append(used(library, module))
    assert_same(*results)


@pytest.mark.parametrize("dim", [0, None])
def test_the_older_weight_norm(dim: int | None) -> None:
    results = []
    for library in LIBRARIES.values():
        with pytest.warns(FutureWarning, match="weight_norm` is deprecated in favor of"):
            module = library.nn.utils.weight_norm(layer(library), dim=dim)
        results.append(used(library, module))
        with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="two weight_norm hook"):
            library.nn.utils.weight_norm(module)
        library.nn.utils.remove_weight_norm(module)
        assert sorted(dict(module.named_parameters())) == ["bias", "weight"]
        np.testing.assert_allclose(module.weight.detach().numpy(), VALUES, rtol=1e-12)
        module(library.tensor(VALUES))
        with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
            library.nn.utils.remove_weight_norm(module)
    assert_same(*results)


@BOTH
def test_states_of_the_older_form_load(library: Any) -> None:
    with pytest.warns(FutureWarning):
        old = library.nn.utils.weight_norm(layer(library))
    with library.no_grad():
        old.weight_g.mul_(2.0)
    new = library.nn.utils.parametrizations.weight_norm(layer(library))
    new.load_state_dict(old.state_dict())
    np.testing.assert_allclose(new.weight.detach().numpy(), 2 * VALUES, rtol=1e-12)


# --- spectral norm --------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [None, 1])
def test_spectral_norm(dim: int | None) -> None:
    """The start of the power iteration is random; it is set to the same for both."""
    results = []
    for library in LIBRARIES.values():
        module = library.nn.utils.parametrizations.spectral_norm(layer(library), dim=dim)
        inner = module.parametrizations.weight[0]
        matrix = np.moveaxis(VALUES, dim or 0, 0).reshape(VALUES.shape[dim or 0], -1)
        largest = np.linalg.svd(matrix, compute_uv=False)[0]
        np.testing.assert_allclose(module.weight.detach().numpy(), VALUES / largest, rtol=1e-2)
        for vector in (inner._u, inner._v):
            vector.copy_(library.ones(len(vector), dtype=library.float64) / len(vector) ** 0.5)
        results.append(used(library, module))
        module.eval()
        before = inner._u.numpy().copy()
        assert module.weight.requires_grad
        np.testing.assert_array_equal(inner._u.numpy(), before)
    assert_same(*results)


def test_spectral_norm_of_a_vector_has_length_one() -> None:
    module = whygrad.nn.utils.parametrizations.spectral_norm(Layer(), "bias")
    module.bias = whygrad.tensor([3.0, 4.0], dtype=whygrad.float64)
    np.testing.assert_allclose(module.bias.detach().numpy(), [0.6, 0.8])


# --- parametrizations -----------------------------------------------------------------------------


class Doubled(whygrad.nn.Module):
    def forward(self, x: Any) -> Any:
        return 2 * x

    def right_inverse(self, y: Any) -> Any:
        return y / 2


class Positive(whygrad.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.exp()


parametrize = whygrad.nn.utils.parametrize


def test_several_parametrizations_of_one_tensor() -> None:
    module = Layer()
    parametrize.register_parametrization(module, "bias", Positive())
    parametrize.register_parametrization(module, "bias", Doubled())
    assert module.bias.tolist() == [2.0, 2.0]
    assert parametrize.is_parametrized(module)
    assert parametrize.is_parametrized(module, "bias")
    assert not parametrize.is_parametrized(module, "weight")
    assert parametrize.type_before_parametrizations(module) is Layer
    assert isinstance(module, Layer)
    assert [name for name, _ in module.named_parameters()] == [
        "weight",
        "parametrizations.bias.original",
    ]
    assert repr(module).startswith("ParametrizedLayer(\n  (parametrizations): ModuleDict(")


def test_two_tensors_and_assignment() -> None:
    module = Layer()
    for name in ("weight", "bias"):
        parametrize.register_parametrization(module, name, Doubled())
    np.testing.assert_allclose(module.weight.detach().numpy(), VALUES)
    module.bias = whygrad.tensor([1.0, 2.0], dtype=whygrad.float64)
    assert module.parametrizations.bias.original.tolist() == [0.5, 1.0]
    parametrize.remove_parametrizations(module, "weight", leave_parametrized=False)
    np.testing.assert_allclose(module.weight.detach().numpy(), VALUES / 2)
    assert module.bias.tolist() == [1.0, 2.0]
    parametrize.remove_parametrizations(module, "bias")
    assert type(module) is Layer
    assert module.bias.tolist() == [1.0, 2.0]
    assert list(module.state_dict()) == ["weight", "bias"]


def test_buffers_can_be_computed_too() -> None:
    module = Layer()
    module.register_buffer("scale", whygrad.ones(2))
    parametrize.register_parametrization(module, "scale", Doubled())
    assert "parametrizations.scale.original" in dict(module.named_buffers())
    parametrize.remove_parametrizations(module, "scale")
    assert module.scale.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_parametrized_and_independent(again: Callable[[Any], Any]) -> None:
    module = Layer()
    parametrize.register_parametrization(module, "bias", Doubled())
    twin = again(module)
    twin.bias = whygrad.ones(2, dtype=whygrad.float64)
    assert module.bias.tolist() == [0.0, 0.0]
    assert twin.bias.tolist() == [1.0, 1.0]
    parametrize.register_parametrization(twin, "weight", Doubled())
    assert not parametrize.is_parametrized(module, "weight")


def test_training_through_a_parametrization() -> None:
    module = parametrize.register_parametrization(Layer(), "bias", Positive())
    optimizer = whygrad.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(50):
        optimizer.zero_grad()
        ((module.bias - 3.0) ** 2).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(module.bias.detach().numpy(), 3.0, rtol=1e-3)


class Summing(whygrad.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.sum()


class Rounding(whygrad.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.float()


class Tearing(whygrad.nn.Module):
    def forward(self, x: Any) -> Any:
        return [x]


def _with_positive_bias() -> Layer:
    return parametrize.register_parametrization(Layer(), "bias", Positive())


def _assign(value: Any) -> None:
    _with_positive_bias().bias = value


def _norm(**options: Any) -> Any:
    return whygrad.nn.utils.parametrizations.spectral_norm(Layer(), **options)


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (
            lambda: parametrize.register_parametrization(Layer(), "nope", Doubled()),
            ValueError,
            "a buffer, or a parametrized element with name 'nope'",
        ),
        (
            lambda: parametrize.register_parametrization(Layer(), "weight", Summing()),
            ValueError,
            "may not change the shape of the tensor, unless `unsafe` flag is enabled",
        ),
        (
            lambda: parametrize.register_parametrization(Layer(), "weight", Rounding()),
            ValueError,
            "may not change the dtype of the tensor, unless `unsafe` flag is enabled",
        ),
        (
            lambda: parametrize.register_parametrization(Layer(), "weight", Tearing()),
            ValueError,
            "A parametrization must return a tensor. Got list",
        ),
        (
            lambda: parametrize.remove_parametrizations(Layer(), "weight"),
            ValueError,
            "does not have a parametrization on weight",
        ),
        (
            lambda: parametrize.remove_parametrizations(
                whygrad.nn.utils.parametrizations.weight_norm(Layer()), "weight", False
            ),
            ValueError,
            "parametrized in terms of a sequence of tensors",
        ),
        (
            lambda: _assign(whygrad.ones(2)),
            RuntimeError,
            "parametrization Positive does not implement right_inverse",
        ),
        (lambda: _assign(whygrad.nn.Parameter(whygrad.ones(2))), KeyError, "already exists"),
        (lambda: _norm(name="nope"), ValueError, "has no parameter or buffer with name 'nope'"),
        (lambda: _norm(dim=7), IndexError, "Dimension out of range"),
        (
            lambda: _norm(n_power_iterations=0),
            ValueError,
            "Expected n_power_iterations to be positive",
        ),
    ],
)
def test_refusals(call: Callable[[], Any], kind: type[Exception], phrase: str) -> None:
    with pytest.raises(kind, match=rf"{re.escape(phrase)}[^\0]*fix:"):
        call()
