"""PyTorch's switches of other hardware: asking for it says no, setting an option changes nothing.

``torch.backends.mps.is_available()`` and ``torch.backends.cudnn.deterministic = True`` stand in
many scripts, and run here as they do in PyTorch on a machine without a GPU.
"""

from __future__ import annotations

__all__ = ["Backend", "cuda", "cudnn", "mps"]


class Backend:
    """Something that is not there; options may be set on it, as PyTorch allows."""

    benchmark: bool = False
    deterministic: bool = False

    def is_available(self) -> bool:
        """False."""
        return False

    def is_built(self) -> bool:
        """False."""
        return False


cuda = Backend()
cudnn = Backend()
mps = Backend()
