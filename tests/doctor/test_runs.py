"""Every script of the suite through the doctor, with each engine that it runs with."""

from __future__ import annotations

import pytest

from tests.doctor.suite import Script, examine, scripts

ALL = list(scripts())
BROKEN = [each for each in ALL if each.expected is not None]
HEALTHY = [each for each in ALL if each.expected is None]


@pytest.mark.parametrize("script", HEALTHY, ids=lambda script: f"{script.half}-{script.name}")
def test_silent_about_a_healthy_run(script: Script) -> None:
    result = examine(script)
    assert result.failures == []
    assert result.causes == []


@pytest.mark.parametrize("script", BROKEN, ids=lambda script: f"{script.half}-{script.name}")
def test_names_the_fault_of_a_broken_run(script: Script) -> None:
    result = examine(script)
    assert result.failures == []
    assert result.verdict == script.expected
    assert result.line in script.lines
    for rule in script.also:
        assert rule in result.causes
