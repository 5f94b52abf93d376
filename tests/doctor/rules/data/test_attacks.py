"""Gradients of test samples are no training, whatever line takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask

_ATTACK = """
table = torch.randn(300, 8)
kinds = (table[:, 0] + table[:, 1] > 0).long()
x_train, y_train, x_test, y_test = table[:200], kinds[:200], table[{begin}:], kinds[{begin}:]
net = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

def attacked(inputs, labels):
    inputs = inputs.clone().requires_grad_(True)
    slope, = torch.autograd.grad(F.cross_entropy(net(inputs), labels), inputs)
    return (inputs + 0.05 * slope.sign()).detach()

for epoch in range(6):
    for rows in torch.randperm(200).split(40):
        worse = attacked(x_train[rows], y_train[rows])
        loss = F.cross_entropy(net(x_train[rows]), y_train[rows])
        loss = loss + F.cross_entropy(net(worse), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    clean = (net(x_test).argmax(1) == y_test).float().mean().item()
    robust = (net(attacked(x_test, y_test)).argmax(1) == y_test).float().mean().item()
    print(epoch, clean, robust)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_an_attack_on_test_samples_is_no_leak(tmp_path: Path, engine: str) -> None:
    assert ask(tmp_path, "data-leakage", _ATTACK.format(begin=200), engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_test_samples_that_were_trained_on_are_one(tmp_path: Path, engine: str) -> None:
    found = ask(tmp_path, "data-leakage", _ATTACK.format(begin=100), engine)
    assert [each.rule for each in found] == ["data-leakage"]


_GRIDS = """
t_train, t_test = torch.linspace(0, 3, 40)[:, None], torch.linspace(0, 3, {points})[:, None]
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    loss = F.mse_loss(net(t_train), torch.sin(t_train))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        with torch.no_grad():
            print(F.mse_loss(net(t_test), torch.sin(t_test)).item())
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("points", "leaks"), [(14, False), (40, True)])
def test_two_grids_share_some_places(tmp_path: Path, engine: str, points: int, leaks: bool) -> None:
    found = ask(tmp_path, "data-leakage", _GRIDS.format(points=points), engine)
    assert bool(found) is leaks
