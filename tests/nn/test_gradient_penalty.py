"""A gradient penalty (WGAN-GP) through every kind of critic, against PyTorch.

The penalty is a function of the gradient of the critic by its input, and it is trained through:
``backward()`` must run, and reach the same parameters with the same numbers, whatever the critic
is made of.  A critic of straight pieces has many second derivatives that are 0 or not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

ACTIVATIONS = [
    "CELU", "ELU", "GELU", "Hardshrink", "Hardswish", "Hardtanh", "Identity",
    "LeakyReLU", "LogSigmoid", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid",
    "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
]  # fmt: skip

CRITICS: dict[str, Callable[[Any], list[Any]]] = {
    name: lambda nn, name=name: [nn.Linear(8, 6), getattr(nn, name)(), nn.Linear(6, 1)]
    for name in ACTIVATIONS
} | {
    "pieces only": lambda nn: [nn.ReLU(), nn.Hardtanh(), nn.LeakyReLU()],
    "batch norm": lambda nn: [nn.Linear(8, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1)],
    "batch norm, eval": lambda nn: [nn.Linear(8, 6), nn.BatchNorm1d(6).eval(), nn.Linear(6, 1)],
    "layer norm": lambda nn: [nn.Linear(8, 6), nn.LayerNorm(6), nn.LeakyReLU(0.2), nn.Linear(6, 1)],
    "dropout": lambda nn: [nn.Linear(8, 6), nn.Dropout(0.0), nn.ReLU(), nn.Linear(6, 1)],
    "max pool": lambda nn: [
        nn.Unflatten(1, (1, 8)), nn.Conv1d(1, 2, 3), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(),
        nn.Linear(6, 1),
    ],
    "average pool": lambda nn: [
        nn.Unflatten(1, (1, 8)), nn.Conv1d(1, 2, 3), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(6, 1),
    ],
    "frozen convolution": lambda nn: [
        nn.Unflatten(1, (1, 8)), nn.Conv1d(1, 2, 3).requires_grad_(False), nn.Flatten(),
    ],
    "dcgan": lambda nn: [
        nn.Unflatten(1, (2, 2, 2)), nn.ConvTranspose2d(2, 3, 2, 2),
        nn.InstanceNorm2d(3, affine=True), nn.LeakyReLU(0.2), nn.Conv2d(3, 2, 3, padding=1),
        nn.AdaptiveAvgPool2d(3), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(2, 1),
    ],
}  # fmt: skip


def penalised(library: Any, critic: Any, numbers: Any) -> list[Any]:
    """The gradients that a penalty on the critic's slope leaves at its parameters and its input."""
    x = library.tensor(numbers, requires_grad=True)
    (slope,) = library.autograd.grad(critic(x).sum(), x, create_graph=True)
    penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
    assert penalty.requires_grad
    penalty.backward()
    return [each.grad for each in (*critic.parameters(), x)]


@pytest.mark.parametrize("name", CRITICS)
def test_penalty_trains_like_pytorch(name: str) -> None:
    rng = np.random.default_rng(3)
    critics = []
    for library in (whygrad, torch):
        critic = library.nn.Sequential(*CRITICS[name](library.nn)).to(library.float64)
        critics.append(critic)
    for mine, theirs in zip(*(each.parameters() for each in critics), strict=True):
        drawn = rng.normal(size=tuple(mine.shape))
        mine.data = whygrad.tensor(drawn)
        theirs.data = torch.tensor(drawn)
    numbers = rng.normal(size=(3, 8)).tolist()
    results = [
        penalised(library, critic, np.array(numbers))
        for library, critic in zip((whygrad, torch), critics, strict=True)
    ]
    for position, (mine, theirs) in enumerate(zip(*results, strict=True)):
        assert (mine is None) == (theirs is None), f"{name}, gradient {position}: {mine}, {theirs}"
        if mine is not None:
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), 1e-6, 1e-9)
