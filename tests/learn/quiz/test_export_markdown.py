"""The exported Markdown: every question to read, every answer behind a fold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from scripts.documents import EXAMPLE
from whygrad.cli.commands import cli
from whygrad.learn.content import quizzes


def exported(tmp_path: Path, language: str) -> str:
    target = tmp_path / "quiz.md"
    result = CliRunner().invoke(cli, ["quiz", "--export", str(target), "99", "--lang", language])
    assert result.exit_code == 0, result.output
    return target.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_question_has_its_answer_behind_a_fold(tmp_path: Path, language: str) -> None:
    page = exported(tmp_path, language)
    chapters = re.split(r"^## ", page, flags=re.M)[1:]
    assert [chapter.split(" ")[0] for chapter in chapters] == [
        question.id for question in quizzes()[0].questions
    ]
    for chapter in chapters:
        before, _, folded = chapter.partition("<details>\n<summary>")
        assert folded.strip().endswith("</details>")
        assert "✓" not in before
    assert not EXAMPLE.search(page)  # nothing that the tests of the documents would run


def test_answers(tmp_path: Path) -> None:
    page = exported(tmp_path, "en")
    for part in (
        "# Fixture \\<quiz> & more",
        "* **a)** It is **faster** \\<b>",
        "* **b)** ✓ Yes: the sum over paths.",
        "**-12** (± 0.01 also counts)",
        "The right order: **2 1 3 4**",
        "```text\ny < 12.0 >\n2.3333333333333335\n```",
        "```text\n 1  total = 0.0\n 2  for part in (1.0, 2.0):\n",
        "```diff\n total = 0.0\n for part in (1.0, 2.0):\n-    total = part\n+ ",
        "* **1** ✗ Starting at `0.0` is right.",
        '* **c)** perhaps:\n\n  ```py\n  if True:\n      print("<last>")\n  ```',
        "Look at: `docs/engine.md` · `whygrad ops add`",
    ):
        assert part in page, part
