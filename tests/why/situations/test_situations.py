"""Every situation gets the right cause and line, from whygrad and about PyTorch programs alike."""

from __future__ import annotations

import json

import pytest

from scripts.documents import ROOT
from tests.why.situations.document import SITUATIONS, table_of
from tests.why.situations.healthy import HEALTHY
from tests.why.situations.running import FILE, asked, running
from tests.why.situations.situation import Healthy, Situation

CASES = [
    pytest.param(situation, engine, id=f"{situation.title}-{engine}")
    for situations in SITUATIONS.values()
    for situation in situations
    for engine in situation.engines
]


@pytest.mark.parametrize(("situation", "engine"), CASES)
def test_cause_and_line(situation: Situation, engine: str) -> None:
    with running(situation.program, engine) as variables:
        answer = asked(situation.question, variables, engine)
        assert answer.cause == situation.cause_in(engine), answer.report()
        line = None if answer.where is None else answer.where.line
        assert line == situation.line_in(engine), answer.report()
        assert answer.where is None or answer.where.file == FILE
        assert not answer.ok
        assert "\n" not in str(answer)
        assert answer.headline in answer.report()
        assert answer.fix is not None or answer.cause in ("given", "undecided")
        json.dumps(answer.to_dict())


@pytest.mark.parametrize("engine", ["whygrad", "torch"])
@pytest.mark.parametrize("program", [pytest.param(each, id=each.title) for each in HEALTHY])
def test_nothing_wrong(program: Healthy, engine: str) -> None:
    with running(program.program, engine) as variables:
        for question in ("why_zero(w, loss)", "why_nan(loss)"):
            answer = asked(question, variables, engine)
            assert answer.ok, answer.report()
        variables["loss"].backward()
        answer = asked("why_none(w, loss)", variables, engine)
        assert answer.ok, answer.report()


def test_there_are_enough_of_them() -> None:
    assert sum(len(rows) for rows in SITUATIONS.values()) >= 40
    assert len(HEALTHY) >= 12
    titles = [each.title for rows in (*SITUATIONS.values(), HEALTHY) for each in rows]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("situation", [each for rows in SITUATIONS.values() for each in rows])
def test_what_exists_in_one_engine_only_says_why(situation: Situation) -> None:
    assert (situation.only is None) == (situation.because is None)


@pytest.mark.parametrize("name", [*SITUATIONS, "healthy"])
def test_the_document_shows_the_answers_as_they_are(name: str) -> None:
    page = (ROOT / "docs" / "situations.md").read_text()
    assert f"<!-- situations {name} -->\n{table_of(name)}\n" in page, "run `make docs`"
