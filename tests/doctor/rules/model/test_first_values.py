"""First values of a run that learned something all the same, or that shows only late."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_BY_HAND = """
torch.manual_seed(9)
table = torch.rand(1500, 2) * 4 - 2
height = torch.sin(2 * table[:, 0]) * torch.cos(table[:, 1]) + 0.3 * table[:, 0]
sizes = [2, 64, 64, 64, 1]
weights = []
for inputs, outputs in zip(sizes, sizes[1:]):
    weights.append((torch.randn(outputs, inputs){scale}).requires_grad_())  # here
optimizer = torch.optim.Adam(weights, lr=2e-3)
for epoch in range(18):
    for rows in torch.randperm(1500).split(100):
        found = table[rows]
        for each in weights[:-1]:
            found = torch.tanh(F.linear(found, each))
        loss = F.mse_loss(F.linear(found, weights[-1]).squeeze(1), height[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_DIGITS = """
table = torch.randn(1200, 16)
answers = (table @ torch.randn(16, 6)).argmax(1)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 6))
for layer in (net[0], net[2]):
    nn.init.{write}  # here
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(10):
    for rows in torch.randperm(1200).split(50):
        loss = F.cross_entropy(net(table[rows]), answers[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_ODDS = """
table = torch.randn(600, 8)
answers = (table[:, 0] + table[:, 1] * table[:, 2] > 0).float()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
nn.init.constant_(net[2].bias, {value})  # here
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    for rows in torch.randperm(600).split(30):
        loss = F.binary_cross_entropy(net(table[rows]).squeeze(1), answers[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_a_run_that_a_few_updates_from_ordinary_weights_outdo(tmp_path: Path) -> None:
    found = only(tmp_path, "bad-initialization", _BY_HAND.format(scale=""))
    assert "from ordinary weights" in found.evidence[1]
    assert not ask(tmp_path, "bad-initialization", _BY_HAND.format(scale=" / inputs**0.5"))


def test_equal_weights_that_biases_make_different(tmp_path: Path) -> None:
    found = only(
        tmp_path, "symmetric-initialization", _DIGITS.format(write="constant_(layer.weight, 0.05)")
    )
    assert "library's own" in found.evidence[1]
    other = _DIGITS.format(write="xavier_normal_(layer.weight)")
    assert not ask(tmp_path, "symmetric-initialization", other)


def test_a_bias_beyond_all_odds(tmp_path: Path) -> None:
    assert only(tmp_path, "bad-initialization", _ODDS.format(value="20.0")).proof.value == "tried"
    assert not ask(tmp_path, "bad-initialization", _ODDS.format(value="-4.6"))


_FACTORS = """
users, items = torch.randint(0, 100, (2000,)), torch.randint(0, 80, (2000,))
likes = (torch.randn(100, 4)[users] * torch.randn(80, 4)[items]).sum(1) / 2

class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Embedding(100, 48), nn.Embedding(80, 48)  # here
        {smaller}

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(1)

net = Factors()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(2000).split(100):
        optimizer.zero_grad()
        F.mse_loss(net(users[rows], items[rows]), likes[rows]).backward()
        optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_factors_that_begin_too_large(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "bad-initialization", _FACTORS.format(smaller="pass"), engine)
    assert "the largest first weights are those of" in found.evidence[1]
    smaller = "[nn.init.normal_(p, std=0.1) for p in self.parameters()]"
    assert not ask(tmp_path, "bad-initialization", _FACTORS.format(smaller=smaller), engine)
