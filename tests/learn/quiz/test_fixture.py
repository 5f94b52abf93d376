"""The quiz of the tests is one that the course would accept."""

from __future__ import annotations

import json

import jsonschema

from tests.learn.quiz.course import FIXTURE, fixture_quiz
from whygrad.learn.content import read_yaml

SCHEMA = FIXTURE.parents[3] / "data" / "schema" / "quiz.schema.json"


def test_it_fits_the_schema_and_has_every_kind() -> None:
    content = json.loads(json.dumps(read_yaml(FIXTURE)))
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(content)
    kinds = {question.kind for question in fixture_quiz().questions}
    assert kinds == {"single", "multiple", "numeric", "order", "free", "predict", "bug"}
