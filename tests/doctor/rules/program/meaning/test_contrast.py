"""Similarities of a batch with itself, whose diagonal is masked before the softmax."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

_SCRIPT = """
table = torch.randn(600, 12)
net = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 16))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(600).split(30):
        views = [net(table[rows] + 0.1 * torch.randn(30, 12)) for _ in range(2)]
        z = F.normalize(torch.cat(views), dim=1)
        scores = z @ z.T / {temperature}  # here
        {mask}
        loss = F.cross_entropy(scores, (torch.arange(60) + 30) % 60)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_MASKS = [
    "scores.fill_diagonal_(float('-inf'))",
    "scores = scores.masked_fill(torch.eye(60, dtype=torch.bool), -1e9)",
]


@pytest.mark.parametrize("mask", _MASKS)
def test_a_temperature_behind_a_mask(tmp_path: Path, mask: str) -> None:
    script = _SCRIPT.format(mask=mask, temperature="20.0")
    assert "temperature of 20" in only(tmp_path, "flat-similarity", script).evidence[0]
    for rule in ("flat-similarity", "compared-with-itself"):
        assert not ask(tmp_path, rule, _SCRIPT.format(mask=mask, temperature="0.2"))
