"""Pictures as files: by the ending of the name, and never half-written."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from whygrad.errors import fail
from whygrad.why.drawing import graphviz, paint_svg
from whygrad.why.drawing.content import MOST, Picture, compose
from whygrad.why.drawing.scene import stage
from whygrad.why.flow import Flow

__all__ = ["draw"]

_ENDINGS = (".dot", ".png", ".svg")


def draw(flow: Flow, path: str | os.PathLike[str], *, most: int = MOST) -> Path:
    """Draw a flow into ``path`` (``.svg``, ``.png`` or ``.dot``) and return that path.

    Of more than ``most`` boxes those nearest to the target and the root are drawn; the picture
    says how many are not.
    """
    goal = Path(path)
    call = f"draw(flow, {str(goal)!r})"
    ending = goal.suffix.lower()
    if ending not in _ENDINGS:
        raise fail(
            ValueError,
            call=call,
            cause=f"no pictures are written as {ending!r}" if ending else "the name has no ending",
            fix=f"end the name with one of {', '.join(_ENDINGS)}",
        )
    if goal.is_dir():
        raise fail(
            IsADirectoryError,
            call=call,
            cause=f"{str(goal)!r} is a directory",
            fix="name a file",
        )
    if not goal.parent.is_dir():
        raise fail(
            FileNotFoundError,
            call=call,
            cause=f"there is no directory {str(goal.parent)!r}",
            fix=f"os.makedirs({str(goal.parent)!r}) first",
        )
    _write(goal, _rendered(compose(flow, most), ending))
    return goal


def _rendered(picture: Picture, ending: str) -> bytes:
    if ending == ".dot":
        return graphviz.source(picture).encode()
    made = graphviz.run_dot(picture, ending[1:])
    if made is not None:
        return made
    if ending == ".svg":
        return paint_svg.paint(stage(picture)).encode()
    from whygrad.why.drawing import paint_png  # needs Pillow

    return paint_png.paint(stage(picture))


def _write(goal: Path, content: bytes) -> None:
    """Into a file beside it first: whoever reads ``goal`` sees all of it or what was there."""
    beside = goal.with_name(f".whygrad-{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        beside.write_bytes(content)
        os.replace(beside, goal)
    finally:
        beside.unlink(missing_ok=True)
