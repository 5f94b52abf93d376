"""Neural networks: modules, layers, losses, and the functions they are made of."""

import importlib as _importlib

from whygrad.nn import attention, functional, init, modules, parallel, parameter, utils
from whygrad.nn.factory import factory_kwargs
from whygrad.nn.modules import *
from whygrad.nn.parallel import DataParallel
from whygrad.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = sorted(
    [
        "attention", "common_types", "factory_kwargs", "functional", "grad", "init", "modules",
        "parallel", "parameter", "utils",
        *(name for name in globals() if name[0].isupper()),
    ]
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in ("common_types", "grad"):  # modules that few programs ask for
        return _importlib.import_module(f"whygrad.nn.{name}")
    raise AttributeError(f"module 'whygrad.nn' has no attribute {name!r}")
