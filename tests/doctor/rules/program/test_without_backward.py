"""Updates of a program that never calls backward(), and gradients that are made in another way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_MODEL = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
"""
_FORGOTTEN = {
    "a loop": """
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(12):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    optimizer.step()  # here
""",
    "a closure": """
optimizer = torch.optim.LBFGS(model.parameters())
def closure():
    optimizer.zero_grad()
    return F.mse_loss(model(x), y)
for step in range(6):
    optimizer.step(closure)  # here
""",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loop", _FORGOTTEN)
def test_nobody_asks_for_a_gradient(tmp_path: Path, loop: str, engine: str) -> None:
    found = only(tmp_path, "missing-step", _MODEL + _FORGOTTEN[loop], engine)
    assert "the program never called backward()" in found.evidence[0]
    assert found.parameters == ["0.weight", "0.bias", "2.weight", "2.bias"]


_OTHERWISE = {
    "an evolution strategy": """
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
own = list(model.parameters())
for step in range(12):
    sums = [torch.zeros_like(each) for each in own]
    with torch.no_grad():
        for trial in range(4):
            noise = [0.1 * torch.randn_like(each) for each in own]
            costs = []
            for sign in (1, -2, 1):
                for each, shift in zip(own, noise):
                    each.add_(sign * shift)
                costs.append(F.mse_loss(model(x), y))
            for total, shift in zip(sums, noise):
                total.add_((costs[0] - costs[1]) * shift / 0.08)
    for each, total in zip(own, sums):
        each.grad = total
    optimizer.step()
""",
    "autograd.grad": """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    own = list(model.parameters())
    for each, slope in zip(own, torch.autograd.grad(F.mse_loss(model(x), y), own)):
        each.grad = slope
    optimizer.step()
""",
    "a formula": """
w = torch.zeros(4, 1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(12):
    with torch.no_grad():
        error = x @ w - y
    w.grad = 2 * x.T @ error / len(x)
    optimizer.step()
""",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loop", _OTHERWISE)
def test_gradients_without_backward(tmp_path: Path, loop: str, engine: str) -> None:
    assert ask(tmp_path, "missing-step", _MODEL + _OTHERWISE[loop], engine) == []
