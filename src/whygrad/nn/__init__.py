"""Neural networks: modules, layers, losses, and the functions they are made of."""

from whygrad.nn import functional, init
from whygrad.nn.containers import (
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from whygrad.nn.module import Module
from whygrad.nn.parameter import Buffer, Parameter

__all__ = [
    "Buffer",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "functional",
    "init",
]
