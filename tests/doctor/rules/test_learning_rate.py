"""Learning rates: experiments decide, and runs that learn are left alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.asking import ask, only
from tests.test_scripts import one_thread_and_defaults, swapped
from whygrad.doctor import run_script
from whygrad.doctor.rules.rule import Finding

pytest.importorskip("torch")

ENGINES = ("torch", "whygrad")
DATA = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(64, 6)
y = x[:, :1] * 2 - x[:, 1:2]
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
"""
NOISE = "F.mse_loss(model(torch.randn(64, 6)), torch.randn(64, 1))"  # nothing to learn
LOOP = """
for step in range({steps}):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def findings(folder: Path, text: str, engine: str = "torch") -> dict[str, Finding]:
    """What the doctor says about a script, by rule."""
    path = folder / "train.py"
    path.write_text(swapped(text) if engine == "whygrad" else text, encoding="utf-8")
    with one_thread_and_defaults():
        outcome = run_script(str(path))
    assert outcome.error is None, outcome.error
    return {each.rule: each for each in outcome.diagnosis.findings}


def script(optimizer: str, loss: str = "F.mse_loss(model(x), y)", steps: int = 60) -> str:
    return DATA + f"optimizer = torch.optim.{optimizer}\n" + LOOP.format(steps=steps, loss=loss)


@pytest.mark.parametrize("engine", ENGINES)
def test_rate_too_high_is_found_by_a_smaller_one_that_works(tmp_path: Path, engine: str) -> None:
    found = findings(tmp_path, script("SGD(model.parameters(), lr=20.0)"), engine)["lr-too-high"]
    assert found.where is not None
    assert "lr=20.0" in found.where.text
    assert found.step == 0
    assert found.caused_by is None
    assert "lr=20 the loss of one batch goes" in found.evidence[0]
    assert found.data["works"] <= 2.0


def test_curvature_gives_the_limit_of_stability(tmp_path: Path) -> None:
    text = """
import torch
x = torch.eye(2) * torch.tensor([1.0, 3.0])
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
for step in range(40):
    optimizer.zero_grad()
    loss = ((x @ w) ** 2).sum() / 2
    loss.backward()
    optimizer.step()
"""
    found = findings(tmp_path, text)["lr-too-high"]
    assert any("curvature of the loss is 9" in each and "0.22" in each for each in found.evidence)


@pytest.mark.parametrize(
    ("optimizer", "loss"),
    [
        ("SGD(model.parameters(), lr=0.1)", "F.mse_loss(model(x), y)"),
        ("Adam(model.parameters(), lr=0.01)", "F.mse_loss(model(x), y)"),
        ("SGD(model.parameters(), lr=0.01, momentum=0.9)", NOISE),
        ("Adam(model.parameters(), lr=1e-3)", NOISE),
    ],
)
def test_silent_when_the_rate_is_well(tmp_path: Path, optimizer: str, loss: str) -> None:
    found = findings(tmp_path, script(optimizer, loss))
    assert not found.keys() & {"lr-too-high", "lr-too-low", "oscillation", "loss-plateau"}


@pytest.mark.parametrize("engine", ENGINES)
def test_rate_too_low(tmp_path: Path, engine: str) -> None:
    found = findings(tmp_path, script("Adam(model.parameters(), lr=1e-8)"), engine)["lr-too-low"]
    assert found.where is not None
    assert "lr=1e-8" in found.where.text
    assert found.evidence[0].startswith("60 steps changed the loss of the first batch")
    assert "instead of 1e-08" in found.fix


def test_fine_tuning_at_a_small_rate_is_well(tmp_path: Path) -> None:
    text = script("Adam(model.parameters(), lr=0.02)", steps=80) + (
        "optimizer = torch.optim.Adam(model.parameters(), lr=1e-7)\n"
        + LOOP.format(steps=40, loss="F.mse_loss(model(x), y + 0.01)")
    )
    assert "lr-too-low" not in findings(tmp_path, text)


@pytest.mark.parametrize("engine", ENGINES)
def test_sum_reduction_explains_the_rate(tmp_path: Path, engine: str) -> None:
    loss = "F.mse_loss(model(x), y, reduction='sum')"
    found = findings(tmp_path, script("SGD(model.parameters(), lr=0.1)", loss), engine)
    cause = found["sum-reduction"]
    assert cause.caused_by is None
    assert found["lr-too-high"].caused_by is cause
    assert cause.where is not None
    assert "reduction='sum'" in cause.where.text
    assert "adds up 64 elements" in cause.evidence[0]


@pytest.mark.parametrize(
    "optimizer", ["SGD(model.parameters(), lr=1e-3)", "Adam(model.parameters(), lr=0.01)"]
)
def test_sum_with_a_rate_for_it_is_well(tmp_path: Path, optimizer: str) -> None:
    found = findings(tmp_path, script(optimizer, "((model(x) - y) ** 2).sum()"))
    assert not found.keys() & {"sum-reduction", "lr-too-high"}


@pytest.mark.parametrize("engine", ENGINES)
def test_rate_is_tried_with_a_sound_loss_when_the_own_one_is_invalid(
    tmp_path: Path, engine: str
) -> None:
    text = """
import torch, torch.nn as nn
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(4, 16), nn.Sigmoid(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=9.0)
for step in range(12):
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    loss = torch.log(model(x) - 1.0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    found: Any = findings(tmp_path, text, engine)["lr-too-high"]
    assert found.where.text.startswith("optimizer = ")
    assert "squared error" in found.evidence[0]
    after = found.data["after_fixes"]
    assert after["concern"] is False
    assert after["statement"] in found.evidence
    assert 0 <= after["saturated"] <= 1
    assert math.isfinite(after["gradient_ratio"])


_AT_CHANCE = """
tokens = torch.randint(0, 8, (400, 6))
kinds = (tokens[:, 0] > tokens[:, 1]).long()
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(8, 16)
        self.norm, self.hidden, self.head = nn.LayerNorm(96), nn.Linear(96, 64), nn.Linear(64, 2)

    def forward(self, given):
        return self.head(torch.tanh(self.hidden(self.norm(self.table(given).flatten(1)))))

model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr={rate})  # here
for step in range(60):
    rows = torch.randint(0, 400, (32,))
    loss = F.cross_entropy(model(tokens[rows]), kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rate_at_which_no_batch_is_learned(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "lr-too-high", _AT_CHANCE.format(rate=3.0), engine)
    assert found.data["works"] < 1
    assert ask(tmp_path, "lr-too-high", _AT_CHANCE.format(rate=3e-3), engine) == []
