"""Which line of the user's program is running?

The innermost frame that belongs neither to an engine nor to an installed package nor to Python's
own library.  It is asked at every call, so what is known about a file is remembered.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from types import FrameType
from typing import Any

import whygrad
from whygrad.source import Where

__all__ = ["here", "user_frame", "where_made"]

_PACKAGE = os.path.dirname(os.path.abspath(whygrad.__file__)) + os.sep
_LIBRARIES = (
    _PACKAGE,
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    "<frozen",
)

_of_the_user: dict[str, bool] = {}


def _learn(file: str) -> bool:
    known = not (file.startswith(_LIBRARIES) or "site-packages" in file)
    _of_the_user[file] = known
    return known


def user_frame(frame: FrameType) -> FrameType:
    """The innermost frame of the user's from ``frame`` outwards; ``frame`` itself if none is."""
    start = frame
    known = _of_the_user
    while True:
        file = frame.f_code.co_filename
        if known[file] if file in known else _learn(file):
            return frame
        if frame.f_back is None:
            return start
        frame = frame.f_back


def here() -> Where:
    """The user's line that led here."""
    frame = user_frame(sys._getframe(1))
    return Where(frame.f_code, frame.f_lasti)


def where_made(thing: Any) -> Where:
    """The user's line that constructs ``thing``, from inside its ``__init__``.

    The frames of its own ``__init__`` chain do not count: of ``Net()`` the line with ``Net()`` is
    wanted, not its ``super().__init__()``.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        own = frame.f_code.co_varnames[:1]
        inside = bool(own) and frame.f_locals.get(own[0]) is thing
        if not inside and user_frame(frame) is frame and _of_the_user[frame.f_code.co_filename]:
            return Where(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return here()
