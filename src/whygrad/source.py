"""Source lines as evidence.

Recording where an op was called costs two attribute reads: the code object and the instruction
offset of the calling frame.  File, line, column and text are worked out only when somebody asks.
"""

from __future__ import annotations

import linecache
import os
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any

__all__ = [
    "Calls",
    "Where",
    "call_key",
    "caller",
    "callers",
    "in_program",
    "is_outside",
    "outside",
    "program_frame",
    "program_line",
    "user_files",
    "user_frame",
    "where_made",
]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


Calls = list[tuple[CodeType, int]]  # code objects and the instruction each is at


def user_frame() -> FrameType:
    """The innermost frame outside this package."""
    return outside(sys._getframe(1))


# Files known not to be this package's: most calls need no closer look than this.
user_files: set[str] = set()


def outside(frame: FrameType) -> FrameType:
    """The first frame from ``frame`` outwards that is not this package's."""
    inner = frame
    while frame.f_code.co_filename not in user_files:
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            user_files.add(frame.f_code.co_filename)
            return frame
        if frame.f_back is None:
            return inner
        frame = frame.f_back
    return frame


def is_outside(frame: FrameType) -> bool:
    """Whether the program's own code runs in it."""
    name = frame.f_code.co_filename
    return name in user_files or not name.startswith(_PACKAGE)


def caller() -> Where:
    """Where the user's code called into whygrad."""
    frame = user_frame()
    return Where(frame.f_code, frame.f_lasti)


def callers(most: int = 12) -> Calls:
    """The user's calls that led here, innermost first, up to the top of their module."""
    calls = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename in user_files or not code.co_filename.startswith(_PACKAGE):
            calls.append((code, frame.f_lasti))
            if code.co_name == "<module>" or len(calls) == most:
                break
        frame = frame.f_back
    return calls


# Files, and whether they are the program's: neither whygrad's nor those of an installed package nor
# of Python's own library.  Asked at every call of a watched program, hence remembered.
_programs: dict[str, bool] = {}


def in_program(file: str) -> bool:
    """Whether a file belongs to the program, not to a library."""
    known = _programs.get(file)
    if known is None:
        known = _programs[file] = not (file.startswith(_libraries()) or "site-packages" in file)
    return known


@lru_cache(maxsize=1)
def _libraries() -> tuple[str, ...]:
    import sysconfig  # only who watches a program asks

    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return (_PACKAGE, *(sysconfig.get_path(name) + os.sep for name in names), "<frozen")


def program_frame(frame: FrameType) -> FrameType:
    """The innermost frame of the program from ``frame`` outwards; ``frame`` itself if none is."""
    start = frame
    known = _programs
    while True:
        file = frame.f_code.co_filename
        if known[file] if file in known else in_program(file):
            return frame
        if frame.f_back is None:
            return start
        frame = frame.f_back


def call_key(frame: FrameType) -> tuple[int, int, int, int]:
    """Tells a line of the program from others, and from itself where another line called it."""
    outer = frame if frame.f_back is None else program_frame(frame.f_back)
    return id(frame.f_code), frame.f_lasti, id(outer.f_code), outer.f_lasti


def program_line() -> Where:
    """The line of the program that led here."""
    frame = program_frame(sys._getframe(1))
    return Where(frame.f_code, frame.f_lasti)


def where_made(thing: Any) -> Where:
    """The line of the program that constructs ``thing``, from inside its ``__init__``.

    The frames of its own ``__init__`` chain do not count: of ``Net()`` the line with ``Net()`` is
    wanted, not its ``super().__init__()``.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        own = frame.f_code.co_varnames[:1]
        inside = bool(own) and frame.f_locals.get(own[0]) is thing
        if not inside and in_program(frame.f_code.co_filename):
            return Where(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return program_line()


class Where:
    """A place in the user's program: ``file``, ``line``, ``text`` and the columns of the call."""

    __slots__ = ("_code", "_instruction")

    def __init__(self, code: CodeType, instruction: int) -> None:
        self._code = code
        self._instruction = instruction

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from all others, as long as it is there."""
        return id(self._code), self._instruction

    @property
    def code(self) -> CodeType:
        """The function that it is in."""
        return self._code

    def is_at(self, frame: FrameType) -> bool:
        """Whether this is where a frame is now."""
        return frame.f_code is self._code and frame.f_lasti == self._instruction

    @property
    def file(self) -> str:
        return self._code.co_filename

    @property
    def function(self) -> str:
        return self._code.co_qualname

    @property
    def line(self) -> int:
        return self._position()[0]

    def on_line(self, line: int) -> Where | None:
        """The beginning of another line of the same function; None if no code stands there."""
        for start, _, number in self._code.co_lines():
            if number == line:
                return Where(self._code, start)
        return None

    @property
    def columns(self) -> tuple[int, int] | None:
        """First and last column of the expression on ``line``, if Python kept them."""
        _, first, last = self._position()
        return None if first is None or last is None else (first, last)

    @property
    def source(self) -> list[str]:
        """The lines of the file; empty if they cannot be read, or are others by now."""
        lines = linecache.getlines(self.file)
        written = _written(self.file)
        was_there = written is None or _mark_of(self._code) in _compiled(self.file, written)
        return lines if was_there else []

    @property
    def text(self) -> str:
        """The source line, stripped; empty if the source cannot be read."""
        return self._line_at(self.line).strip()

    def _line_at(self, number: int) -> str:
        return next(islice(self.source, number - 1, number), "")

    @property
    def expression(self) -> str:
        """Just the part of the line that made the call, where Python knows the columns."""
        columns = self.columns
        raw = self._line_at(self.line)
        if columns is None or not raw:
            return self.text
        encoded = raw.encode()  # columns count UTF-8 bytes
        return encoded[columns[0] : columns[1]].decode(errors="replace") or self.text

    @property
    def whole_expression(self) -> str:
        """Like ``expression``, over several lines if it has them."""
        position = self._full_position()
        if position is None or None in position:
            return self.text
        first_line, last_line, first, last = position
        lines = [
            self._line_at(number).encode()
            for number in range(first_line, (last_line or first_line) + 1)
        ]
        lines[-1] = lines[-1][:last]
        lines[0] = lines[0][first:]
        return b"".join(lines).decode(errors="replace")

    def _full_position(self) -> tuple[int, int | None, int | None, int | None] | None:
        return _position_of(self._code, self._instruction)

    def _position(self) -> tuple[int, int | None, int | None]:
        position = self._full_position()
        if position is None:
            return self._code.co_firstlineno, None, None
        line, end_line, first, last = position
        return line, first, last if end_line == line else None

    def __str__(self) -> str:
        place = f"{_short(self.file)}:{self.line}"
        return f"{place}: {self.text}" if self.text else place

    def __repr__(self) -> str:
        return f"<{self}>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Where)
            and (self._code is other._code)
            and (self._instruction == other._instruction)
        )

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=1024)
def _position_of(
    code: CodeType, instruction: int
) -> tuple[int, int | None, int | None, int | None] | None:
    position = next(islice(code.co_positions(), instruction // 2, None), None)
    if position is None or position[0] is None:
        return None
    return position[0], *position[1:]


_STARTED = time.time()


def _written(file: str) -> float | None:
    """When a file was written, if it was while this program ran, perhaps after it was loaded.

    A cell of a notebook has no time: its text is the one that ran.
    """
    entry = linecache.cache.get(file, ())
    written = entry[1] if len(entry) == 4 and not file.startswith("<") else None
    return None if written is None or written < _STARTED else written


@lru_cache(maxsize=16)
def _compiled(file: str, written: float) -> frozenset[tuple[str, int, bytes]]:
    """Marks of the code in a file, as it was then."""
    try:
        code = compile("".join(linecache.getlines(file)), file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return frozenset()
    return frozenset(map(_mark_of, _codes_in(code)))


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    waiting = [code]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += (part for part in each.co_consts if isinstance(part, CodeType))


def _mark_of(code: CodeType) -> tuple[str, int, bytes]:
    return code.co_qualname, code.co_firstlineno, code.co_code


def _short(path: str) -> str:
    """The path relative to the working directory where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):  # another drive, or no working directory any more
        return path
    return relative if len(relative) < len(path) else path
