"""Initial weights, activations, gradients on their way, structure and duration: rule by rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_scripts import swapped
from whygrad.doctor import run_script
from whygrad.doctor.rules.rule import Finding

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(128, 4)
labels = (x[:, 0] * x[:, 1] > 0).long()
values = x[:, :1] * x[:, 1:2]
"""
LOOP = """
for step in range(80):
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CLASSIFY = LOOP.format(loss="F.cross_entropy(model(x), labels)")
ADAM = "\noptimizer = torch.optim.Adam(model.parameters(), lr=0.01)\n"
OWN = {
    "bad-initialization", "symmetric-initialization", "dead-relu", "saturated-activation",
    "vanishing-gradient", "missing-nonlinearity", "constant-output", "under-trained",
}  # fmt: skip


def examine(tmp_path: Path, source: str, engine: str = "torch") -> dict[str, Finding]:
    path = tmp_path / "train.py"
    path.write_text(swapped(source) if engine == "whygrad" else source, encoding="utf-8")
    outcome = run_script(str(path))
    assert outcome.error is None
    assert not [each for each in outcome.diagnosis.failures if each[0] in OWN]
    return {each.rule: each for each in outcome.diagnosis.findings if each.rule in OWN}


def line_of(finding: Finding) -> str:
    assert finding.where is not None
    return finding.where.text


BROKEN = {
    "bad-initialization": (
        """
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
for layer in model[::2]:
    nn.init.normal_(layer.weight, std=20.0)
"""
        + ADAM
        + CLASSIFY,
        "nn.init.normal_(layer.weight, std=20.0)",
        "times as large",
    ),
    "symmetric-initialization": (
        """
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
for p in model.parameters():
    nn.init.constant_(p, 0.1)
"""
        + ADAM
        + CLASSIFY,
        "nn.init.constant_(p, 0.1)",
        "the 16 units have one set of weights",
    ),
    "dead-relu": (
        """
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
nn.init.constant_(model[0].bias, -50.0)
"""
        + ADAM
        + CLASSIFY,
        "nn.init.constant_(model[0].bias, -50.0)",
        "16 of 16 units",
    ),
    "saturated-activation": (
        """
first, last = nn.Linear(4, 32), nn.Linear(32, 2)


def model(x):
    return last(torch.sigmoid(first(x) + 30))


optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=0.03)
"""
        + CLASSIFY,
        "return last(torch.sigmoid(first(x) + 30))",
        "100% of the inputs of sigmoid lie beyond ±5",
    ),
    "vanishing-gradient": (
        """
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4 if i == 0 else 16, 16) for i in range(9)])
        self.last = nn.Linear(16, 2)

    def forward(self, x):
        for layer in self.layers:
            x = torch.sigmoid(layer(x))
        return self.last(x)


model = Deep()
"""
        + ADAM
        + CLASSIFY,
        "x = torch.sigmoid(layer(x))",
        "10 layers and 9 × sigmoid apart",
    ),
    "missing-nonlinearity": (
        "\nmodel = nn.Sequential(nn.Linear(4, 32), nn.Linear(32, 2))\n" + ADAM + CLASSIFY,
        "model = nn.Sequential(nn.Linear(4, 32), nn.Linear(32, 2))",
        "together they are one linear map",
    ),
    "constant-output": (
        """
class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 16), nn.Linear(16, 2)

    def forward(self, x):
        pooled = torch.relu(self.first(x)).mean(dim=0, keepdim=True)
        return self.last(pooled.expand(len(x), -1))


model = Pooled()
"""
        + ADAM
        + CLASSIFY,
        "pooled = torch.relu(self.first(x)).mean(dim=0, keepdim=True)",
        "the same for all 128 samples",
    ),
    "under-trained": (
        """
labels = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
for epoch in range(5):
    for step, part in enumerate(range(0, 128, 8)):
        loss = F.cross_entropy(model(x[part : part + 8]), labels[part : part + 8])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    break
""",
        "break",
        "was to run 5 times",
    ),
}


@pytest.mark.parametrize("engine", ["torch", "whygrad"])
@pytest.mark.parametrize("rule", BROKEN)
def test_broken(rule: str, engine: str, tmp_path: Path) -> None:
    source, line, words = BROKEN[rule]
    found = examine(tmp_path, HEAD + source, engine)
    assert rule in found
    assert found[rule].caused_by is None
    assert line_of(found[rule]) == line
    assert words in " ".join(found[rule].evidence)


HEALTHY = {
    "last layer starts at zero": """
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
nn.init.zeros_(model[2].weight)
"""
    + ADAM
    + CLASSIFY,
    "linear layers for a linear target": """
model = nn.Sequential(nn.Linear(4, 16), nn.Linear(16, 1))
noisy = x @ torch.randn(4, 1) + 0.2 * torch.randn(128, 1)
"""
    + ADAM
    + LOOP.format(loss="F.mse_loss(model(x), noisy)"),
    "many units that are never active": """
model = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2))
with torch.no_grad():
    model[0].bias[:90] = -20.0
"""
    + ADAM
    + CLASSIFY,
    "noise that cannot be learned": """
model = nn.Sequential(nn.Linear(4, 32), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    optimizer.zero_grad()
    loss = F.mse_loss(model(torch.randn(16, 4)), torch.randn(16, 1))
    loss.backward()
    optimizer.step()
""",
    "equal weights in a demonstration of four steps": """
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
nn.init.ones_(model[0].weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = F.cross_entropy(model(x), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a confident sigmoid at the output": """
target = (x[:, :1] > 0).float()
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
"""
    + LOOP.format(loss="F.binary_cross_entropy(model(x), target)"),
    "a break after enough steps": """
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(1000):
    loss = F.cross_entropy(model(x), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 79:
        break
""",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy(name: str, tmp_path: Path) -> None:
    assert examine(tmp_path, HEAD + HEALTHY[name]) == {}
