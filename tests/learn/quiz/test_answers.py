"""Judging: what a person would call the same answer counts, and nothing else does."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.quiz.cases import DECIMALS, LINE_NUMBERS, NEAR, NUMBERS, PERCENTS, SAME_LINES
from tests.learn.quiz.course import fixture_quiz
from whygrad.learn.content import Question
from whygrad.learn.language import Language
from whygrad.learn.quiz.answers import (
    first_out_of_place,
    judge_choice,
    judge_line,
    judge_mentions,
    judge_number,
    judge_order,
    judge_output,
    same_line,
    shown_options,
)
from whygrad.learn.quiz.reading import (
    LONGEST_ANSWER,
    Unreadable,
    cleaned,
    read_line_number,
    read_number,
    read_one_letter,
    read_order,
    read_several_letters,
    read_yes,
)
from whygrad.learn.shares import whole_percent

QUESTIONS = {question.id: question for question in fixture_quiz().questions}


def outcome(reader, *arguments: object) -> object:
    try:
        return reader(*arguments)
    except Unreadable as problem:
        return problem.key


@pytest.mark.parametrize(("text", "language", "expected"), NUMBERS)
def test_numbers(text: str, language: str, expected: float | str) -> None:
    assert outcome(read_number, text, language) == expected


@pytest.mark.parametrize(("share", "expected"), PERCENTS)
def test_percents(share: float, expected: int) -> None:
    assert whole_percent(share) == expected


@pytest.mark.parametrize(("expected", "given", "language", "same", "comma"), DECIMALS)
def test_a_decimal_comma_in_a_prediction(
    expected: str, given: str, language: Language, same: bool, comma: bool
) -> None:
    _, (row,) = judge_output(expected, given, language)
    assert (row.same, row.comma) == (same, comma)


@pytest.mark.parametrize(("text", "expected"), LINE_NUMBERS)
def test_line_numbers(text: str, expected: int | str) -> None:
    assert outcome(read_line_number, text, 4) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("b", "b"), (" B) ", "b"), ("(b).", "b"), ("d", "one_letter"), ("a b", "one_letter"),
     ("ab", "one_letter"), ("", "one_letter"), ("b!", "one_letter"), ("б", "one_letter")],
)  # fmt: skip
def test_one_letter(text: str, expected: str) -> None:
    assert outcome(read_one_letter, text, "abc") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a c", ("a", "c")), ("ca", ("a", "c")), ("C, A; a", ("a", "c")), ("b", ("b",)),
     ("a x", "some_letters"), ("", "some_letters"), ("...", "some_letters"),
     ("a" * 5000, ("a",)), ("a and c", "some_letters")],
)  # fmt: skip
def test_several_letters(text: str, expected: object) -> None:
    assert outcome(read_several_letters, text, "abc") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3 1 2", ("3", "1", "2")), ("312", ("3", "1", "2")), ("3. > 1 > 2", ("3", "1", "2")),
     ("3) -> 1 → 2", ("3", "1", "2")), ("1 2", "every_number_once"),
     ("1 2 2", "every_number_once"), ("1 2 3 4", "every_number_once"),
     ("", "every_number_once"), ("a b c", "every_number_once")],
)  # fmt: skip
def test_order_is_read(text: str, expected: object) -> None:
    assert outcome(read_order, text, "123") == expected


@pytest.mark.parametrize(
    ("text", "english", "spanish"),
    [("y", True, True), ("Yes", True, True), ("s", "yes_or_no", True),
     ("SÍ", "yes_or_no", True), ("si", "yes_or_no", True), ("n", False, False),
     ("NO", False, False), ("", "yes_or_no", "yes_or_no"), ("yy", "yes_or_no", "yes_or_no")],
)  # fmt: skip
def test_yes_or_no(text: str, english: object, spanish: object) -> None:
    assert outcome(read_yes, text, "en") == english
    assert outcome(read_yes, text, "es") == spanish


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x07", "\ufffd[31mred\ufffd"),
        ("a\tb\r\nc\rd", "a b\nc\nd"),
        ("\ufeffb\u200b", "b"),  # a mark of the file's encoding, a space without width
        ("\u202eabc", "abc"),  # nothing may turn the line around
        ("half \ud83d", "half \ufffd"),
        ("n\u0303", "ñ"),
        ("\0", "\ufffd"),
    ],
)
def test_what_is_typed_is_made_safe(text: str, expected: str) -> None:
    assert cleaned(text) == expected


def test_a_megabyte_is_cut() -> None:
    assert len(cleaned("x" * 1_000_000)) == LONGEST_ANSWER


@given(st.text())
def test_no_text_breaks_a_reader(text: str) -> None:
    safe = cleaned(text)
    safe.encode("utf-8")
    for reader, arguments in (
        (read_number, ("en",)), (read_number, ("es",)), (read_one_letter, ("abc",)),
        (read_several_letters, ("abc",)), (read_order, ("123",)), (read_line_number, (9,)),
        (read_yes, ("en",)), (read_yes, ("es",)),
    ):  # fmt: skip
        for typed in (text, safe):
            value = outcome(reader, typed, *arguments)
            if reader is read_number and not isinstance(value, str):
                assert math.isfinite(value)
    judge_output(text, safe)


def test_single_choice_explains_what_was_chosen() -> None:
    question = QUESTIONS["q-99-01"]
    wrong, right = judge_choice(question, ["a"]), judge_choice(question, ["b"])
    assert (wrong.score, wrong.right, wrong.answer) == (0, False, ["a"])
    assert [(remark.about, remark.right) for remark in wrong.remarks] == [("a", False)]
    assert wrong.remarks[0].text["en"] == "Speed has nothing to do with it."
    assert (right.score, right.right) == (1, True)
    assert [(remark.about, remark.right) for remark in right.remarks] == [("b", True)]


@pytest.mark.parametrize(
    ("chosen", "score"),
    [("ac", 1), ("a", 0.5), ("abc", 0.5), ("ab", 0), ("b", 0), ("bd", 0), ("abcd", 0)],
)
def test_multiple_choice_takes_back_for_wrong_ones(chosen: str, score: float) -> None:
    verdict = judge_choice(QUESTIONS["q-99-02"], list(chosen))
    assert verdict.score == score
    assert verdict.right == (score == 1)
    missed = {remark.about for remark in verdict.remarks if remark.missed}
    assert missed == set("ac") - set(chosen)
    assert {remark.about for remark in verdict.remarks} == set(chosen) | missed
    assert {remark.about for remark in verdict.remarks if remark.right} == set("ac") & set(chosen)


@pytest.mark.parametrize(("value", "answer", "tolerance", "counts"), NEAR)
def test_tolerance(value: float, answer: float, tolerance: float, counts: bool) -> None:
    asked = QUESTIONS["q-99-03"]
    question = Question(
        asked.id, "numeric", asked.topic, asked.prompt, asked.explanation, asked.see,
        answer=answer, tolerance=tolerance,
    )  # fmt: skip
    assert judge_number(question, value).right == counts


def test_order_is_judged_and_its_first_slip_found() -> None:
    question = QUESTIONS["q-99-04"]
    assert judge_order(question, "abcd").right
    assert judge_order(question, "acbd").score == 0
    assert first_out_of_place(question, "acbd") == 1
    assert first_out_of_place(question, "abcd") is None


def test_items_of_an_ordering_are_always_mixed_and_the_same_way() -> None:
    question = QUESTIONS["q-99-04"]
    shown = shown_options(question)
    assert sorted(option.id for option in shown) == list("abcd")
    assert shown == shown_options(question)
    for seed in map(str, range(200)):
        assert shown_options(question, seed) != question.options


def test_choices_are_mixed_only_with_a_seed() -> None:
    question = QUESTIONS["q-99-02"]
    assert shown_options(question) == question.options
    assert shown_options(question, "5") == shown_options(question, "5")
    orders = ["".join(each.id for each in shown_options(question, str(n))) for n in range(100)]
    assert len(set(orders)) > 10


def test_mentions() -> None:
    assert judge_mentions("text", [True, False, True, False]).score == 0.5
    assert judge_mentions("text", [True] * 3).right
    assert judge_mentions("text", [False]).answer == {"text": "text", "mentions": [False]}


def test_lines_of_a_bug() -> None:
    question = QUESTIONS["q-99-07"]
    assert judge_line(question, 3).right
    (remark,) = judge_line(question, 1).remarks
    assert remark.text is not None
    assert remark.text["es"] == "Empezar en `0.0` es correcto."
    (remark,) = judge_line(question, 4).remarks
    assert (remark.about, remark.right, remark.text) == ("4", False, None)


@pytest.mark.parametrize(("expected", "given_", "same"), SAME_LINES)
def test_same_line(expected: str, given_: str, same: bool) -> None:
    assert same_line(expected, given_) == same
    assert same_line(given_, expected) == same


def test_output_is_compared_line_by_line() -> None:
    verdict, rows = judge_output("1.0\n2.0\n\n3.0\n", "1\n\n 5 ")
    assert verdict.score == pytest.approx(1 / 3)
    assert [(row.expected, row.given, row.same) for row in rows] == [
        ("1.0", "1", True),
        ("2.0", " 5", False),
        ("3.0", None, False),
    ]
    assert judge_output("1\n", "1\n2")[0].score == 0.5
    assert judge_output("", "")[0].right
    assert judge_output("", "x")[0].score == 0
