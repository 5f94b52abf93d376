"""What the parts of this package hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.replay import Trace, Traced
from whygrad.source import Where

__all__ = ["Array", "Mechanism", "descendants", "unsound"]

Array = np.ndarray[Any, Any]


@dataclass(eq=False)
class Mechanism:
    """The rule that a first bad value belongs to, and what shows it."""

    rule: str
    bad: FirstBad
    where: Where
    because: str  # one sentence with the numbers
    places: list[tuple[str, Where]] = field(default_factory=list)
    by_hand: str | None = None  # "log(softmax)", "log(sigmoid)", "exp / sum of exp", …


def descendants(trace: Trace, call: Traced) -> list[Traced]:
    """The calls that were computed from ``call``, in order."""
    known = {call.number}
    found = []
    for each in trace.calls:
        if any(source is not None and source.call in known for source in each.sources):
            known.add(each.number)
            found.append(each)
    return found


def unsound(values: Any) -> int:
    """How many values of a range are not finite."""
    return int(values.nans + values.infs)
