"""The words for causes are part of the interface: each is documented where it is looked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import whygrad
from whygrad.tensor.graph.lineage import DEED
from whygrad.why.zero.causes import TABLE, Row

PAGE = Path(__file__).parents[2] / "docs" / "why.md"


def words(question: Any) -> set[str]:
    """The causes that a docstring lists."""
    return set(re.findall(r'``"([^"]+)"``', question.__doc__))


@pytest.mark.parametrize("question", [whygrad.why_none, whygrad.why_zero, whygrad.why_nan])
def test_the_page_has_every_word_of_the_docstring(question: Any) -> None:
    prose = re.sub(r"(?s)```.*?```", "", PAGE.read_text())
    assert words(question) <= set(re.findall(r"`([^`]+)`", prose))


def test_the_docstrings_have_every_word_of_the_tables() -> None:
    assert set(DEED) <= words(whygrad.why_none)
    rows = (
        row
        for _, entry in TABLE
        for row in (entry.values() if isinstance(entry, dict) else [entry])
    )
    assert {row.cause for row in rows if isinstance(row, Row)} <= words(whygrad.why_zero)
