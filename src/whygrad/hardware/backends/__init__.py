"""PyTorch's switches of libraries and of other hardware.

Asking says what is there; setting an option of what is not there changes nothing.
``import torch.backends.cudnn as cudnn; cudnn.benchmark = True`` stands in many scripts, and runs
here as it does in PyTorch on a machine without a GPU.
"""

from __future__ import annotations

import importlib
from typing import Any

from whygrad.refused import refusal

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise refusal("backends", name)
