"""Overlaps and likelihoods that are made small, and losses that lower an answer on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_TAGS = """
tags = (x @ torch.randn(4, 5) > 0.6).float()
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
for step in range(60):
    p = torch.sigmoid(model(x))
    overlap = (p * tags).sum()
    loss = {loss}  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_DICE = "(2 * overlap + 1) / (p.sum() + tags.sum() + 1)"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", [_DICE, "overlap / (p.sum() + tags.sum() - overlap)"])
def test_an_overlap_that_is_made_small(tmp_path: Path, loss: str, engine: str) -> None:
    found = only(tmp_path, "opposite-answers", _TAGS.format(loss=loss), engine)
    assert "100% of the probabilities down whose target is one" in found.evidence[0]


@pytest.mark.parametrize(
    "loss",
    [
        f"1 - {_DICE}",
        f"-{_DICE}",
        f"1 - {_DICE} + F.binary_cross_entropy(p, 0.9 * tags + 0.05)",
        # The probability of a no, which is told so.
        "F.binary_cross_entropy(p, 1 - tags)",
        # All go down: a penalty on their number, and not on those that are right.
        "overlap * 0.01 + p.mean()",
    ],
)
def test_an_overlap_that_is_made_large(tmp_path: Path, loss: str) -> None:
    assert ask(tmp_path, "opposite-answers", _TAGS.format(loss=loss)) == []


def test_distances_that_go_down_where_the_label_is_one(tmp_path: Path) -> None:
    text = """
same = (torch.rand(64) < 0.5).float()
other = torch.where(same.unsqueeze(1) == 1, x + 0.05 * torch.randn(64, 4), x.roll(1, 0))
embed = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-2)
for step in range(60):
    distance = (embed(x) - embed(other)).pow(2).sum(1)
    loss = (same * distance + (1 - same) * F.relu(1 - distance)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert ask(tmp_path, "opposite-answers", text) == []
