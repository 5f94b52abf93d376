"""What a learner answered, and how they stand with each quiz.

In the journal an attempt begins with the list of the questions it will ask, so that a later start
can go on where an earlier one stopped.  Each answer reaches the disk before the next question is
asked.  A line that is no entry is reported and passed over; the rest still counts.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whygrad.learn.content import Quiz
from whygrad.learn.home import data_folder
from whygrad.learn.journal import Journal, field
from whygrad.learn.language import LANGUAGES, Language

__all__ = ["Answer", "QuizProgress", "QuizStanding", "Run", "journal"]


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
    answers: list[Answer] = attribute(default_factory=list)

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
class QuizStanding:
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


def journal(path: Path | None = None) -> Journal[Run | tuple[str, Answer]]:
    """The answers of a learner: where they usually are, or in another file."""
    return Journal(path or data_folder() / "quizzes.jsonl", _entry, "an answer")


class QuizProgress:
    """A learner's answers, in the journal."""

    def __init__(self, path: Path | None = None) -> None:
        self.journal = journal(path)

    def standing(self, quiz: Quiz) -> QuizStanding:
        return self.standings((quiz,))[0]

    def standings(self, quizzes: Sequence[Quiz]) -> list[QuizStanding]:
        runs = self.runs()
        return [
            QuizStanding(quiz, tuple(run for run in runs if run.quiz == quiz.id))
            for quiz in quizzes
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
        """Add an answer to the run and to the journal."""
        kept = Answer(question, _now(), score, answer, skipped)
        begin = {
            "event": "begin",
            "at": run.at,
            "run": run.id,
            "quiz": run.quiz,
            "whole": run.whole,
            "language": run.language,
            "questions": run.questions,
        }
        given = {
            "event": "answer",
            "at": kept.at,
            "run": run.id,
            "question": question,
            "score": score,
            "answer": answer,
            "skipped": skipped,
        }
        self.journal.append(*([] if run.answers else [begin]), given)
        run.answers.append(kept)

    def runs(self) -> list[Run]:
        """Every run, the oldest first."""
        runs: dict[str, Run] = {}
        for place, entry in enumerate(self.journal.read().entries):
            if isinstance(entry, Run):
                runs.setdefault(entry.id, entry)
            else:
                run, answer = entry
                if run in runs and answer.question in runs[run].questions:
                    runs[run].answers.append(replace(answer, place=place))
        return list(runs.values())


def _entry(raw: dict[str, Any]) -> Run | tuple[str, Answer]:
    """The beginning of a run, or an answer and the id of its run."""
    event, run, at = (field(raw, name, str) for name in ("event", "run", "at"))
    if event == "begin":
        questions = tuple(map(str, field(raw, "questions", list)))
        if not questions:
            raise ValueError('"questions" is an empty list')
        language = next((each for each in LANGUAGES if each == raw.get("language")), None)
        whole = field(raw, "whole", bool)
        return Run(run, field(raw, "quiz", str), at, questions, whole, language)
    if event == "answer":
        score, skipped = _score(field(raw, "score")), field(raw, "skipped", bool)
        question = field(raw, "question", str)
        return run, Answer(question, at, score, field(raw, "answer"), skipped)
    raise ValueError(f'"event" is {event!r}, not begin or answer')


def _score(value: object) -> float | None:
    """Between 0 and 1, whatever somebody wrote there."""
    if value is None:
        return None
    try:
        return min(1.0, max(0.0, float(value)))  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f'"score" is {value!r:.40}, not a number or null') from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
