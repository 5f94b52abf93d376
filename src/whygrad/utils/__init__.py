"""What PyTorch keeps in ``torch.utils``: each part loads on first use."""

from __future__ import annotations

import importlib
from typing import Any

from whygrad.refused import refusal

__all__ = ["checkpoint", "data", "hooks"]
_UNLISTED = ("_pytree", "tensorboard")  # private in PyTorch; needs a package of its own


def __getattr__(name: str) -> Any:
    if name in __all__ or name in _UNLISTED:
        return importlib.import_module(f"{__name__}.{name}")
    raise refusal("utils", name)
