"""What a lab's grader works with: questions to the learner's program, and verdicts.

A grader is a generator of checks.  Each check is a function that asks the program through
:meth:`Bench.ask` or :meth:`Bench.compare` and returns when all is well; otherwise it raises
:class:`Wrong`, or lets the :class:`~whygrad.learn.lab.sandbox.Trouble` of the child pass.  Random
inputs come from :attr:`Bench.random`, whose seed is shown, so that a failure can be repeated.
"""

from __future__ import annotations

import importlib.util
import random
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy

from whygrad.learn.content import phrases
from whygrad.learn.lab.catalogue import Lab
from whygrad.learn.lab.compare import Difference, worst
from whygrad.learn.lab.returns import forgotten
from whygrad.learn.lab.sandbox import Limits, Reply, Trouble, ask, unfit_file
from whygrad.learn.lab.troubles import BLOCKING, explained, harmless
from whygrad.learn.language import Language

__all__ = ["Bench", "Case", "Check", "Wrong", "in_grader"]

_HURRIED = 2.0  # seconds per question, once a question has gone without an answer


@dataclass(frozen=True)
class Case:
    """One input whose result the grader knows."""

    inputs: Mapping[str, Any]  # for the probe, plain data
    target: Any  # plain data
    code: str = ""  # the same as a program that the learner can paste
    size: int = 0  # the smallest failing case is the one that is shown


@dataclass(frozen=True)
class Check:
    """The verdict on one check."""

    id: str
    passed: bool
    kind: str = ""  # "wrong", or the kind of the trouble
    message: str = ""
    where: str = ""  # the learner's line; of a mistake of the grader, its own
    difference: Difference | None = None  # the worst element
    target: Any = None
    yours: Any = None
    compared: bool = False  # whether target and yours are to be shown
    example: str = ""
    printed: str = ""  # what the program printed before it failed
    notes: tuple[str, ...] = ()
    decisive: bool = False  # what fails after it fails for the same reason, or may


def in_grader(error: Exception) -> str:
    """``grader.py:12``, the innermost line of a grader that an exception went through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [each.lineno for each in frames if Path(each.filename).name == "grader.py"]
    return f"grader.py:{lines[-1]}" if lines else ""


class Wrong(Exception):
    """A check that fails for a reason the grader has found; the message is for the learner."""

    def __init__(
        self,
        message: str,
        *,
        example: str = "",
        notes: Sequence[str] = (),
        where: str = "",
        decisive: bool = False,
    ) -> None:
        super().__init__(message)
        self.check = Check(
            "", False, "wrong", message, where=where, example=example, notes=tuple(notes),
            decisive=decisive,
        )  # fmt: skip


@dataclass
class Bench:
    """The learner's program on the bench."""

    lab: Lab
    folder: Path
    language: Language = "en"
    seed: int = 0
    replaced: Mapping[str, str] = field(default_factory=dict)
    random: random.Random = field(default_factory=random.Random)
    delays: list[str] = field(default_factory=list)  # probes that took too long, of all copies

    def say(self, key: str, **values: Any) -> str:
        """A text of the lab (``texts`` in lab.yaml) in the learner's language."""
        return self.lab.text(key, self.language).format(**values)

    def source(self, name: str) -> str:
        """The text of one of the learner's files."""
        if name in self.replaced:
            return self.replaced[name]
        if unfit := unfit_file(self.folder, name):
            raise unfit
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise Trouble("syntax", {"message": f"{name}: {error}"}) from None

    def with_files(self, texts: Mapping[str, str]) -> Bench:
        """The same bench with other texts in place of some files, as for a mutant."""
        return replace(self, replaced={**self.replaced, **texts})

    def check(self, name: str, function: Callable[[Bench], None]) -> Check:
        """Run one check; whatever the learner's program does becomes a verdict."""
        self.random = random.Random(f"{self.seed}/{name}")
        try:
            function(self)
        except Wrong as wrong:
            return replace(self._about_none(wrong.check), id=name)
        except Trouble as trouble:
            return replace(self._about_none(self._verdict(trouble)), id=name)
        except Exception as error:  # an answer of a form that no probe gives, or our own mistake
            facts = {"type": type(error).__name__, "message": str(error)}
            verdict = self._verdict(Trouble("grader", facts))
            return replace(verdict, id=name, where=in_grader(error))
        return Check(name, True)

    def ask(self, probe: str, **inputs: Any) -> Any:
        """Call one probe in a fresh process; plain data comes back, or Trouble is raised."""
        (reply,) = self.replies(probe, [inputs])
        if reply.trouble is not None:
            raise reply.trouble
        return reply.value

    def replies(self, probe: str, cases: Sequence[Mapping[str, Any]]) -> list[Reply]:
        """Call one probe for many inputs in a single fresh process; never raises Trouble."""
        seconds = min(self.lab.seconds, _HURRIED) if self.delays else self.lab.seconds
        replies = ask(
            self.folder,
            probes=self.lab.folder / "probes.py",
            probe=probe,
            cases=cases,
            files=self.lab.files,
            replaced=self.replaced,
            banned=self.lab.forbids,
            limits=Limits(seconds=seconds, megabytes=self.lab.megabytes),
        )
        if any(each.trouble is not None and each.trouble.kind == "timeout" for each in replies):
            self.delays.append(probe)
        return replies

    def compare(
        self,
        probe: str,
        cases: Sequence[Case],
        *,
        relative: float = 1e-9,
        absolute: float = 1e-12,
        message: str = "",
    ) -> None:
        """Ask for every case; the smallest that fails is reported in full.

        Sorted by size, cases of one size stay in the order given.
        """
        ordered = sorted(cases, key=lambda case: case.size)
        replies = self.replies(probe, [case.inputs for case in ordered])
        for case, reply in zip(ordered, replies):
            if reply.trouble is not None:
                reply.trouble.example = case.code
                raise reply.trouble
            self.same(
                case.target,
                reply.value,
                relative=relative,
                absolute=absolute,
                message=message,
                code=case.code,
                printed=reply.printed,
            )

    def same(
        self,
        target: Any,
        yours: Any,
        *,
        relative: float = 1e-9,
        absolute: float = 1e-12,
        message: str = "",
        code: str = "",
        printed: str = "",
    ) -> None:
        """Raise :class:`Wrong`, with the worst element, unless the two agree."""
        difference = worst(target, yours, relative=relative, absolute=absolute)
        if difference is not None:
            message = message or phrases("lab", self.language)[f"unequal_{difference.kind}"]
            wrong = Wrong(message, example=code)
            wrong.check = replace(
                wrong.check,
                target=target,
                yours=yours,
                compared=True,
                difference=difference,
                printed=printed,
            )
            raise wrong

    def generator(self) -> numpy.random.Generator:
        """A generator of NumPy's, seeded from :attr:`random`."""
        return numpy.random.default_rng(self.random.getrandbits(32))

    def has(self, package: str) -> bool:
        """Whether a package is installed, found without importing it."""
        return importlib.util.find_spec(package) is not None

    def unreadable(self) -> Check | None:
        """The verdict on files of which nothing can be run, found without running anything."""
        for name in self.lab.files:
            try:
                text = self.source(name)
                if name.endswith(".py"):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        compile(text, name, "exec", dont_inherit=True)
            except Trouble as trouble:
                return self._verdict(trouble)
            except SyntaxError as error:
                facts = {"message": error.msg, "file": name, "line": error.lineno}
                return self._verdict(Trouble("syntax", {**facts, "column": error.offset}))
            except (MemoryError, RecursionError, ValueError):
                continue  # the child will say what it makes of it
        return None

    def _verdict(self, trouble: Trouble) -> Check:
        file, number = trouble.facts.get("file"), trouble.facts.get("line")
        blocking = trouble.kind in BLOCKING
        return Check(
            "",
            False,
            trouble.kind,
            explained(trouble, self.language),
            where=self.line(file, number),
            example="" if blocking else trouble.example,
            printed="" if blocking else trouble.printed,
            notes=self._caret(file, number, trouble.facts.get("column")),
            decisive=blocking,
        )

    def _about_none(self, check: Check) -> Check:
        """A result that is None by a forgotten ``return`` is explained by that."""
        difference = check.difference
        if difference is not None:
            nothing = (None, "NoneType")
            is_none = difference.yours in nothing and difference.target not in nothing
        else:
            is_none = check.kind == "exception" and "NoneType" in check.message
        reference = self.lab.solution(self.language) if is_none else {}
        for name in (each for each in reference if each.endswith(".py")):
            try:
                found = forgotten(self.source(name), reference[name])
            except Trouble:
                continue
            if found is not None:
                message = phrases("lab", self.language)["forgotten_return"].format(
                    function=found.function, name=found.name
                )
                return replace(check, message=message, where=self.line(name, found.line))
        return check

    def line(self, file: Any, number: Any) -> str:
        """``value.py:12: return other``, from the learner's own file; empty without a number."""
        if not isinstance(file, str) or not isinstance(number, int) or number < 1:
            return ""
        text = self._text(file, number).strip()
        return harmless(f"{file}:{number}: {text}" if text else f"{file}:{number}")

    def _caret(self, file: Any, number: Any, column: Any) -> tuple[str, ...]:
        """A sign under the place that is meant, for the line as :meth:`line` shows it."""
        if not isinstance(column, int) or not self.line(file, number):
            return ()
        text = self._text(file, number)
        at = column - 1 - (len(text) - len(text.lstrip()))
        return (" " * (len(f"{file}:{number}: ") + at) + "^",) if 0 <= at <= len(text) else ()

    def _text(self, file: str, number: int) -> str:
        try:
            lines = self.source(file).splitlines() if file in self.lab.files else []
        except Trouble:
            lines = []
        return lines[number - 1] if number <= len(lines) else ""
