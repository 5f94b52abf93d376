"""Modules without first values, and the memory formats that PyTorch has for a GPU's sake."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from whygrad.errors import fail
from whygrad.nn.modules.conv.convolution import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from whygrad.nn.modules.module import Module

__all__ = [
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "skip_init",
]

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """A module whose parameters are not filled: for those that are loaded anyway."""
    cause = None
    if not issubclass(module_cls, Module):
        cause = f"Expected a Module; got {module_cls}"
    elif "device" not in inspect.signature(module_cls).parameters:
        cause = "Module must support a 'device' arg to skip initialization"
    if cause is not None:
        raise fail(
            RuntimeError,
            call=f"skip_init({module_cls.__name__}, …)",
            cause=cause,
            fix="make the module as usual",
        )
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)


def convert_conv2d_weight_memory_format(module: M, memory_format: Any) -> M:
    """The weights of convolutions over images in another order in memory, in place."""
    return _convert_weights(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: M, memory_format: Any) -> M:
    """The weights of convolutions over volumes in another order in memory, in place."""
    return _convert_weights(module, memory_format, (Conv3d, ConvTranspose3d))


def _convert_weights(module: M, memory_format: Any, kinds: tuple[type[Module], ...]) -> M:
    for each in module.modules():
        if isinstance(each, kinds):
            weight: Any = each.weight
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module
