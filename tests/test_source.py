"""Source lines as evidence: shown only if they are the lines that ran."""

from __future__ import annotations

import linecache
import runpy
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """\
import whygrad


def double(x):
    return x * 2


hidden = double(whygrad.ones(3, requires_grad=True))
"""


@pytest.fixture
def hidden(tmp_path: Path) -> Any:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return runpy.run_path(str(path))["hidden"]


def test_a_program_that_was_written_a_moment_ago(hidden: Any) -> None:
    where = hidden.grad_fn.where
    assert where.text == "return x * 2"
    assert where.expression == where.whole_expression == "x * 2"
    assert str(where).endswith("program.py:5: return x * 2")


@pytest.mark.parametrize(
    "now", ["# a line more\n" + PROGRAM, PROGRAM.replace("x *", "x +"), "((\n"]
)
def test_a_file_that_has_changed_since(hidden: Any, now: str) -> None:
    where = hidden.grad_fn.where
    Path(where.file).write_text(now)
    assert where.text == where.expression == where.whole_expression == ""
    assert str(where).endswith("program.py:5")


def test_a_file_that_was_read_before_it_changed(hidden: Any) -> None:
    where = hidden.grad_fn.where
    linecache.getlines(where.file)
    Path(where.file).write_text("")
    assert where.text == "return x * 2"


def test_a_program_without_a_file() -> None:
    names: dict[str, Any] = {}
    exec("import whygrad\ny = whygrad.ones(3, requires_grad=True) * 2", names)
    assert str(names["y"].grad_fn.where) == "<string>:2"
    assert names["y"].grad_fn.where.expression == ""
