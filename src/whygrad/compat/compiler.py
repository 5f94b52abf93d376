"""What programs say to PyTorch's compiler; here they run as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.compat.environment import compile

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
]


def is_compiling() -> bool:
    """False: nothing is compiled."""
    return False


def is_dynamo_compiling() -> bool:
    """False: nothing is compiled."""
    return False


def is_exporting() -> bool:
    """False: nothing is exported."""
    return False


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself; also as ``@disable()``."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """Nothing."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """The only one: ``eager``, which runs programs as they are."""
    return ["eager"]


def reset() -> None:
    """Nothing: there is nothing to forget."""
