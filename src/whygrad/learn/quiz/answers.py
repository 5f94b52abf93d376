"""Judging: an answer in, a score between 0 and 1 and what to say about it out.

Pure functions, so that the terminal, the tests and the page in a browser agree; ``page/quiz.js``
says the same in another language and is tested with the same cases.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from whygrad.learn.content import Option, Question
from whygrad.learn.language import Language, Words

__all__ = [
    "LETTERS",
    "Printed",
    "Remark",
    "Verdict",
    "first_out_of_place",
    "judge_choice",
    "judge_line",
    "judge_mentions",
    "judge_number",
    "judge_order",
    "judge_output",
    "same_line",
    "shown_options",
    "signs_of",
]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NUMBERS = "123456789"
_SLACK = 1e-9  # of the answer, for sums that are off in the last bits
_SAME_NUMBER = 1e-6  # relative, between a predicted and a printed number
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)", re.A)
_TOKEN = re.compile(r"([^\W\d]\w*)|([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(\S)", re.A)


@dataclass(frozen=True)
class Remark:
    """What the author says about a choice or a line."""

    about: str  # an option's id, a line's number
    right: bool  # the learner did well there
    missed: bool  # it belongs to the answer and was not chosen
    text: Words | None


@dataclass(frozen=True)
class Verdict:
    score: float
    answer: object  # as it is kept: plain data
    remarks: tuple[Remark, ...] = ()

    @property
    def right(self) -> bool:
        return self.score == 1


@dataclass(frozen=True)
class Printed:
    """One line of a program's output beside the learner's; ``None`` where one has no more."""

    expected: str | None
    given: str | None
    same: bool
    comma: bool = False  # it would be the same with a point for the decimals


def shown_options(question: Question, seed: str | None = None) -> tuple[Option, ...]:
    """The options in the order in which they are shown; the learner's letters follow it.

    Without a seed the choices stand as in the file, while the items of an ordering are always
    mixed, and never stand in the right order.
    """
    options = list(question.options)
    if question.kind == "order":
        mix = random.Random(f"{seed or ''}{question.id}")
        while tuple(options) == question.options:
            mix.shuffle(options)
    elif seed is not None:
        random.Random(f"{seed}{question.id}").shuffle(options)
    return tuple(options)


def signs_of(question: Question) -> str:
    """What stands before the options as shown: letters, or numbers where a letter could be a name.

    What is put in order is often code, and ``a`` is a variable there.
    """
    return (_NUMBERS if question.kind == "order" else LETTERS)[: len(question.options)]


def judge_choice(question: Question, chosen: Collection[str]) -> Verdict:
    """Of ids of options.  With several right ones, each wrong choice takes one right one back."""
    right = {option.id for option in question.options if option.correct}
    picked = set(chosen)
    score = max(0, len(picked & right) - len(picked - right)) / len(right)
    # of a single choice the explanation already says what would have been right
    missed = right - picked if question.kind == "multiple" else set()
    remarks = tuple(
        Remark(option.id, option.id in picked & right, option.id in missed, option.feedback)
        for option in question.options
        if option.id in picked | missed
    )
    return Verdict(score, sorted(picked), remarks)


def judge_number(question: Question, value: float) -> Verdict:
    """Right within the question's tolerance."""
    assert question.answer is not None
    off = abs(value - question.answer)
    right = off <= question.tolerance + _SLACK * abs(question.answer)
    return Verdict(float(right), value)


def judge_order(question: Question, items: Sequence[str]) -> Verdict:
    """Of ids of items, all in place or not."""
    return Verdict(float(first_out_of_place(question, items) is None), list(items))


def first_out_of_place(question: Question, items: Sequence[str]) -> int | None:
    """The first position, counted from 0, at which another item belongs."""
    belongs = [option.id for option in question.options]
    return next((at for at, (one, other) in enumerate(zip(items, belongs)) if one != other), None)


def judge_mentions(text: str, mentioned: Sequence[bool]) -> Verdict:
    """Of a free answer, by what the learner says it mentions."""
    return Verdict(sum(mentioned) / len(mentioned), {"text": text, "mentions": list(mentioned)})


def judge_line(question: Question, line: int) -> Verdict:
    """Of the number of the line with the bug."""
    right = line in question.lines
    return Verdict(
        float(right), line, (Remark(str(line), right, False, question.line_feedback.get(line)),)
    )


def judge_output(
    expected: str, given: str, language: Language = "en"
) -> tuple[Verdict, tuple[Printed, ...]]:
    """Of what a program prints, line by line; empty lines do not count.

    A comma is Spanish for the decimal point; elsewhere the row says that it was the comma.
    """
    rows = tuple(
        _row(line, mine, language) for line, mine in zip_longest(_lines(expected), _lines(given))
    )
    score = sum(row.same for row in rows) / len(rows) if rows else 1.0
    return Verdict(score, given), rows


def _row(expected: str | None, given: str | None, language: Language) -> Printed:
    if expected is None or given is None:
        return Printed(expected, given, same=False)
    same = same_line(expected, given)
    comma = not same and same_line(expected, _DECIMAL_COMMA.sub(".", given))
    if comma and language == "es":
        return Printed(expected, given, same=True)
    return Printed(expected, given, same, comma)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def same_line(expected: str, given: str) -> bool:
    """Whether the words are the same and the numbers within 1e-6 of each other.

    White space separates and is otherwise ignored: ``[1., 2.]`` is ``[1.0,2]``, not ``[12]``.
    """
    one, other = _tokens(expected), _tokens(given)
    return len(one) == len(other) and all(map(_same_token, one, other))


def _tokens(line: str) -> list[tuple[str, float]]:
    """Words, numbers and signs, with the value of each; nan where it is no number."""
    return [
        (match[0], float(match[2]) if match[2] else math.nan)
        for match in _TOKEN.finditer(line.replace("−", "-"))
    ]


def _same_token(one: tuple[str, float], other: tuple[str, float]) -> bool:
    if one[0] == other[0]:
        return True
    return (
        math.isfinite(one[1])
        and math.isfinite(other[1])
        and math.isclose(one[1], other[1], rel_tol=_SAME_NUMBER)
    )
