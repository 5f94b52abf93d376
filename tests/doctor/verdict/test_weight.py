"""What looks like a fault and spoiled nothing is told beside the verdict, not as one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, watched
from whygrad import doctor
from whygrad.doctor import Diagnosis, Finding
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.remedies import Tried
from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import Proof, Rule, rules
from whygrad.doctor.verdict import diagnose, weight
from whygrad.doctor.verdict.weight import is_aside, learned_well

_LEFT_ASIDE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 64), nn.Linear(64, 1)
        self.other = nn.Linear(64, 64)  # here
    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x)))

net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(150):
    opt.zero_grad()
    F.mse_loss(net(x), {wanted}).backward()
    opt.step()
"""
_LEARNS = _LEFT_ASIDE.format(wanted="y")
_LEARNS_A_PART = _LEFT_ASIDE.format(wanted="y + 2 * torch.randn(64, 1)")


def diagnosed(folder: Path, text: str, engine: str = "torch") -> Diagnosis:
    load()
    return diagnose(watched(folder, text, engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_part_that_a_good_run_leaves_aside(tmp_path: Path, engine: str) -> None:
    diagnosis = diagnosed(tmp_path, _LEARNS, engine)
    assert diagnosis.well
    assert [each.rule for each in diagnosis.asides] == ["disconnected-parameter"]
    told = diagnosis.report(width=200)
    assert told.startswith("✓ It learned")
    assert "Worth a look" in told
    assert "disconnected-parameter" in told
    found = diagnosis.to_dict()
    assert found["status"] == "healthy"
    assert found["verdict"] is None
    assert [each["rule"] for each in found["asides"]] == ["disconnected-parameter"]
    assert "Worth a look" in diagnosis.report("html")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_part_where_little_is_learned(tmp_path: Path, engine: str) -> None:
    diagnosis = diagnosed(tmp_path, _LEARNS_A_PART, engine)
    assert [each.rule for each in diagnosis.causes] == ["disconnected-parameter"]
    assert not diagnosis.asides
    assert not learned_well(diagnosis.case)


def test_a_rule_that_fails_to_weigh_accuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(case: object) -> bool:
        raise ArithmeticError("no weight")

    monkeypatch.setattr("whygrad.doctor.verdict.diagnosis.learned_well", fails)
    diagnosis = diagnosed(tmp_path, _LEARNS)
    assert [each.rule for each in diagnosis.causes] == ["disconnected-parameter"]
    assert ("what was learned", "ArithmeticError: no weight") in diagnosis.failures


def test_what_an_experiment_showed_is_no_aside() -> None:
    load()

    def found(**facts: object) -> Finding:
        return Finding("frozen-parameter", "", **{"proof": Proof.RECORDED, **facts})

    assert is_aside(found())
    assert is_aside(found(tried=Tried("tried", helped=False)))
    assert not is_aside(found(tried=Tried("tried", helped=True)))
    assert not is_aside(found(proof=Proof.TRIED))
    assert not is_aside(found(proof=Proof.RAISED))


def test_what_the_training_loss_does_not_show_is_no_aside() -> None:
    load()
    for rule in (
        "metric-bug",
        "data-leakage",
        "overfitting",
        "checkpoint-state",
        "answer-in-input",
    ):
        assert not is_aside(Finding(rule, "", proof=Proof.USUAL)), rule


def test_the_names_are_of_rules() -> None:
    load()
    also, apart = weight.ALSO.split(), weight.APART.split()
    assert rules.keys() >= {*also, *apart}
    assert not [each for each in also if rules[each].tier in weight.HOW_IT_LEARNS]
    assert not [each for each in apart if rules[each].tier not in weight.HOW_IT_LEARNS]


@pytest.fixture
def said_of_all() -> Iterator[Rule]:
    """A rule that finds every run possibly wrong."""

    @doctor.rule(title="Perhaps", meaning="", measured="", fix="Look.", guardrail="")
    def may_be_wrong(case: Case) -> Iterator[Finding]:
        yield may_be_wrong.finding("it may be", proof=Proof.USUAL)

    yield may_be_wrong
    del rules[may_be_wrong.id]


@pytest.mark.usefixtures("said_of_all")
@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_possible_at_most_is_a_suspicion(tmp_path: Path, engine: str) -> None:
    diagnosis = diagnosed(tmp_path, _LEARNS, engine)
    assert [each.rule for each in diagnosis.causes] == ["may-be-wrong"]
    assert diagnosis.suspected
    assert not diagnosis.healthy
    found = diagnosis.to_dict()
    assert found["status"] == "unclear"
    assert found["verdict"]["rule"] == "may-be-wrong"
    assert "This is a suspicion" in diagnosis.report(width=200)
    assert "This is a suspicion" in diagnosis.report("html")


@pytest.mark.usefixtures("said_of_all")
def test_a_value_that_is_not_finite_is_wrong_whatever_the_cause(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, _LEARNS + "(F.mse_loss(net(x), y) * float('nan')).backward()\n")
    assert diagnosis.causes
    assert not diagnosis.suspected


def test_what_is_more_than_possible_is_an_accusation(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, _LEARNS_A_PART)
    assert diagnosis.causes
    assert not diagnosis.suspected
    assert diagnosis.to_dict()["status"] == "sick"
    assert "This is a suspicion" not in diagnosis.report(width=200)
