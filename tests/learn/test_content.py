"""The course's files: their form, their languages, their references, their ids."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from tests.learn.texts import texts_of
from whygrad.learn.content import decks, folder, quizzes, read_yaml
from whygrad.learn.markup import parse
from whygrad.learn.references import leads_nowhere

FILES = [
    *((path, "quiz") for path in sorted((folder() / "quizzes").glob("*.yaml"))),
    *((path, "drill") for path in sorted((folder() / "drills").glob("*.yaml"))),
    *((path, "interface") for path in sorted((folder() / "interface").glob("*.yaml"))),
]
QUESTIONS = [question for quiz in quizzes() for question in quiz.questions]
CARDS = [card for deck in decks() for card in deck.cards]


@pytest.mark.parametrize(("path", "schema"), FILES, ids=lambda value: getattr(value, "stem", value))
def test_each_file_fits_its_schema(path: Path, schema: str) -> None:
    rules = json.loads((folder() / "schema" / f"{schema}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(rules)
    content = json.loads(json.dumps(read_yaml(path)))  # keys as JSON has them
    errors = [
        f"{error.json_path}: {error.message}"
        for error in jsonschema.Draft202012Validator(rules).iter_errors(content)
    ]
    assert not errors, "\n".join(errors)


def test_ids_are_unique() -> None:
    counted = Counter(item.id for item in [*QUESTIONS, *CARDS])
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_choices_of_a_question(question) -> None:
    right = [option for option in question.options if option.correct]
    if question.kind == "single":
        assert len(right) == 1
    if question.kind == "multiple":
        assert right
    if question.kind == "bug":
        length = len(question.code.splitlines())
        assert all(line <= length for line in (*question.lines, *question.line_feedback))
        assert not set(question.lines) & set(question.line_feedback)


@pytest.mark.parametrize("item", [*QUESTIONS, *CARDS], ids=lambda item: item.id)
def test_references_lead_somewhere(item) -> None:
    for reference in item.see:
        assert leads_nowhere(reference) is None


@pytest.mark.parametrize("item", [*QUESTIONS, *CARDS], ids=lambda item: item.id)
def test_both_languages_say_as_much(item) -> None:
    for words in texts_of(item):
        kinds = {
            language: [block.kind for block in parse(text)] for language, text in words.items()
        }
        assert kinds["en"] == kinds["es"], words
        formulas = {
            language: sorted(
                span.text for block in parse(text) for span in block.spans if span.style == "math"
            )
            for language, text in words.items()
        }
        assert len(formulas["en"]) == len(formulas["es"]), words
