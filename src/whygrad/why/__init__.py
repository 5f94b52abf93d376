"""Why is this gradient this number, why is it None, why zero, and where did the NaN come from?

:func:`explain` takes a gradient apart into the contributions it is the sum of; :func:`why_none`,
:func:`why_zero` and :func:`why_nan` say what is wrong with one, or that nothing is.  They read the
tape; nothing here runs while a program computes.

A backward pass is first written down as a :class:`~whygrad.why.flow.Flow`, which tables, paths
and drawings read; so they serve ``Value``, ``Tensor`` and PyTorch (:mod:`whygrad.torch`) alike.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Answer": "answer",
    "explain": "explanation",
    "why_nan": "nan.answers",
    "why_none": "none",
    "why_zero": "zero.answers",
}

__all__ = ["Answer", "explain", "why_nan", "why_none", "why_zero"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"whygrad.why.{_HOME[name]}"), name)
    raise AttributeError(f"module 'whygrad.why' has no attribute {name!r}")
