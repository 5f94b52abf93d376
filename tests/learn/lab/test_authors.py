"""Every lab: the unsolved one fails, the reference solution passes, both languages are complete."""

from __future__ import annotations

import pytest

from whygrad.learn.lab.authors import complaints
from whygrad.learn.lab.catalogue import Lab, labs


@pytest.mark.parametrize("lab", labs(), ids=lambda lab: lab.label)
def test_author_check(lab: Lab) -> None:
    if missing := lab.missing():
        pytest.skip(f"needs {', '.join(missing)}")
    assert complaints(lab) == []


def test_numbers_and_names_are_unique() -> None:
    assert len({lab.number for lab in labs()}) == len(labs())
    assert len({lab.name for lab in labs()}) == len(labs())
