"""Class weights that favour the frequent class."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_WEIGHED = """
table = torch.randn(600, 6)
answers = (table[:, 0] > 0.9).long() + (table[:, 0] > 1.5).long()
counts = torch.bincount(answers).float()
criterion = nn.CrossEntropyLoss(weight={weight})  # here
net = nn.Linear(6, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(40):
    rows = torch.randint(0, 600, (64,))
    loss = criterion(net(table[rows]), answers[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_WELL = ("counts.sum() / counts", "torch.ones(3)", "torch.tensor([1.0, 1.2, 0.9])")


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_that_grow_with_the_counts(tmp_path: Path, engine: str) -> None:
    text = _WEIGHED.format(weight="counts / counts.sum()")
    found = only(tmp_path, "inverted-weights", text, engine)
    assert "gives class 0" in found.evidence[0]


@pytest.mark.parametrize("weight", _WELL)
def test_weights_for_rare_classes_or_for_none(tmp_path: Path, weight: str) -> None:
    assert ask(tmp_path, "inverted-weights", _WEIGHED.format(weight=weight)) == []
