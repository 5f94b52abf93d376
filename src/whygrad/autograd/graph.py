"""What PyTorch keeps in ``torch.autograd.graph``: nodes, and ways to look into the graph."""

from __future__ import annotations

from whygrad.autograd.memory_report import memory
from whygrad.autograd.mutation import allow_mutation_on_saved_tensors
from whygrad.autograd.node import AccumulateGrad, Node
from whygrad.autograd.saved_bytes import saved_bytes_peak
from whygrad.autograd.saved_hooks import (
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "AccumulateGrad",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "memory",
    "save_on_cpu",
    "saved_bytes_peak",
    "saved_tensors_hooks",
]
