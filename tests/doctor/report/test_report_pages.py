"""The pages of the rules say what the rules say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.documents import ROOT
from scripts.rule_pages import INDEX, pages, write
from whygrad.doctor import Rule
from whygrad.doctor.rules.rule import rules

FOLDER = ROOT / "docs" / "doctor"


def test_the_pages_are_in_step_with_the_rules() -> None:
    for name, text in pages().items():
        path = FOLDER / name
        assert path.exists(), f"{name} is missing: run `make docs`"
        assert path.read_text(encoding="utf-8") == text, f"{name} is out of step: run `make docs`"


def test_a_page_has_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    pages()  # all rules are loaded
    known = {
        "grey-loss": Rule(
            "grey-loss", "The loss is grey", "It means grey_ness.", "By looking.",
            "Paint it.", "assert loss.colour != 'grey'", lambda case: iter(()), 3,
            "model", {"shade": 0.5}, {"shade": "darker is black"},
        ),
        "pale-loss": Rule(
            "pale-loss", "The loss is pale", "a", "b", "c", "d", lambda case: iter(()),
            tier="signals",
        ),
    }  # fmt: skip
    for name in list(rules):
        monkeypatch.delitem(rules, name)
    for name, rule in known.items():
        monkeypatch.setitem(rules, name, rule)
    found = pages()
    assert set(found) == {INDEX, "grey-loss.md", "pale-loss.md"}
    page = found["grey-loss.md"]
    for part in (
        "# The loss is grey",
        "`grey-loss` · ends training · tier `model`",
        "It means grey_ness.",
        "By looking.",
        "| `shade` | 0.5 | darker is black |",
        "Paint it.",
        "```text\nassert loss.colour != 'grey'\n```",
        "Findings of the tier signals.",
    ):
        assert part in page, part
    assert "Findings of the tier model." in found["pale-loss.md"]
    assert (
        "| [`grey-loss`](grey-loss.md) | The loss is grey | ends training | model |" in found[INDEX]
    )


def test_writing_changes_only_what_changed(tmp_path: Path) -> None:
    assert len(write(tmp_path)) == len(pages())
    assert write(tmp_path) == []
    (tmp_path / INDEX).write_text("old")
    (tmp_path / "guide.md").write_text("by hand")
    gone = tmp_path / "gone.md"
    gone.write_text((tmp_path / f"{next(iter(rules))}.md").read_text())
    assert set(write(tmp_path)) == {tmp_path / INDEX, gone}
    assert (tmp_path / "guide.md").exists()
