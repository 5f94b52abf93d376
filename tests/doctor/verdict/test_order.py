"""The causal order: tiers, exceptions, and how a rule gets into it."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import (
    CERTAINTIES,
    TIERS,
    Finding,
    Proof,
    Rule,
    once,
    register,
    rule,
    rules,
)
from whygrad.doctor.verdict import order
from whygrad.doctor.verdict.order import can_explain, explains, gravity

load()


def found(name: str, step: int = 0, proof: Proof = Proof.REPLAYED) -> Finding:
    return rules[name].finding(step=step, proof=proof)


def test_every_rule_stands_in_a_tier() -> None:
    assert {each.tier for each in rules.values()} == set(TIERS)


@pytest.mark.parametrize("table", ["ALSO", "APART"])
def test_exceptions_name_rules_and_say_what_the_tiers_do_not(table: str) -> None:
    for cause, named in getattr(order, table).items():
        for symptom in named.split():
            one, other = rules[cause], rules[symptom]
            by_tier = TIERS.index(one.tier) < TIERS.index(other.tier)
            told = symptom in order.FACTS.split() or cause in order.JUDGING.split()
            assert (by_tier and not told) == (table == "APART"), (cause, symptom)
    assert set(order.FACTS.split()) | set(order.JUDGING.split()) <= set(rules)


def test_a_tier_explains_those_behind_it() -> None:
    assert can_explain(rules["wrong-dim"], rules["vanishing-gradient"])
    assert not can_explain(rules["vanishing-gradient"], rules["wrong-dim"])
    assert not can_explain(rules["double-softmax"], rules["non-finite-data"])  # a fact
    assert not can_explain(rules["nan-from-log"], rules["lr-too-high"])  # apart
    assert can_explain(rules["sum-reduction"], rules["lr-too-high"])  # also


def test_a_cause_comes_first() -> None:
    assert explains(found("lr-too-high", 3), found("dead-relu", 3))
    assert not explains(found("lr-too-high", 4), found("dead-relu", 3))


def test_among_symptoms_the_graver_explains_the_lesser() -> None:
    constant, short = found("constant-output"), found("under-trained")
    assert explains(constant, short)
    assert not explains(short, constant)
    assert not explains(constant, found("constant-output"))


def test_what_is_named_as_a_cause_is_no_symptom_of_it() -> None:
    values, overflow = found("bad-initialization"), found("overflow-in-exp")
    assert explains(values, overflow)
    assert not explains(overflow, values)


def test_gravity_is_severity_then_certainty_then_tier() -> None:
    ordered = [
        found("nan-from-log"),
        found("wrong-dim"),
        found("lr-too-high", proof=Proof.TRIED),
        found("wrong-dim", proof=Proof.INFERRED),
        found("wrong-dim", proof=Proof.USUAL),
        found("under-trained"),
    ]
    assert [gravity(each) for each in ordered] == sorted(map(gravity, ordered))


def test_certainty_follows_from_the_proof() -> None:
    assert {each.certainty for each in Proof} == set(CERTAINTIES)
    assert [str(each) for each in (Proof.TRIED, Proof.INFERRED, Proof.USUAL)] == [
        "certain (tried)",
        "likely",
        "possible",
    ]


def test_a_rule_is_a_function_with_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rules, "grey-loss", rules["dead-relu"])  # gone again after the test

    @rule(thresholds={"shade": (0.5, "darker is black"), "size": 3})
    def grey_loss(case: object) -> Iterator[Finding]:
        """The loss is grey.

        It means greyness,
        all over.

        Measured: By looking.
        Fix: Paint it: in blue.
        Guardrail: assert loss.colour  # always
        """
        yield grey_loss.finding()

    assert isinstance(grey_loss, Rule)
    assert (grey_loss.id, grey_loss.title, grey_loss.tier) == ("grey-loss", "The loss is grey", "")
    assert (grey_loss.meaning, grey_loss.measured) == (
        "It means greyness, all over.",
        "By looking.",
    )
    assert (grey_loss.fix, grey_loss.guardrail) == (
        "Paint it: in blue.",
        "assert loss.colour  # always",
    )
    assert grey_loss.thresholds == {"shade": 0.5, "size": 3}
    assert grey_loss.reasons == {"shade": "darker is black"}


@pytest.mark.parametrize(("every", "asked"), [(False, ["b"]), (True, ["b", "c"])])
def test_a_rule_of_a_course_is_asked_about_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, every: bool, asked: list[str]
) -> None:
    monkeypatch.setitem(rules, "dark-course", rules["dead-relu"])  # gone again after the test

    @rule(every_course=every)
    def dark_course(case: object, course: str) -> Iterator[Finding]:
        """The course is dark."""
        if course != "a":
            yield dark_course.finding(course, None, places=[("nowhere", None)])

    case: Any = SimpleNamespace(courses=["a", "b", "c"])
    told = list(dark_course.check(case))
    assert [each.evidence for each in told] == [[each] for each in asked]
    assert all(each.places == [] and each.step is None for each in told)


def test_a_finding_of_the_causal_order_holds_from_the_first_step_on() -> None:
    assert rules["dead-relu"].finding().step == 0
    assert rules["dead-relu"].finding("told", step=3, evidence=["more"]).evidence == [
        "told",
        "more",
    ]


def test_there_is_one_finding_a_line() -> None:
    one, other = rules["dead-relu"].finding(), rules["dead-relu"].finding()
    assert list(once([None, one, other])) == [one]


def test_there_is_no_other_tier() -> None:
    with pytest.raises(ValueError, match="there is no tier 'deep'"):
        register(Rule("a", "b", "c", "d", "e", "f", lambda case: iter(()), tier="deep"))
