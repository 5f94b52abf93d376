"""A quiz as a Markdown page: the questions to read, each answer behind a fold."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from whygrad.learn.content import Question, Quiz
from whygrad.learn.markup import fenced, to_markdown
from whygrad.learn.quiz.answers import shown_options, signs_of
from whygrad.learn.quiz.repair import repair
from whygrad.learn.quiz.running import CannotRun, output_of
from whygrad.learn.quiz.words import Speech

__all__ = ["Link", "markdown_page", "questions_section"]

Link = Callable[[str], str]
"""A reference as Markdown."""


def markdown_page(quizzes: Sequence[Quiz], say: Speech) -> str:
    """One file with everything."""
    parts = []
    for quiz in quizzes:
        parts.append(f"# {to_markdown(say.of(quiz.title))}")
        parts.append(to_markdown(say.of(quiz.about)))
        parts.append(questions_section(quiz, say, lambda each: f"`{say.place_in_a_file(each)}`"))
    return "\n\n".join(parts) + "\n"


def questions_section(quiz: Quiz, say: Speech, link: Link) -> str:
    """The questions of a quiz, as chapters of the second level."""
    return "\n\n".join(_question(question, say, link) for question in quiz.questions)


def _question(question: Question, say: Speech, link: Link) -> str:
    kind = say(f"kind_{question.kind}")
    parts = [
        f"## {question.id} · {say.topic(question.topic)} · {kind}",
        to_markdown(say.of(question.prompt)),
    ]
    if question.code:
        parts.append(_program(question))
    options = shown_options(question)
    if options:
        items = [
            _item(f"**{sign})** {to_markdown(say.of(option.text))}")
            for sign, option in zip(signs_of(question), options)
        ]
        parts.append("\n".join(items))
    parts.append(f"<details>\n<summary>{say('answer')}</summary>")
    parts += _answer(question, say)
    parts.append(to_markdown(say.of(question.explanation)))
    if question.fix:
        parts += [say("repair"), fenced(repair(question), "diff")]
    parts.append(f"{say('look_at')} {' · '.join(map(link, question.see))}")
    parts.append("</details>")
    return "\n\n".join(parts)


def _program(question: Question) -> str:
    """With line numbers where they are asked for; then it is no longer Python to colour."""
    if question.kind != "bug":
        return fenced(question.code, "py")
    lines = question.code.rstrip("\n").splitlines()
    numbered = (f"{number:2}  {line}".rstrip() for number, line in enumerate(lines, 1))
    return fenced("\n".join(numbered), "text")


def _item(text: str) -> str:
    """A point of a list, with its later paragraphs inside it.

    The asterisk keeps it apart from a list at the end of the text before.
    """
    first, *rest = text.splitlines()
    return "\n".join((f"* {first}", *(textwrap.indent("\n".join(rest), "  ").splitlines())))


def _answer(question: Question, say: Speech) -> list[str]:
    if question.kind in ("single", "multiple"):
        return [_choices(question, say)]
    if question.kind == "order":
        shown = zip(signs_of(question), shown_options(question))
        numbers = {option.id: number for number, option in shown}
        order = " ".join(numbers[option.id] for option in question.options)
        return [f"{say('order_is')} **{order}**"]
    if question.kind == "numeric":
        assert question.answer is not None
        near = ""
        if question.tolerance:
            near = f" ({say('tolerance', tolerance=say.number(question.tolerance))})"
        return [f"**{say.number(question.answer)}**{near}"]
    if question.kind == "free":
        mentions = "\n".join(_item(to_markdown(say.of(mention))) for mention in question.rubric)
        model = [to_markdown(say.of(question.model_answer))] if question.model_answer else []
        return [*model, say("good_answer_mentions"), mentions]
    if question.kind == "bug":
        lines = ", ".join(map(str, question.lines))
        notes = [
            _item(f"**{line}** ✗ {to_markdown(say.of(text))}")
            for line, text in sorted(question.line_feedback.items())
        ]
        return [f"**{say('line_is', lines=lines)}**", *(["\n".join(notes)] if notes else [])]
    try:
        return [say("prints"), fenced(output_of(question.code), "text")]
    except CannotRun as problem:
        return [to_markdown(say("cannot_run", reason=problem))]


def _choices(question: Question, say: Speech) -> str:
    items = []
    for letter, option in zip(signs_of(question), question.options):
        sign = "✓" if option.correct else "✗"
        why = to_markdown(say.of(option.feedback)) if option.feedback else ""
        items.append(_item(f"**{letter})** {sign} {why}".rstrip()))
    return "\n".join(items)
