"""Where the graph was cut: the lines of ``detach()``, for whoever misses a gradient.

A detached tensor remembers its cut, and a thread its latest ones.  Neither keeps the graph alive:
that is what people detach for.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING

from whygrad.autograd.reach import reachable
from whygrad.autograd.source import Where, outside, user_files

if TYPE_CHECKING:
    from types import CodeType

    from whygrad.autograd.node import Node
    from whygrad.tensor import Tensor

__all__ = ["cut_below", "cut_of", "note"]

_REMEMBERED = 16


# One detach() of a tensor that required grad: the node it came from, and the user's line.
Cut = tuple["weakref.ref[Node]", "CodeType", int]


class _Latest(threading.local):
    def __init__(self) -> None:
        self.cuts: deque[Cut] = deque(maxlen=_REMEMBERED)


_latest = _Latest()


def note(source: Tensor, detached: Tensor) -> None:
    """``detached`` was just cut off from ``source``."""
    frame = sys._getframe(2)
    if frame.f_code.co_filename not in user_files:
        frame = outside(frame)
    cut = (weakref.ref(source._node), frame.f_code, frame.f_lasti)
    detached.__dict__["_cut"] = cut
    _latest.cuts.append(cut)


def cut_of(tensor: Tensor) -> str:
    """What is known about why ``tensor`` has no history, as the end of a sentence."""
    cut: Cut | None = tensor.__dict__.get("_cut")
    if cut is not None:
        return f": it was cut off by detach() at {Where(*cut[1:])}"
    if _latest.cuts:
        return (
            ": nothing it was computed from requires grad, or it was cut off; the last detach() of "
            f"a tensor that required grad was at {Where(*_latest.cuts[-1][1:])}"
        )
    return ": nothing it was computed from requires grad, or it was cut off by no_grad() or NumPy"


def cut_below(leaf: Tensor) -> str:
    """Where something computed from ``leaf`` was detached, as the end of a sentence."""
    for cut in reversed(_latest.cuts):
        source = cut[0]()
        if source is not None and leaf._node in reachable([source]):
            what = "it" if source is leaf._node else "what was computed from it"
            return f" ({what} was cut off by detach() at {Where(*cut[1:])})"
    return ""
