"""Numbers, places and names as every report writes them."""

from __future__ import annotations

import math
import os
import re
import sys

from whygrad.doctor.forensics import FirstBad
from whygrad.recording.ranges import Range
from whygrad.source import Where
from whygrad.why.syntax import parsed

__all__ = ["change", "count", "ending", "extent", "is_code", "line", "number", "origin",
           "path", "place"]  # fmt: skip

_BARE = re.compile(r"[\w\s]*")


def number(value: float | None) -> str:
    """Three digits; a dash for what was not measured."""
    if value is None:
        return "–"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return f"{value + 0.0:.3g}"


def count(amount: int, noun: str) -> str:
    """``1 step``, ``1,024 steps``"""
    if amount == 1:
        return f"1 {noun}"
    return f"{amount:,} {noun}{'es' if noun.endswith('s') else 's'}"


def change(first: float | None, last: float | None) -> str:
    """``2.31 → 0.0412``"""
    return f"{number(first)} → {number(last)}"


def extent(values: Range) -> str:
    """What a tensor holds: ``[32, 1] float32 from -0.52 to 0.31, 3 NaN``."""
    parts = [f"{list(values.shape)} {values.dtype}"]
    if values.nans + values.infs < values.size:
        parts[0] += f" from {number(values.low)} to {number(values.high)}"
    parts += [f"{values.nans} NaN"] if values.nans else []
    parts += [f"{values.infs} Inf"] if values.infs else []
    return ", ".join(parts)


def ending(error: BaseException | None) -> str:
    """``ValueError: what it says``, its first line."""
    return f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": ")


def path(file: str) -> str:
    """A file as seen from the current folder, if it lies inside."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    outside = relative.startswith(os.pardir) or file.startswith("<")
    return file if outside else relative


def place(where: Where | None) -> str:
    """``runs/train.py:12``: what an editor opens."""
    return "" if where is None else _cell(where) or f"{path(where.file)}:{where.line}"


def line(where: Where | None) -> str:
    """``train.py:12``: enough beside a place that was named in full."""
    if where is None:
        return ""
    return _cell(where) or f"{os.path.basename(where.file)}:{where.line}"


def _cell(where: Where) -> str | None:
    """``cell 3, line 4`` of a notebook; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if named is None else named(where.file)  # ("Cell", "In[3]")
    number = None if not found else re.search(r"\d+", found[1])
    return None if number is None else f"cell {number[0]}, line {where.line}"


def origin(bad: FirstBad) -> str:
    """Where a value that is not finite came from."""
    module = f" in {bad.module}" if bad.module else ""
    call = f"`{bad.op}`{module} at {line(bad.where)}"
    return {
        "forward": f"{call} makes it from valid inputs",
        "backward": f"the backward of {call} makes it from a valid gradient",
        "data": f"it is in the data, from {call}",
        "parameter": f"it is in {_parameter(bad)}, seen first by {call}",
        "outside": f"{call} makes it, outside of the graph",
    }[bad.kind]


def _parameter(bad: FirstBad) -> str:
    """``the parameter fc.weight, written by the update at train.py:12``"""
    name = f"the parameter `{bad.parameter}`" if bad.parameter else "a parameter"
    return f"{name}, written by the update at {line(bad.updated_at)}" if bad.updated_at else name


def is_code(text: str) -> bool:
    """Whether a line of advice is a program and not a sentence."""
    return not _BARE.fullmatch(text) and bool(parsed(text).body)
