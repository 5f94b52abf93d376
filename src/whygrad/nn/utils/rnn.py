"""Sequences of different lengths in one tensor, and out of it again.

Padded, they are filled up to the longest.  Packed, the elements of all sequences at time 0 come
first, then those at time 1, and so on: a recurrent network computes nothing in vain.  For that the
sequences are sorted, the longest first; the order before is kept beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from whygrad.errors import fail
from whygrad.ops import functions
from whygrad.tensor import Tensor, dtypes

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Several sequences: their elements time by time, and how many there are at each time.

    ``sorted_indices`` says which sequence stands first, second, …; ``unsorted_indices`` leads back.
    Made by :func:`pack_padded_sequence` and :func:`pack_sequence`.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            data, batch_sizes = data  # a pair, as older programs pass it
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device != "cpu":
            raise _refuse(
                "PackedSequence(data, batch_sizes)",
                ValueError,
                "batch_sizes should always be on CPU",
                "move it: batch_sizes.cpu()",
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The elements on another device or as another dtype."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        order = [
            None if each is None else each.to(data.device)
            for each in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *order)

    def _as(self, name: str) -> PackedSequence:
        return self.to(dtypes.of(name))

    def double(self) -> PackedSequence:
        """As float64."""
        return self._as("float64")

    def float(self) -> PackedSequence:
        """As float32."""
        return self._as("float32")

    def half(self) -> PackedSequence:
        """As float16."""
        return self._as("float16")

    def long(self) -> PackedSequence:
        """As int64."""
        return self._as("int64")

    def int(self) -> PackedSequence:
        """As int32."""
        return self._as("int32")

    def short(self) -> PackedSequence:
        """As int16."""
        return self._as("int16")

    def char(self) -> PackedSequence:
        """As int8."""
        return self._as("int8")

    def byte(self) -> PackedSequence:
        """As uint8."""
        return self._as("uint8")

    def cpu(self) -> PackedSequence:
        """On the CPU."""
        return self.to("cpu")

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Refused as for tensors: there is no CUDA here."""
        return type(self)(self.data.cuda(*args, **kwargs), *self[1:])

    def pin_memory(self) -> PackedSequence:
        """Itself: only copies to a GPU ask for pinned memory."""
        return self

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False

    def is_pinned(self) -> bool:
        """False."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Where each position went."""
    return None if permutation is None else permutation.argsort()


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Padded sequences (longest, batch, …) without their padding.

    ``enforce_sorted`` refuses sequences that do not come longest first; without it they are sorted.
    """
    call = "pack_padded_sequence(…)"
    given = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    rows = input.transpose(0, 1) if batch_first else input
    cause = _length_objection(rows, given, enforce_sorted)
    if cause is not None:
        fix = "one length per sequence; pass enforce_sorted=False to have them sorted"
        raise _refuse(call, RuntimeError, cause, fix)
    order: Tensor | None = None
    if not enforce_sorted:
        ranked = sorted(range(len(given)), key=lambda place: -given[place])
        order = functions["tensor"](ranked, dtype=dtypes.of("int64"), device=input.device)
        rows = rows.index_select(1, order)
        given = [given[place] for place in ranked]
    sizes = [sum(length > time for length in given) for time in range(given[0])]
    parts = [rows[time, :size] for time, size in enumerate(sizes)]
    counts = functions["tensor"](sizes, dtype=dtypes.of("int64"))
    return PackedSequence(functions["cat"](parts), counts, order)


def _length_objection(rows: Tensor, lengths: list[Any], enforce_sorted: bool) -> str | None:
    if not lengths:
        return "Cannot pack empty tensors."
    if len(lengths) != rows.shape[1]:
        return (
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} "
            f"(batch_size={rows.shape[1]})"
        )
    if min(lengths) <= 0:
        return "Length of all samples has to be greater than 0, but found an element <= 0"
    if enforce_sorted and any(a < b for a, b in pairwise(lengths)):
        return "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True"
    if max(lengths) > rows.shape[0]:
        return f"Expected no length above {rows.shape[0]}, but found {max(lengths)}"
    return None


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Packed sequences padded again, and their lengths: the inverse of packing.

    ``total_length`` pads further than to the longest.
    """
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise _refuse(
                f"pad_packed_sequence(…, total_length={total_length})",
                ValueError,
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being "
                f"{longest}",
                "leave total_length out",
            )
        longest = total_length
    batch = sizes[0]
    pad = functions["pad"]
    rest = (0, 0) * (sequence.data.dim() - 1)
    rows = [
        pad(each, (*rest, 0, batch - size), "constant", padding_value)
        for each, size in zip(sequence.data.split(sizes), sizes, strict=True)
    ]
    padded = functions["stack"](rows)
    if longest > len(sizes):
        padded = pad(padded, (0, 0, *rest, 0, longest - len(sizes)), "constant", padding_value)
    counts = [sum(size > place for size in sizes) for place in range(batch)]
    lengths = functions["tensor"](counts, dtype=dtypes.of("int64"))
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (length, …) packed."""
    lengths = [len(each) for each in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


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


def _refuse(call: str, kind: type[Exception], cause: str, fix: str) -> Exception:
    return fail(kind, call=call, cause=cause, fix=fix)
