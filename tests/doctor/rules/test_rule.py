"""What is wrong with a new rule is said when it is registered, with what to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Rule, rule, rules


def silent(module: str, page: str) -> Callable[[Case], Iterator[Finding]]:
    def grey_loss(case: Case) -> Iterator[Finding]:
        return iter(())

    grey_loss.__module__, grey_loss.__doc__ = module, page
    return grey_loss


def test_a_rule_of_the_house_has_a_whole_page() -> None:
    check = silent("whygrad.doctor.rules.data.grey", "Grey.\n\nMeasured: By looking.")
    with pytest.raises(ValueError, match="does not say") as refused:
        rule()(check)
    assert str(refused.value) == (
        "the rule grey-loss in whygrad.doctor.rules.data.grey\n"
        "  cause: its docstring does not say Fix, Guardrail\n"
        "  fix:   end it with the lines `Measured: …`, `Fix: …` and `Guardrail: …`: they are its "
        "page in docs/doctor"
    )
    assert "grey-loss" not in rules


def test_a_rule_of_one_s_own_may_be_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rules, "grey-loss", None)  # and so taken out again
    assert rule()(silent("program", "Grey.")).measured == ""


def test_a_threshold_that_the_rule_has_not() -> None:
    case = object.__new__(Case)
    limits = {"shade": 0.5, "size": 3.0}
    case.rule = Rule("grey", "", "", "", "", "", lambda case: iter(()), thresholds=limits)
    with pytest.raises(LookupError) as refused:
        case.limit("shadow")
    assert str(refused.value).startswith(
        "case.limit('shadow') in the rule grey\n"
        "  cause: it has no such threshold; it has shade, size\n"
        '  fix:   name it with its reason: @rule(thresholds={"shadow": (1.0, "why")})\n'
    )
