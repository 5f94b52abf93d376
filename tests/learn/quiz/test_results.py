"""How a learner stands, and the files that are written: for people and for other programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.learn.quiz.learner import RIGHT, quiz


def test_results() -> None:
    assert "No answers yet." in quiz("--results")
    quiz("99", answers="b\na\nq\n")
    output = quiz("--results")
    assert "answered: 2/10 · best: –" in output
    assert re.search(r"accumulation +75% +2", output)
    assert "q-99-02" in output.partition("To repeat")[2]


def test_results_as_json(learner: Path) -> None:
    quiz("99", answers="b\na\ns\nq\n")
    (found,) = json.loads(quiz("--results", "--json", "-"))["quizzes"]
    assert (found["id"], found["best"]) == ("phase-99-fixture", None)
    assert found["missed"] == ["q-99-02", "q-99-03"]
    assert found["topics"] == {
        "accumulation": {"score": 0.75, "answered": 2},
        "chain-rule": {"score": 0.0, "answered": 1},
    }
    (run,) = found["runs"]
    assert (run["whole"], run["finished"], run["score"]) == (True, False, None)
    (answer,) = found["answers"]["q-99-01"]
    assert (answer["score"], answer["answer"], answer["skipped"]) == (1.0, ["b"], False)
    assert found["answers"]["q-99-03"][0]["skipped"]
    assert found["answers"]["q-99-10"] == []


def test_results_with_half_a_character_from_elsewhere(learner: Path) -> None:
    quiz("99", answers="b\nq\n")
    path = learner / "quizzes.jsonl"
    path.write_text(path.read_text().replace('["b"]', r'"\ud83d"'))
    (found,) = json.loads(quiz("--results", "--json", "-"))["quizzes"]
    assert found["answers"]["q-99-01"][0]["answer"] == "?"


def test_questions_as_json(tmp_path: Path) -> None:
    target = tmp_path / "quiz.json"
    quiz("99", "--json", str(target))
    record = json.loads(target.read_text())
    assert record["schema"] == 1
    (found,) = record["quizzes"]
    questions = {question["id"]: question for question in found["questions"]}
    assert list(questions) == list(RIGHT)
    answers = {name: question["answer"] for name, question in questions.items()}
    assert answers["q-99-01"] == ["b"]
    assert answers["q-99-02"] == ["a", "c"]
    assert answers["q-99-03"] == -12
    assert answers["q-99-04"] == ["a", "b", "c", "d"]
    assert answers["q-99-06"] == ["y < 12.0 >", str(7 / 3)]
    assert answers["q-99-07"] == [3]
    assert len(answers["q-99-05"]) == 4
    assert questions["q-99-01"]["see"]["op:add"] == "whygrad ops add"
    assert questions["q-99-01"]["prompt"].keys() == {"en", "es"}


def test_a_folder_that_cannot_be_written_is_an_error_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WHYGRAD_HOME", str(tmp_path / "file"))
    output = quiz("99", answers="b\n", code=1)
    assert "Traceback" not in output
    assert str(tmp_path / "file") in output


@pytest.mark.parametrize("option", ["--json", "--export"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, option: str) -> None:
    missing = tmp_path / "nowhere" / "quiz.md"
    assert f"{missing}: No such file or directory" in quiz("99", option, str(missing), code=1)
    folder = tmp_path / "folder.md"
    folder.mkdir()
    assert f"{folder}: Is a directory" in quiz("99", option, str(folder), code=1)
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("option", ["--json", "--export"])
def test_what_was_written_is_said(tmp_path: Path, option: str) -> None:
    target = tmp_path / "quiz.md"
    target.write_text("before")
    assert quiz("99", option, str(target)) == f"Written to {target}.\n"
    assert "q-99-10" in target.read_text(encoding="utf-8")
