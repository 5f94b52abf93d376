"""What to say when a second run was not the first one again."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from whygrad.errors import fail

if TYPE_CHECKING:
    from whygrad.autograd.recompute.determinism import Note
    from whygrad.source import Where

__all__ = ["CheckpointError", "different_count", "different_work", "surplus"]

Ops = tuple[list[str], list[str]]  # of the first run and of the second, for ``debug``


class CheckpointError(RuntimeError):
    """Running a checkpointed function again did not give what the first run had saved."""


def different_work(difference: str, where: Where, ops: Ops | None) -> CheckpointError:
    """The second run saved something else."""
    return _error(difference, where, ops)


def different_count(
    before: int, now: int, missing: Note, where: Where, ops: Ops | None
) -> CheckpointError:
    """The second run came to its end too early."""
    return _error(
        "A different number of tensors was saved during the original forward and recomputation: "
        f"{before} and {now}.  The first one missing is {missing}",
        where,
        ops,
    )


def surplus(note: Note, where: Where, ops: Ops | None) -> CheckpointError:
    """The second run goes on where the first one ended."""
    return _error(
        "trying to save more tensors during recomputation than during the original forward pass: "
        f"{note}",
        where,
        ops,
    )


def _error(cause: str, where: Where, ops: Ops | None) -> CheckpointError:
    fix = (
        "let the function depend on its arguments and on parameters only, not on anything that "
        "changes between forward and backward (a counter, a flag, a clock)"
    )
    if ops is None:
        fix += "; debug=True lists the ops of both runs"
    else:
        cause = f"{cause}\n{_side_by_side(*ops)}"
    return fail(
        CheckpointError,
        call=f"backward runs the checkpoint() at {where} again",
        cause=cause,
        fix=fix,
        where=None,
    )


def _side_by_side(before: list[str], now: list[str]) -> str:
    """Both lists of ops up to where the second one ends, with a mark where they part."""
    rows = []
    for number, (first, second) in enumerate(zip_longest(before, now, fillvalue="nothing"), 1):
        if number > len(now) + 1:
            break
        if first == second:
            rows.append(f"    {number:4}   {first}")
        else:
            rows.append(f"    {number:4} ≠ {first}")
            rows.append(f"         ≠ {second} (recomputation)")
    return "\n".join(["  ops, forward pass and recomputation:", *rows])
