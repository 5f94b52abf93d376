"""One gradient per sample: ``vmap(grad(loss))`` of an MLP 784-256-128-10 on a batch of 64."""

from __future__ import annotations

from typing import Any

from bench.measure import Run, Workload
from bench.workloads.mlp import data


def _of(library: Any, functional: Any, transforms: Any) -> Run:
    x, target, parameters = data()
    names = ("w1", "b1", "w2", "b2", "w3", "b3")
    leaves = {name: library.from_numpy(each) for name, each in zip(names, parameters, strict=True)}
    inputs, labels = library.from_numpy(x), library.from_numpy(target)

    def loss(p: Any, x: Any, label: Any) -> Any:
        hidden = functional.relu(functional.linear(x, p["w1"], p["b1"]))
        hidden = functional.relu(functional.linear(hidden, p["w2"], p["b2"]))
        return functional.cross_entropy(functional.linear(hidden, p["w3"], p["b3"]), label)

    per_sample = transforms.vmap(transforms.grad(loss), in_dims=(None, 0, 0))
    return lambda: per_sample(leaves, inputs, labels)


def with_whygrad() -> Run:
    import whygrad
    import whygrad.func
    import whygrad.nn.functional as functional

    return _of(whygrad, functional, whygrad.func)


def with_torch() -> Run:
    import torch
    import torch.func
    import torch.nn.functional as functional

    return _of(torch, functional, torch.func)


WORKLOAD = Workload(
    "per-sample gradients",
    "vmap(grad(loss)) of the MLP: 64 gradients of 235,146 parameters each",
    {"whygrad": with_whygrad, "torch": with_torch},
    rounds=15,
)
