"""A view and the tensor it looks at: one memory, and how the view came to be.

What a write through a view does to the graph is the affair of :mod:`whygrad.autograd.views`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whygrad.source import user_frame
from whygrad.tensor import modes

if TYPE_CHECKING:
    from types import CodeType

    from whygrad.ops.define import Op
    from whygrad.tensor import Tensor

__all__ = ["Made", "restrict", "share_memory"]

# How a view came to be that must not be written to: the op, and the place of the call if known.
Made = tuple["Op", "CodeType | None", int]


def share_memory(view: Tensor, source: Tensor, op: Op) -> None:
    """Let ``view``, which ``op`` made of ``source``, know its base and its storage."""
    view._storage = storage = source._storage
    view._base = source if source._base is None else source._base
    if modes.state.recording:
        storage.add_view(view)
        if op.returns_list:
            _restrict(view, op)
        elif storage.restricted and source._base is not None:
            _inherit(view, source)
    else:
        _restrict(view, op)


def _restrict(view: Tensor, op: Op) -> None:
    view._storage.restricted = True
    if view._base is None or view._base._node is None:  # a line is worth its price in graphs only
        view.__dict__["_made"] = (op, None, 0)
    else:
        frame = user_frame()
        view.__dict__["_made"] = (op, frame.f_code, frame.f_lasti)


def restrict(view: Tensor, made: Made) -> None:
    """``view`` is an output of a custom function, whose ``backward`` a write would go around."""
    view._storage.restricted = True
    view._storage.add_view(view)
    view.__dict__["_made"] = made


def _inherit(view: Tensor, source: Tensor) -> None:
    made = source.__dict__.get("_made")
    if made is not None:
        view.__dict__["_made"] = made
