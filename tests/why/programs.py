"""Short programs with a file name of their own, so that explanations can quote their lines."""

from __future__ import annotations

import linecache
from textwrap import dedent
from typing import Any

import whygrad


def run(source: str, name: str = "program.py", **variables: Any) -> dict[str, Any]:
    """Run ``source`` as if it stood in the file ``name``; returns its variables."""
    text = dedent(source).lstrip("\n")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"whygrad": whygrad, "Value": whygrad.Value, **variables}
    exec(compile(text, name, "exec"), scope)
    return scope


def transcript(source: str, name: str = "program.py", **variables: Any) -> str:
    """What the program's ``explanation`` prints in 80 columns."""
    text: str = run(source, name, **variables)["explanation"].text(80)
    return text
