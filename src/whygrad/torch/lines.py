"""Which line of the user's program called into PyTorch?

The innermost frame that is neither PyTorch's nor whygrad's nor of an installed package nor of
Python's own library: for ``model(x)`` inside ``train.py`` that is the line of ``train.py``, however
deep in ``torch.nn`` the op itself is called.
"""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType

import torch

import whygrad
from whygrad.source import Where, in_program

__all__ = ["call_of", "function_call", "user_where"]


def _folder(path: str) -> str:
    return os.path.dirname(os.path.abspath(path)) + os.sep


_ENGINES = (_folder(torch.__file__), _folder(whygrad.__file__))
_APPLY: CodeType = torch.autograd.Function.apply.__func__.__code__


def call_of(frame: FrameType | None) -> Where | None:
    """The user's call that led to ``frame``; None if no line of the user's is on the stack.

    A program that itself lives among the installed packages is better named than nothing, so then
    the innermost frame outside the two engines counts.
    """
    start = frame
    while frame is not None:
        if in_program(frame.f_code.co_filename):
            return Where(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    while start is not None:
        if not start.f_code.co_filename.startswith(_ENGINES):
            return Where(start.f_code, start.f_lasti)
        start = start.f_back
    return None


def function_call() -> Where | None:
    """The user's ``F.apply(…)`` if an ``autograd.Function`` is running its forward, else None."""
    frame: FrameType | None = sys._getframe(1)
    applied = None
    while frame is not None:
        if frame.f_code is _APPLY:
            applied = frame
        frame = frame.f_back
    return None if applied is None else call_of(applied)


def user_where() -> Where | None:
    """The user's line that is running."""
    return call_of(sys._getframe(1))
