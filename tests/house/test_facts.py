"""What ``make facts`` prints holds."""

from __future__ import annotations

import pytest

from scripts.facts import FACTS, Fact


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)
def test_fact(fact: Fact) -> None:
    count, found = fact.measured()
    assert count <= fact.limit, "\n".join([fact.name, *found])
