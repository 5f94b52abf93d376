"""``whygrad lab`` as a person uses it, in both languages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import whygrad
from tests.interrupts import command, interrupt
from whygrad.cli.commands import cli
from whygrad.learn.content import phrases
from whygrad.learn.lab import progress
from whygrad.learn.lab.bench import Bench, Check
from whygrad.learn.lab.catalogue import Lab, find, labs

Invoke = Callable[..., Result]
LAB = find("value")
FOLDER = Path("whygrad-labs", "01_value")
SPANISH = phrases("lab", "es")


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHYGRAD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WHYGRAD_LANG", "en")
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, ["lab", *arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


def solve(folder: Path) -> None:
    for name, text in LAB.solution("en").items():
        (folder / name).write_text(text)


def pretend(folder: Path, *failing: str) -> None:
    """A grading in the log, without the seconds it takes."""
    progress.note("check", LAB, failing=list(failing), seed=1, folder=str(folder.resolve()))


class _QuickGrader:
    """Every check passes as soon as nothing is left to be written in value.py."""

    @staticmethod
    def grade(bench: Bench) -> Iterator[Check]:
        def written(bench: Bench) -> None:
            if "NotImplementedError" in bench.source("value.py"):
                bench.same({"grad": 1.0}, {"grad": 2.0}, code="print(1)")

        for name in bench.lab.checks:
            yield bench.check(name, written)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grading that asks no process."""
    monkeypatch.setattr(Lab, "grader", lambda lab: _QuickGrader)


def test_the_list_has_every_lab_and_its_state(invoke: Invoke) -> None:
    output = invoke().output
    for lab in labs():
        assert lab.name in output
        assert lab.title["en"] in output
    assert "not started" in output
    assert "whygrad lab start value" in output
    invoke("start", "value")
    assert "started" in invoke().output.replace("not started", "")
    pretend(FOLDER)
    assert "passed" in invoke().output
    spanish = invoke("--lang", "es").output
    assert SPANISH["state_passed"] in spanish
    assert LAB.title["es"] in spanish


@pytest.mark.parametrize("name", ["1", "01", "value", "01_value"])
def test_start(invoke: Invoke, name: str) -> None:
    output = invoke("start", name).output
    assert sorted(path.name for path in FOLDER.iterdir()) == [
        ".whygrad-lab.json", "README.md", "test_value.py", "value.py",
    ]  # fmt: skip
    assert f"cd {FOLDER}" in output
    assert (FOLDER / "README.md").read_text().startswith("# Lab 1: Build Value")


def test_start_in_spanish(invoke: Invoke) -> None:
    output = invoke("start", "value", "--lang", "es", "--folder", "aquí").output
    assert SPANISH["read_first"].partition("{")[0] in output
    assert (Path("aquí") / "README.md").read_text().startswith("# Laboratorio 1")
    assert (Path("aquí") / "value.py").read_text() == LAB.starter("es")["value.py"]


def test_the_language_of_the_system(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYGRAD_LANG", "es")
    assert SPANISH["how_to_start"].partition("{")[0] in invoke().output


def test_start_never_overwrites(invoke: Invoke) -> None:
    invoke("start", "value")
    (FOLDER / "value.py").write_text("mine")
    assert "nothing was overwritten" in invoke("start", "value").output
    assert (FOLDER / "value.py").read_text() == "mine"
    (FOLDER / "test_value.py").unlink()
    output = invoke("start", "value").output
    assert "Files that were there already stay as they are: README.md, value.py" in output
    assert (FOLDER / "test_value.py").exists()


def test_start_in_odd_places(invoke: Invoke) -> None:
    Path("file").write_text("")
    assert "file" in invoke("start", "value", "--folder", "file", code=1).output
    assert Path("file").read_text() == ""
    marker = {"schema": 1, "lab": "by-hand", "language": "en"}
    Path("taken").mkdir()
    Path("taken", ".whygrad-lab.json").write_text(json.dumps(marker))
    assert "by-hand" in invoke("start", "value", "--folder", "taken", code=1).output


@pytest.mark.parametrize("command", ["start", "check", "watch", "reset", "solution"])
def test_a_typo_is_answered_with_close_names(invoke: Invoke, command: str) -> None:
    output = invoke(command, "vaule", code=2).output
    assert "Did you mean value" in output
    offer = SPANISH["did_you_mean"].format(names="value")
    assert offer in invoke(command, "vaule", "--lang", "es", code=2).output


def test_a_name_like_no_other_lists_all(invoke: Invoke) -> None:
    assert "There are: value" in invoke("start", "zzzzzz", code=2).output


def test_check_from_anywhere(
    invoke: Invoke, quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke("start", "value")
    for arguments in (["1"], ["value"], ["--folder", str(FOLDER)], []):
        assert "✗" in invoke("check", *arguments, code=1).output
    monkeypatch.chdir(FOLDER)
    assert "✗" in invoke("check", code=1).output
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "✗" in invoke("check", "value", code=1).output  # where it was last seen


def test_check_without_a_lab(invoke: Invoke) -> None:
    assert "there is no lab in this folder" in invoke("check", code=2).output
    assert "whygrad lab start value" in invoke("check", "value", code=1).output
    Path("empty").mkdir()
    assert "empty" in invoke("check", "--folder", "empty", code=1).output


def test_check_shows_two_in_detail_and_all_by_name(invoke: Invoke, quick: None) -> None:
    invoke("start", "value")
    output = invoke("check", code=1).output
    for words in LAB.checks.values():
        assert words["en"] in output
    assert output.count("target  {'grad': 1.0}") == 2
    assert output.count("off by 1\n") == 2
    assert "worst" not in output  # of a single number there is no worst one
    assert output.count("\nprint(1)\n") == 2  # at the margin, to be pasted
    assert f"0 of {len(LAB.checks)} checks pass" in output


def test_the_language_may_be_said_before_the_command(invoke: Invoke, quick: None) -> None:
    started = invoke("--lang", "es", "start", "value").output
    assert SPANISH["started"].partition("{")[0] in started
    assert LAB.checks["fields"]["en"] in invoke("--lang", "en", "check", code=1).output
    assert (
        LAB.checks["fields"]["es"] in invoke("--lang", "en", "check", "--lang", "es", code=1).output
    )


def test_check_speaks_the_language_of_the_start(invoke: Invoke, quick: None) -> None:
    invoke("start", "value", "--lang", "es")
    output = invoke("check", code=1).output
    assert SPANISH["target"] in output
    assert LAB.checks["fields"]["es"] in output
    assert LAB.checks["fields"]["en"] in invoke("check", "--lang", "en", code=1).output


def test_check_passes_and_is_remembered(invoke: Invoke, quick: None) -> None:
    invoke("start", "value")
    solve(FOLDER)
    output = invoke("check").output
    assert output.count("✓") == len(LAB.checks)
    for step in ("lab solution value", "quiz 07", "lab start by-hand"):
        assert f": whygrad {step}\n" in output
    assert "passed" in invoke().output


def test_check_writes_json(invoke: Invoke, quick: None) -> None:
    invoke("start", "value")
    invoke("check", "--json", "report.json", "--seed", "5", code=1)
    report = json.loads(Path("report.json").read_text())
    assert (report["lab"], report["seed"], report["passed"]) == ("value", 5, False)
    assert [check["id"] for check in report["checks"]] == list(LAB.checks)
    assert report["checks"][0]["difference"]["place"] == "grad"


def test_json_into_no_folder_is_refused_before_grading(invoke: Invoke, quick: None) -> None:
    invoke("start", "value")
    result = invoke("check", "--json", "none/report.json", code=2)
    assert "✗" not in result.output


def test_the_same_seed_asks_the_same(invoke: Invoke) -> None:
    """The real grader, on an engine that is wrong for some inputs."""
    invoke("start", "value")
    solve(FOLDER)
    engine = (FOLDER / "value.py").read_text().replace("self.data + other.data", "self.data")
    (FOLDER / "value.py").write_text(engine)
    (FOLDER / "test_value.py").write_text("")
    first, same = (invoke("check", "--seed", "7", code=1).output for _ in range(2))
    other = invoke("check", "--seed", "8", code=1).output
    assert first == same != other
    assert "whygrad lab check value --seed 7" in first


def test_hints_go_from_one_to_the_next(invoke: Invoke) -> None:
    invoke("start", "value")
    pretend(FOLDER, "deep", "tests-catch")
    count = len(LAB.hints["deep"])
    for number in range(1, count + 1):
        assert f"Hint {number} of {count}" in invoke("hint").output
    output = invoke("hint").output
    assert "the last hint" in output
    assert all(f"Hint {number} of {count}" in output for number in range(1, count + 1))
    assert "Hint 1 of" in invoke("hint", "shared").output  # another check has its own
    second = LAB.hints["shared"][1]["es"].partition("`")[0]
    assert second in invoke("hint", "shared", "--lang", "es").output


def test_hint_before_grading_after_passing_and_elsewhere(invoke: Invoke) -> None:
    invoke("start", "value")
    assert LAB.checks["fields"]["en"] in invoke("hint").output
    assert "Hint 2" in invoke("hint", "value").output
    pretend(FOLDER)
    assert "no hint is needed" in invoke("hint").output
    assert SPANISH["nothing_to_hint"] in invoke("hint", "--lang", "es").output
    assert "fields" in invoke("hint", "nonsense", code=2).output


def test_a_check_comes_before_a_lab_of_the_same_name(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In lab "value", a check "value" is meant by ``hint value``."""
    invoke("start", "value")
    monkeypatch.chdir(FOLDER)
    assert LAB.checks["shared"]["en"] in invoke("hint", "shared").output
    monkeypatch.setitem(LAB.checks, "value", {"en": "the value", "es": "el valor"})
    monkeypatch.setitem(LAB.hints, "value", [{"en": "look", "es": "mira"}])
    assert "the value" in invoke("hint", "value").output


def test_a_check_that_no_longer_exists(invoke: Invoke) -> None:
    invoke("start", "value")
    pretend(FOLDER, "from-an-older-version")
    assert LAB.checks["fields"]["en"] in invoke("hint").output


def test_a_log_that_cannot_be_written_is_said(invoke: Invoke, quick: None, tmp_path: Path) -> None:
    invoke("start", "value")
    log = tmp_path / "home" / "labs.jsonl"
    log.unlink()
    log.mkdir()
    (log / "in the way").write_text("")
    result = CliRunner().invoke(cli, ["lab", "check", "--folder", str(FOLDER)])
    assert result.exit_code == 1, result.exception
    assert "Your progress could not be kept" in result.output


def test_reset_says_where_the_backup_is(invoke: Invoke) -> None:
    invoke("start", "value")
    (FOLDER / "value.py").write_text("mine")
    output = invoke("reset", "value").output
    (backup,) = FOLDER.glob(".backup-*")
    assert str(backup) in output
    assert (backup / "value.py").read_text() == "mine"
    assert "NotImplementedError" in (FOLDER / "value.py").read_text()
    assert SPANISH["reset_done"].partition("{")[0] in invoke("reset", "--lang", "es").output


def test_solution_only_after_a_pass(invoke: Invoke) -> None:
    invoke("start", "value")
    refused = invoke("solution", "value", code=1).output
    assert "opens when your own passes" in refused
    assert "class Value" not in refused
    check, hint = (f"whygrad lab {verb} value --lang es" for verb in ("check", "hint"))
    refused = SPANISH["solution_later"].format(name="value", check=check, hint=hint)
    assert refused in invoke("solution", "--lang", "es", code=1).output
    pretend(FOLDER)
    shown = invoke("solution", "value").output
    assert "for node in reversed(order):" in shown
    assert "def test_diamond" in shown
    assert "docs/engine.md" in shown
    docstring = LAB.texts["module"]["es"]
    assert docstring in invoke("solution", "1", "--lang", "es").output


@pytest.mark.parametrize("terminal", [False, True])
def test_the_solution_is_never_cropped(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    invoke("start", "value")
    pretend(FOLDER)
    shown = re.sub("\x1b\\[[0-9;]*m", "", invoke("solution", "value").output)
    for text in LAB.solution("en").values():
        assert text in shown
    if not terminal:
        compile(shown, "saved.py", "exec")


def test_watch_grades_on_save_and_ends_kindly(
    invoke: Invoke, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke("start", "value", "--lang", "es")
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            solve(FOLDER)
        if len(naps) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr("whygrad.learn.lab.watch.time.sleep", nap)
    output = invoke("watch").output
    saved = SPANISH["saved"].format(files="test_value.py, value.py")
    first, _, second = output.partition(saved)
    assert "✗" in first
    assert "✗" not in second
    assert second.count("✓") == len(LAB.checks)
    assert output.count(SPANISH["watching"].partition("{")[0]) == 2
    assert output.endswith(SPANISH["watch_ended"] + "\n")


def test_ctrl_c_ends_the_real_command(tmp_path: Path) -> None:
    environment = {**os.environ, "WHYGRAD_HOME": str(tmp_path / "home"), "WHYGRAD_LANG": "en"}
    script = [str(Path(sys.executable).with_name("whygrad")), "lab"]
    start = [*script, "start", "value", "--folder", str(tmp_path / "lab")]
    subprocess.run(start, env=environment, check=True, capture_output=True)
    watch = subprocess.Popen(
        command(*script, "watch"), cwd=tmp_path / "lab", env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert watch.stdout is not None
    seen = ""
    deadline = time.monotonic() + 30
    while "Watching" not in seen and time.monotonic() < deadline:
        seen += watch.stdout.readline()
    interrupt(watch)
    rest, _ = watch.communicate(timeout=10)
    assert watch.returncode == 0
    assert "No longer watching." in rest


def test_author_check(invoke: Invoke, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "author-check  For the authors of labs" in invoke("--help").output
    monkeypatch.setattr("whygrad.learn.lab.authors.complaints", lambda lab, language: [])
    assert "✓ lab value: the starter fails" in invoke("author-check", "value").output
    found = ["no hints"]
    monkeypatch.setattr("whygrad.learn.lab.authors.complaints", lambda lab, language: found)
    assert "✗ lab value: no hints" in invoke("author-check", "1", code=1).output


def test_a_lab_that_needs_a_package(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whygrad.learn.lab.catalogue.Lab.missing", lambda lab: ["torch"])
    assert "pip install torch" in invoke("start", "value", code=1).output
    assert "not checked" in invoke("author-check", "value").output


def test_every_phrase_is_used() -> None:
    package = Path(whygrad.__file__).parent
    files = [*package.glob("learn/lab/*.py"), *package.glob("cli/lab*.py")]
    source = "".join(path.read_text() for path in files)
    dynamic = ("trouble_", "forbidden_", "unequal_", "state_")
    for key in phrases("lab", "en"):
        assert key.startswith(dynamic) or re.search(f"[\"']{key}[\"']", source), key
