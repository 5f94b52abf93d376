"""Numbers in rules: each has a name, a reason, somebody who asks for it, and a way to change it."""

from __future__ import annotations

from pathlib import Path

from scripts.thresholds import unexplained, unnamed, unused
from whygrad.cli.doctor import _limits, _threshold
from whygrad.doctor.rules.rule import rules


def test_every_number_in_a_rule_is_a_threshold() -> None:
    assert list(unnamed()) == []


def test_every_threshold_gives_a_reason() -> None:
    assert list(unexplained()) == []


def test_every_threshold_is_asked_for() -> None:
    assert list(unused()) == []


def test_every_threshold_can_be_changed_by_the_command() -> None:
    names = [f"{rule.id}.{name}" for rule in list(rules.values()) for name in rule.thresholds]
    with _limits([_threshold(f"{each}=0.125") for each in names]):
        assert {value for rule in rules.values() for value in rule.thresholds.values()} == {0.125}


def test_a_number_without_a_name_is_found(tmp_path: Path) -> None:
    text = """
COMMON = {"deep": (7, "shared")}

@rule(severity=3, thresholds={**COMMON, "far": (0.3, "told")})
def found(case):
    if case.loss > 0.25 * case.first and case.array.ndim == 4 and case.argument(6, "groups", 1):
        yield case.losses[-1]
"""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "found.py").write_text(text, encoding="utf-8")
    assert list(unnamed(tmp_path)) == [("data/found.py", 6, "0.25")]
