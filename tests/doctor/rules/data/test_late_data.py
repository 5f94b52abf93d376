"""Arithmetic on data that goes wrong late in a run, when nothing is on the tape."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, only

_LOOP = """
{helper}
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(170):
    rows = torch.randperm(64)[:32]
    batch, targets = x[rows], y[rows]
    {spoiled}
    optimizer.zero_grad()
    {loss}
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_division_before_the_model(tmp_path: Path, engine: str) -> None:
    text = _LOOP.format(
        helper="def scaled(a):\n    return (a - a.mean(0)) / a.std(0)  # here",
        spoiled="if step == 150: batch = batch * torch.tensor([1.0, 1.0, 1.0, 0.0])",
        loss="loss = F.mse_loss(net(scaled(batch)), targets)",
    )
    assert only(tmp_path, "nan-from-division", text, engine).step == 150


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exponential_of_data_in_a_loss_by_hand(tmp_path: Path, engine: str) -> None:
    text = _LOOP.format(
        helper="def rate(log_rate, exposure):\n    return torch.exp(log_rate * exposure)  # here",
        spoiled="exposure = torch.ones(32, 1) * (-1e4 if step == 150 else 1)",
        loss="loss = (rate(net(batch), exposure) - net(batch) * targets.abs()).mean()",
    )
    assert only(tmp_path, "overflow-in-exp", text, engine).step == 150


@pytest.mark.parametrize("engine", ENGINES)
def test_targets_that_only_a_loss_by_hand_sees(tmp_path: Path, engine: str) -> None:
    text = _LOOP.format(
        helper="",
        spoiled="if step == 150: targets = targets * float('nan')",
        loss="loss = ((net(batch) - targets) ** 2).mean()  # here",
    )
    assert only(tmp_path, "non-finite-data", text, engine).step == 150
