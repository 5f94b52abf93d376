"""The broken loop is one program in three places: an example, a script of the suite, the tour."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.doctor.suite import RUNS
from tests.test_scripts import swapped
from whygrad.cli.tour import BROKEN_LOOP

EXAMPLE = Path(__file__).parents[2] / "examples" / "broken_loop.py"


def test_the_program_is_the_same_everywhere() -> None:
    suite = swapped((RUNS / "broken_loop.py").read_text(encoding="utf-8"))
    marker = re.compile(r"  # (expect|also): .*$", re.MULTILINE)
    assert marker.sub("", suite) == BROKEN_LOOP
    example = EXAMPLE.read_text(encoding="utf-8")
    assert example.endswith(BROKEN_LOOP)
    before = ast.parse(example.removesuffix(BROKEN_LOOP))
    assert [type(each) for each in before.body] == [ast.Expr], "only the docstring comes before it"
