"""The log of reviews: lines of JSON that are only ever added to.

Every writer takes the same lock and writes whole lines, so sessions in two terminals do not mix
them.  What a crash leaves of a last line is no review: readers report it, and the next writer takes
it away, lest it become the beginning of another line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path

from whygrad.errors import fail
from whygrad.learn.drill.review import Review, from_line, to_line
from whygrad.learn.writing import write

__all__ = ["Log", "append", "export", "merge", "read", "read_foreign"]


@dataclass(frozen=True)
class Log:
    """The reviews in the order of their lines, and what a crash left of the last one."""

    reviews: tuple[Review, ...]
    torn: bytes = b""


def read(path: Path) -> Log:
    """The log of this learner; an empty one if there is no file yet."""
    with _locked(path):
        return _read(path)


def append(path: Path, review: Review) -> None:
    """Adds one review; when this returns, it is on the disk."""
    with _locked(path), open(path, "ab+") as stream:
        _mend(stream)
        stream.write(to_line(review).encode())
        stream.flush()
        os.fsync(stream.fileno())


def merge(path: Path, reviews: Iterable[Review]) -> int:
    """Adds the reviews that are not there yet, all of them or none; returns how many."""
    with _locked(path):
        log = _read(path)
        known = {review.key for review in log.reviews}
        added = {review.key: review for review in reviews if review.key not in known}
        if added:
            before = path.read_bytes().removesuffix(log.torn) if path.exists() else b""
            if before and not before.endswith(b"\n"):
                before += b"\n"
            write(path, before + _lines(added.values()))
        return len(added)


def export(path: Path, target: Path) -> int:
    """Writes all reviews to another file, oldest first; returns how many."""
    reviews = sorted(read(path).reviews, key=lambda review: (review.time, review.card))
    write(target, _lines(reviews))
    return len(reviews)


def read_foreign(path: Path) -> tuple[Review, ...]:
    """The reviews of a file somebody wants to bring in: complete, or refused."""
    log = _read(path, required=True)
    if log.torn:
        raise fail(
            ValueError,
            call=f"reading {path}",
            cause="the last line is cut off",
            fix="export it again, or remove that line",
            where=None,
        )
    return log.reviews


def _read(path: Path, *, required: bool = False) -> Log:
    if not required and not path.exists():
        return Log(())
    *lines, last = path.read_bytes().split(b"\n")
    reviews = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                reviews.append(from_line(line))
            except ValueError as error:
                raise fail(
                    ValueError,
                    call=f"reading {path}",
                    cause=f"line {number} is not a review: {error}",
                    fix="correct or remove that line; nothing was changed",
                    where=None,
                ) from None
    if not last.strip():
        return Log(tuple(reviews))
    try:
        return Log((*reviews, from_line(last)))  # only its end of line is missing
    except ValueError:
        return Log(tuple(reviews), torn=last)


def _lines(reviews: Iterable[Review]) -> bytes:
    return "".join(map(to_line, reviews)).encode()


def _mend(stream: BufferedRandom) -> None:
    """Ends a last line that lacks its end, or takes away what is left of one."""
    stream.seek(0)
    content = stream.read()
    last = content[content.rfind(b"\n") + 1 :]
    if not last:
        return
    try:
        from_line(last)
    except ValueError:
        stream.truncate(len(content) - len(last))
    else:
        stream.write(b"\n")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One program at a time; a file of its own, since ``path`` is sometimes replaced."""
    with open(path.with_suffix(".lock"), "ab") as lock:
        _lock(lock.fileno())
        yield  # closing the file opens the lock, in a crash as well


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
