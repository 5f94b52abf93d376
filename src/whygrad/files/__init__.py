"""Checkpoints: ``save`` and ``load`` for nested values with tensors in them.

The file is safetensors, so PyTorch and everything around it can read the tensors, and whygrad
reads theirs.  Whatever is around the tensors (dicts, lists, numbers) is kept as JSON in the
metadata, with a checksum of the whole.  Loading builds these kinds of values and runs no code.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

from whygrad.files.atomic import replacing
from whygrad.files.errors import CheckpointError, damaged
from whygrad.files.safetensors import (
    Table,
    bytes_of,
    encode_header,
    read_arrays,
    read_table,
)
from whygrad.files.structure import Decoder, Encoder
from whygrad.tensor import Tensor, wrap

__all__ = ["CheckpointError", "load", "save"]

Place = str | os.PathLike[str] | BinaryIO

_VERSION = "1"
_STAMP, _STRUCTURE = "whygrad", "whygrad.structure"
_BLANK = "00000000"


def save(obj: Any, f: Place) -> None:
    """Write a value to a file, all or nothing.

    It may be a tensor, a number, text, bytes, None, or lists, tuples and dicts of such, nested at
    will: ``{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 7}``.
    A plain ``state_dict()`` becomes a file that ``safetensors.torch.load_file`` understands.
    """
    parts = Encoder(obj)
    # large elements first, so that every tensor starts at a multiple of its element's size
    arrays = dict(sorted(parts.arrays.items(), key=lambda pair: -pair[1].dtype.itemsize))
    contents = [bytes_of(array) for array in arrays.values()]
    metadata = {
        "format": "pt",  # the layout is PyTorch's, and some programs insist on the word
        _STAMP: f"{_VERSION} {_BLANK}",
        _STRUCTURE: json.dumps(parts.tree, separators=(",", ":")),
    }
    header = encode_header(arrays, metadata)
    checksum = zlib.crc32(header)
    for content in contents:
        checksum = zlib.crc32(content, checksum)
    header = header.replace(_stamped(_BLANK), _stamped(f"{checksum:08x}"), 1)
    if isinstance(f, (str, os.PathLike)):
        with replacing(f) as stream:
            _write(stream, header, contents)
    else:
        _write(f, header, contents)


def _stamped(checksum: str) -> bytes:
    return f'"{_STAMP}":"{_VERSION} {checksum}"'.encode()


def _write(stream: BinaryIO, header: bytes, contents: list[memoryview]) -> None:
    stream.write(header)
    for content in contents:
        stream.write(content)


def load(f: Place, map_location: Any = None, *, weights_only: bool | None = None) -> Any:
    """Read what ``save`` wrote, or any safetensors file: a dict of tensors by name.

    ``map_location`` is the device for the tensors.  ``weights_only`` is accepted for PyTorch's
    sake: loading never runs code here.  A file that is damaged in any way raises
    :class:`CheckpointError`.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as stream:
            return _load(stream, os.fspath(f), map_location)
    start = f.tell()
    size = f.seek(0, io.SEEK_END) - start
    f.seek(start)
    return _load(f, str(getattr(f, "name", "a stream")), map_location, size)


def _load(stream: BinaryIO, label: str, device: Any, size: int | None = None) -> Any:
    if size is None:
        size = os.fstat(stream.fileno()).st_size
    table = read_table(stream, size, label)
    written = _stamp(table.metadata, label)
    checksum = zlib.crc32(_without_checksum(table.header, written))

    def add(content: memoryview) -> None:
        nonlocal checksum
        checksum = zlib.crc32(content, checksum)

    arrays = read_arrays(stream, table.entries, label, add)
    if written is None:
        return _foreign(table, arrays, device)
    if written != f"{checksum:08x}":
        raise damaged(label, "its checksum does not match: some bytes are not as they were written")
    tree = _parsed_structure(table.metadata[_STRUCTURE], label)
    return Decoder(arrays, lambda cause: damaged(label, cause), device).decode(tree)


def _stamp(metadata: Mapping[str, str], label: str) -> str | None:
    """The checksum that whygrad wrote into the file; None if somebody else wrote it."""
    if _STAMP not in metadata and _STRUCTURE not in metadata:
        return None
    version, _, checksum = metadata.get(_STAMP, "").partition(" ")
    if not version.isdecimal() or len(checksum) != len(_BLANK) or _STRUCTURE not in metadata:
        raise damaged(label, "its metadata has only a part of what whygrad writes")
    if version != _VERSION:
        raise damaged(
            label,
            f"it has version {version[:20]} of whygrad's structure; this one knows {_VERSION}",
            "load it with the whygrad that wrote it, or a newer one",
        )
    return checksum


def _without_checksum(header: bytes, written: str | None) -> bytes:
    return header if written is None else header.replace(_stamped(written), _stamped(_BLANK), 1)


def _foreign(table: Table, arrays: dict[str, Any], device: Any) -> dict[str, Tensor]:
    """Tensors by name; ``save_model`` of safetensors notes names that share another's memory."""
    tensors = {name: wrap(array) for name, array in arrays.items()}
    if device is not None:
        tensors = {name: tensor.to(device) for name, tensor in tensors.items()}
    shared = {
        name: tensors[other]
        for name, other in table.metadata.items()
        if name not in tensors and other in tensors
    }
    return tensors | shared


def _parsed_structure(text: str, label: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(label, f"its structure is no JSON: {error}") from None
