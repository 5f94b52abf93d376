"""Run somebody's training program, unmodified, under observation.

It runs in this process as ``__main__``, with its own arguments, output and exit code.  PyTorch is
watched from the moment the program imports it.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from whygrad.doctor.session import Session
from whygrad.doctor.source.program import Program, as_main, load_script
from whygrad.doctor.verdict import Diagnosis
from whygrad.recording.engines import engines, imported_engines
from whygrad.recording.wrapping.transparency import honest_warnings, without_doctor

__all__ = ["Outcome", "run_program", "run_script"]


@dataclass(eq=False)
class Outcome:
    """How a program ended, and what the doctor says."""

    session: Session
    exit_code: int
    error: BaseException | None  # what it raised; SystemExit is only in the code
    main: ModuleType  # its ``__main__``, for what it left running

    @property
    def diagnosis(self) -> Diagnosis:
        return self.session.diagnosis


def run_script(path: str, arguments: Sequence[str] = (), **how: Any) -> Outcome:
    """Run a script to its end, whatever that is, and examine it; ``how``: see ``run_program``."""
    return run_program(load_script(path), arguments, **how)


def run_program(
    program: Program,
    arguments: Sequence[str] = (),
    ignore: frozenset[str] = frozenset(),
    budget: float | None = None,
    memory: float | None = None,
    begun: Callable[[Session], None] | None = None,
) -> Outcome:
    """Run a program that was loaded to its end, and examine it.

    ``budget`` and ``memory`` are seconds and bytes that the examination may take; ``begun`` is told
    of the session before the program runs.
    """
    session = Session((), ignore, budget, memory)
    session.run.script, session.run.arguments = program.file, list(arguments)
    if begun is not None:
        begun(session)
    error: BaseException | None = None
    exit_code = 0
    with as_main(program, arguments) as main:
        try:
            with session, _when_imported("torch", lambda: _attach(session)), honest_warnings():
                exec(program.code, main.__dict__)
        except SystemExit as stop:
            exit_code = _code_of(stop)
        except BaseException as raised:
            error = without_doctor(raised)
            exit_code = 130 if isinstance(raised, KeyboardInterrupt) else 1
    if isinstance(session.run.error, SystemExit) and not exit_code:
        session.run.error = None
    return Outcome(session, exit_code, error, main)


def _attach(session: Session) -> None:
    if "torch" in imported_engines() and session.observer.scope.here:
        session.attach(engines()["torch"])


def _code_of(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    print(stop.code, file=sys.stderr)
    return 1


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
    """Finds one package like everybody else, and says so once it is loaded.

    To ask where a package is, as libraries do to see whether it is installed, is not to load it.
    """

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self._name = name
        self._action = action
        self._asks = False  # whether it asks the other finders

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self._name or self._asks:
            return None
        self._asks = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asks = False
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: types.ModuleType) -> None:
                load(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                    self._action()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
