"""What looks like a fault and spoiled nothing is told beside the verdict, not as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, watched
from whygrad.doctor import Diagnosis, Finding
from whygrad.doctor.experiments.remedies import Tried
from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import Proof, rules
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
    assert told.startswith("✓ It learned well")
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
    for rule in ("metric-bug", "data-leakage", "overfitting", "checkpoint-state", "answer-in-input"):
        assert not is_aside(Finding(rule, "", proof=Proof.USUAL)), rule


def test_the_names_are_of_rules() -> None:
    load()
    assert rules.keys() >= {*weight._ALSO, *weight._APART}
    assert all(rules[each].tier not in weight._HOW_IT_LEARNS for each in weight._ALSO)
    assert all(rules[each].tier in weight._HOW_IT_LEARNS for each in weight._APART)
