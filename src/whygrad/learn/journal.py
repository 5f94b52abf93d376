"""A learner's journal: lines of JSON that are only ever added to.

Reviews, answers and lab events are each kept in one.  Every writer takes the same lock and writes
whole lines, so programs in two terminals do not mix them, and a line is on the disk when the writer
goes on.  What a crash leaves of a last line is no entry: readers report it, and the next writer
takes it away, lest it become the beginning of another line.  Any other line that is no entry stays
as it is; :attr:`Contents.fault` names it, with the cause and the fix.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from whygrad.errors import fail
from whygrad.learn.writing import write

__all__ = ["Contents", "Journal", "encoded", "field"]

Entry = TypeVar("Entry")

_KINDS = {bool: "true or false", int: "a whole number", list: "a list", str: "a text"}


@dataclass(frozen=True)
class Contents(Generic[Entry]):
    """The entries in the order of their lines, and what is wrong with the others."""

    entries: tuple[Entry, ...] = ()
    torn: bytes = b""  # what a crash left of the last line
    fault: ValueError | None = None  # about the lines that are no entries

    def sound(self) -> Contents[Entry]:
        """Itself, for those who cannot do without any line."""
        if self.fault is not None:
            raise self.fault
        return self


class Journal(Generic[Entry]):
    """One file of entries.

    ``parse`` makes an entry of a line's JSON object and says by a ``ValueError`` what is wrong with
    it; ``kind`` names an entry in such a message: "a review".
    """

    def __init__(self, path: Path, parse: Callable[[dict[str, Any]], Entry], kind: str) -> None:
        self.path = path
        self._parse = parse
        self._kind = kind

    def read(self) -> Contents[Entry]:
        """What is there; nothing if there is no file yet."""
        if not self.path.exists():
            return Contents()
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # where nothing can be written, nobody writes now
                stack.enter_context(self._locked())
            return self.parsed(self.path.read_bytes())

    def append(self, *records: Mapping[str, object]) -> None:
        """Add entries; when this returns, they are on the disk."""
        with self._locked(), open(self.path, "ab+") as stream:
            stream.seek(0)
            content = stream.read()
            last = content[content.rfind(b"\n") + 1 :]
            if _is_torn(last):
                stream.truncate(len(content) - len(last))
                last = b""
            stream.write((b"\n" if last else b"") + encoded(records))
            stream.flush()
            os.fsync(stream.fileno())

    def merge(self, missing: Callable[[tuple[Entry, ...]], Iterable[Mapping[str, object]]]) -> None:
        """Add what is found missing in the entries there are, all of it or nothing."""
        with self._locked():
            content = self.path.read_bytes() if self.path.exists() else b""
            contents = self.parsed(content).sound()
            added = encoded(missing(contents.entries))
            if added:
                before = content.removesuffix(contents.torn)
                end = b"\n" if before and not before.endswith(b"\n") else b""
                write(self.path, before + end + added)

    def parsed(self, content: bytes) -> Contents[Entry]:
        """The entries in the text of a journal."""
        lines = content.split(b"\n")
        torn = lines.pop() if _is_torn(lines[-1]) else b""
        entries: list[Entry] = []
        faults: list[str] = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    entries.append(self._parse(_decoded(line)))
                except ValueError as error:
                    faults.append(f"line {number} is not {self._kind}: {error}")
        return Contents(tuple(entries), torn, self._fault(faults) if faults else None)

    def _fault(self, faults: list[str]) -> ValueError:
        others = f" (and {len(faults) - 1} more such)" if len(faults) > 1 else ""
        return fail(
            ValueError,
            call=f"reading {self.path}",
            cause=faults[0] + others,
            fix="correct or remove that line; nothing was changed",
            where=None,
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One program at a time; a file of its own, since the journal is sometimes replaced."""
        with contextlib.ExitStack() as stack:
            try:
                lock = stack.enter_context(open(self.path.with_suffix(".lock"), "ab"))
            except OSError as error:
                error.filename = os.fspath(self.path)  # the one that the learner knows
                raise
            _lock(lock.fileno())
            yield  # closing the file opens the lock, in a crash as well


def encoded(records: Iterable[Mapping[str, object]]) -> bytes:
    """Records as lines of JSON; half a character, which no file can hold, is a question mark."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return "".join(lines).encode("utf-8", "replace")


def field(raw: Mapping[str, Any], name: str, kind: type = object) -> Any:
    """A field of a line's object, which must be there and of this kind."""
    if name not in raw:
        raise ValueError(f'"{name}" is missing')
    if not isinstance(raw[name], kind):
        raise ValueError(f'"{name}" is {raw[name]!r}, not {_KINDS[kind]}')
    return raw[name]


def _is_torn(line: bytes) -> bool:
    """Whether a last line was cut off: no part of an object is itself JSON."""
    if not line.strip():
        return False
    try:
        json.loads(line)
    except (RecursionError, ValueError):
        return True
    return False


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        raw = json.loads(line)
    except RecursionError:
        raise ValueError("it is not JSON: nested too deeply") from None
    except ValueError as error:  # not JSON, or not UTF-8
        raise ValueError(f"it is not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise ValueError("it is not a JSON object")
    return raw


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
