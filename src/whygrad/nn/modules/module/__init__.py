"""Module: what it consists of, what it remembers, its hooks, and as which dtype it computes."""

from whygrad.nn.modules.module.hooks import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from whygrad.nn.modules.module.module import Module
from whygrad.nn.modules.module.state import _IncompatibleKeys

__all__ = [
    "Module",
    "_IncompatibleKeys",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]
