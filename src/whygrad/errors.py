"""Errors that restate the call, give the cause and the fix, and name the user's line.

The exception types are the ones PyTorch raises, so existing ``except`` clauses keep working.
"""

from __future__ import annotations

import sys
from typing import Any, Final, TypeVar

from whygrad.source import Where, is_outside, outside

__all__ = ["describe", "describe_call", "explained", "fail", "kind_of", "too_large"]

E = TypeVar("E", bound=BaseException)


_THE_CALL: Final = object()


def fail(kind: type[E], *, call: str, cause: str, fix: str, where: object = _THE_CALL) -> E:
    """Build (not raise) an exception of the given kind with the house layout.

    ``where`` is the line of the program that called into whygrad, unless the error is about
    another place; None for errors whose text names their places, or that are not about a line.
    """
    if where is _THE_CALL:
        where = _called_from()
    lines = [call, f"  cause: {cause}", f"  fix:   {fix}"]
    if where is not None:
        lines.append(f"  at:    {where}")
    error = kind("\n".join(lines))
    error.whygrad_explained = True  # type: ignore[attr-defined]
    return error


def _called_from() -> Where | None:
    """Only code and instruction are kept: an error holds no frame, and so no tensor, alive."""
    frame = outside(sys._getframe(2))
    return Where(frame.f_code, frame.f_lasti) if is_outside(frame) else None


def explained(error: BaseException) -> bool:
    """Whether ``fail`` built this exception, so nobody explains it a second time."""
    return getattr(error, "whygrad_explained", False)


# What NumPy says about sizes that no memory has.
_TOO_LARGE = ("array is too big", "iterator is too large", "Maximum allowed ")


def too_large(error: Exception) -> str | None:
    """In PyTorch's words, if it was about the size of an array."""
    if isinstance(error, MemoryError):
        return f"can't allocate memory: {error}"
    if any(each in str(error) for each in _TOO_LARGE):
        return f"Storage size calculation overflowed: {error}"
    return None


def kind_of(error: Exception) -> type[Exception]:
    """The type under which PyTorch would raise it: no NumPy classes, no slips of attribute."""
    if too_large(error) is not None:
        return RuntimeError
    if isinstance(error, (AttributeError, KeyError)):
        return TypeError
    known = (IndexError, OverflowError, TypeError, ValueError)
    return next((kind for kind in known if isinstance(error, kind)), RuntimeError)


def describe(value: Any) -> str:
    """A tensor or array as ``float32[2, 3]``; anything else by its short repr."""
    shape = getattr(value, "shape", None)
    dtype = getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None:
        name = getattr(dtype, "name", str(dtype))
        return f"{name}[{', '.join(map(str, shape))}]"
    if isinstance(value, (list, tuple)) and any(hasattr(item, "shape") for item in value):
        return f"[{', '.join(describe(item) for item in value)}]"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def describe_call(name: str, names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    """``matmul(a: float32[2, 3], b: float32[4, 5])``"""
    parts = []
    for label, value in zip(names, values, strict=False):
        joint = ": " if hasattr(value, "shape") or isinstance(value, list) else "="
        parts.append(f"{label}{joint}{describe(value)}")
    return f"{name}({', '.join(parts)})"
