"""One recurrent layer over packed sequences: at each time only those that have not ended.

Forwards, the sequences that end drop out and leave their last state behind; backwards, each joins
with its first state when the walk arrives at its end.
"""

from __future__ import annotations

from collections.abc import Callable

from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["run_packed"]

State = tuple[Tensor, ...]


def run_packed(
    step: Callable[[Tensor, State], State],
    gates: Tensor,
    sizes: list[int],
    start: State,
    backwards: bool,
) -> tuple[Tensor, State]:
    """The packed outputs, and the state of every sequence at its end (backwards: its beginning)."""
    parts = gates.split(sizes)
    cat = functions["cat"]
    outputs = []
    ended: list[State] = []
    size = sizes[-1] if backwards else sizes[0]
    state = tuple(each[:size] for each in start)
    for time in reversed(range(len(sizes))) if backwards else range(len(sizes)):
        if sizes[time] < size:
            ended.append(tuple(each[sizes[time] :] for each in state))
            state = tuple(each[: sizes[time]] for each in state)
        elif sizes[time] > size:
            joining = [each[size : sizes[time]] for each in start]
            state = tuple(cat([old, new]) for old, new in zip(state, joining, strict=True))
        size = sizes[time]
        state = step(parts[time], state)
        outputs.append(state[0])
    if ended:
        whole = [state, *reversed(ended)]
        state = tuple(cat([each[place] for each in whole]) for place in range(len(start)))
    return cat(outputs[::-1] if backwards else outputs), state
