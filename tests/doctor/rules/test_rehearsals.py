"""Faults of level: the loss falls, and a short training with one thing changed gets far lower."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_TABLE = """
table = torch.randn(960, 12)
answers = (table[:, 0] * table[:, 1] > 0).long() + 2 * (table[:, 3:6].sum(1) > 0).long()
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
{begin}
optimizer = torch.optim.{optimizer}
{schedule}
for epoch in range(12):
    for rows in torch.randperm(960).split(48):
        loss = F.cross_entropy(net(table[rows]), answers[rows])
        optimizer.zero_grad()
        loss.backward()
        {clip}
        optimizer.step()
        {each_batch}
    {each_epoch}
"""
_PLAIN = {
    "begin": "",
    "optimizer": "Adam(net.parameters(), lr=2e-3)",
    "schedule": "",
    "clip": "pass",
    "each_batch": "pass",
    "each_epoch": "pass",
}
_CLIPPED = "torch.nn.utils.clip_grad_norm_(net.parameters(), {})"
_LARGE = """with torch.no_grad():
    for each in net.parameters():
        each.normal_(0.0, 2.0)"""
_RISING = (
    "schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / {}))"
)
_FALLING = "schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, {})"

# rule: what is wrong, and the same thing as it should be
FAULTS = {
    "lr-too-high": (
        {"optimizer": "Adam(net.parameters(), lr=0.3)", "clip": _CLIPPED.format(1.0)},
        {"optimizer": "Adam(net.parameters(), lr=3e-3)", "clip": _CLIPPED.format(1.0)},
    ),
    "lr-too-low": (
        {"optimizer": "Adam(net.parameters(), lr=2e-6)"},
        {"optimizer": "Adam(net.parameters(), lr=5e-4)"},
    ),
    "scheduler-misuse": (
        {"schedule": _RISING.format(4000), "each_epoch": "schedule.step()"},
        {"schedule": _RISING.format(40), "each_batch": "schedule.step()"},
    ),
    "loss-plateau": (
        {"schedule": _FALLING.format(0.8), "each_batch": "schedule.step()"},
        {"schedule": _FALLING.format(0.8), "each_epoch": "schedule.step()"},
    ),
    "over-regularized": (
        {"optimizer": "AdamW(net.parameters(), lr=2e-3, weight_decay=30.0)"},
        {"optimizer": "AdamW(net.parameters(), lr=2e-3, weight_decay=0.1)"},
    ),
    "clipping-hides-cause": (
        {"optimizer": "SGD(net.parameters(), lr=0.1)", "clip": _CLIPPED.format(1e-3)},
        {"optimizer": "SGD(net.parameters(), lr=0.1)", "clip": _CLIPPED.format(1.0)},
    ),
    "bad-initialization": (
        {"begin": _LARGE},
        {},
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rule", FAULTS)
def test_a_level_that_is_wrong_is_proved_by_a_training(
    tmp_path: Path, rule: str, engine: str
) -> None:
    found = ask(tmp_path, rule, _TABLE.format(**_PLAIN | FAULTS[rule][0]), engine)
    assert [each.rule for each in found] == [rule]
    assert found[0].proof.value == "tried"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rule", FAULTS)
def test_the_right_level_is_left_alone(tmp_path: Path, rule: str, engine: str) -> None:
    assert ask(tmp_path, rule, _TABLE.format(**_PLAIN | FAULTS[rule][1]), engine) == []


_FACTORS = """
rows, columns = torch.randint(0, 30, (2000,)), torch.randint(0, 40, (2000,))
ratings = (torch.randn(30, 3) @ torch.randn(3, 40))[rows, columns] + 3.0
people = torch.nn.Parameter({people})  # here
things = torch.nn.Parameter(torch.zeros(40, 3))
level = torch.nn.Parameter(torch.zeros(1))
optimizer = torch.optim.Adam([people, things, level], lr=0.02)
for step in range(200):
    some = torch.randint(0, 2000, (200,))
    guess = (people[rows[some]] * things[columns[some]]).sum(1) + level
    loss = F.mse_loss(guess, ratings[some])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_factors_that_are_both_zero_never_move(tmp_path: Path, engine: str) -> None:
    text = _FACTORS.format(people="torch.zeros(30, 3)")
    found = only(tmp_path, "symmetric-initialization", text, engine)
    assert len(found.parameters) == 2
    assert "gradient of exactly 0" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_factor_may_begin_at_zero(tmp_path: Path, engine: str) -> None:
    text = _FACTORS.format(people="0.3 * torch.randn(30, 3)")
    assert ask(tmp_path, "symmetric-initialization", text, engine) == []
