"""What is printed as advice: the commands work as they stand, and answer in the language."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.learn.lab.test_cli import FOLDER, LAB, SPANISH, invoke, pretend, quick, solve
from whygrad.cli import lab_words
from whygrad.cli.commands import cli
from whygrad.learn.lab import find, labs
from whygrad.learn.lab.bench import Bench
from whygrad.learn.lab.places import next_steps

__all__ = ["invoke", "quick"]  # fixtures

Invoke = Callable[..., Result]
COMMAND = re.compile(r"whygrad lab (.*?)(?:\)|\. | repeats| repite| puts| lo vuelve|\n|$)")
ENGINE = LAB.solution("en")["value.py"]


def commands(output: str) -> list[str]:
    return COMMAND.findall(output)


def follow(command: str) -> str:
    return CliRunner().invoke(cli, ["lab", *shlex.split(command)]).output


def is_spanish(output: str) -> bool:
    english = re.search(r"\b(the|checks|Hint|files|is)\b", output)
    return english is None and bool(re.search(r"\b(de|la|el|los|las|un|una|no se|ya)\b", output))


@pytest.mark.parametrize("inside", [False, True])
def test_every_command_goes_on_in_spanish(
    invoke: Invoke, quick: None, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    outputs = [invoke("--lang", "es").output, invoke("start", "value", "--lang", "es").output]
    if inside:
        monkeypatch.chdir(FOLDER)
    outputs.append(invoke("check", "value", code=1).output)
    outputs.append(invoke("solution", "value", code=1).output)
    name = "" if inside else " value"
    assert f"whygrad lab hint{name}\n" in outputs[2]
    assert re.search(rf"whygrad lab check{name} --seed \d+ repite", outputs[2])
    for output in outputs:
        assert commands(output)
        for command in commands(output):
            assert is_spanish(follow(command)), command


def test_english_in_a_spanish_folder_stays_english(invoke: Invoke, quick: None) -> None:
    invoke("start", "value", "--lang", "es")
    output = invoke("check", "value", "--lang", "en", code=1).output
    assert "whygrad lab hint value --lang en" in output


def test_the_environment_needs_no_option(
    invoke: Invoke, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHYGRAD_LANG", "es")
    for arguments in ([], ["start", "value"]):
        assert "--lang" not in invoke(*arguments).output


def test_the_list_in_a_folder_is_in_its_language(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke("start", "value", "--lang", "es")
    monkeypatch.chdir(FOLDER)
    assert SPANISH["state_new"] in invoke().output
    assert "not started" in invoke("--lang", "en").output


def test_another_language_is_a_reset_away(invoke: Invoke) -> None:
    invoke("start", "value")
    (FOLDER / "value.py").write_text("mine")
    output = invoke("start", "value", "--lang", "es").output
    assert (FOLDER / "README.md").read_text().startswith("# Lab 1")  # not half and half
    assert "reset value --lang es" in commands(output)
    follow("reset value --lang es")
    assert (FOLDER / "README.md").read_text().startswith("# Laboratorio 1")
    assert (FOLDER / "value.py").read_text() == LAB.starter("es")["value.py"]
    (backup,) = FOLDER.glob(".backup-*")
    assert (backup / "value.py").read_text() == "mine"
    assert (backup / "README.md").read_text().startswith("# Lab 1")
    assert SPANISH["state_started"] in invoke("start", "value", "--lang", "es").output


@pytest.mark.parametrize("inside", [False, True])
def test_a_deleted_file_comes_back_alone(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    invoke("start", "value")
    solve(FOLDER)
    (FOLDER / "test_value.py").unlink()
    folder = FOLDER.resolve()
    if inside:
        monkeypatch.chdir(folder)
    output = invoke("check", "value", code=1).output
    assert output.count("test_value.py is missing") == 1
    assert output.count("✗") == 1
    assert "from value import" not in output  # no example can help here
    assert "hint" not in output
    assert commands(output) == ["start value"]
    follow("start value")
    assert (folder / "test_value.py").read_text() == LAB.starter("en")["test_value.py"]
    assert (folder / "value.py").read_text() == ENGINE


def test_a_second_copy_only_when_asked_for(
    invoke: Invoke, quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke("start", "value")
    solve(FOLDER)
    invoke("check", "value")
    first = FOLDER.resolve()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    output = invoke("start", "value").output
    assert f"{first} has this lab already (passed)" in output
    assert not FOLDER.exists()
    invoke("check", "value")
    another = "start value --folder whygrad-labs/01_value"
    assert another in commands(output)
    follow(another)
    assert FOLDER.exists()
    assert "✗" in invoke("check", "value", code=1).output  # the copy that is below this folder
    for path in FOLDER.iterdir():
        path.unlink()
    assert "✗" not in invoke("check", "value").output
    assert "✗" not in invoke("check").output


def test_the_folder_is_said_where_the_name_means_another(invoke: Invoke, quick: None) -> None:
    invoke("start", "value")
    invoke("start", "value", "--folder", "my copy")
    output = invoke("check", "--folder", "my copy", code=1).output
    assert "whygrad lab hint --folder 'my copy'" in output
    assert "Hint 1" in follow("hint --folder 'my copy'")


def test_a_syntax_error_is_said_once(invoke: Invoke) -> None:
    invoke("start", "value")
    solve(FOLDER)
    broken = ENGINE.replace("def exp(self):", "def exp(self:")
    line = broken.split("\n").index("    def exp(self:") + 1
    (FOLDER / "value.py").write_text(broken)
    for arguments, code in ((["hint", "value"], 0), (["check", "value"], 1), (["hint"], 0)):
        output = invoke(*arguments, code=code).output
        shown = f"     value.py:{line}: def exp(self:\n"
        assert output.count(shown) == 1
        caret = output.partition(shown)[2].split("\n")[0]
        assert caret == " " * (shown.index("(")) + "^"
        assert output.count("Python cannot read the file") == 1
        assert "Hint 1" not in output
        assert "from value import" not in output
        assert output.count("✗") == (arguments[0] == "check")
    (FOLDER / "value.py").write_text(ENGINE)
    assert "Hint 1" in invoke("hint").output


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_forgotten_return_is_named(tmp_path: Path, language: str) -> None:
    head, _, tail = ENGINE.partition("    def exp(self):")
    files = {
        "value.py": head + "    def exp(self):" + tail.replace("        return out\n", "", 1),
        "test_value.py": "",
    }
    bench = Bench(LAB, tmp_path, language).with_files(files)  # type: ignore[arg-type]
    check = bench.check("operations", LAB.grader()._operations)
    assert "Value.exp" in check.message
    assert "`return out`" in check.message
    assert re.fullmatch(r"value\.py:\d+: def exp\(self\):", check.where)


def test_a_result_of_none_is_explained_in_every_lab(tmp_path: Path) -> None:
    lab = find("finite-differences")
    texts = lab.solution("en")
    name, text = next((name, text) for name, text in texts.items() if "    return " in text)
    changed = re.sub(r"^    return .*$", "    pass", text, count=1, flags=re.M)
    checks = lab.grader().grade(Bench(lab, tmp_path).with_files({**texts, name: changed}))
    assert "None: is there a `return" in next(each for each in checks if not each.passed).message


def test_ctrl_c_ends_a_grading_kindly(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("whygrad.learn.lab.grading.grade", interrupted)
    invoke("start", "value", "--lang", "es")
    output = invoke("check", code=130).output
    assert SPANISH["interrupted"] in output
    assert "Aborted" not in output


def test_after_a_wrong_order_no_slopes_are_explained(invoke: Invoke) -> None:
    invoke("start", "value")
    solve(FOLDER)
    (FOLDER / "value.py").write_text(ENGINE.replace("reversed(order)", "order"))
    (FOLDER / "test_value.py").write_text("")
    output = invoke("check", code=1).output
    assert output.count("smallest failing example") == 1
    assert "Right is y, u, t" in output
    assert LAB.hints["order"][0]["en"][:30] in invoke("hint").output


def test_every_lab_leads_on(invoke: Invoke) -> None:
    for lab in labs():
        following, quiz = next_steps(lab, "es")
        assert following is not None
        assert following != f"whygrad lab start {lab.name} --lang es"
        assert quiz is not None
        assert quiz.endswith(" --lang es")
    pretend(FOLDER)
    assert next_steps(labs()[-1], "en")[0] == "whygrad lab start by-hand"


class _Terminal:
    @staticmethod
    def isatty() -> bool:
        return True


def test_sentences_break_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    text = "a sentence that is longer than the terminal is wide, with one-hyphen"
    assert lab_words._in_lines(text, _Terminal(), "Error: ") == (  # type: ignore[arg-type]
        "a sentence that is\nlonger than the terminal is\nwide, with one-hyphen"
    )
