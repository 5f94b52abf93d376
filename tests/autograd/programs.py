"""Small programs under a file name of their own, so that an error's whole text can be compared."""

from __future__ import annotations

import linecache
from textwrap import dedent
from typing import Any

import pytest

__all__ = ["error_of", "run"]

_FILE = "example.py"


def run(source: str) -> dict[str, Any]:
    """Run a program as ``example.py`` and return its variables."""
    text = "import whygrad\n" + dedent(source).lstrip("\n")
    linecache.cache[_FILE] = (len(text), None, text.splitlines(keepends=True), _FILE)
    variables: dict[str, Any] = {"__name__": "example"}
    try:
        exec(compile(text, _FILE, "exec"), variables)
    finally:
        linecache.cache.pop(_FILE)
    return variables


def error_of(source: str) -> str:
    """The whole text of the error that a program ends with, after its import of whygrad."""
    with pytest.raises(RuntimeError) as caught:
        run(source)
    return str(caught.value)
