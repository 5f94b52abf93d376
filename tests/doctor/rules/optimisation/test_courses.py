"""One training or two: optimizers that are made anew, and stages that follow each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only, watched

_MODEL = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
"""
_EACH_STEP = """
for step in range(24):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)  # here
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_STAGES = """
def train(rate, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(steps):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

train(0.01, 40)
train(0.001, 50)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_an_optimizer_made_anew_at_each_step_goes_on(tmp_path: Path, engine: str) -> None:
    case = watched(tmp_path, _MODEL + _EACH_STEP, engine)
    (course,) = case.run.courses
    assert len(course.steps) == 24
    assert [each.number for each in course.steps] == list(range(24))
    assert course.optimizer.remade == 23
    assert course.optimizer.made_at is not None
    assert not case.run.crowded


@pytest.mark.parametrize("engine", ENGINES)
def test_two_stages_by_the_same_function(tmp_path: Path, engine: str) -> None:
    case = watched(tmp_path, _MODEL + _STAGES, engine)
    assert [len(each.steps) for each in case.run.courses] == [40, 50]
    assert [each.optimizer.remade for each in case.run.courses] == [0, 0]
    assert [each.optimizer.options["lr"] for each in case.run.courses] == [0.01, 0.001]


def test_only_one_that_never_remembers_is_told(tmp_path: Path) -> None:
    assert "made 24 Adam" in only(tmp_path, "optimizer-remade", _MODEL + _EACH_STEP).evidence[0]
    assert ask(tmp_path, "optimizer-remade", _MODEL + _STAGES) == []


_PROBED = """
def probe():
    head = nn.Linear(8, 1)
    other = torch.optim.Adam(head.parameters(), lr=0.01)
    with torch.no_grad():
        features = model[1](model[0](x))
    for step in range(60):
        loss = F.mse_loss(head(features), y)
        other.zero_grad()
        loss.backward()
        other.step()

optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
probe()
for step in range(80):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_an_optimizer_that_waits_for_another_is_looked_at(tmp_path: Path, engine: str) -> None:
    waiting, probe = watched(tmp_path, _MODEL + _PROBED, engine).run.courses
    assert (len(waiting.steps), len(probe.steps)) == (80, 60)
    for course in (waiting, probe):
        assert course.first is not None
        assert course.last is not course.first
    assert waiting.first is not None
    assert waiting.first.step == 61  # the step before it was skipped
