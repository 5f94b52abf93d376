"""What holds a run at a level: decay, dropout, a rate that shows only after many updates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

_TABLE = """
table = torch.randn(1600, 10)
prices = torch.sin(2 * table[:, :1]) + table[:, 1:2].abs()
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay={decay})  # here
for epoch in range(20):
    for rows in torch.randperm(1600).split(50):
        loss = F.mse_loss(net(table[rows]), prices[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_ROWS = """
table = torch.randn(900, 16)
answers = (table @ torch.randn(16, 6)).argmax(1)
net = nn.Sequential(
    nn.Linear(16, 48),
    nn.ReLU(),
    {drop}
    nn.Linear(48, 48),
    nn.ReLU(),
    {drop}
    nn.Linear(48, 6),
)
optimizer = torch.optim.{optimizer}
for epoch in range(10):
    for rows in torch.randperm(900).split(30):
        loss = F.cross_entropy(net(table[rows]), answers[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_decay_of_a_run_that_learned_most_of_it(tmp_path: Path) -> None:
    found = only(tmp_path, "over-regularized", _TABLE.format(decay=0.1))
    assert "from the latest state" in found.evidence[0]


@pytest.mark.parametrize("decay", [0.001, 0.0])
def test_a_decay_that_holds_nothing_back(tmp_path: Path, decay: float) -> None:
    assert not ask(tmp_path, "over-regularized", _TABLE.format(decay=decay))


def test_decay_of_a_run_that_comes_again_to_few_samples(tmp_path: Path) -> None:
    few = _TABLE.format(decay=0.1).replace("1600", "150").replace("range(20)", "range(200)")
    assert not ask(tmp_path, "over-regularized", few)


def test_a_dropout_by_what_was_asked_for(tmp_path: Path) -> None:
    adam = "Adam(net.parameters(), lr=1e-3)"
    broken = _ROWS.format(drop="nn.Dropout(0.9),  # here", optimizer=adam)
    assert "90%" in only(tmp_path, "over-regularized", broken).evidence[0]
    well = _ROWS.format(drop="nn.Dropout(0.3),", optimizer=adam)
    assert not ask(tmp_path, "over-regularized", well)


def test_a_rate_that_shows_only_after_many_updates(tmp_path: Path) -> None:
    script = _ROWS.format(drop="", optimizer="SGD(net.parameters(), lr={})  # here")
    assert only(tmp_path, "lr-too-low", script.format(2e-4)).proof.value == "tried"
    assert not ask(tmp_path, "lr-too-low", script.format(0.1))
