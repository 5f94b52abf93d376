"""The safetensors format: a length, a table of contents in JSON, and the bytes of the tensors.

    8 bytes   length of the table, little-endian
    table     {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …,
               "__metadata__": {"key": "text", …}}
    bytes     the tensors, row by row, without gaps

Reading and writing it takes so little that whygrad does it itself: saving works without another
package, memory is copied once, and every way in which a file can be wrong gets its own words.
Nothing is allocated for a tensor before the whole table is known to fit the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from whygrad import dtypes
from whygrad.files.errors import damaged

__all__ = ["CODES", "Entry", "Table", "bytes_of", "encode_header", "read_arrays", "read_table"]

_NAMES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64",
    "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64", "C64": "complex64",
}  # fmt: skip
CODES = {name: code for code, name in _NAMES.items()}
_LARGEST_TABLE = 100_000_000  # the format's own limit
_MOST_DIMENSIONS = 64  # NumPy's


class Entry(NamedTuple):
    """One line of the table."""

    name: str
    dtype: dtypes.DType
    shape: tuple[int, ...]
    start: int
    end: int


class Table(NamedTuple):
    """What a file says about itself."""

    entries: list[Entry]  # in the order of their bytes
    metadata: dict[str, str]
    header: bytes  # the length and the table as they stand in the file


def encode_header(arrays: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes:
    """Length and table for arrays that will be written in this order."""
    table: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        code = CODES[array.dtype.name]
        table[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the tensors begin at a multiple of 8
    return len(text).to_bytes(8, "little") + text


def bytes_of(array: Any) -> memoryview:
    """The bytes of an array as they stand in a file: row by row, little-endian."""
    row = np.ascontiguousarray(array).reshape(-1)
    if sys.byteorder == "big":
        row = row.byteswap()
    return row.view(np.uint8).data


def read_table(stream: BinaryIO, size: int, label: str) -> Table:
    """The table of a file of ``size`` bytes, or the reason why it has none that fits."""
    prefix = stream.read(8)
    if len(prefix) < 8:
        raise damaged(label, f"it has {len(prefix)} bytes, too few for a safetensors file")
    length = int.from_bytes(prefix, "little")
    if length > min(size - 8, _LARGEST_TABLE):
        _check_kind(prefix, label)
        raise damaged(
            label, f"its table should be {length:,} bytes long, in a file of {size:,} bytes"
        )
    text = stream.read(length)
    if len(text) < length:
        raise damaged(label, f"its table ends after {len(text):,} of {length:,} bytes")
    table = _parsed(text, label)
    metadata = _metadata(table.pop("__metadata__", {}), label)
    entries = sorted(
        (_entry(name, row, label) for name, row in table.items()),
        key=lambda entry: (entry.start, entry.end),
    )
    _check_layout(entries, size - 8 - length, label)
    return Table(entries, metadata, prefix + text)


def read_arrays(
    stream: BinaryIO, entries: Iterable[Entry], label: str, seen: Callable[[Any], None]
) -> dict[str, Any]:
    """The arrays of the table; ``seen`` gets the bytes of each as they come."""
    arrays = {}
    for entry in entries:
        array = np.empty(entry.shape, entry.dtype.numpy)
        into = array.reshape(-1).view(np.uint8).data
        if _filled(stream, into) < len(into):
            raise damaged(label, f"it ends in the middle of tensor {entry.name!r}")
        seen(into)
        if entry.dtype is dtypes.bool_ and (array.view(np.uint8) > 1).any():
            raise damaged(label, f"tensor {entry.name!r} has a bool that is neither 0 nor 1")
        arrays[entry.name] = array.byteswap() if sys.byteorder == "big" else array
    return arrays


def _filled(stream: BinaryIO, into: memoryview) -> int:
    """How much of ``into`` could be filled: a stream may hand out less at a time."""
    done = 0
    while done < len(into):
        count = stream.readinto(into[done:])  # type: ignore[attr-defined]
        if not count:
            break
        done += count
    return done


def _check_kind(prefix: bytes, label: str) -> None:
    """Files of PyTorch's own kind are common enough to be recognised."""
    if prefix.startswith((b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")):
        raise damaged(
            label,
            "this is a pickle, as torch.save writes it: to load one is to run the code in it",
            "convert it where it comes from: safetensors.torch.save_file("
            "torch.load(path, weights_only=True), 'model.safetensors')",
        )


def _parsed(text: bytes, label: str) -> dict[str, Any]:
    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise damaged(label, f"its table has the name {twice!r} twice")
        return found

    def constant(name: str) -> Any:
        raise damaged(label, f"its table has the number {name}")

    try:
        table = json.loads(
            text.decode("utf-8"), object_pairs_hook=object_of, parse_constant=constant
        )
    except RecursionError:
        raise damaged(label, "its table is nested too deeply") from None
    except ValueError as error:  # no UTF-8, no JSON, or a number with thousands of digits
        raise damaged(label, f"its table is no JSON: {error}") from None
    if not isinstance(table, dict):
        raise damaged(label, f"its table is a {type(table).__name__}, not an object")
    return table


def _metadata(found: Any, label: str) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise damaged(label, "its metadata is something else than texts by name")
    return found


def _entry(name: str, row: Any, label: str) -> Entry:
    if not isinstance(row, dict) or set(row) != {"dtype", "shape", "data_offsets"}:
        raise damaged(label, f"tensor {name!r} is described by {_short(row)}")
    code, shape, offsets = row["dtype"], row["shape"], row["data_offsets"]
    if not isinstance(code, str) or code not in _NAMES:
        raise damaged(
            label,
            f"tensor {name!r} has the dtype {_short(code)}",
            f"whygrad has {', '.join(_NAMES)}: convert it where the file was written",
        )
    if not _are_sizes(shape) or len(shape) > _MOST_DIMENSIONS:
        raise damaged(label, f"tensor {name!r} has the shape {_short(shape)}")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise damaged(label, f"tensor {name!r} has the offsets {_short(offsets)}")
    dtype = dtypes.of(_NAMES[code])
    nbytes = dtype.itemsize
    for size in shape:
        nbytes *= size
    if offsets[1] - offsets[0] != nbytes or max(shape, default=0) >= 2**62:
        raise damaged(
            label,
            f"tensor {name!r} is {code} of shape {_short(shape)}, {_short(nbytes)} bytes, but lies "
            f"from {_short(offsets[0])} to {_short(offsets[1])}",
        )
    return Entry(name, dtype, tuple(shape), offsets[0], offsets[1])


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(each) is int and each >= 0 for each in values)


def _check_layout(entries: list[Entry], available: int, label: str) -> None:
    """Every byte after the table belongs to exactly one tensor."""
    position = 0
    for entry in entries:
        if entry.start != position:
            kind = "overlaps the one before" if entry.start < position else "leaves a gap"
            raise damaged(label, f"tensor {entry.name!r} {kind}: it starts at {entry.start:,}")
        position = entry.end
    if position != available:
        raise damaged(
            label, f"its tensors take {position:,} bytes, but {available:,} follow the table"
        )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
