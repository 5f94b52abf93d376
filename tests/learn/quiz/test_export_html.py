"""The exported page: one file that judges as the terminal does, for every eye and every hand."""

from __future__ import annotations

import html.parser
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.learn.quiz.browser import BROWSER, Page, opened
from tests.learn.quiz.cases import DECIMALS, LINE_NUMBERS, NEAR, NUMBERS, PERCENTS, SAME_LINES
from whygrad.cli.commands import cli
from whygrad.learn.content import quizzes
from whygrad.learn.quiz.export_html import html_page
from whygrad.learn.quiz.words import Speech

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium or chrome to open it with")
_VOID = {"meta", "br", "input"}


def exported(folder: Path, language: str = "en") -> Path:
    target = folder / f"quiz-{language}.html"
    arguments = ["quiz", "99", "--export", str(target), "--lang", language]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    return target


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with opened(exported(tmp_path), tmp_path / "profile") as shown:
        yield shown


class Outline(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.getpos())


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_page_is_well_formed_and_needs_nothing(tmp_path: Path, language: str) -> None:
    text = exported(tmp_path, language).read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(text)
    outline.close()
    assert outline.open == []
    tags = outline.found
    assert dict(tags)["html"] == {"lang": language}
    assert not re.search(r"(src|href)=\"(?!#)|url\(|@import|https?:", text)
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in tags:
        for reference in ("aria-labelledby", "aria-describedby", "for"):
            assert attributes.get(reference, ids[0]) in ids
    names = [tag for tag, _ in tags]
    assert names.count("h1") == 1
    assert names.count("legend") == names.count("fieldset")
    labelled = {attributes.get("for") for tag, attributes in tags if tag == "label"}
    for tag, attributes in tags:
        if tag == "textarea" or (tag, attributes.get("type")) == ("input", "text"):
            assert attributes["id"] in labelled
    assert all('aria-live="polite"' in form for form in text.split("<form ")[1:])


def test_the_texts_of_the_quiz_cannot_break_out(tmp_path: Path) -> None:
    text = exported(tmp_path).read_text(encoding="utf-8")
    assert "<quiz>" not in text
    data = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert data is not None
    assert "<" not in data[1]
    assert json.loads(data[1])["questions"]["q-99-06"]["answer"] == "y < 12.0 >\n2.3333333333333335"


HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)> \"' onfocus=alert(1) x='"
    " `</code><img>` $</span><img>$ **</strong><img>** <!-- </style></details></form> {moved}"
)


def test_a_hostile_text_stays_a_text_wherever_it_stands() -> None:
    words = {"en": HOSTILE, "es": HOSTILE}
    (quiz,) = quizzes()
    questions = [
        replace(
            each,
            prompt=words,
            explanation=words,
            code=f"{each.code}\nprint({HOSTILE!r})" if each.code else "",
            options=tuple(replace(one, text=words, feedback=words) for one in each.options),
            rubric=tuple(words for _ in each.rubric),
            model_answer=words,
            line_feedback=dict.fromkeys(each.line_feedback, words),
        )
        for each in quiz.questions
    ]
    hostile = replace(quiz, title=words, about=words, questions=tuple(questions))
    outline = Outline()
    outline.feed(html_page([hostile], Speech("en")))
    outline.close()
    assert outline.open == []
    calm = Outline()
    calm.feed(html_page([quiz], Speech("en")))
    expected = {tag for tag, _ in calm.found}
    assert {tag for tag, _ in outline.found} <= expected | {"em", "strong"}
    names = [tag for tag, _ in outline.found]
    assert (names.count("script"), names.count("img")) == (2, 0)
    assert not [name for _, attributes in outline.found for name in attributes if name[:2] == "on"]


@needs_browser
def test_the_script_judges_as_python_does(page: Page) -> None:
    """Both go through the same cases; test_answers.py has the other half."""

    def all_of(function: str, cases: list[list[object]]) -> list[object]:
        return page.value(f"({json.dumps(cases)}).map((each) => judge.{function}(...each))")

    numbers = all_of("number", [[text, language] for text, language, _ in NUMBERS])
    assert numbers == [expected for *_, expected in NUMBERS]
    near = all_of("near", [[value, answer, off] for value, answer, off, _ in NEAR])
    assert near == [counts for *_, counts in NEAR]
    same = all_of("sameLine", [[one, other] for one, other, _ in SAME_LINES])
    assert same == [expected for *_, expected in SAME_LINES]
    lines = all_of("lineNumber", [[text, 4] for text, _ in LINE_NUMBERS])
    assert lines == [expected for _, expected in LINE_NUMBERS]
    assert all_of("percent", [[share] for share, _ in PERCENTS]) == [each[1] for each in PERCENTS]
    rows = all_of("output", [list(case[:3]) for case in DECIMALS])
    assert [(row["same"], row["comma"]) for (row,) in rows] == [case[3:] for case in DECIMALS]
    chosen = ["ac", "a", "abc", "ab", "b", "bd", "abcd"]
    scores = all_of("choice", [[list(each), ["a", "c"]] for each in chosen])
    assert scores == [1, 0.5, 0.5, 0, 0, 0, 0]


def result(page: Page, question: str) -> str:
    return page.value(f"document.querySelector('#{question} .result').innerText")


@needs_browser
def test_a_keyboard_is_enough_for_the_whole_quiz(page: Page) -> None:
    """Every answer is given by keys only, in the order in which Tab meets the questions."""

    def check(question: str) -> str:
        page.tab_to(f"#{question} button[type=submit]")
        assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.press("Enter")
        return result(page, question)

    page.tab_to("#q-99-01 input[value=a]")
    page.press("ArrowDown")
    assert check("q-99-01") == "✓ Right."
    assert page.value("document.querySelector('#q-99-01 details').open")
    page.tab_to("#q-99-02 input[value=a]")
    page.press(" ")
    assert check("q-99-02") == "◐ Partly right: 50%."
    page.tab_to("#q-99-03-answer")
    page.type("-24/2")
    page.press("Enter")  # as in any form
    assert result(page, "q-99-03") == "✓ Right."
    page.tab_to("#q-99-04 li[data-item=a] button[data-move=up]")
    page.press("Enter")
    focus = "document.activeElement.closest('li').dataset.item + document.activeElement.textContent"
    assert page.value(focus) == "a↑"
    moved = page.value("document.querySelector('#q-99-04 .moved').textContent")
    assert moved == "zero_grad(): now number 1 of 4"
    assert check("q-99-04") == "✓ Right."
    page.tab_to("#q-99-05-answer")
    page.type("A graph.")
    assert check("q-99-05").startswith("Compare with the list below")
    page.tab_to("#q-99-05 .rubric input")
    page.press(" ")
    page.tab_to("#q-99-06-answer")
    page.type("y < 12 >\n2.33")
    assert check("q-99-06").startswith("◐ Partly right: 50%.")
    page.tab_to("#q-99-07-answer")
    page.type("1")
    assert check("q-99-07") == "✗ Not right."
    assert page.value("document.querySelector('#q-99-07 [data-line=\"1\"]').checkVisibility()")
    page.tab_to("#q-99-08-answer")
    page.type("0.3333")
    assert check("q-99-08") == "✓ Right."
    page.tab_to("#q-99-09-answer")
    page.type("[0,1,4]")
    assert check("q-99-09").startswith("✓ Right.")
    page.tab_to("#q-99-10 input[value=a]")
    page.press(" ")
    assert check("q-99-10") == "✓ Right."
    score = page.value("document.getElementById('score').textContent")
    assert score == "Score: 7.25 · answered: 10 of 10"
    topics = page.value("document.querySelector('#summary tbody').innerText").split()
    assert topics[:3] == ["accumulation", "75%", "2"]
    repeat = page.value("[...document.querySelectorAll('#repeat a')].map((each) => each.hash)")
    assert repeat == ["#q-99-02", "#q-99-05", "#q-99-06", "#q-99-07"]
    page.tab_to("#again")
    page.press("Enter")
    while page.value("document.readyState + (document.getElementById('score')?.textContent)") != (
        "completeScore: 0 · answered: 0 of 10"
    ):
        pass
    assert page.value("document.querySelector('#q-99-03-answer').value") == ""
    assert page.complaints == []


@needs_browser
def test_what_is_no_answer_is_refused_and_the_first_answer_counts(page: Page) -> None:
    submit = "document.getElementById('{}').requestSubmit()"

    def checked(question: str, prepare: str = "") -> str:
        page.value(prepare + ";" + submit.format(question))
        return result(page, question)

    assert checked("q-99-01") == "Choose an answer first."
    assert checked("q-99-03") == (
        "That is not a number that can be read here. -12, 0.25, 1e-3 and 1/3 are."
    )
    assert checked("q-99-06") == "Write an answer first."
    assert checked("q-99-07") == "Type a line number from 1 to 4."
    assert page.value("document.getElementById('summary').hidden")
    choose = "document.querySelector('#q-99-01 input[value={}]').checked = true"
    assert checked("q-99-01", choose.format("a")) == "✗ Not right."
    feedback = "document.querySelector('#q-99-01 [data-feedback={}]').innerText"
    said = page.value(feedback.format("a"))
    assert " ".join(said.split()) == "✗ Speed has nothing to do with it."
    assert checked("q-99-01", choose.format("b")) == "✓ Right."
    assert page.value("document.querySelector('#q-99-01 [data-feedback=a]').hidden")
    score = page.value("document.getElementById('score').textContent")
    assert score == "Score: 0 · answered: 1 of 10"


ANSWER_EVERYTHING = """
for (const form of document.querySelectorAll("form.question")) {
  for (const box of [...form.querySelectorAll("input[name=answer]:not([type=text])")].slice(0, 2))
    box.checked = true;
  const field = form.querySelector("textarea, input[type=text]");
  if (field) field.value = field.type === "textarea" ? "y < 12 >\\n5" : "1";
  form.requestSubmit();
}
"""

CONTRASTS = """
(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => channels(colour).slice(0, 3)
    .map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if ((channels(colour)[3] ?? 1) === 1) return colour;
    }
    return "none";
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !element.checkVisibility()) continue;
    const pair = [getComputedStyle(element).color, ground(element)].map(luminance);
    const [dark, bright] = pair.sort((one, other) => one - other);
    found.push([(bright + 0.05) / (dark + 0.05), walk.currentNode.data.trim().slice(0, 40)]);
  }
  return found;
})()
"""


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1000])
def test_it_can_be_read_in_the_light_and_in_the_dark(
    tmp_path: Path, dark: bool, width: int
) -> None:
    path = exported(tmp_path, "es")
    with opened(path, tmp_path / "profile", dark=dark, width=width) as page:
        page.value(ANSWER_EVERYTHING)
        contrasts = page.value(CONTRASTS)
        assert len(contrasts) > 100
        assert [each for each in contrasts if each[0] < 4.5] == []
        assert page.value("document.documentElement.scrollWidth") <= width
        ground = page.value("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
        assert page.complaints == []


@needs_browser
def test_without_its_script_the_answers_can_be_opened(tmp_path: Path) -> None:
    path = exported(tmp_path)
    with opened(path, tmp_path / "profile", scripts=False) as page:
        page.tab_to("#q-99-05 summary")
        page.press("Enter")
        text = page.value("document.querySelector('#q-99-05 details').innerText")
        assert "it is freed afterwards" in text


def test_several_quizzes_share_a_page() -> None:
    one = quizzes()[0]
    other = replace(one, id="phase-98-other", title={"en": "Other", "es": "Otro"}, questions=())
    page = html_page([one, other], Speech("en"))
    assert "<h1>whygrad: 2 quizzes</h1>" in page
    assert '<h2 id="phase-99-fixture">Fixture &lt;quiz&gt; &amp; more</h2>' in page
    assert '<a href="#phase-99-fixture">Fixture &lt;quiz&gt; &amp; more</a> (10)' in page
    assert '<h2 id="phase-98-other">Other</h2>' in page
    assert "<nav" not in html_page([one], Speech("en"))
