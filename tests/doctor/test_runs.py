"""The scripts of the suite through the doctor.

Here each script runs with one engine, turn about; ``python -m tests.doctor.suite`` runs all of them
with both and takes twice as long.
"""

from __future__ import annotations

from itertools import groupby

import pytest

from tests.doctor.suite import MISSED, Script, examine, scripts


def one_engine_each() -> list[Script]:
    of_path = [list(group) for _, group in groupby(scripts(), key=lambda script: script.path)]
    return [variants[place % len(variants)] for place, variants in enumerate(of_path)]


ALL = one_engine_each()
HEALTHY = [each for each in ALL if each.expected is None]
BROKEN = [
    pytest.param(each, marks=pytest.mark.xfail(reason=MISSED[each.path.stem]))
    if each.path.stem in MISSED
    else each
    for each in ALL
    if each.expected is not None
]


def name(script: Script) -> str:
    return f"{script.half}-{script.name}"


@pytest.mark.parametrize("script", HEALTHY, ids=name)
def test_silent_about_a_healthy_run(script: Script) -> None:
    result = examine(script)
    assert result.failures == []
    assert result.causes == []


@pytest.mark.parametrize("script", BROKEN, ids=name)
def test_names_the_fault_of_a_broken_run(script: Script) -> None:
    result = examine(script)
    assert result.failures == []
    assert result.verdict == script.expected
    assert result.line in script.lines
    for rule in script.also:
        assert rule in result.causes
