"""Optimizers: they change parameters by their gradients, with PyTorch's names and trajectories."""

from typing import Any

from whygrad.optim import lr_scheduler
from whygrad.optim.adadelta import Adadelta
from whygrad.optim.adafactor import Adafactor
from whygrad.optim.adagrad import Adagrad
from whygrad.optim.adam import Adam, AdamW
from whygrad.optim.adamax import Adamax
from whygrad.optim.asgd import ASGD
from whygrad.optim.lbfgs import LBFGS
from whygrad.optim.muon import Muon
from whygrad.optim.nadam import NAdam
from whygrad.optim.optimizer import Optimizer
from whygrad.optim.radam import RAdam
from whygrad.optim.rmsprop import RMSprop
from whygrad.optim.rprop import Rprop
from whygrad.optim.sgd import SGD
from whygrad.optim.sparse_adam import SparseAdam
from whygrad.optim.swapping import swap_in_optimizer_params_and_state

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]


def __getattr__(name: str) -> Any:
    if name == "swa_utils":  # it needs nn, which a program without layers does without
        import importlib

        return importlib.import_module("whygrad.optim.swa_utils")
    raise AttributeError(f"module 'whygrad.optim' has no attribute {name!r}")
