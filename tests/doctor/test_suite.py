"""The command that runs the suite says by its exit code whether all is as it should be."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.doctor import suite
from tests.doctor.suite import MISSED, Result, Script, main

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Exit code and output about one script, of which the doctor says ``verdict`` at ``line``."""

    def told(
        text: str, verdict: str | None = None, line: int = 1, name: str = "a", *options: str
    ) -> tuple[int, str]:
        def examine(script: Script, seed: int) -> Result:
            causes = [] if verdict is None else [verdict]
            return Result(script, verdict, line, causes, [], {}, [], 0.0)

        folder = tmp_path / "broken" / "tuning" / "dead-relu"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(text)
        monkeypatch.setattr(suite, "RUNS", tmp_path)
        monkeypatch.setattr(suite, "get_context", lambda _: "")
        monkeypatch.setattr(suite, "ProcessPoolExecutor", lambda jobs, _: ThreadPoolExecutor(jobs))
        monkeypatch.setattr(suite, "examine", examine)
        code = main(["--engine", "whygrad", *options])
        return code, capsys.readouterr().out

    return told


def test_all_is_as_it_should_be(run: Run) -> None:
    assert run("x  # expect: dead-relu\n", "dead-relu")[0] == 0


@pytest.mark.parametrize(
    ("text", "verdict", "line", "sign"),
    [
        ("x  # expect: dead-relu\n", None, 1, "MISS"),
        ("x  # expect: dead-relu\n", "dead-relu", 2, "line"),
        ("x\n", "dead-relu", 1, "MISS"),
    ],
    ids=["miss", "wrong line", "alarm"],
)
def test_what_is_wrong_ends_with_1(
    run: Run, text: str, verdict: str | None, line: int, sign: str
) -> None:
    code, output = run(text, verdict, line)
    assert code == 1
    assert output.startswith(sign)


def test_a_known_miss_is_no_news(run: Run) -> None:
    assert run("x  # expect: under-trained\n", name=next(iter(MISSED)))[0] == 0


def test_nothing_matches(run: Run) -> None:
    code, output = run("x\n", None, 1, "a", "--only", "daed-relu")
    assert code == 1
    assert output == "no script matches --engine whygrad --only daed-relu\n"


def test_a_rule_that_nobody_has_written(run: Run) -> None:
    code, output = run("x\ny  # expect: daed-relu\n")
    assert code == 1
    assert output == "a.py:2: no such rule: daed-relu; there is dead-relu\n"
