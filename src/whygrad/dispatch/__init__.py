"""From an op call to the code that runs.

An op call ORs its arguments' keys into one integer and looks it up in the op's own table
(:mod:`~whygrad.dispatch.calls`).  A missing entry is built once by stacking layers
(:mod:`~whygrad.dispatch.routes`): promotion, forward mode, autograd
(:mod:`~whygrad.dispatch.paths`), and at the bottom the kernel for the device, layout and dtype
(:mod:`~whygrad.dispatch.kernels`).  A backend or a layer is added by registering kernels, not by
editing ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.dispatch import interception
from whygrad.dispatch.calls import bind
from whygrad.dispatch.kernels import kernel_for
from whygrad.dispatch.routes import (
    common_dtype,
    register,
    register_device,
    register_layer,
    register_layout,
    route,
    watching,
)
from whygrad.dispatch.silence import quiet
from whygrad.tensor.above import above

__all__ = [
    "bind",
    "common_dtype",
    "explain",
    "kernel_for",
    "quiet",
    "register",
    "register_device",
    "register_layer",
    "register_layout",
    "route",
    "watching",
]


def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Show which argument set which key, and which kernels would run in which order."""
    return above.explain(function, *args, **kwargs)


above.provide("whygrad.dispatch.overriding", "adopt", "carry_out")
