"""Something to minimise, the same for both libraries, and a table of optimizers with options."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import whygrad

LIBRARIES = {"whygrad": whygrad, "torch": torch}

# Every optimizer that treats elements alike, with every option that changes what it computes.
# Learning rates are small enough that rounding stays rounding: near a minimum large steps are
# chaotic, and PyTorch's own implementations drift apart from one another.
CASES: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {"lr": 0.05},
        {"lr": 0.05, "weight_decay": 0.1, "maximize": False},
        {"lr": 0.02, "momentum": 0.9},
        {"lr": 0.02, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01},
        {"lr": 0.02, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
        {"lr": 1e-4, "momentum": 0.5, "maximize": True},
    ],
    "Adam": [
        {},
        {"lr": 0.03, "betas": (0.8, 0.95), "eps": 1e-4},
        {"lr": 0.03, "weight_decay": 0.1},
        {"lr": 0.03, "amsgrad": True},
        {"lr": 0.03, "amsgrad": True, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 1e-3, "maximize": True},
    ],
    "AdamW": [
        {},
        {"lr": 0.03, "weight_decay": 0.3},
        {"lr": 0.03, "weight_decay": 0},
        {"lr": 0.03, "amsgrad": True, "eps": 1e-3},
        {"lr": 1e-3, "maximize": True},
    ],
    "RMSprop": [
        {},
        {"alpha": 0.9, "eps": 1e-4, "weight_decay": 0.1},
        {"momentum": 0.8},
        {"centered": True, "eps": 1e-3},
        {"centered": True, "momentum": 0.8, "eps": 1e-3},
        {"lr": 1e-3, "maximize": True},
    ],
    "Adagrad": [
        {"lr": 0.1},
        {"lr": 0.03, "lr_decay": 0.02, "weight_decay": 0.1},
        {"lr": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3},
        {"lr": 1e-3, "maximize": True},
    ],
    "ASGD": [
        {},
        {"lr": 0.05, "lambd": 0.01, "alpha": 0.6, "t0": 20, "weight_decay": 0.1},
        {"lr": 1e-4, "t0": 5, "maximize": True},
    ],
    "Adadelta": [
        {},
        {"lr": 0.5, "rho": 0.8, "eps": 1e-4, "weight_decay": 0.1},
        {"lr": 0.01, "maximize": True},
    ],
    "NAdam": [
        {},
        {"lr": 0.03, "betas": (0.8, 0.95), "momentum_decay": 0.02, "weight_decay": 0.1},
        {"lr": 0.03, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 1e-3, "maximize": True},
    ],
    "RAdam": [
        {},
        {"lr": 0.005, "betas": (0.8, 0.99), "weight_decay": 0.1},
        {"lr": 0.03, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 1e-3, "maximize": True},
    ],
    "Adamax": [
        {},
        {"lr": 0.005, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.1},
        {"lr": 1e-3, "maximize": True},
    ],
    "Rprop": [
        {},
        {"lr": 0.05, "etas": (0.6, 1.3), "step_sizes": (1e-4, 0.2)},
        {"lr": 1e-4, "step_sizes": (1e-6, 1e-3), "maximize": True},
    ],
}
EVERY_CASE = [(name, options) for name, cases in CASES.items() for options in cases]


def case_id(value: Any) -> str | None:
    if isinstance(value, dict):
        return ",".join(f"{key}={each}" for key, each in value.items()) or "defaults"
    return None


class Problem:
    """A small network's loss with respect to its four parameters, one of them a single number."""

    def __init__(self, library: Any, dtype: str = "float64") -> None:
        rng = np.random.default_rng(7)
        shapes = [(5, 4), (5,), (3, 5), ()]
        make = [rng.normal(size=shape) for shape in shapes]
        self.library = library
        kind = getattr(library, dtype)
        self.x = library.tensor(rng.normal(size=(8, 4)), dtype=kind)
        self.y = library.tensor(rng.normal(size=(8, 3)), dtype=kind)
        self.parameters = [library.tensor(each, dtype=kind).requires_grad_() for each in make]

    def loss(self) -> Any:
        first, bias, second, scale = self.parameters
        hidden = self.library.tanh(self.x @ first.t() + bias)
        return ((scale * (hidden @ second.t()) - self.y) ** 2).mean()

    def train(self, optimizer: Any, steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            self.loss().backward()
            optimizer.step()

    def values(self) -> list[Any]:
        return [each.detach().double().numpy().copy() for each in self.parameters]


def optimizer_of(library: Any, name: str, parameters: Any, **options: Any) -> Any:
    return getattr(library.optim, name)(parameters, **options)


def plain(state: Any) -> Any:
    """A state as Python and NumPy values."""
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [plain(each) for each in state]
    return state.detach().numpy() if hasattr(state, "detach") else state


def assert_same_state(ours: Any, theirs: Any, rtol: float = 1e-9) -> None:
    """Keys, order, types and numbers."""
    assert isinstance(ours, dict) is isinstance(theirs, dict)
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            assert_same_state(ours[key], theirs[key], rtol)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same_state(one, other, rtol)
    elif isinstance(theirs, np.ndarray):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-12)
    else:
        assert ours == theirs
