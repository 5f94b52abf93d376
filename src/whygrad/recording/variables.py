"""Which variables of the program hold the data of a step.

The batch of a step is in the same variables at every step.  A recipe notes which of its tensors
were in a variable when ``backward()`` was called; for another step the same variables tell what to
put in their place.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator
from traceback import walk_tb
from types import CodeType, FrameType
from typing import Any

from whygrad.recording.calls import CallLog, Produced
from whygrad.recording.engines import Engine
from whygrad.source import program_frame

__all__ = ["Variable", "held", "key_of", "losses_left", "running", "today"]

# The code whose variable it is, its name, and the place in it if it holds several tensors.
Variable = tuple[CodeType, str, int | str | None]

_MEMBERS = 8  # of a list or a dictionary: a batch, not a data set


def key_of(argument: Any) -> Any:
    """What tells an argument of a recipe from others: the call that made it, or its identity."""
    return argument if isinstance(argument, Produced) else id(argument)


def held(frame: FrameType, log: CallLog, kind: type, used: Container[Any]) -> dict[Variable, Any]:
    """The variables that hold data of a recipe, with the keys of these data."""
    found: dict[Variable, Any] = {}
    for code, name, place, value in _tensors(frame, kind):
        key = key_of(log.source(value) or value)
        if key in used:
            found[code, name, place] = key
    return found


def today(frame: FrameType, kind: type, variables: dict[Variable, Any]) -> dict[Any, Any]:
    """What these variables hold now, by the keys of what they held then."""
    codes = {code for code, _, _ in variables}
    return {
        variables[code, name, place]: value
        for code, name, place, value in _tensors(frame, kind, codes)
        if (code, name, place) in variables
    }


def losses_left(engine: Engine, error: BaseException | None) -> Iterator[float]:
    """Values of losses, or what looks like one, in variables of a program that has ended."""
    traceback = None if error is None else error.__traceback__
    frames = [frame for frame, _ in walk_tb(traceback)]
    places = [frame.f_locals for frame in (*frames, program_frame(sys._getframe(1)))]
    for names in (*places, vars(sys.modules["__main__"])):
        for each in list(names.values()):
            if isinstance(each, engine.tensor) and each.ndim == 0 and each.requires_grad:  # type: ignore[attr-defined]
                value = engine.scalar(each)
                if value is not None and not each.is_leaf:  # type: ignore[attr-defined]
                    yield value


def running(frame: FrameType | None) -> Iterator[FrameType]:
    """The user's functions that are running, from ``frame`` outwards to the top of the module."""
    while frame is not None:
        if program_frame(frame) is frame:
            yield frame
        frame = None if frame.f_code.co_name == "<module>" else frame.f_back


def _tensors(
    frame: FrameType, kind: type, codes: Container[CodeType] | None = None
) -> Iterator[tuple[CodeType, str, int | str | None, Any]]:
    """The tensors without gradients in variables of the user's functions that are running."""
    for user in running(frame):
        code = user.f_code
        if codes is None or code in codes:
            for name, value in list(user.f_locals.items()):
                if isinstance(value, kind):
                    if not value.requires_grad:  # type: ignore[attr-defined]
                        yield code, name, None, value
                elif type(value) in (list, tuple, dict) and 0 < len(value) <= _MEMBERS:
                    members = value.items() if type(value) is dict else enumerate(value)
                    for place, each in members:
                        if isinstance(each, kind) and not each.requires_grad:  # type: ignore[attr-defined]
                            yield code, name, place, each
