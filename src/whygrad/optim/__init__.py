"""Optimizers: they change parameters by their gradients, with PyTorch's names and trajectories."""

from whygrad.optim import lr_scheduler
from whygrad.optim.adadelta import Adadelta
from whygrad.optim.adagrad import Adagrad
from whygrad.optim.adam import Adam, AdamW
from whygrad.optim.adamax import Adamax
from whygrad.optim.lbfgs import LBFGS
from whygrad.optim.nadam import NAdam
from whygrad.optim.optimizer import Optimizer
from whygrad.optim.radam import RAdam
from whygrad.optim.rmsprop import RMSprop
from whygrad.optim.rprop import Rprop
from whygrad.optim.sgd import SGD

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
]
