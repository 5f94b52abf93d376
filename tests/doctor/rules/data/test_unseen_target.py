"""Noise that a model is to name and is given nothing of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

_DENOISE = """
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range({steps}):
    clean = x[torch.randperm(64)[:32]]
    {drawn}
    loss = F.mse_loss(model(noisy), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "drawn",
    [
        "noise = torch.randn_like(clean)  # here\n    noisy = clean + torch.randn_like(clean)",
        "noise = torch.randn(32, 4)  # here\n    noisy = clean * 1.0",
    ],
    ids=["another draw", "none"],
)
def test_the_target_is_another_draw(tmp_path: Path, drawn: str) -> None:
    found = only(tmp_path, "unseen-target", _DENOISE.format(drawn=drawn, steps=60))
    assert "nothing that the prediction is computed from" in found.evidence[1]


@pytest.mark.parametrize(
    ("drawn", "steps"),
    [
        ("noise = torch.randn_like(clean)\n    noisy = clean + noise", 120),
        ("noise = torch.randn_like(clean)\n    noisy = clean + noise", 12),  # too few to learn
        ("noise = torch.randn(32, 4)\n    noisy = torch.randn(32, 4)", 60),  # a benchmark
        ("noise = torch.rand(32, 4) * 0.1 + 0.9\n    noisy = clean", 60),  # soft labels
        ("noise = torch.empty(32, 4).uniform_(0.8, 1.0)\n    noisy = clean", 60),
        ("noise = torch.randn_like(clean)\n"
         "    with torch.no_grad():\n        noisy = clean + noise", 12),
    ],
)  # fmt: skip
def test_where_it_can_be_known_or_is_meant(tmp_path: Path, drawn: str, steps: int) -> None:
    assert ask(tmp_path, "unseen-target", _DENOISE.format(drawn=drawn, steps=steps)) == []
