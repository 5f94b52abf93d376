"""Reports: the same content in every form, strict JSON, lines that fit, files that are whole."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.doctor.report.reporting import healthy, sick
from whygrad.doctor import Diagnosis, watch
from whygrad.doctor.report import render, show
from whygrad.doctor.report.blocks import Code, Text
from whygrad.doctor.report.excerpt import advice
from whygrad.doctor.report.history import History, Series, ramp, thinned
from whygrad.doctor.report.words import change, count, line, number, place
from whygrad.source import Where

HERE = os.path.relpath(Path(__file__).with_name("reporting.py"))


@pytest.fixture(scope="module")
def ill() -> Diagnosis:
    return sick()


@pytest.fixture(scope="module")
def well() -> Diagnosis:
    return healthy()


# --- JSON -----------------------------------------------------------------------------------------


def strict(text: str) -> dict[str, object]:
    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    found: dict[str, object] = json.loads(text, parse_constant=refuse)
    return found


def test_json_of_a_sick_run(ill: Diagnosis) -> None:
    found = strict(render(ill, "json"))
    assert found["schema"] == 2
    assert found["status"] == "sick"
    verdict, findings = found["verdict"], found["findings"]
    assert isinstance(verdict, dict)
    assert isinstance(findings, list)
    needed = {
        "rule",
        "title",
        "file",
        "line",
        "step",
        "certainty",
        "proof",
        "evidence",
        "fix",
        "guardrail",
    }
    assert needed <= set(verdict)
    assert verdict == findings[0]
    assert (verdict["rule"], verdict["file"], verdict["step"]) == ("nan-from-log", HERE, 6)
    assert [each.get("caused_by") for each in findings] == [None, None, "nan-from-log"]
    assert "caused_by" not in findings[1]
    assert (findings[2]["file"], findings[2]["line"], findings[2]["step"]) == (None, None, None)
    assert findings[1]["data"] == {"worst": "nan"}
    assert found["ruled_out"][0] == {"rule": "rule-0", "measurement": "measured 0"}  # type: ignore[index]
    assert found["seed"] == 5


def test_json_of_a_healthy_run(well: Diagnosis) -> None:
    found = strict(render(well, "json"))
    assert (found["status"], found["verdict"], found["findings"]) == ("healthy", None, [])


def test_files_elsewhere_keep_their_whole_path(
    ill: Diagnosis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    verdict = ill.to_dict()["verdict"]
    assert os.path.isabs(verdict["file"])


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 60, 40])
def test_no_line_is_wider_than_the_paper(ill: Diagnosis, well: Diagnosis, width: int) -> None:
    for diagnosis in (ill, well):
        lines = render(diagnosis, width=width).splitlines()
        assert max(map(len, lines)) <= width, max(lines, key=len)


def test_text_tells_the_whole_story(ill: Diagnosis) -> None:
    text = render(ill)
    for part in (
        "The log of <negative> numbers",
        "[nan-from-log]",
        f"{HERE}:",
        "· certain",
        "log got 7 values",
        "loss = torch.log(output).sqrt()",  # the excerpt
        "+ loss = (output - y) ** 2",
        "assert torch.isfinite(loss)",
        "no-learning: Nothing is learned",
        "first invalid value: log at reporting.py:",
        "goes in    [16, 1] float32 from",
        "abs min",
        "gradients/0",
        "update/weight",
        "Never cleared",
        "rule-0: measured 0",
        "and 6 more",
        "torch.manual_seed(5)",
        "the verdict: step 6",
        "saturation is no concern",
        "my-rule could not be judged",
        "gradients clipped in",
    ):
        assert part in text, part


def test_the_marked_line_is_the_one_of_the_finding(ill: Diagnosis) -> None:
    assert ill.verdict is not None
    assert ill.verdict.where is not None
    marked = next(line for line in render(ill).splitlines() if line.startswith("  > "))
    assert marked.split()[1] == str(ill.verdict.where.line)
    assert ill.verdict.where.text[:40] in marked


def test_a_healthy_run_is_two_or_three_lines(well: Diagnosis) -> None:
    lines = render(well).splitlines()
    assert len(lines) <= 3
    assert "Nothing wrong" in lines[0]
    assert "→" in lines[1]


def test_first_invalid_value_is_told_from_later_ones(ill: Diagnosis) -> None:
    kinds = {each["kind"]: each for each in ill.to_dict()["timeline"]}
    assert kinds["first"]["step"] == 6
    assert kinds["spread"]["step"] == 7
    assert "in all 5 later steps" in kinds["spread"]["text"]


def test_an_invalid_value_that_no_rule_explains() -> None:
    diagnosis = sick()
    diagnosis.findings = []
    text = render(diagnosis)
    assert "No rule knows the cause" in text
    assert "first invalid value: log" in text
    assert "cause unknown" in render(diagnosis, "html")


def test_a_program_without_backward() -> None:
    with watch() as doc:
        pass
    assert "never called backward()" in doc.report()
    for form in ("markdown", "html", "json"):
        assert doc.report(form)


# --- terminal -------------------------------------------------------------------------------------


def test_with_and_without_colour_the_same_text(ill: Diagnosis) -> None:
    from rich.console import Console
    from rich.text import Text as RichText

    file = io.StringIO()
    show(ill, console=Console(file=file, width=80, force_terminal=True, color_system="truecolor"))
    coloured = file.getvalue()
    assert "\x1b[" in coloured
    bare = RichText.from_ansi(coloured).plain.splitlines()
    assert [line.rstrip() for line in bare] == render(ill).splitlines()


def test_without_rich(ill: Diagnosis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setenv("COLUMNS", "80")
    file = io.StringIO()
    show(ill, file)
    assert file.getvalue() == render(ill)


@pytest.mark.parametrize("rich", [True, False])
def test_a_terminal_that_knows_only_ascii(
    ill: Diagnosis, monkeypatch: pytest.MonkeyPatch, rich: bool
) -> None:
    if not rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    show(ill, file)
    file.flush()
    assert b"nan-from-log" in raw.getvalue()


# --- Markdown and files ---------------------------------------------------------------------------


def test_markdown(ill: Diagnosis) -> None:
    text = render(ill, "markdown")
    assert "### The log of \\<negative\\> numbers" in text
    assert "`log` got 7 values \\| the lowest is -0.5" in text
    assert "```diff\n- loss = log(output)" in text
    assert text.count("<details>") == text.count("</details>") == 2
    assert "rule-11" in text  # nothing is left out
    assert "grad_2.0_norm" in text
    assert "parameters/ rms" in text


def test_unknown_formats(ill: Diagnosis, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no such format[\s\S]*html, json, markdown, text"):
        ill.report("pdf")
    with pytest.raises(ValueError, match=r"'\.pdf' names no format"):
        ill.save(tmp_path / "report.pdf")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("r.html", "<!DOCTYPE html>"),
        ("r.md", "# whygrad doctor"),
        ("r.json", "{"),
        ("r.TXT", "tests"),
    ],
)
def test_save_by_suffix(ill: Diagnosis, tmp_path: Path, name: str, start: str) -> None:
    path = tmp_path / name
    ill.save(path)
    assert path.read_text(encoding="utf-8").lstrip().startswith((start, HERE[:3], "PyTorch"))
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_save_that_fails_leaves_the_old_file(
    ill: Diagnosis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def full(*_: object, **__: object) -> int:
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="the disk is full"):
        ill.save(path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


# --- parts ----------------------------------------------------------------------------------------


def test_advice_tells_sentences_from_programs() -> None:
    assert advice("") == []
    assert [type(each) for each in advice("Lower the rate.")] == [Text]
    assert [type(each) for each in advice("assert x > 0")] == [Code]
    mixed = advice("Do this:\n- old(x)\n+ new(x)\nand then look.\n\n    indented = 1")
    assert [type(each) for each in mixed] == [Text, Code, Text, Code]
    assert isinstance(mixed[1], Code)
    assert [line.kind for line in mixed[1].lines] == ["removed", "added"]
    fenced = advice("See\n```python\nx = 1\n\ny = 2\n```\ndone.")
    assert [type(each) for each in fenced] == [Text, Code, Text]
    assert [type(each) for each in advice("- first sentence\n- second sentence")] == [Text]


def test_words() -> None:
    assert [number(each) for each in (None, math.nan, -math.inf, -0.0)] == ["–", "NaN", "-Inf", "0"]
    assert change(2.3051, 0.00412) == "2.31 → 0.00412"
    assert (count(1, "step"), count(1024, "pass")) == ("1 step", "1,024 passes")


def test_thinning_keeps_the_extremes() -> None:
    points = [(at, math.sin(at / 40)) for at in range(10_000)]
    points[5_000] = (5_000, 99.0)
    points[6_000] = (6_000, math.nan)
    kept = thinned(points)
    assert len(kept) <= 310
    assert (5_000, 99.0) in kept
    assert kept == sorted(kept)
    assert len(Series("x", points).finite) == 9_999


def test_the_ramp_ends_at_the_first_invalid_step(ill: Diagnosis, well: Diagnosis) -> None:
    assert [row.step for row in ramp(History(ill.case))] == [1, 2, 3, 4, 5, 6]
    rows = ramp(History(well.case))
    assert (rows[0].step, rows[-1].step, len(rows)) == (0, 8, 6)
    assert set(rows[0].gradients) == {"0", "2"}
    assert rows[0].ratio is not None
    assert rows[0].activation is not None


def test_a_healthy_report_says_which_rules_failed() -> None:
    """A tick is worth what was asked."""
    diagnosis = healthy()
    diagnosis.failures = [("my-rule", "ZeroDivisionError: division by zero")]
    assert "my-rule could not be judged: ZeroDivisionError" in render(diagnosis).replace("`", "")


def test_a_place_in_a_notebook_is_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    where = Where(compile("\nx = 1\n", "/tmp/ipykernel_1/2.py", "exec"), 4)
    named = SimpleNamespace(
        format_code_name=lambda file: ("Cell", "In[3]") if "ipykernel" in file else None
    )
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=named))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert place(where) == line(where) == f"cell 3, line {where.line}"
