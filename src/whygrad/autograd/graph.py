"""What PyTorch keeps in ``torch.autograd.graph``: nodes, and ways to look into the recorded graph."""

from __future__ import annotations

from whygrad.autograd.node import AccumulateGrad, Node
from whygrad.autograd.saved_bytes import saved_bytes_peak

__all__ = ["AccumulateGrad", "Node", "saved_bytes_peak"]
