"""The pages for reading are what the course's files say now, and their links lead somewhere."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from scripts.documents import EXAMPLE, ROOT, refreshed
from scripts.mirrors import pages, present, write
from whygrad.learn.content import decks, phrases, quizzes
from whygrad.learn.language import LANGUAGES

DOCS = ROOT / "docs"
INDEXES = ("quizzes.md", "quizzes.es.md")
NAMES = [
    *(f"quizzes/{language}/{quiz.id}.md" for language in LANGUAGES for quiz in quizzes()),
    *(f"drills/{language}/{deck.id}.md" for language in LANGUAGES for deck in decks()),
]
_pages = cache(pages)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_in_step_with_its_file(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == _pages()[name], "run `make docs`"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_says_how_to_ask_what_is_on_it(language: str) -> None:
    for quiz in quizzes():
        assert f"`whygrad quiz {quiz.number}" in _pages()[f"quizzes/{language}/{quiz.id}.md"]
    for deck in decks():
        page = _pages()[f"drills/{language}/{deck.id}.md"]
        assert f"`whygrad drill {deck.number}" in page
        assert f"`whygrad drill export --to deck.apkg --lang {language} {deck.number}`" in page


def test_no_page_without_a_file() -> None:
    assert present(DOCS) == {DOCS / name for name in NAMES}


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_is_in_step(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    assert refreshed(text) == text, "run `make docs`"
    assert text.count("](quizzes/") == len(quizzes())
    assert text.count("](drills/") == len(decks())


def test_programs_of_the_course_are_not_taken_for_examples_to_run() -> None:
    assert [name for name, text in _pages().items() if EXAMPLE.search(text)] == []


def test_every_program_to_predict_has_its_output() -> None:
    """None of them is left out because it could not run where the page was made."""
    for language in LANGUAGES:
        refusal = phrases("quiz", language)["cannot_run"].partition("{")[0]
        assert [name for name, text in _pages().items() if refusal in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_topic_has_a_name(language: str) -> None:
    names = phrases("quiz", language)
    topics = {question.topic for quiz in quizzes() for question in quiz.questions}
    assert {each for each in topics if f"topic_{each.replace('-', '_')}" not in names} == set()


def test_pages_are_written_once_and_old_ones_go(tmp_path: Path) -> None:
    gone = tmp_path / "quizzes" / "en" / "phase-99-gone.md"
    gone.parent.mkdir(parents=True)
    gone.write_text("")
    assert len(write(tmp_path)) == len(NAMES) + 1
    assert not gone.exists()
    assert write(tmp_path) == []


@cache
def anchors(path: Path) -> set[str]:
    """The places in a page that a link can name, as code hosts make them from headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("name", [*NAMES, *INDEXES])
def test_links_lead_somewhere(name: str) -> None:
    page = DOCS / name
    prose = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    links = re.findall(r"(?<!\\)\]\(([^)\s]+)\)", prose)
    assert links
    for link in links:
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link
