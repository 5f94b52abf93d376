"""What PyTorch keeps in ``torch.autograd.graph``: nodes, and ways to look into the graph."""

from __future__ import annotations

from whygrad.autograd.edges import GradientEdge, get_gradient_edge
from whygrad.autograd.hooks.several import register_multi_grad_hook
from whygrad.autograd.leaves import increment_version
from whygrad.autograd.saving.bytes import saved_bytes_peak
from whygrad.autograd.saving.hooks import (
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from whygrad.autograd.saving.mutation import allow_mutation_on_saved_tensors
from whygrad.autograd.saving.report import memory
from whygrad.tensor.graph.node import AccumulateGrad, Node

__all__ = [
    "AccumulateGrad",
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "memory",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_bytes_peak",
    "saved_tensors_hooks",
]
