"""What PyTorch keeps in ``torch.utils``: each part loads on first use."""

from __future__ import annotations

import importlib
from typing import Any

from whygrad.refused import refusal

__all__ = ["checkpoint", "data", "hooks"]


def __getattr__(name: str) -> Any:
    if name in __all__ or name == "tensorboard":  # not listed: it needs a package of its own
        return importlib.import_module(f"{__name__}.{name}")
    raise refusal("utils", name)
