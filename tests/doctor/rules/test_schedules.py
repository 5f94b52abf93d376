"""Schedules that take the rate away too early, and optimizers that are given the same twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_DECAY = """
table = torch.randn(1280, 10)
answers = torch.sin(table[:, :1] * 1.5) + table[:, 1:2]
net = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.7)
for epoch in range(12):
    for rows in torch.randperm(1280).split(64):
        loss = F.mse_loss(net(table[rows]), answers[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {each_batch}
    {each_epoch}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_decay_at_each_batch_after_most_was_learned(tmp_path: Path, engine: str) -> None:
    text = _DECAY.format(each_batch="scheduler.step()  # here", each_epoch="pass")
    found = only(tmp_path, "loss-plateau", text, engine)
    assert [name for name, _ in found.places] == ["made here"]
    assert "not one bit of the parameters changed" in found.evidence[2]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_decay_at_each_epoch(tmp_path: Path, engine: str) -> None:
    text = _DECAY.format(each_batch="pass", each_epoch="scheduler.step()")
    assert ask(tmp_path, "loss-plateau", text, engine) == []


_HARD = """
bits = torch.randint(0, 2, (1280, 14)).float()
odd = bits[:, :5].sum(1) % 2
net = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma={gamma})
for epoch in range(8):
    for rows in torch.randperm(1280).split(64):
        loss = F.binary_cross_entropy_with_logits(net(bits[rows]).squeeze(1), odd[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()  # here
"""


def test_a_rate_that_goes_before_anything_is_learned(tmp_path: Path) -> None:
    found = only(tmp_path, "loss-plateau", _HARD.format(gamma=0.9))
    assert found.certainty == "likely"
    assert "before anything was learned" in found.evidence[2]


def test_what_is_hard_is_not_blamed_on_a_rate_that_is_there(tmp_path: Path) -> None:
    assert ask(tmp_path, "loss-plateau", _HARD.format(gamma=0.999)) == []


_CONVERGED = """
table = torch.randn(640, 10)
answers = table[:, :1] + 0.3 * torch.randn(640, 1)
net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
scheduler = torch.optim.lr_scheduler.{schedule}
for epoch in range(60):
    for rows in torch.randperm(640).split(64):
        loss = F.mse_loss(net(table[rows]), answers[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
"""
_SCHEDULES = (
    "StepLR(optimizer, 8, gamma=0.1)",  # the parameters stand still: nothing is left to learn
    "StepLR(optimizer, 20, gamma=0.1)",
    "CosineAnnealingLR(optimizer, 60)",
    "LambdaLR(optimizer, lambda epoch: min(1.0, (epoch + 1) / 40))",
)


@pytest.mark.parametrize("schedule", _SCHEDULES)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_rate_that_goes_when_all_is_learned(tmp_path: Path, engine: str, schedule: str) -> None:
    assert ask(tmp_path, "loss-plateau", _CONVERGED.format(schedule=schedule), engine) == []


_TWO = """
basis = torch.randn(4, 20)
encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 6))
decoder = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 20))
first = torch.optim.Adam(encoder.parameters(), lr=2e-3)
second = torch.optim.Adam({second}.parameters(), lr=2e-3)  # here
for step in range(300):
    batch = torch.tanh(torch.randn(64, 4) @ basis * 0.5)
    loss = (decoder(encoder(batch)) - batch).pow(2).mean()
    encoder.zero_grad()
    decoder.zero_grad()
    loss.backward()
    first.step()
    second.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_optimizer_with_the_parameters_of_the_first(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "parameter-not-in-optimizer", _TWO.format(second="encoder"), engine)
    assert "holds every one of them" in found.evidence[1]
    assert all(name.startswith("decoder") for name in found.parameters)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_optimizer_with_parameters_of_its_own(tmp_path: Path, engine: str) -> None:
    text = _TWO.format(second="decoder")
    assert ask(tmp_path, "parameter-not-in-optimizer", text, engine) == []
