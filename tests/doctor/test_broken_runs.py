"""Runs that broke are never called well; growth along depth and time; classes that come in turn."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.test_scripts import swapped
from whygrad.doctor import run_script
from whygrad.doctor.verdict import Diagnosis

pytestmark = pytest.mark.filterwarnings("ignore")

_START = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
"""


def examined(tmp_path: Path, script: str, engine: str = "whygrad") -> Diagnosis:
    text = _START + textwrap.dedent(script)
    path = tmp_path / "script.py"
    path.write_text(swapped(text) if engine == "whygrad" else text, encoding="utf-8")
    return run_script(str(path)).diagnosis


def said(diagnosis: Diagnosis) -> tuple[str, str]:
    found = diagnosis.verdict
    assert found is not None
    assert found.where is not None
    return found.rule, found.where.text


_TOWER = """
    class Tower(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Linear(4, 24)
            self.blocks = nn.ModuleList([nn.Linear(24, 24) for _ in range(18)])
            for each in self.blocks:
                nn.init.xavier_normal_(each.weight, gain={gain})
            self.head = nn.Linear(24, 1)

        def forward(self, x):
            x = self.stem(x)
            for each in self.blocks:
                x = x + torch.relu(each(x))
            return self.head(x)

    x = torch.randn(64, 4)
    model = Tower()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(30):
        loss = F.mse_loss(model(x), x[:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize("engine", ["torch", "whygrad"])
def test_values_that_grow_along_the_depth(tmp_path: Path, engine: str) -> None:
    found = examined(tmp_path, _TOWER.format(gain=1.6), engine)
    assert said(found) == ("exploding-gradient", "x = x + torch.relu(each(x))")


def test_a_tower_with_small_blocks_is_well(tmp_path: Path) -> None:
    assert examined(tmp_path, _TOWER.format(gain=0.1)).healthy


_SORTED = """
    labels = torch.arange(3).repeat_interleave(120)
    inputs = 0.5 * torch.randn(3, 6)[labels] + torch.randn(360, 6)
    {mix}
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(6):
        for at in range(0, 360, 12):
            loss = F.cross_entropy(model(inputs[at : at + 12]), labels[at : at + 12])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
_MIX = "order = torch.randperm(360); inputs, labels = inputs[order], labels[order]"


def test_classes_that_come_in_turn(tmp_path: Path) -> None:
    found = examined(tmp_path, _SORTED.format(mix=""))
    assert said(found) == ("sorted-samples", "for at in range(0, 360, 12):")
    assert "one class only" in found.findings[0].evidence[0]


def test_classes_that_are_mixed(tmp_path: Path) -> None:
    found = examined(tmp_path, _SORTED.format(mix=_MIX))
    rules = [each.rule for each in found.findings]
    assert not {"oscillation", "sorted-samples"} & set(rules)


def test_steps_that_jump_over_the_minimum_to_the_end(tmp_path: Path) -> None:
    script = """
        a = torch.randn(80, 5)
        b = a @ torch.randn(5)
        w = torch.zeros(5, requires_grad=True)
        for _ in range(80):
            loss = (a @ w - b).abs().mean()
            loss.backward()
            with torch.no_grad():
                w -= {step} * torch.sign(w.grad)
            w.grad = None
    """
    found = examined(tmp_path, script.format(step="0.4"))
    assert said(found) == ("oscillation", "w -= 0.4 * torch.sign(w.grad)")
    assert examined(tmp_path, script.format(step="0.02")).healthy


@pytest.mark.parametrize("engine", ["torch", "whygrad"])
def test_a_backward_that_raises_is_not_well(tmp_path: Path, engine: str) -> None:
    script = """
        def refuse(gradient):
            raise ValueError("no")

        w = torch.randn(3, requires_grad=True)
        middle = w * 2
        middle.register_hook(refuse)
        middle.sum().backward()
    """
    found = examined(tmp_path, script, engine)
    assert said(found) == ("backward-raised", "middle.sum().backward()")
    assert found.findings[0].evidence == ["ValueError: no"]


@pytest.mark.parametrize("engine", ["torch", "whygrad"])
def test_a_loss_that_is_not_finite_is_not_well(tmp_path: Path, engine: str) -> None:
    script = """
        w = torch.randn(6, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        x = 1e18 * torch.randn(20, 6)
        for _ in range(6):
            loss = (x @ w).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    found = examined(tmp_path, script, engine)
    assert not found.healthy
    assert any("is not finite" in each for each in found.findings[0].evidence)
    assert found.findings[0].certainty == "possible"


def test_what_the_program_says_to_ignore_gets_no_other_name(tmp_path: Path) -> None:
    script = """
        w = torch.zeros(3, requires_grad=True)
        for _ in range(3):
            loss = torch.log(w).sum()  # whygrad: ignore[nan-from-log]
            loss.backward()
    """
    rules = [each.rule for each in examined(tmp_path, script).findings]
    assert "non-finite-value" not in rules
    assert "nan-from-log" not in rules


@pytest.mark.parametrize("fill", ["-1e9", "float('-inf')"])
def test_zeros_of_a_mask_are_no_rounding(tmp_path: Path, fill: str) -> None:
    script = f"""
        policy = nn.Linear(4, 5)
        logits = policy(torch.randn(8, 4)).masked_fill(torch.arange(5) > 2, {fill})
        p = torch.softmax(logits, dim=1)
        entropy = -(p * torch.log(p)).sum(1).mean()
        entropy.backward()
    """
    assert said(examined(tmp_path, script))[0] == "nan-from-log"


def test_closures_that_clear_gradients_are_no_missing_step(tmp_path: Path) -> None:
    script = """
        p = torch.tensor([-1.5, 2.0], requires_grad=True)
        optimizer = torch.optim.LBFGS([p], line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
            loss.backward()
            return loss

        for _ in range(8):
            optimizer.step(closure)
    """
    assert examined(tmp_path, script).healthy


def test_soft_targets_and_gradients_of_zero_break_no_rule(tmp_path: Path) -> None:
    script = """
        x = torch.randn(64, 6)
        soft = F.softmax(2 * x[:, :3], dim=1)
        w = torch.zeros(6, 3, requires_grad=True)
        unused = torch.zeros(2, requires_grad=True)
        for _ in range(40):
            loss = F.cross_entropy(x @ w + 0 * unused.sum(), soft)
            loss.backward()
            with torch.no_grad():
                w -= 0.5 * w.grad
                unused += 0.01
            w.grad = unused.grad = None
    """
    assert examined(tmp_path, script).failures == []
