"""The names, modules and signatures of torch.optim."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest
import torch

import whygrad

SPACES = ("optim", "optim.lr_scheduler", "optim.swa_utils")
MODULES = (
    "adadelta.Adadelta", "adagrad.Adagrad", "adam.Adam", "adamax.Adamax", "adamw.AdamW",
    "asgd.ASGD", "lbfgs.LBFGS", "nadam.NAdam", "optimizer.Optimizer", "radam.RAdam",
    "rmsprop.RMSprop", "rprop.Rprop", "sgd.SGD", "sparse_adam.SparseAdam",
    "lr_scheduler.LRScheduler", "lr_scheduler._LRScheduler", "swa_utils.AveragedModel",
)  # fmt: skip


def _space(library: Any, name: str) -> Any:
    return importlib.import_module(f"{library.__name__}.{name}")


@pytest.mark.parametrize("space", SPACES)
def test_every_name_with_its_signature(space: str) -> None:
    ours, theirs = _space(whygrad, space), _space(torch, space)
    assert sorted(ours.__all__) == sorted(theirs.__all__)
    differing = []
    for name in theirs.__all__:
        one, other = getattr(ours, name), getattr(theirs, name)
        if inspect.ismodule(other):
            continue
        shapes = [
            [
                (each.name, each.kind, each.default)
                for each in inspect.signature(call).parameters.values()
            ]
            for call in (one, other)
        ]
        if shapes[0] != shapes[1]:
            differing.append((name, *shapes))
    assert not differing


def test_modules_people_import_from() -> None:
    for path in MODULES:
        module, _, name = path.partition(".")
        for library in (torch, whygrad):
            assert inspect.isclass(getattr(_space(library, f"optim.{module}"), name))
