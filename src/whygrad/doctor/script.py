"""Run somebody's training script, unmodified, under observation.

The script runs in this process as ``__main__``, with its own arguments, output and exit code.
PyTorch is watched from the moment the script imports it.
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from whygrad.doctor.engines import engines, imported_engines
from whygrad.doctor.session import Session
from whygrad.doctor.verdict import Diagnosis

__all__ = ["Outcome", "run_script"]


@dataclass(eq=False)
class Outcome:
    """How a script ended, and what the doctor says."""

    session: Session
    exit_code: int
    error: BaseException | None  # what the script raised; SystemExit is only in the code

    @property
    def diagnosis(self) -> Diagnosis:
        return self.session.diagnosis


def run_script(
    path: str, arguments: Sequence[str] = (), ignore: frozenset[str] = frozenset()
) -> Outcome:
    """Run a script to its end, whatever that is, and examine it."""
    path = os.path.abspath(path)
    with open(path, "rb") as file:
        source = file.read()
    code = compile(source, path, "exec")
    session = Session((), ignore)
    session.run.script, session.run.arguments = path, list(arguments)
    error: BaseException | None = None
    exit_code = 0
    with _as_main(path, arguments) as space:
        try:
            with session, _when_imported("torch", lambda: _attach(session)):
                exec(code, space)
        except SystemExit as stop:
            exit_code = _code_of(stop)
        except KeyboardInterrupt as stop:
            error, exit_code = stop, 130
        except BaseException as raised:
            error, exit_code = raised, 1
    if isinstance(session.run.error, SystemExit):
        session.run.error = None
    return Outcome(session, exit_code, error)


def _attach(session: Session) -> None:
    if "torch" in imported_engines():
        session.attach(engines()["torch"])


def _code_of(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    print(stop.code, file=sys.stderr)
    return 1


@contextmanager
def _as_main(path: str, arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What ``python path arguments…`` sets up: __main__, sys.argv and the folder on sys.path."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=builtins, __spec__=None)
    before = sys.modules.get("__main__"), sys.argv, list(sys.path)
    sys.modules["__main__"] = main
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(path))
    try:
        yield main.__dict__
    finally:
        if before[0] is not None:
            sys.modules["__main__"] = before[0]
        sys.argv = before[1]
        sys.path[:] = before[2]


@contextmanager
def _when_imported(name: str, action: Callable[[], None]) -> Iterator[None]:
    """Run ``action`` right after the program has imported a package."""
    if name in sys.modules:
        yield
        return
    finder = _Finder(name, action)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one package like everybody else, and says so once it is loaded."""

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self._name = name
        self._action = action

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: types.ModuleType) -> None:
                load(module)
                self._action()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
