"""Sequences of different lengths in one tensor, and out of it again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whygrad.autograd.source import caller
from whygrad.errors import fail
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (length, …), each filled up to the longest: (longest, batch, …).

    ``batch_first`` makes it (batch, longest, …).  ``padding_side="left"`` fills up in front.
    """
    given = list(sequences)
    cause = _objection(given, padding_side)
    if cause is not None:
        raise fail(
            RuntimeError,
            call=f"pad_sequence of {len(given)} sequences, padding_side={padding_side!r}",
            cause=cause,
            fix="pass a list of tensors that differ in their first dimension only",
            where=caller(),
        )
    longest = max(map(len, given))
    padded = [_filled(each, longest, padding_value, padding_side == "left") for each in given]
    return functions["stack"](padded, 0 if batch_first else 1)


def _objection(sequences: list[Any], side: str) -> str | None:
    if side not in ("left", "right"):
        return "padding_side should be either 'right' or 'left'"
    if not sequences:
        return "received an empty list of sequences"
    if any(each.dim() == 0 for each in sequences):
        return "a sequence has at least one dimension, its length"
    if len({tuple(each.shape[1:]) for each in sequences}) > 1:
        shapes = ", ".join(str(list(each.shape)) for each in sequences[:4])
        return f"The size of the tensors must match except in dimension 0; they are {shapes}"
    return None


def _filled(sequence: Tensor, longest: int, value: float, in_front: bool) -> Tensor:
    missing = longest - len(sequence)
    ends = (missing, 0) if in_front else (0, missing)
    return functions["pad"](sequence, (*(0, 0) * (sequence.dim() - 1), *ends), "constant", value)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences that ``pad_sequence`` was given; ``lengths`` says where each ends."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]
