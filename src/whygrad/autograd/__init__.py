"""Recording, the reverse walk, forward mode and gradient checks.

Only the tape is loaded with the engine; the rest waits until somebody uses it.
"""

from __future__ import annotations

import importlib
from typing import Any

from whygrad.tensor.above import above
from whygrad.tensor.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "AnomalyError",
    "Function",
    "GradcheckError",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradcheck_report",
    "gradcheck_sweep",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]

_HOME = {
    "AnomalyError": "anomaly_mode",
    "Function": "function",
    "GradcheckError": "checks.gradcheck",
    "Variable": "variable",
    "backward": "api",
    "detect_anomaly": "anomaly_mode",
    "enforce_grad_layout_policy": "grad_mode",
    "grad": "api",
    "gradcheck": "checks.gradcheck",
    "gradcheck_report": "checks.gradcheck",
    "gradcheck_sweep": "checks.sweep",
    "gradgradcheck": "checks.gradcheck",
    "set_detect_anomaly": "anomaly_mode",
    "set_multithreading_enabled": "grad_mode",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        found = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = found  # the next time it is simply there
        return found
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# What tensors, nodes and ops have done for them by this layer.
above.provide("whygrad.autograd.api", "backward")
above.provide("whygrad.autograd.explanation", "explain")
above.provide(
    "whygrad.autograd.hooks.nodes",
    "register_node_hook",
    "register_post_accumulate_grad_hook",
    "register_prehook",
    "register_tensor_hook",
)
above.provide(
    "whygrad.autograd.leaves",
    "check_gradient",
    "cut_off",
    "detach_batched",
    "is_retained",
    "move",
    "replace_data",
    "retain",
    "set_requires_grad",
    "warn_not_retained",
)
above.provide("whygrad.autograd.transforms.batching", "add_batch", "physical_pair")
above.provide("whygrad.autograd.transforms.forward_ad", "set_tangents")
above.provide("whygrad.autograd.node_types", "shown")
above.provide("whygrad.autograd.transforms.runs", "check_captured")
above.provide("whygrad.autograd.views", "check_recorded_write", "rewrite")
