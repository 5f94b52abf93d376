"""The course's own quizzes can be answered: all right and all wrong, in both languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.learn.quiz.browser import BROWSER, opened
from whygrad.cli.commands import cli
from whygrad.learn.content import Question, Quiz, quizzes
from whygrad.learn.quiz.answers import LETTERS, shown_options, signs_of
from whygrad.learn.quiz.record import answer_of

QUIZZES = [pytest.param(quiz, id=quiz.number) for quiz in quizzes()]


@pytest.fixture(autouse=True)
def course() -> None:
    """The real one."""


def right_answer(question: Question) -> str:
    """What a learner types who knows it."""
    answer = answer_of(question)
    assert answer is not None, "the program cannot run"
    if question.kind == "numeric":
        return f"{answer!r}\n"
    assert isinstance(answer, list)
    if question.kind == "free":
        return "words\n\n" + "y\n" * len(answer)
    if question.kind == "predict":
        return "".join(f"{line}\n" for line in answer if line.strip()) + "\n"
    if question.kind == "bug":
        return f"{answer[0]}\n"
    letters = {each.id: sign for sign, each in zip(signs_of(question), shown_options(question))}
    return " ".join(letters[each] for each in answer) + "\n"


def wrong_answer(question: Question) -> str:
    """What a learner types who does not."""
    if question.kind == "numeric":
        assert question.answer is not None
        return f"{question.answer + 2 * question.tolerance + 1!r}\n"
    if question.kind == "free":
        return "words\n\n" + "n\n" * len(question.rubric)
    if question.kind == "predict":
        return "nothing of the kind\n\n"
    if question.kind == "bug":
        count = len(question.code.splitlines())
        return f"{next(n for n in range(1, count + 1) if n not in question.lines)}\n"
    if question.kind == "order":
        return " ".join(signs_of(question)) + "\n"
    wrong = [letter for letter, each in zip(LETTERS, question.options) if not each.correct]
    return f"{wrong[0]}\n" if wrong else "a\n"  # where all are right, one is half an answer


def asked(quiz: Quiz, language: str, answers: str) -> str:
    result = CliRunner().invoke(cli, ["quiz", quiz.number, "--lang", language], input=answers)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 80
    return result.output


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("quiz", QUIZZES)
def test_all_right(quiz: Quiz, language: str) -> None:
    output = asked(quiz, language, "".join(map(right_answer, quiz.questions)))
    count = len(quiz.questions)
    assert re.search(rf": {count} (of|de) {count} \(100 ?%\)", output), output[-3000:]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("quiz", QUIZZES)
def test_all_wrong(quiz: Quiz, language: str) -> None:
    output = asked(quiz, language, "".join(map(wrong_answer, quiz.questions)))
    assert output.count("✓ Right.") + output.count("✓ Correcto.") == 0
    for place, question in enumerate(quiz.questions):
        assert output.count(question.id) == (2 if place < 5 else 1), "asked, and to repeat"
    *_, score = re.finditer(r"^(Your score|Tu puntuación): ", output, re.M)
    assert output[score.start() :].count("\n") <= 5, "in sight at the end"


ANSWERED = """
(() => {
  const answers = ANSWERS;
  for (const form of document.querySelectorAll("form.question")) {
    const answer = answers[form.id];
    const list = form.querySelector(".order");
    if (list) for (const id of answer) list.append(list.querySelector(`[data-item=${id}]`));
    else if (form.elements.answer.tagName) form.elements.answer.value = answer;
    else for (const box of form.elements.answer) box.checked = answer.includes(box.value);
    form.requestSubmit();
    for (const box of form.querySelectorAll(".rubric input")) box.click();
  }
  return document.getElementById("score").textContent;
})()
"""


@pytest.mark.skipif(BROWSER is None, reason="no chromium or chrome to open the page with")
@pytest.mark.parametrize("quiz", QUIZZES)
def test_all_right_in_a_browser(quiz: Quiz, tmp_path: Path) -> None:
    target = tmp_path / "quiz.html"
    result = CliRunner().invoke(cli, ["quiz", quiz.number, "--export", str(target)])
    assert result.exit_code == 0, result.output
    answers: dict[str, object] = {}
    for question in quiz.questions:
        answer = answer_of(question)
        if question.kind == "predict" and isinstance(answer, list):
            answer = "\n".join(map(str, answer))
        elif question.kind == "bug" and isinstance(answer, list):
            answer = answer[0]
        answers[question.id] = "words" if question.kind == "free" else answer
    with opened(target, tmp_path / "profile", width=400) as page:
        score = page.value(ANSWERED.replace("ANSWERS", json.dumps(answers)))
        count = len(quiz.questions)
        assert score == f"Score: {count} · answered: {count} of {count}"
        assert page.value("document.documentElement.scrollWidth") <= 400
        assert page.complaints == []


@pytest.mark.parametrize("quiz", QUIZZES)
def test_every_option_has_a_sign_of_its_own(quiz: Quiz) -> None:
    for question in quiz.questions:
        assert len(signs_of(question)) == len(question.options), "digits end at 9, letters at z"
