"""Inputs and targets off scale, and batches that are not like the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.doctor.asking import ENGINES, ask, only
from whygrad.doctor.evidence.meetings import Meeting

pytest.importorskip("torch")

LOOP = """
model = nn.Sequential({first}nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.{optimizer}
for step in range(40):
    prediction = model(data)  # {input}
    loss = F.mse_loss(prediction, target)  # {target}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BATCHES = """
x = torch.randn(400, 4)
y = x.sum(1, keepdim=True)
{damage}
model = nn.Sequential(nn.Linear(4, 16), {activation}, nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for i in range(0, 400, 10):
    loss = F.mse_loss(model(x[i : i + 10]), y[i : i + 10])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def _loop(*, first: str = "", rate: str = "SGD(model.parameters(), lr=0.05)", **marks: str) -> str:
    named = {"input": "-", "target": "-", **marks}
    return LOOP.format(first=first, optimizer=rate, **named)


@pytest.mark.parametrize("engine", ENGINES)
def test_inputs_in_the_thousands(tmp_path: Path, engine: str) -> None:
    text = "data, target = 3000 + 900 * x, x[:, :1]" + _loop(input="here")
    found = only(tmp_path, "unscaled-input", text, engine)
    assert found.step == 0
    assert "first layer gets values from" in found.evidence[0]
    assert "40 steps on one batch, standardised" in found.evidence[2]
    assert "x_train.mean(0)" in found.fix


def test_pixels_get_their_own_advice(tmp_path: Path) -> None:
    text = "data, target = (60 * x + 127).clamp(0, 255), x[:, :1]" + _loop(input="here")
    assert "x / 255" in only(tmp_path, "unscaled-input", text).fix


@pytest.mark.parametrize("first", ["nn.BatchNorm1d(4), ", "nn.LayerNorm(4), "])
def test_a_model_that_normalises_is_left_alone(tmp_path: Path, first: str) -> None:
    text = "data, target = 3000 + 900 * x, x[:, :1]" + _loop(first=first)
    assert not ask(tmp_path, "unscaled-input", text)


def test_large_inputs_that_are_learned_from_are_left_alone(tmp_path: Path) -> None:
    rate = "Adam(model.parameters(), lr=0.05)"
    text = "data, target = 20 * x, x[:, :1]" + _loop(rate=rate)
    assert not ask(tmp_path, "unscaled-input", text)


@pytest.mark.parametrize("shape", [(6,), (6, 1)])
def test_targets_are_standardised_over_the_samples(shape: tuple[int, ...]) -> None:
    call: Any = None
    mean, std = Meeting(call, 1, np.arange(6.0).reshape(shape), axis=1).features()
    assert (mean.item(), std.item()) == (2.5, pytest.approx(np.arange(6.0).std()))


@pytest.mark.parametrize("engine", ENGINES)
def test_targets_far_away(tmp_path: Path, engine: str) -> None:
    rate = "Adam(model.parameters(), lr=0.03)"
    text = "data, target = x, 9000 + 700 * x[:, :1]" + _loop(rate=rate, target="here")
    found = only(tmp_path, "unscaled-target", text, engine)
    assert "targets lie between" in found.evidence[0]
    assert "prediction * " in found.fix


def test_targets_that_are_reached_are_left_alone(tmp_path: Path) -> None:
    rate = "Adam(model.parameters(), lr=0.1)"
    text = "data, target = x, 20 + 10 * x[:, :1]" + _loop(rate=rate)
    assert not ask(tmp_path, "unscaled-target", text)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("damage", ["x[200:210] *= 1000  # here", "y[200:210] = 99999.0  # here"])
def test_a_corrupt_batch(tmp_path: Path, engine: str, damage: str) -> None:
    found = only(tmp_path, "outlier-batch", BATCHES.format(damage=damage, activation="nn.ReLU()"),
                 engine)  # fmt: skip
    assert found.step == 20
    assert "pass 20" in found.evidence[0]
    assert found.certainty == "certain"


def test_a_large_batch_that_does_no_harm(tmp_path: Path) -> None:
    text = BATCHES.format(damage="x[200:210] *= 8", activation="nn.Sigmoid()")
    assert not ask(tmp_path, "outlier-batch", text)


def test_a_large_batch_after_the_end_is_only_a_possible_cause(tmp_path: Path) -> None:
    text = """
model = nn.Sequential(nn.Linear(4, 8), nn.Sigmoid(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for step in range(30):
    batch = torch.randn(8, 4) * (10 if step == 25 else 1)  # here
    loss = torch.log(model(batch)).mean()
    loss.backward()
    optimizer.step()
"""
    found = only(tmp_path, "outlier-batch", text)
    assert (found.step, found.certainty) == (25, "possible")
    assert "cannot be seen" in found.evidence[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_whose_loss_was_invalid_once_is_watched_to_its_end(
    tmp_path: Path, engine: str
) -> None:
    text = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(90):
    batch = torch.randn(8, 4) * (10 if step == 75 else 1)  # here
    loss = model(batch).square().mean()
    if step == 3:
        (torch.log(torch.zeros(1)) * loss).backward()
        optimizer.zero_grad()
        continue
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
    found = only(tmp_path, "outlier-batch", text, engine)
    assert (found.step, found.certainty) == (75, "possible")
