"""Checkpoints: ``save`` and ``load`` for nested values with tensors in them.

The file is safetensors, so PyTorch and everything around it can read the tensors, and whygrad
reads theirs.  Whatever is around the tensors (dicts, lists, numbers) is kept as JSON in the
metadata, with a checksum of all that is loaded.  Loading builds these kinds of values and runs no
code; the files of ``torch.save`` are read in the same spirit (:mod:`whygrad.files.torch_files`).
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from whygrad.files.container import Place, label_of, on_disk, read, write
from whygrad.files.errors import CheckpointError, damaged
from whygrad.files.placement import Placement
from whygrad.files.structure import Decoder, Encoder
from whygrad.files.torch_files import is_torch_file, load_torch_file
from whygrad.tensor import Tensor, wrap

__all__ = ["CheckpointError", "load", "save"]

_VERSION = "1"
_STAMP, _STRUCTURE, _CHECKSUM = _OURS = "whygrad", "whygrad.structure", "whygrad.checksum"


def save(obj: Any, f: Place) -> None:
    """Write a value to a file, all or nothing.

    It may be a tensor, a number, text, bytes, None, or lists, tuples and dicts of such, nested at
    will: ``{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 7}``.
    A plain ``state_dict()`` becomes a file that ``safetensors.torch.load_file`` understands.
    Needs the package safetensors, as ``load`` does: ``pip install 'whygrad[files]'``.
    """
    parts = Encoder(obj)
    arrays = {name: np.asarray(array, order="C") for name, array in parts.arrays.items()}
    write(f, arrays, _stamped(arrays, json.dumps(parts.tree, separators=(",", ":"))))


def load(
    f: Place,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
) -> Any:
    """Read what ``save`` wrote, any safetensors file (tensors by name), or a file of PyTorch's.

    ``map_location`` is the device for the tensors: a name, a device, a dict of names, or a function
    of a storage and its name.  ``pickle_module``, ``weights_only`` and ``mmap`` are accepted for
    PyTorch's sake: loading never runs code here, so of a ``.pt`` file tensors and plain containers
    are built and everything else is refused by its name.  A file that is damaged in any way raises
    :class:`CheckpointError`.
    """
    label, place = label_of(f), Placement(map_location)
    with on_disk(f) as path:
        if is_torch_file(path):
            return load_torch_file(path, label, place)
        arrays, metadata = read(path, label)
    if not any(name in metadata for name in _OURS):
        return _foreign(arrays, metadata, place)
    tree = _checked_structure(arrays, metadata, label)
    return Decoder(arrays, lambda cause: damaged(label, cause), place).decode(tree)


def _stamped(arrays: Mapping[str, Any], structure: str) -> dict[str, str]:
    """The metadata of a file; ``format`` says that the layout is PyTorch's: some insist on it."""
    metadata = {"format": "pt", _STAMP: _VERSION, _STRUCTURE: structure}
    return metadata | {_CHECKSUM: _checksum(arrays, metadata)}


def _checksum(arrays: Mapping[str, Any], metadata: Mapping[str, str]) -> str:
    """Of names, dtypes, shapes, contents and texts, in whatever order the file has them."""
    ordered = sorted(arrays.items())
    table = [[name, array.dtype.name, array.shape] for name, array in ordered]
    digest = hashlib.sha256(json.dumps([table, metadata], sort_keys=True).encode())
    for _, array in ordered:
        row = array.reshape(-1)
        if sys.byteorder == "big":
            row = row.byteswap()  # files are little-endian, wherever they are read
        digest.update(row.view(np.uint8))
    return digest.hexdigest()


def _checked_structure(arrays: Mapping[str, Any], metadata: dict[str, str], label: str) -> Any:
    if not all(name in metadata for name in _OURS):
        raise damaged(label, "its metadata has only a part of what whygrad writes")
    if metadata[_STAMP] != _VERSION:
        raise damaged(
            label,
            f"it has version {metadata[_STAMP][:20]!r} of whygrad's structure; "
            f"this one knows {_VERSION}",
            "load it with the whygrad that wrote it, or a newer one",
        )
    if metadata.pop(_CHECKSUM) != _checksum(arrays, metadata):
        raise damaged(label, "its checksum does not match: some bytes are not as they were written")
    try:
        return json.loads(metadata[_STRUCTURE])
    except (ValueError, RecursionError) as error:
        raise damaged(label, f"its structure is no JSON: {error}") from None


def _foreign(
    arrays: Mapping[str, Any], metadata: Mapping[str, str], place: Placement
) -> dict[str, Tensor]:
    """Tensors by name; ``save_model`` of safetensors notes names that share another's memory."""
    tensors = {name: place("cpu", wrap(array)) for name, array in arrays.items()}
    shared = {
        name: tensors[other]
        for name, other in metadata.items()
        if name not in tensors and other in tensors
    }
    return tensors | shared
