"""What is asked of the learner's clipping, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import whygrad
import whygrad.nn  # loaded before the clock runs

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def norm(learner: Learner, grads: list[Any]) -> Any:
    return learner.plain(learner.module("clipping").total_norm(_arrays(grads)))


def clipped(learner: Learner, function: str, grads: list[Any], threshold: float) -> dict[str, Any]:
    """What one of the two functions makes of gradients, and the gradients afterwards."""
    arrays = _arrays(grads)
    result = getattr(learner.module("clipping"), function)(arrays, threshold)
    return {"clipped": learner.plain(list(result)), "grads": learner.plain(arrays)}


def refused(learner: Learner, grads: list[Any], threshold: float) -> str:
    """The exception that clipping by norm raises, or what it gave instead."""
    function = learner.module("clipping").clip_by_norm
    try:
        result = function(_arrays(grads), threshold)
    except ValueError:
        return "ValueError"
    return repr(learner.plain(list(result)))


def cosine(learner: Learner, grads: list[Any], others: list[Any]) -> Any:
    return learner.plain(learner.module("clipping").cosine(_arrays(grads), _arrays(others)))


def example(learner: Learner) -> dict[str, Any]:
    """The learner's own example, before and after their clipping by value."""
    module = learner.module("clipping")
    grads, limit = module.turned_by_value()
    before = [np.array(each, dtype=float) for each in grads]
    return {
        "limit": learner.plain(limit),
        "before": learner.plain(before),
        "after": learner.plain(list(module.clip_by_value(before, limit))),
    }


def model(
    learner: Learner, function: str, threshold: float, seed: int, scale: float
) -> dict[str, Any]:
    """Clip a small network's gradients in place; one of its biases is frozen."""
    module = learner.module("clipping")
    network = _network(seed, scale)
    norms = module.clip_model(network, getattr(module, function), threshold)
    grads = {name: each.grad for name, each in network.named_parameters()}
    return {
        "norms": learner.plain(list(norms)),
        "grads": {name: learner.plain(grad) for name, grad in grads.items()},
    }


def statements(learner: Learner) -> Any:
    return learner.plain(learner.module("clipping").STATEMENTS)


def _arrays(grads: list[Any]) -> list[Any]:
    return [np.array(each, dtype=float) for each in grads]


def _network(seed: int, scale: float) -> Any:
    whygrad.manual_seed(seed)
    network = whygrad.nn.Sequential(
        whygrad.nn.Linear(3, 4), whygrad.nn.Tanh(), whygrad.nn.Linear(4, 1)
    )
    network[0].bias.requires_grad_(False)
    loss = scale * (network(whygrad.randn(8, 3)) - whygrad.randn(8, 1)).square().mean()
    loss.backward()
    return network
