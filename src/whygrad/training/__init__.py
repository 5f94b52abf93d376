"""Comfort for training loops: a progress bar, a summary of a model, the flow of its gradients.

``whygrad.track``, ``whygrad.summary`` and ``whygrad.grad_flow`` live here.  rich and matplotlib are
imported only when something is drawn.
"""

from whygrad.training.gradient_flow import GradFlow, grad_flow
from whygrad.training.model_summary import ModelSummary, summary
from whygrad.training.progress import Track, track

__all__ = ["GradFlow", "ModelSummary", "Track", "grad_flow", "summary", "track"]
