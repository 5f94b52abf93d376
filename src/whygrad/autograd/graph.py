"""What PyTorch keeps in ``torch.autograd.graph``: nodes, and ways to look into the graph."""

from __future__ import annotations

from whygrad.autograd.edges import GradientEdge, get_gradient_edge
from whygrad.autograd.leaves import increment_version
from whygrad.autograd.memory_report import memory
from whygrad.autograd.multi_grad import register_multi_grad_hook
from whygrad.autograd.mutation import allow_mutation_on_saved_tensors
from whygrad.autograd.saved_bytes import saved_bytes_peak
from whygrad.autograd.saved_hooks import (
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
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
