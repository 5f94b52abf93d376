"""Somebody who answers the quiz of the tests, and what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from whygrad.cli.commands import cli

__all__ = ["EVERYTHING_RIGHT", "RIGHT", "log", "one", "quiz"]

RIGHT = {
    "q-99-01": "b\n",
    "q-99-02": "a c\n",
    "q-99-03": "-12\n",
    "q-99-04": "2 1 3 4\n",
    "q-99-05": "A graph\nof nodes.\n\ny\ny\ny\ny\n",
    "q-99-06": "y < 12 >\n2.33333333\n\n",
    "q-99-07": "3\n",
    "q-99-08": "1/3\n",
    "q-99-09": "[0, 1, 4]\n\n",
    "q-99-10": "a\n",
}
EVERYTHING_RIGHT = "".join(RIGHT.values())


def quiz(*arguments: str, answers: str | bytes = "", code: int = 0) -> str:
    result = CliRunner().invoke(cli, ["quiz", *arguments], input=answers)
    assert result.exit_code == code, result.output
    return result.output


def one(name: str, answers: str, *options: str) -> str:
    return quiz("--question", name, *options, answers=answers)


def log(learner: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (learner / "quizzes.jsonl").read_text().splitlines()]
