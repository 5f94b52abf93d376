"""Who made the NaN, in a recording: judged as :mod:`whygrad.autograd.anomaly_mode` judges its own.

While a recording is on, each result is looked at.  One that is not finite gets a trail: the call
that made it out of finite numbers, or the trails of what went in.  Trails hold a few numbers and no
tensor; whether they matter is known when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from whygrad.autograd.anomaly_mode.examination import examined, found
from whygrad.autograd.anomaly_mode.findings import Finding, Trail
from whygrad.autograd.anomaly_mode.finite import Trouble
from whygrad.ops.define import table
from whygrad.ops.spellings import row_of, shared_name, spelled
from whygrad.ops.undefined import Undefined
from whygrad.source import Where
from whygrad.torch import finite
from whygrad.torch.finite import described, numbers, readable

if TYPE_CHECKING:
    from whygrad.torch.calls import Event
    from whygrad.torch.record import Before

__all__ = ["examine", "given", "known_op"]

_EARLIER = "a tensor that was there before the recording"


class _Foreign(NamedTuple):
    """An op that PyTorch has and whygrad has not, as far as sentences need one."""

    name: str
    kind: str  # "custom" for a user's own function
    undefined: tuple[Undefined, ...] = ()

    @property
    def formula(self) -> str:
        return f"{self.name}, as PyTorch computes it"

    @property
    def node_name(self) -> str:
        return f"{self.name}Backward"


def known_op(name: str, custom: bool = False) -> Any:
    """whygrad's op of that name, or a stand-in."""
    if custom:
        return _Foreign(name, "custom")
    return row_of(name) or row_of(shared_name(name)) or _Foreign(name, "foreign")


def given(tensor: torch.Tensor) -> Trail | None:
    """The trail of a tensor that was there when the recording began; None if it is finite."""
    kind = finite.trouble(tensor)
    return None if kind is None else Trail(kind, (_given(tensor, kind, _EARLIER, None),))


def _given(value: Any, kind: Trouble, writer: str, where: Where | None) -> Finding:
    array = numbers(value) if isinstance(value, torch.Tensor) else np.asarray(value)
    with np.errstate(all="ignore"):
        return found(array, kind, writer=writer, where=where)


def examine(event: Event, seen: Before, outputs: Sequence[torch.Tensor]) -> None:
    """Note which results of a call are not finite, and who is to blame for them."""
    for track, tensor in zip(event.outputs, outputs, strict=True):
        kind = finite.trouble(tensor)
        track.trail = None if kind is None else _trail(event, seen, outputs, tensor, kind)


def _trail(
    event: Event, seen: Before, outputs: Sequence[torch.Tensor], tensor: torch.Tensor, kind: Trouble
) -> Trail:
    op = known_op(event.op)
    where = event.call
    call = f"{event.op}({', '.join(described(each) for each in seen.tensors)})"
    operands = dict(_operands(op, event.op, seen, outputs))
    with np.errstate(all="ignore"):
        sources = list(_sources(seen, outputs, where))
        array = numbers(tensor)
        trail, finding = examined(op, array, kind, operands, sources, where=where, call=call)
    if finding is None or finding.fed is not None or event.inputs:
        return trail
    # torch.tensor([nan]), or what empty() found in memory
    return Trail(kind, (_given(tensor, kind, f"{event.op}()", where),))


def _operands(
    op: Any, called: str, seen: Before, outputs: Sequence[torch.Tensor]
) -> Iterator[tuple[str, Any]]:
    """The numbers that went in, by the names of the op's arguments; none that were overwritten."""
    args = seen.args[::-1] if spelled(called).reflected else seen.args
    if seen.overwritten is not None:
        args = (seen.overwritten, *args[1:])
    names = op.tensor_names if op.name in table else [f"argument {n}" for n in range(len(args))]
    for name, value in zip(names, args, strict=False):
        if isinstance(value, torch.Tensor):
            if readable(value) and not any(value is each for each in outputs):
                yield name, numbers(value)
        elif isinstance(value, (float, int)) and not isinstance(value, bool):
            yield name, np.asarray(float(value))


def _sources(seen: Before, outputs: Sequence[torch.Tensor], where: Where | None) -> Iterator[Trail]:
    """The trails of what went in and was not finite; what was overwritten is known from before."""
    for tensor, trail in zip(seen.tensors, seen.trails, strict=True):
        overwritten = any(tensor is each for each in outputs)
        now = None if overwritten else finite.trouble(tensor)
        if trail is not None and (overwritten or now is not None):
            yield trail
        elif now is not None:
            writer = "something that wrote to its argument unseen"
            yield Trail(now, (_given(tensor, now, writer, where),))
    for each in seen.others:
        array = np.asarray(each)
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            kind: Trouble = "nan" if np.isnan(array).any() else "inf"
            writer = "a NumPy array" if array.ndim else f"the number {each}"
            yield Trail(kind, (_given(array, kind, writer, where),))
