"""PyTorch's own files: what ``torch.save`` writes, now and in its first years.

Today it is a zip archive with one pickle and one record per storage; before, it was a row of
pickles followed by the storages.  Both are read without running anything of them, see
:mod:`whygrad.files.pickles`.  Nothing is unpacked to the disk, and nothing is allocated that is not
in the file.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from whygrad.files.errors import damaged
from whygrad.files.pickles import Machine, Refused, shown
from whygrad.files.rebuilding import Memory, Names, checked_result, give_state, storage_dtype
from whygrad.tensor import Tensor, dtypes

__all__ = ["is_torch_file", "load_torch_file"]

_ZIP = b"PK\x03\x04"
_PICKLE = b"\x80\x02"
_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_TAR = b"ustar"  # at byte 257: before 2017

Place = Callable[[str, Tensor], Tensor]


def is_torch_file(path: str | os.PathLike[str]) -> bool:
    """Whether it begins as an archive or a pickle does.

    A safetensors file begins with a length of any value, then with the brace of its header.
    """
    with open(path, "rb") as stream:
        start = stream.read(262)
    known = start.startswith((_ZIP, _PICKLE)) or start[257:] == _TAR
    return known and start[8:9] != b"{"


def load_torch_file(path: str | os.PathLike[str], label: str, place: Place) -> Any:
    """What ``torch.save`` was given; ``place`` brings a tensor to its device."""
    try:
        with open(path, "rb") as stream:
            if stream.read(4) == _ZIP:
                return _Archive(path, place).load()
            stream.seek(0)
            return _Row(stream, os.path.getsize(path), place).load()
    except Refused as refused:
        raise damaged(label, refused.cause, refused.fix) from None
    except MemoryError as error:
        raise damaged(label, f"it needs more memory than there is: {error}") from None


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """What the zip library raises about a damaged archive, and that is much."""
    try:
        yield
    except (
        EOFError, LookupError, OSError, RuntimeError, ValueError, struct.error, zipfile.BadZipFile
    ) as error:  # fmt: skip
        raise Refused(f"its archive cannot be read: {error}") from None


class _Storages:
    """The storages of a file by key, each of them made once."""

    def __init__(self, size: int, place: Place) -> None:
        self.size = size  # of the file: what its storages can hold together
        self.names = Names(place)
        self.known: dict[str, Memory] = {}
        self.promised = 0
        self.byteorder = sys.byteorder

    def run(self, stream: IO[bytes]) -> Any:
        return Machine(stream, self.names, self.stored, give_state).run()

    def stored(self, identity: Any) -> Memory:
        valid = isinstance(identity, tuple) and len(identity) in (5, 6) and identity[0] == "storage"
        if not valid or not all(isinstance(each, str) for each in identity[2:4]):
            raise Refused(f"it has an object outside its pickle: {shown(identity)}")
        _, kind, key, location, count, *rest = identity
        dtype = storage_dtype(kind)
        if type(count) is not int or count < 0 or any(each is not None for each in rest):
            raise Refused(f"it has a storage of {shown(count)} elements, or a part of another")
        bytes_ = count * (1 if dtype is None else dtype.itemsize)
        if key not in self.known:
            self.promised += bytes_
            if self.promised > self.size:
                raise Refused(
                    f"it names {self.promised} bytes of storages, and the file has {self.size}"
                )
            self.known[key] = self.settled(Memory(self.bytes_of(key, bytes_), dtype, location))
        memory = self.known[key]
        if memory.dtype is not dtype or memory.content.nbytes != bytes_:
            raise Refused(f"its storage {key[:30]!r} has two kinds or sizes")
        return memory

    def bytes_of(self, key: str, count: int) -> Any:
        """The contents, as writable bytes."""
        raise NotImplementedError

    def settled(self, memory: Memory) -> Memory:
        """In this machine's order of bytes, and checked; before a tensor is made of it."""
        if memory.dtype is None and self.byteorder != sys.byteorder:
            raise Refused("it has plain bytes in another order than this machine's")
        if memory.dtype is not None and self.byteorder != sys.byteorder:
            part = memory.dtype.itemsize // (2 if memory.dtype.is_complex else 1)
            memory.content.view(f"u{part}").byteswap(inplace=True)
        if memory.dtype is dtypes.bool_ and (memory.content > 1).any():
            raise Refused("it has a bool that is neither 0 nor 1")
        return memory


class _Archive(_Storages):
    """A zip file: ``data.pkl``, ``data/0``, ``data/1``, …"""

    def __init__(self, path: Any, place: Place) -> None:
        super().__init__(os.path.getsize(path), place)
        with _explained():
            self.archive = zipfile.ZipFile(path)
        self.records = {info.filename: info for info in self.archive.infolist()}
        self.folder = ""

    def load(self) -> Any:
        with self.archive:
            found = [name for name in self.records if name.endswith("/data.pkl")]
            if len(found) != 1:
                raise Refused(
                    "it is a zip file without data.pkl",
                    "save the tensors: torch.save(model.state_dict(), path)",
                )
            self.folder = found[0].removesuffix("data.pkl")
            if self._has("constants.pkl"):
                raise Refused(
                    "it is a TorchScript program, which is code",
                    "save the tensors: torch.save(model.state_dict(), path)",
                )
            order = self._record("byteorder") if self._has("byteorder") else b"little"
            self.byteorder = "big" if order == b"big" else "little"
            return checked_result(self.run(io.BytesIO(self._record("data.pkl"))))

    def _has(self, name: str) -> bool:
        return self.folder + name in self.records

    def _record(self, name: str) -> bytes:
        info = self.records[self.folder + name]
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > self.size:
            raise Refused(
                f"its record {name[:60]!r} is compressed to {info.compress_size} of "
                f"{info.file_size} bytes, which torch.save never does",
            )
        with _explained():
            return self.archive.read(info)

    def bytes_of(self, key: str, count: int) -> Any:
        if not self._has(f"data/{key}"):
            raise Refused(f"its storage {key[:30]!r} is not there")
        content = self._record(f"data/{key}")
        if len(content) != count:
            raise Refused(f"its storage {key[:30]!r} has {len(content)} bytes in place of {count}")
        return np.frombuffer(bytearray(content), np.uint8)


class _Row(_Storages):
    """Pickles one after the other, then the contents of the storages."""

    def __init__(self, stream: IO[bytes], size: int, place: Place) -> None:
        super().__init__(size, place)
        self.stream = stream

    def load(self) -> Any:
        start = self.stream.read(262)
        self.stream.seek(0)
        if start[257:] == _TAR:
            raise Refused(
                "it is a tar archive, as PyTorch wrote them until 2017",
                "load and save it again with PyTorch",
            )
        if not self._next_is(_MAGIC) or not self._next_is(_PROTOCOL):
            raise Refused(
                "it is a pickle, and not one of torch.save",
                "save it as tensors: torch.save(value, path) or whygrad.save(value, path)",
            )
        about = self.run(self.stream)
        begin = self.stream.tell()
        # the storages come last, and some tensors are computed from theirs: so it is read twice
        Machine(self.stream, self.names.outline, self.stored, lambda *_: None).run()
        keys = self.run(self.stream)
        if not isinstance(about, dict) or not isinstance(keys, list):
            raise Refused("its list of storages is missing")
        self.byteorder = "little" if about.get("little_endian", True) else "big"
        for key in keys:
            self._fill(key)
        if set(keys) != set(self.known):
            raise Refused("some of its storages are missing")
        self.stream.seek(begin)
        return checked_result(self.run(self.stream))

    def _next_is(self, number: int) -> bool:
        found = self.run(self.stream)
        return type(found) is int and found == number

    def bytes_of(self, key: str, count: int) -> Any:
        return np.zeros(count, np.uint8)  # filled when its turn comes

    def _fill(self, key: Any) -> None:
        memory = self.known.get(key) if isinstance(key, str) else None
        if memory is None:
            raise Refused(f"its storage {shown(key)} belongs to nothing")
        target = memory.content
        head = self.stream.read(8)
        itemsize = 1 if memory.dtype is None else memory.dtype.itemsize
        if len(head) != 8 or struct.unpack("<q", head)[0] * itemsize != target.nbytes:
            raise Refused(f"its storage {key[:30]!r} has another size than its tensors say")
        content = self.stream.read(target.nbytes)
        if len(content) != target.nbytes:
            raise Refused("it ends in the middle of a storage")
        target[:] = np.frombuffer(content, np.uint8)
        self.settled(memory)
