"""A quiz as one HTML page that asks and scores by itself: no network, no other file.

The page is complete without its script (questions, inputs, answers behind a fold); the script only
judges.  Every input has a label, every group a legend, every result is announced.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from importlib.resources import files

from whygrad.learn.content import Option, Question, Quiz
from whygrad.learn.markup import to_html, to_plain
from whygrad.learn.quiz.answers import shown_options
from whygrad.learn.quiz.colours import numbered_lines
from whygrad.learn.quiz.record import answer_of
from whygrad.learn.quiz.repair import repair
from whygrad.learn.quiz.words import Speech

__all__ = ["html_page"]

_SPOKEN = (
    "a_finite_number", "a_line", "a_number", "belongs", "choose_first", "compare_yourself",
    "mentioned_of", "moved", "no_comma", "not_that_line", "nothing_there", "out_of_place",
    "partly", "percent", "printed_line", "right", "score_now", "write_first", "wrong", "your_line",
)  # fmt: skip
"""The phrases that the script says."""

_INLINE = {
    "<p>": "", "</p>": " ", "<ul>": "", "</ul>": "", "<li>": "<br>• ", "</li>": "",
    "<pre>": '<span class="inline-program">', "</pre>": "</span>",
}  # fmt: skip


def html_page(quizzes: Sequence[Quiz], say: Speech) -> str:
    """The whole page."""
    style, script = (
        files("whygrad.learn.quiz").joinpath("page", name).read_text(encoding="utf-8")
        for name in ("quiz.css", "quiz.js")
    )
    several = len(quizzes) > 1
    title = (
        say("several_quizzes", count=len(quizzes))
        if several
        else to_plain(say.of(quizzes[0].title))
    )
    return f"""<!doctype html>
<html lang="{say.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{html.escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#questions">{_said(say, "to_questions")}</a>
<header>
<h1>{html.escape(title)}</h1>
<p>{_said(say, "first_counts")}</p>
<noscript><p>{_said(say, "needs_script")}</p></noscript>
{_contents(quizzes, say) if several else ""}
</header>
<main id="questions" tabindex="-1">
{"".join(_quiz(quiz, say, several) for quiz in quizzes)}
{_summary(say)}
</main>
<footer id="standing" hidden>
<span id="score" role="status" aria-live="polite"></span>
</footer>
<script type="application/json" id="data">{_data(quizzes, say)}</script>
<script>
{script}</script>
</body>
</html>
"""


def _contents(quizzes: Sequence[Quiz], say: Speech) -> str:
    entries = "".join(
        f'<li><a href="#{quiz.id}">{html.escape(to_plain(say.of(quiz.title)))}</a> '
        f"({len(quiz.questions)})</li>"
        for quiz in quizzes
    )
    return f"""<nav aria-labelledby="contents">
<h2 id="contents">{_said(say, "contents")}</h2>
<ul>{entries}</ul>
</nav>"""


def _said(say: Speech, key: str, **details: object) -> str:
    return html.escape(say(key, **details))


def _data(quizzes: Sequence[Quiz], say: Speech) -> str:
    """What the script needs to judge; ``<`` is escaped, so nothing in it can end the element."""
    record = {
        "language": say.language,
        "phrases": {key: to_plain(say.raw(key)) for key in _SPOKEN},
        "questions": {
            question.id: _judged(question, say)
            for quiz in quizzes
            for question in quiz.questions
            if _can_be_asked(question)
        },
    }
    return json.dumps(record, ensure_ascii=False).replace("<", "\\u003c")


def _can_be_asked(question: Question) -> bool:
    return answer_of(question) is not None


def _judged(question: Question, say: Speech) -> dict[str, object]:
    answer = answer_of(question)
    fields: dict[str, object] = {
        "kind": question.kind,
        "topic": say.topic(question.topic),
        "answer": answer,
    }
    if question.kind == "numeric":
        fields["tolerance"] = question.tolerance
    elif question.kind == "bug":
        fields["count"] = len(question.code.splitlines())
    elif question.kind == "free":
        fields |= {"answer": None, "count": len(question.rubric)}
    elif question.kind == "predict" and isinstance(answer, list):
        fields["answer"] = "\n".join(answer)
    return fields


def _quiz(quiz: Quiz, say: Speech, is_one_of_several: bool) -> str:
    heading = ""
    if is_one_of_several:
        heading = f'<h2 id="{quiz.id}">{html.escape(to_plain(say.of(quiz.title)))}</h2>'
    asked = [question for question in quiz.questions if _can_be_asked(question)]
    questions = "".join(
        _question(question, say, place, len(asked)) for place, question in enumerate(asked, 1)
    )
    return f"{heading}\n{to_html(say.of(quiz.about))}\n{questions}"


def _question(question: Question, say: Speech, place: int, total: int) -> str:
    name = question.id
    at = say("place", place=place, total=total)
    heading = f"{at} · {name} · {say.topic(question.topic)}"
    program = ""
    if question.code:
        label = _said(say, "program_of", id=name)
        program = (
            f'<ol class="program" tabindex="0" aria-label="{label}">'
            f"{numbered_lines(question.code)}</ol>"
        )
    return f"""
<form class="question" id="{name}" aria-labelledby="{name}-heading" autocomplete="off" novalidate>
<h3 id="{name}-heading">{html.escape(heading)}</h3>
<div id="{name}-prompt">{to_html(say.of(question.prompt))}</div>
{program}
{_input(question, say)}
<button type="submit" aria-describedby="{name}-heading">{_said(say, "check")}</button>
<div class="result" role="status" aria-live="polite"></div>
{_rubric(question, say) if question.rubric else ""}
<details><summary>{_said(say, "answer")} <span class="unseen">{name}</span></summary>
{_answer(question, say)}
{to_html(say.of(question.explanation))}
{_repair(question, say)}
<p>{_said(say, "look_at")} {" · ".join(_place(each, say) for each in question.see)}</p>
</details>
</form>
"""


def _place(reference: str, say: Speech) -> str:
    return f"<code>{html.escape(say.place_in_a_file(reference))}</code>"


def _input(question: Question, say: Speech) -> str:
    name, kind = question.id, question.kind
    count = len(question.code.splitlines())
    ask = _said(say, f"ask_{kind}", count=count)
    described = f'aria-describedby="{name}-prompt"'
    if kind in ("single", "multiple"):
        options = "".join(_option(question, option, say) for option in question.options)
        return f"<fieldset {described}><legend>{ask}</legend>{options}</fieldset>"
    if kind == "order":
        items = "".join(_movable(option, say) for option in shown_options(question))
        return (
            f'<fieldset {described}><legend>{ask}</legend><ol class="order">{items}</ol>'
            '<p class="moved unseen" role="status" aria-live="polite"></p></fieldset>'
        )
    label = f'<label class="field-label" for="{name}-answer">{ask}</label>'
    field = f'id="{name}-answer" name="answer" {described} spellcheck="false"'
    if kind in ("numeric", "bug"):
        mode = "text" if kind == "numeric" else "numeric"
        return f'<p>{label}<input type="text" inputmode="{mode}" {field}></p>'
    return f"<p>{label}<textarea {field}></textarea></p>"


def _option(question: Question, option: Option, say: Speech) -> str:
    kind = "radio" if question.kind == "single" else "checkbox"
    feedback = ""
    if option.feedback:
        feedback = (
            f'<div class="feedback" data-feedback="{option.id}" hidden>'
            f'<span class="mark"></span>{to_html(say.of(option.feedback))}</div>'
        )
    return (
        f'<div class="option"><label><input type="{kind}" name="answer" value="{option.id}">'
        f"<span>{_phrasing(say.of(option.text))}</span></label>{feedback}</div>"
    )


def _phrasing(source: str) -> str:
    """A text inside a label, where only inline elements may stand."""
    text = to_html(source)
    for block, instead in _INLINE.items():
        text = text.replace(block, instead)
    return text.strip()


def _movable(option: Option, say: Speech) -> str:
    name = html.escape(to_plain(say.of(option.text)))
    buttons = "".join(
        f'<button type="button" data-move="{way}" aria-label="{_said(say, f"move_{way}")}: {name}">'
        f"{arrow}</button>"
        for way, arrow in (("up", "↑"), ("down", "↓"))
    )
    return (
        f'<li data-item="{option.id}"><div><div class="item">{to_html(say.of(option.text))}</div>'
        f"{buttons}</div></li>"
    )


def _rubric(question: Question, say: Speech) -> str:
    mentions = "".join(
        f'<div class="option"><label><input type="checkbox">'
        f"<span>{_phrasing(say.of(mention))}</span></label></div>"
        for mention in question.rubric
    )
    return (
        f'<fieldset class="rubric" hidden><legend>{_said(say, "grade_yourself")}</legend>'
        f'{mentions}<p class="mentioned" role="status" aria-live="polite"></p></fieldset>'
    )


def _answer(question: Question, say: Speech) -> str:
    """What is right, for the fold."""
    texts = [to_html(say.of(option.text)) for option in question.options if option.correct]
    if texts:
        return f"<p>{_said(say, 'answer_is')}</p><ul>{''.join(f'<li>{t}</li>' for t in texts)}</ul>"
    if question.kind == "order":
        items = "".join(f"<li>{to_html(say.of(option.text))}</li>" for option in question.options)
        return f"<p>{_said(say, 'order_is')}</p><ol>{items}</ol>"
    if question.kind == "numeric":
        assert question.answer is not None
        answer = say.number(question.answer)
        if question.tolerance:
            answer += f" ({say('tolerance', tolerance=say.number(question.tolerance))})"
        return f"<p>{_said(say, 'answer_is')} <strong>{html.escape(answer)}</strong></p>"
    if question.kind == "bug":
        lines = ", ".join(map(str, question.lines))
        notes = "".join(
            f'<div data-line="{line}" hidden>{to_html(say.of(text))}</div>'
            for line, text in question.line_feedback.items()
        )
        return f"{notes}<p><strong>{_said(say, 'line_is', lines=lines)}</strong></p>"
    if question.kind == "predict":
        printed = answer_of(question)
        assert isinstance(printed, list)
        text = html.escape("\n".join(printed))
        return f'<p>{_said(say, "prints")}</p><pre tabindex="0">{text}</pre>'
    model = to_html(say.of(question.model_answer)) if question.model_answer else ""
    items = "".join(f"<li>{_phrasing(say.of(mention))}</li>" for mention in question.rubric)
    mentions = f"<p>{_said(say, 'good_answer_mentions')}</p><ul>{items}</ul>"
    return f"{model}<noscript>{mentions}</noscript>"


def _repair(question: Question, say: Speech) -> str:
    if not question.fix:
        return ""
    classes = {"+": "added", "-": "removed"}
    lines = "\n".join(
        f'<span class="{classes.get(line[:1], "kept")}">{html.escape(line)}</span>'
        for line in repair(question).splitlines()
    )
    return f'<p>{_said(say, "repair")}</p><pre tabindex="0">{lines}</pre>'


def _summary(say: Speech) -> str:
    heads = "".join(
        f'<th scope="col">{_said(say, key)}</th>' for key in ("topic", "score", "questions")
    )
    return f"""
<section id="summary" aria-labelledby="summary-heading" hidden>
<h2 id="summary-heading">{_said(say, "your_score")}</h2>
<table><thead><tr>{heads}</tr></thead><tbody></tbody></table>
<div id="to-repeat" hidden><h3>{_said(say, "to_repeat")}</h3><ul id="repeat"></ul></div>
<p><button type="button" id="again">{_said(say, "start_over")}</button></p>
</section>
"""
