"""What the doctor costs a whole command is measured, and compared with limits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.watched import Cost, main, within


@pytest.mark.parametrize(
    ("plain", "watched", "phrases"),
    [
        (Cost(90.0, 1e9, 0, b""), Cost(95.0, 1.3e9, 0, b""), []),
        (Cost(90.0, 1e9, 0, b""), Cost(120.0, 1e9, 0, b""), ["1.15 times"]),
        (Cost(20.0, 1e9, 0, b""), Cost(29.0, 1e9, 0, b""), []),
        (Cost(20.0, 1e9, 0, b""), Cost(31.0, 1e9, 0, b""), ["1.5 times or 10 s"]),
        (Cost(50.0, 1e9, 0, b""), Cost(61.0, 1e9, 0, b""), ["1.5 times or 10 s"]),
        (Cost(1.0, 1e8, 0, b""), Cost(4.0, 2.2e8, 0, b""), []),
        (Cost(1.0, 1e8, 0, b""), Cost(1.0, 2.4e8, 0, b""), ["memory"]),
        (Cost(1.0, 1e8, 0, b""), Cost(1.0, 1e8, 1, b""), ["exit code 1 in place of 0"]),
    ],
)
def test_what_exceeds_a_limit_is_said(plain: Cost, watched: Cost, phrases: list[str]) -> None:
    said = within(plain, watched)
    assert len(said) == len(phrases)
    assert all(phrase in each for phrase, each in zip(phrases, said))


def test_a_program_runs_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "train.py"
    program.write_text("import sys\nprint(sys.argv[1:])\n")
    facts = tmp_path / "facts.json"
    assert main(["--turns", "1", "--json", str(facts), str(program), "--", "one", "two"]) == 0
    printed = capsys.readouterr().out
    assert "output   the same" in printed
    assert "within the limits" in printed
    found = json.loads(facts.read_text(encoding="utf-8"))
    assert found["same"]
    assert found["exceeded"] == []
    for kind in ("plain", "watched"):
        (turn,) = found[kind]
        assert turn["code"] == 0
        assert turn["processor"] > 0
        assert turn["bytes"] > 1e6
    assert found["ratios"].keys() == {"seconds", "processor", "bytes"}
