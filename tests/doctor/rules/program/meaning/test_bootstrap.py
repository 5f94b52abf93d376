"""Targets that are made of the model's own answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

VALUES = """
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
frozen = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
paid, done = torch.rand(64), (torch.rand(64) < 0.2).float()
for step in range(12):
    after = x.roll(1, 0) + 0.1 * torch.randn(64, 4)
    value = model(x).gather(1, torch.randint(0, 2, (64, 1))).squeeze(1)
    {target}
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SMOOTH = "F.smooth_l1_loss(value, target)"


@pytest.mark.parametrize(
    ("target", "loss"),
    [
        ("target = paid + 0.95 * model(after).max(1)[0] * (1 - done)  # here", SMOOTH),
        ("target = paid + 0.95 * (1 - done) * model(after).max(1).values  # here", SMOOTH),
        ("target = paid + 0.9 * model(after).amax(1)  # here", "(target - value).pow(2).mean()"),
    ],
)
def test_a_target_that_is_trained_along(tmp_path: Path, target: str, loss: str) -> None:
    found = only(tmp_path, "misplaced-credit", VALUES.format(target=target, loss=loss))
    assert "detach()" in found.fix


@pytest.mark.parametrize(
    "target",
    [
        "target = paid + 0.95 * model(after).max(1)[0].detach() * (1 - done)",
        "target = (paid + 0.95 * model(after).max(1)[0] * (1 - done)).detach()",
        "target = paid + 0.95 * frozen(after).max(1)[0] * (1 - done)",
        "target = paid + model(after)[:, 0]",  # a difference that is given
        "target = model(after)[:, 0]",
    ],
)
def test_targets_and_differences(tmp_path: Path, target: str) -> None:
    assert ask(tmp_path, "misplaced-credit", VALUES.format(target=target, loss=SMOOTH)) == []
