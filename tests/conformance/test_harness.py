"""The harness must catch what it is there to catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conformance.derivatives.test_derivatives import as_function
from tests.conformance.harness import compare_with_torch
from whygrad.autograd.checks.gradcheck import GradcheckError, gradcheck
from whygrad.ops.define import Op, table
from whygrad.ops.samples import samples_of


@pytest.fixture
def with_wrong_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str, dict[str, Any]], Op]]:
    """An op of the table whose rules are replaced for the length of one test."""

    def spoil(name: str, rules: dict[str, Any]) -> Op:
        op = table[name]
        monkeypatch.setattr(op, "vjp", rules)
        monkeypatch.setattr(op, "_plans", {})
        op.table.clear()
        return op

    yield spoil
    for op in table.values():
        if op.kind != "composite":
            op.table.clear()


WRONG = {
    "a forgotten factor": {
        "a": lambda xp, incoming, b: incoming,
        "b": lambda xp, incoming, a: incoming * a,
    },
    "a wrong sign": {
        "a": lambda xp, incoming, b: -incoming * b,
        "b": lambda xp, incoming, a: incoming * a,
    },
    "swapped arguments": {
        "a": lambda xp, incoming, a: incoming * a,
        "b": lambda xp, incoming, b: incoming * b,
    },
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_rule_is_caught_by_pytorch(
    mistake: str, with_wrong_rule: Callable[[str, dict[str, Any]], Op]
) -> None:
    op = with_wrong_rule("mul", WRONG[mistake])
    with pytest.raises(AssertionError, match="gradient of input"):
        compare_with_torch(op, samples_of(op)[0], "float64")


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_rule_is_caught_by_finite_differences(
    mistake: str, with_wrong_rule: Callable[[str, dict[str, Any]], Op]
) -> None:
    op = with_wrong_rule("mul", WRONG[mistake])
    function, inputs = as_function(op, samples_of(op)[0])
    with pytest.raises(GradcheckError, match="mismatch"):
        gradcheck(function, inputs)
