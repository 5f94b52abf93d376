"""Run a program with either engine and ask about it, as its author would."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

from tests.why.situations.situation import HEADER
from whygrad.why.answer import Answer

__all__ = ["FILE", "asked", "running"]

FILE = "situation.py"


@contextmanager
def running(program: str, engine: str) -> Iterator[dict[str, Any]]:
    """The variables of a program that has run; its source can be read meanwhile.

    PyTorch gets the same text, but for the name of the library, and is recorded.
    """
    text = HEADER + program.lstrip("\n")
    text = text.replace("import whygrad as wg", f"import {engine} as wg")
    variables: dict[str, Any] = {"__name__": "situation"}
    module = _module(engine)
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    recording = nullcontext() if engine == "whygrad" else module.record()
    try:
        with warnings.catch_warnings(), import_module(engine).enable_grad(), recording:
            warnings.simplefilter("ignore")  # both libraries warn of some of these mistakes
            exec(compile(text, FILE, "exec"), variables)
        yield variables
    finally:
        linecache.cache.pop(FILE)
        variables.clear()


def asked(question: str, variables: dict[str, Any], engine: str) -> Answer:
    """The answer to ``why_none(w, loss)`` among these variables."""
    name, arguments = question.split("(", 1)
    variables["ask"] = getattr(_module(engine), name)
    answer: Answer = eval(f"ask({arguments}", variables)
    return answer


def _module(engine: str) -> Any:
    return import_module("whygrad" if engine == "whygrad" else "whygrad.torch")
