"""Arrays and texts by name in one safetensors file, written and read by the safetensors library.

The library checks the whole table of a file against its size before anything is allocated.  What
it leaves to others is here: memory that is not row by row, streams, dtypes that whygrad does not
have, and one kind of error.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from whygrad.errors import fail
from whygrad.files.atomic import replacing
from whygrad.files.errors import CheckpointError, damaged
from whygrad.tensor import dtypes

__all__ = ["DTYPES", "Place", "label_of", "on_disk", "read", "write"]

Place = str | os.PathLike[str] | BinaryIO

DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64",
    "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64", "C64": "complex64",
}  # fmt: skip


def write(f: Place, arrays: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
    """All or nothing if ``f`` is a path.  The arrays must lie row by row: nobody checks."""
    library = _library("save", f)
    try:
        if isinstance(f, (str, os.PathLike)):
            with replacing(f) as partial:
                library.numpy.save_file(arrays, partial, metadata)
        else:
            f.write(library.numpy.save(arrays, metadata))
    except library.SafetensorError as error:
        raise fail(
            CheckpointError,
            call=f"whygrad.save({label_of(f)!r})",
            cause=f"safetensors cannot write it: {error}",
            fix="look for room on the disk, or save to another one",
        ) from None


def read(path: str | os.PathLike[str], label: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The arrays of a file in the order of their bytes, and the texts."""
    library = _library("load", label)
    try:
        with library.safe_open(path, framework="numpy") as file:
            arrays = {name: _array(file, name, label) for name in file.offset_keys()}
            return arrays, file.metadata() or {}
    except library.SafetensorError as error:
        raise damaged(label, f"safetensors cannot read it: {error}") from None


def label_of(f: Place) -> str:
    return str(
        os.fspath(f) if isinstance(f, (str, os.PathLike)) else getattr(f, "name", "a stream")
    )


def _library(verb: str, f: Place) -> Any:
    try:
        import safetensors.numpy
    except ModuleNotFoundError as missing:
        raise fail(
            ModuleNotFoundError,
            call=f"whygrad.{verb}({label_of(f)!r})",
            cause=f"files need the package safetensors: {missing}",
            fix="pip install 'whygrad[files]'",
        ) from missing
    return safetensors


@contextlib.contextmanager
def on_disk(f: Place) -> Iterator[str | os.PathLike[str]]:
    """The library reads metadata from paths alone, so the rest of a stream goes to a file."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb"):  # a file that is missing is the usual error
            pass
        yield f
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.safetensors")
        with open(path, "wb") as copy:
            shutil.copyfileobj(f, copy)
        yield path


def _array(file: Any, name: str, label: str) -> Any:
    code = file.get_slice(name).get_dtype()
    if code not in DTYPES:
        raise damaged(
            label,
            f"tensor {name!r} has the dtype {code!r}",
            f"whygrad has {', '.join(DTYPES)}: convert it where the file was written",
        )
    dtype = dtypes.of(DTYPES[code]).numpy  # says how to install bfloat16 where it is missing
    try:
        array = np.asarray(file.get_tensor(name), dtype)
    except ValueError as error:  # of NumPy, about its shape
        raise damaged(label, f"tensor {name!r} cannot be made: {error}") from None
    if dtype == np.bool_ and (array.view(np.uint8) > 1).any():
        raise damaged(label, f"tensor {name!r} has a bool that is neither 0 nor 1")
    return array
