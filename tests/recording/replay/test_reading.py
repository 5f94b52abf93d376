"""Who is the prediction, who the target, in the ways that people write losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import whygrad
from whygrad import nn
from whygrad.doctor import watch
from whygrad.doctor.evidence.case import Case
from whygrad.nn import functional
from whygrad.recording.replay.reading import Reading

Loss = Callable[[Any, Any, Any, Any], Any]


def read(loss: Loss) -> Reading:
    """The reading of one step with this loss of model, inputs, numbers and labels."""
    whygrad.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = whygrad.optim.SGD(model.parameters(), lr=0.1)
    inputs, numbers = whygrad.randn(6, 4), whygrad.randn(6, 3)
    labels = whygrad.tensor([0, 1, 2, 0, 1, 2])
    with watch(model, optimizer) as doc:
        loss(model, inputs, numbers, labels).backward()
        optimizer.step()
    case = Case(doc.run)
    reading = case.reading(case.first)
    assert reading is not None
    return reading


WRITTEN: dict[str, tuple[Loss, str, tuple[int, ...], tuple[int, ...]]] = {
    "a loss of the library": (
        lambda model, x, t, y: functional.mse_loss(model(x), t),
        "mse_loss", (6, 3), (6, 3),
    ),
    "its arguments the other way round": (
        lambda model, x, t, y: functional.l1_loss(t, model(x)),
        "l1_loss", (6, 3), (6, 3),
    ),
    "a difference, then a mask": (
        lambda model, x, t, y: ((model(x) - t) ** 2 * (t > 0).float()).sum(),
        "sub", (6, 3), (6, 3),
    ),
    "a choice by labels": (
        lambda model, x, t, y: -model(x).log_softmax(1).gather(1, y.unsqueeze(1)).mean(),
        "gather", (6, 3), (6, 1),
    ),
    "a product with a distribution": (
        lambda model, x, t, y: -(t.softmax(1) * model(x).log_softmax(1)).sum(),
        "mul", (6, 3), (6, 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_prediction_and_target(name: str) -> None:
    loss, op, prediction, target = WRITTEN[name]
    reading = read(loss)
    assert reading.loss_call is not None
    assert reading.loss_call.op == op
    assert reading.prediction.requires_grad
    assert not reading.target.requires_grad
    assert tuple(reading.prediction.shape) == prediction
    assert tuple(reading.target.shape) == target


def test_every_term_of_a_loss_with_several() -> None:
    def loss(model: Any, x: Any, t: Any, y: Any) -> Any:
        out = model(x)
        return functional.cross_entropy(out, y) + 0.1 * ((out - t) ** 2).mean()

    reading = read(loss)
    assert [each.call.op for each in reading.terms] == ["cross_entropy", "sub"]
    assert reading.loss_call is reading.losses[0]


def test_bare_parameters_times_data_are_a_layer() -> None:
    weight = whygrad.ones(4, requires_grad=True)
    reading = read(lambda model, x, t, y: ((x * weight).sum(1) - t[:, 0]).abs().mean())
    assert reading.meeting is not None
    assert reading.meeting.op == "sub"
    assert tuple(reading.target.shape) == (6,)


def test_no_target_no_prediction() -> None:
    reading = read(lambda model, x, t, y: model(x).mean())
    assert reading.meeting is None
    assert reading.prediction is None
    assert reading.target is None
