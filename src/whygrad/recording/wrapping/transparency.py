"""What the doctor must not be seen in: tracebacks and warnings of the program.

While a program is watched, the doctor's functions stand between its calls and the engine.  A
traceback that is printed, and the line that a warning names, are those of the program alone.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType
from typing import Any

from whygrad.recording.patching import patched

__all__ = ["honest_warnings", "without_doctor"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The rooms whose frames the program does not have.
_DOCTOR = tuple(os.path.join(_PACKAGE, room) + os.sep for room in ("doctor", "recording"))
_ALSO = tuple(
    os.path.join(_PACKAGE, *path)
    for path in (("torch", "record.py"), ("dispatch", "interception.py"))
)
# PyTorch's functions call themselves again through this one while a function mode is on.
_AGAIN = "handle_torch_function"


def _is_doctor(code: CodeType) -> bool:
    return code.co_filename.startswith(_DOCTOR) or code.co_filename in _ALSO


def without_doctor(error: BaseException) -> BaseException:
    """The exception with the program's frames only; so are those that led to it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _pruned(each.__traceback__)
        waiting += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]
    return error


def _pruned(traceback: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not _is_doctor(code):
            kept.append(traceback)
        elif kept and kept[-1].tb_frame.f_code.co_name == _AGAIN:
            del kept[-2:]
        traceback = traceback.tb_next
    found = None
    for each in reversed(kept):
        each.tb_next = found
        found = each
    return found


@contextmanager
def honest_warnings() -> Iterator[None]:
    """Warnings name the line of the program, as they do when nobody watches."""
    with patched(warnings, "warn", _warn), patched(warnings, "_showwarnmsg", _show):
        yield


def _warn(
    inner: Callable[..., None],
    /,
    message: Any,
    category: Any = None,
    stacklevel: int = 1,
    source: Any = None,
    **more: Any,
) -> None:
    """``stacklevel`` counts frames: those of the doctor are counted on top."""
    start = sys._getframe(2)  # who warns, beyond the wrapper that called this
    place = _visible(start)
    for _ in range(stacklevel - 1):
        place = None if place is None else _visible(place.f_back)
    inner(message, category, 3 + _distance(start, place), source, **more)


def _visible(frame: FrameType | None) -> FrameType | None:
    """The first frame from this one outwards that would be there without the doctor."""
    while frame is not None and _is_doctor(frame.f_code):
        frame = frame.f_back
        if frame is not None and frame.f_code.co_name == _AGAIN and frame.f_back is not None:
            frame = frame.f_back.f_back
    return frame


def _distance(inner: FrameType, outer: FrameType | None) -> int:
    passed, frame = 0, inner
    while frame is not outer and frame.f_back is not None:
        passed, frame = passed + 1, frame.f_back
    return passed


def _show(inner: Callable[..., None], message: Any, /) -> None:
    """A warning from compiled code names the frame that called it: if a doctor's, warn again."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != message.filename:
        frame = frame.f_back
    place = _visible(frame)
    if frame is None or place is None or not _is_doctor(frame.f_code):
        inner(message)
        return
    frame.f_globals.get("__warningregistry__", {}).clear()
    warnings.warn_explicit(
        message.message,
        message.category,
        place.f_code.co_filename,
        place.f_lineno,
        place.f_globals.get("__name__", "<unknown>"),
        place.f_globals.setdefault("__warningregistry__", {}),
        place.f_globals,
        message.source,
    )
