"""Averages of weights that are judged: with and without what belongs to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

AVERAGE = """
import copy

model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
ema = copy.deepcopy(model).eval()
for p in ema.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for average, p in zip(ema.parameters(), model.parameters()):
            {follow}
        for average, b in zip(ema.buffers(), model.buffers()):
            {buffers}
with torch.no_grad():
    print(F.mse_loss(ema(x), y).item()){judged}
"""
FOLLOW, BUFFERS = "average.mul_(0.7).add_(p, alpha=0.3)", "average.copy_(b)"


def test_an_average_that_is_never_brought_up_to_date(tmp_path: Path) -> None:
    text = AVERAGE.format(follow="pass", buffers="pass", judged="  # here")
    found = only(tmp_path, "checkpoint-state", text)
    assert found.title == "The copy that is judged never follows the model"


def test_an_average_without_its_statistics(tmp_path: Path) -> None:
    text = AVERAGE.format(follow=FOLLOW + "  # here", buffers="pass", judged="  # here")
    found = only(tmp_path, "checkpoint-state", text)
    assert "not its statistics" in found.title


def test_an_average_that_follows(tmp_path: Path) -> None:
    text = AVERAGE.format(follow=FOLLOW, buffers=BUFFERS, judged="")
    assert ask(tmp_path, "checkpoint-state", text) == []
