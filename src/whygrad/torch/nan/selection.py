"""A result was thrown away, its derivative was not: who threw it away, in a PyTorch graph.

``where(x > 0, sqrt(x), 0)`` is right at x = 0 on the way forward.  On the way back ``where`` sends
0 to the branch it did not choose, and 0 · inf is NaN.  The cure is to choose *before* the op, too.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import torch

from whygrad.autograd.anomaly_mode.selection import Selection, safe_value
from whygrad.ops.families import CHOICES, MUL, WHERE
from whygrad.torch import ops
from whygrad.torch.backward import run
from whygrad.torch.graph import reachable, where_of
from whygrad.torch.nan.anomalies import known_op

__all__ = ["dropped_by"]

_BRANCHES = ("the second argument", "the third argument")


def dropped_by(node: Any, place: tuple[int, ...], root: Any) -> Selection | None:
    """The call towards the loss whose derivative is 0 at one element of the result of ``node``.

    Only through calls that keep elements where they are: beyond them nobody knows which is which.
    """
    shape = tuple(node._input_metadata[0].shape)
    users: dict[Any, list[tuple[Any, int]]] = {}
    for user in reachable(root):
        for position, (parent, _) in enumerate(user.next_functions):
            if parent is not None:
                users.setdefault(parent, []).append((user, position))
    waiting = deque(users.get(node, ()))
    met: set[Any] = set()
    while waiting:
        user, position = waiting.popleft()
        about = user._input_metadata
        if user in met or len(about) != 1 or ops.is_custom(user):
            continue
        met.add(user)
        one = torch.ones(tuple(about[0].shape), dtype=about[0].dtype, device=about[0].device)
        slope = run(user, [one])[position]
        if slope is None or tuple(slope.shape) != shape:
            continue
        if slope[place] == 0:
            where = where_of(user)
            return None if where is None else _worded(node, user, position, where)
        if ops.is_elementwise(user) and tuple(about[0].shape) == shape:
            waiting.extend(users.get(user, ()))
    return None


def _worded(node: Any, user: Any, position: int, where: Any) -> Selection:
    op, name = ops.op_name(node), ops.op_name(user)
    safe = safe_value(known_op(op))
    if name in CHOICES:
        branch = _BRANCHES[position] if name in WHERE else "the input"
        fix = (
            f"choose before the op as well (double where): safe = torch.where(mask, x, {safe}), "
            f"then torch.where(mask, torch.{op}(safe), …)"
        )
        return Selection(name, where, branch, fix)
    if name in MUL:
        fix = (
            "0 · inf is nan, so a product with 0 hides nothing: choose before the op, "
            f"torch.where(mask, x, {safe})"
        )
        return Selection(name, where, None, fix)
    if ops.is_elementwise(user):
        fix = f"limit what goes into {op}, not what comes out of it: {name} before {op}"
        return Selection(name, where, None, fix)
    return Selection(name, where, None, f"pick before the op: {op} should see what you keep")
