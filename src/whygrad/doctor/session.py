"""``watch``: the doctor around a training loop of one's own."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from types import TracebackType
from typing import Any

from whygrad.dispatch.silence import quiet
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding
from whygrad.doctor.verdict import Asked, Diagnosis, diagnose
from whygrad.errors import fail
from whygrad.recording.engines import Engine, engine_of, engines
from whygrad.recording.record import Run
from whygrad.recording.watching.observer import Observer
from whygrad.recording.wrapping.layer import attached

__all__ = ["Session", "watch"]


class Session:
    """What ``with watch(…) as doc`` gives: findings and a report, during the loop and after it."""

    def __init__(
        self,
        things: tuple[Any, ...],
        ignore: frozenset[str] = frozenset(),
        budget: float | None = None,
        memory: float | None = None,
    ) -> None:
        self._things = things
        self._ignore = ignore
        self._limits = budget, memory
        self._stack = ExitStack()
        self._seen: tuple[int, Diagnosis] | None = None
        self.run = Run()
        self.observer = Observer(self.run)

    def __enter__(self) -> Session:
        self.observer.scope.open_here()
        wanted = {each.name: each for each in map(engine_of, self._things)} or engines()
        for engine in wanted.values():
            self.attach(engine)
        for each in self._things:
            self._introduce(each)
        return self

    def attach(self, engine: Engine) -> None:
        """Watch this engine from now on; if that cannot be done the program runs all the same."""
        try:
            self._stack.enter_context(attached(engine, self.observer))
        except Exception as error:
            self.run.trouble(error)

    def _introduce(self, thing: Any) -> None:
        """Get to know a model or an optimizer that was made before the doctor came."""
        if hasattr(thing, "param_groups"):
            self.observer.loop.optimizer_made(thing, None)
        else:
            self.observer.registry.root(engine_of(thing), thing)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is not None:
                self.observer.failed(error)
        finally:
            self.observer.scope.close()
            self._stack.close()
            try:
                self.observer.finish()
            except Exception as trouble:  # the program's own exception must come through
                self.run.trouble(trouble)
            self._seen = None  # the end tells more, also without a new pass

    def cut_short(self, cause: str, seconds: float) -> Diagnosis:
        """The process is about to end, in the middle of whatever it does: what is known by now.

        Nothing is unwound, and ``seconds`` is what running steps again may take.
        """
        self.observer.scope.close()
        engine, limit = self.run.engine, self._limits[0]
        try:
            self.observer.finish()
        except Exception as trouble:
            self.run.trouble(trouble)
        self._seen = None
        self._limits = seconds if limit is None else min(seconds, limit), self._limits[1]
        grad = nullcontext() if engine is None else engine.namespace.enable_grad()
        with quiet.again(), grad:  # the program may be inside an op
            diagnosis = self.examine()
        diagnosis.notes.append(f"the program was ended by {cause}: this was known by then")
        return diagnosis

    @property
    def diagnosis(self) -> Diagnosis:
        """What is known up to now; examined again when there are new passes."""
        return self.examine()

    def examine(self, asked: Asked | None = None) -> Diagnosis:
        """The same; ``asked`` is told of every question, for who waits."""
        if self._seen is None or self._seen[0] != len(self.run.passes):
            case = Case(self.run, *self._limits)
            with self.observer.scope.paused(), _silence():
                self._seen = len(self.run.passes), diagnose(case, self._ignore, asked)
        return self._seen[1]

    @property
    def findings(self) -> list[Finding]:
        """Root causes first, the gravest at the top; empty when nothing is wrong."""
        return self.diagnosis.findings

    @property
    def verdict(self) -> Finding | None:
        return self.diagnosis.verdict

    def report(self, format: str = "text", width: int = 80) -> str:
        """The report as ``text`` (of this width), ``markdown``, ``html`` or ``json``."""
        return self.diagnosis.report(format, width)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file: .html, .md, .json or .txt."""
        self.diagnosis.save(path)

    def _repr_html_(self) -> str:
        return self.diagnosis._repr_html_()


@contextmanager
def _silence() -> Iterator[None]:
    """Steps that run again say nothing: what they print and warn of was said the first time."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def watch(
    *things: Any,
    ignore: tuple[str, ...] | list[str] = (),
    budget: float | None = None,
    memory: float | None = None,
) -> Session:
    """Watch a training loop: ``with watch(model, optimizer) as doc: …``, then ``doc.report()``.

    ``things`` are the models and optimizers of the loop, of PyTorch or whygrad; those made inside
    the block are found without being named.  ``ignore`` names rules that are not to speak.
    ``budget`` and ``memory`` are seconds and bytes that the examination may take to run steps of
    the loop again.
    """
    for each in things:
        if not (hasattr(each, "param_groups") or hasattr(each, "named_modules")):
            raise fail(
                TypeError,
                call=f"doctor.watch({type(each).__name__})",
                cause="watch() takes modules and optimizers",
                fix="with whygrad.doctor.watch(model, optimizer) as doc: …",
                where=None,
            )
    return Session(things, frozenset(ignore), budget, memory)
