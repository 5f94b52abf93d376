"""The pages on how to use the drills show what is printed now."""

from __future__ import annotations

import pytest

from scripts.documents import ROOT, refreshed


@pytest.mark.parametrize("name", ["drills.md", "drills.es.md"])
def test_the_output_shown_is_the_output_of_today(name: str) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert text.count("<!-- whygrad drill") == 2
    assert refreshed(text) == text, "run `make docs`"
