"""Faults of level: the loss falls, and a short training with one thing changed gets far lower."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only, watched

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
    "oscillation": (
        {"optimizer": "SGD(net.parameters(), lr=0.1, momentum=0.999)"},
        {"optimizer": "SGD(net.parameters(), lr=0.1, momentum=0.9)"},
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


def test_a_step_that_is_divided_by_a_large_number(tmp_path: Path) -> None:
    text = _TABLE.format(
        **_PLAIN | {"optimizer": "Adam(net.parameters(), lr=2e-3, eps=10.0)  # here"}
    )
    found = only(tmp_path, "lr-too-low", text)
    assert "eps=10" in found.evidence[0]


_SMOOTHED = _TABLE.replace("answers[rows])", "answers[rows], label_smoothing={smooth})  # here")


def test_labels_that_are_smoothed_until_they_say_nothing(tmp_path: Path) -> None:
    found = only(tmp_path, "over-regularized", _SMOOTHED.format(**_PLAIN, smooth=0.9))
    assert "label_smoothing=0.9" in found.evidence[0]


def test_labels_may_be_smoothed_a_little(tmp_path: Path) -> None:
    assert ask(tmp_path, "over-regularized", _SMOOTHED.format(**_PLAIN, smooth=0.1)) == []


_BY_HAND = """
target = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]
first = (torch.randn(4, 64) * {size}).requires_grad_()
second = (torch.randn(64, 64) * {size}).requires_grad_()
third = (torch.randn(64, 1) * {size}).requires_grad_()
for step in range(200):
    rows = torch.randint(0, 64, (16,))
    inside = torch.tanh(torch.tanh(x[rows] @ first) @ second)
    loss = ((inside @ third - target[rows]) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for each in (first, second, third):
            each -= 0.05 * each.grad
            each.grad = None
"""


def test_weights_by_hand_are_leaves_that_an_experiment_can_change(tmp_path: Path) -> None:
    case = watched(tmp_path, _BY_HAND.format(size=0.1))
    course = case.courses[0]
    assert course.first is not None
    assert {id(each.tensor) for each in course.parameters} == set(course.first.values)
    descent = case.descend(course, course.first)
    assert descent is not None
    assert descent.drop > 0


def test_weights_by_hand_that_are_far_too_small(tmp_path: Path) -> None:
    found = ask(tmp_path, "bad-initialization", _BY_HAND.format(size=1e-4))
    assert [each.rule for each in found] == ["bad-initialization"]
