"""What a learner answered: one line of JSON for each answer, only ever added to.

A run begins with the list of the questions it will ask, so that a later start can go on where an
earlier one stopped.  Each line reaches the disk before the next question is asked.  A line that a
crash cut in half, or that somebody edited, is passed over; the rest still counts.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whygrad.learn.content import Quiz
from whygrad.learn.home import data_folder
from whygrad.learn.language import LANGUAGES, Language

__all__ = ["Answer", "Memory", "Run", "Standing"]


@dataclass(frozen=True)
class Answer:
    question: str
    at: str  # when, in UTC
    score: float | None  # None: not graded by the learner, or (skipped) not to be asked here
    answer: object
    skipped: bool = False
    place: int = 0  # in the file: a clock can be wrong


@dataclass
class Run:
    """One time through a quiz, or through some of its questions."""

    id: str
    quiz: str
    at: str
    questions: tuple[str, ...]
    whole: bool
    language: Language | None = None  # None: from a time when it was not kept
    answers: list[Answer] = field(default_factory=list)

    def scores(self) -> dict[str, float]:
        """By question: those that were answered and graded, or passed over by the learner."""
        return {each.question: each.score for each in self.answers if each.score is not None}

    def settled(self) -> set[str]:
        """The questions that need not be asked again; of some the program cannot run here."""
        return {each.question for each in self.answers if each.score is not None or each.skipped}

    @property
    def finished(self) -> bool:
        return set(self.questions) <= self.settled()

    @property
    def score(self) -> float:
        """Of the questions that could be asked; what is still open counts as nothing."""
        scores = self.scores()
        asked = set(self.questions) - (self.settled() - set(scores))
        return sum(scores.values()) / len(asked) if asked else 0.0


@dataclass(frozen=True)
class Standing:
    """How a learner stands with one quiz."""

    quiz: Quiz
    runs: tuple[Run, ...]

    @property
    def best(self) -> float | None:
        """The best score of a run through the whole quiz."""
        return max((run.score for run in self.runs if run.whole and run.finished), default=None)

    @property
    def latest(self) -> Mapping[str, Answer]:
        """By question of the quiz: the last answer that has a score."""
        known = {question.id for question in self.quiz.questions}
        answers = [
            answer
            for run in self.runs
            for answer in run.answers
            if answer.score is not None and answer.question in known
        ]
        return {each.question: each for each in sorted(answers, key=lambda each: each.place)}

    @property
    def missed(self) -> tuple[str, ...]:
        """The questions whose last answer was not wholly right."""
        latest = self.latest
        return tuple(
            question.id
            for question in self.quiz.questions
            if question.id in latest and (latest[question.id].score or 0) < 1
        )

    @property
    def slipped(self) -> bool:
        """Whether any question was ever missed."""
        scores = (answer.score for run in self.runs for answer in run.answers)
        return any(score is not None and score < 1 for score in scores)

    @property
    def unfinished(self) -> Run | None:
        """The last run through the whole quiz, if questions of it are still open."""
        whole = [run for run in self.runs if run.whole]
        now = tuple(question.id for question in self.quiz.questions)
        left = whole[-1] if whole else None
        return left if left and not left.finished and left.questions == now else None


class Memory:
    """The file of a learner's answers."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or data_folder() / "quizzes.jsonl"

    def standing(self, quiz: Quiz) -> Standing:
        return self.standings((quiz,))[0]

    def standings(self, quizzes: Sequence[Quiz]) -> list[Standing]:
        runs = self.runs()
        return [
            Standing(quiz, tuple(run for run in runs if run.quiz == quiz.id)) for quiz in quizzes
        ]

    def begin(
        self, quiz: Quiz, questions: Sequence[str], *, whole: bool, language: Language
    ) -> Run:
        """A new run; it is written down with its first answer."""
        return Run(secrets.token_hex(6), quiz.id, _now(), tuple(questions), whole, language)

    def keep(
        self,
        run: Run,
        question: str,
        score: float | None,
        answer: object,
        *,
        skipped: bool = False,
    ) -> None:
        """Add an answer to the run and to the file."""
        kept = Answer(question, _now(), score, answer, skipped)
        lines: list[dict[str, object]] = []
        if not run.answers:
            lines.append(
                {
                    "event": "begin",
                    "at": run.at,
                    "run": run.id,
                    "quiz": run.quiz,
                    "whole": run.whole,
                    "language": run.language,
                    "questions": run.questions,
                }
            )
        lines.append(
            {
                "event": "answer",
                "at": kept.at,
                "run": run.id,
                "question": question,
                "score": score,
                "answer": answer,
                "skipped": skipped,
            }
        )
        self._append(lines)
        run.answers.append(kept)

    def _append(self, lines: Iterable[Mapping[str, object]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with open(self.path, "ab+") as stream:
            if stream.seek(0, os.SEEK_END) and not self._ends_a_line(stream):
                text = "\n" + text
            stream.write(text.encode("utf-8", "replace"))
            stream.flush()
            os.fsync(stream.fileno())

    @staticmethod
    def _ends_a_line(stream: Any) -> bool:
        stream.seek(-1, os.SEEK_END)
        return bool(stream.read(1) == b"\n")

    def runs(self) -> list[Run]:
        """Every run, the oldest first."""
        runs: dict[str, Run] = {}
        if not self.path.exists():
            return []
        for place, line in enumerate(self.path.read_bytes().splitlines()):
            try:
                self._add(json.loads(line), runs, place)
            except (
                ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError
            ):  # fmt: skip
                continue  # cut short by a crash, or not ours
        return list(runs.values())

    @staticmethod
    def _add(event: Mapping[str, Any], runs: dict[str, Run], place: int) -> None:
        if event["event"] == "begin" and event["run"] not in runs:
            questions = tuple(str(each) for each in event["questions"])
            if questions:
                named = event.get("language")
                language = next((each for each in LANGUAGES if each == named), None)
                run = Run(
                    event["run"], event["quiz"], event["at"], questions, event["whole"], language
                )
                runs[run.id] = run
        elif event["event"] == "answer" and event["question"] in runs[event["run"]].questions:
            score = event["score"]
            runs[event["run"]].answers.append(
                Answer(
                    event["question"],
                    str(event["at"]),
                    None if score is None else min(1.0, max(0.0, float(score))),
                    event["answer"],
                    bool(event["skipped"]),
                    place,
                )
            )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
