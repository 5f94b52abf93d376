"""``@torch.jit.script`` and what goes with it: the function itself.

TorchScript compiles a part of Python to run without it.  Here a program runs as Python, which gives
the same numbers, so decorators change nothing.  What only a compiled program has (``save``,
``trace``, ``freeze``) is refused; see :mod:`whygrad.refused`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from whygrad.refused import refusal

__all__ = [
    "Attribute",
    "Final",
    "annotate",
    "export",
    "ignore",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "script",
    "script_if_tracing",
    "unused",
]

F = TypeVar("F", bound=Callable[..., Any])
isinstance = isinstance


def script(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """The function, class or module itself."""
    return obj


def script_if_tracing(fn: F) -> F:
    """The function itself."""
    return fn


def export(fn: F) -> F:
    """The function itself."""
    return fn


def unused(fn: F) -> F:
    """The function itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself; as ``@ignore`` or ``@ignore()``."""
    return drop if callable(drop) else lambda function: function


def is_scripting() -> bool:
    """False: programs run as Python."""
    return False


def is_tracing() -> bool:
    """False: programs run as Python."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value itself."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:
    """The value itself."""
    return value


def __getattr__(name: str) -> Any:
    raise refusal("jit", name)
