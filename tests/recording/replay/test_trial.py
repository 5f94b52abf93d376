"""Experiments on snapshots: faithful, harmless, refused when they cannot be trusted."""

from __future__ import annotations

import gc
import math
import weakref
from typing import Any

import numpy as np
import pytest

import whygrad
from whygrad.doctor import watch
from whygrad.doctor.evidence.case import Case
from whygrad.recording.replay import replay
from whygrad.recording.replay.budget import Budget
from whygrad.recording.replay.recipes import condensed
from whygrad.recording.replay.trainer import Descent, drop
from whygrad.recording.replay.trial import Trial

torch = pytest.importorskip("torch")
ENGINES = (torch, whygrad)


def course_of(space: Any, optimizer: str = "SGD", after: Any = None, **options: Any) -> Any:
    """A case and the course of a few steps of linear regression."""
    space.manual_seed(0)
    x = space.randn(32, 3)
    y = x.sum(1, keepdim=True)
    model = space.nn.Linear(3, 1)
    chosen = getattr(space.optim, optimizer)(model.parameters(), **options)
    with watch(model, chosen) as doc:
        for _ in range(4):
            chosen.zero_grad()
            loss = ((model(x * 1.0) - y) ** 2).mean()
            loss.backward()
            chosen.step()
            if after is not None:
                after(x)
    return Case(doc.run), doc.run.courses[0]


@pytest.mark.parametrize("space", ENGINES)
@pytest.mark.parametrize(
    ("optimizer", "options"),
    [("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {"lr": 0.05}), ("RMSprop", {"lr": 0.01})],
)
def test_own_rate_repeats_what_the_program_did(
    space: Any, optimizer: str, options: dict[str, float]
) -> None:
    case, course = course_of(space, optimizer, **options)
    trial = case.trial(course, course.first)
    descent = trial.descend(steps=3)
    assert descent.losses == pytest.approx(course.losses, rel=1e-5)


@pytest.mark.parametrize("space", ENGINES)
def test_a_replay_that_nobody_holds_leaves_no_values(space: Any) -> None:
    """Nor does it wait for a collector, which cannot see into PyTorch's graph."""
    case, course = course_of(space, lr=0.1)
    gc.collect()
    gc.disable()
    try:
        trace = case.budget.replay(course.first, look=True)
        assert trace.arrivals
        made = [weakref.ref(each) for call in trace.calls for each in call.outputs]
        del trace
        assert [each() for each in made] == [None] * len(made)
    finally:
        gc.enable()


@pytest.mark.parametrize("space", ENGINES)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_what_knowing_nothing_costs_is_in_the_units_of_the_loss(space: Any, reduction: str) -> None:
    space.manual_seed(0)
    model = space.nn.Linear(3, 4)
    labels = space.tensor([0, 1, 2, 3] * 8)
    optimizer = space.optim.SGD(model.parameters(), lr=1e-9)
    with watch(model, optimizer) as doc:
        for _ in range(3):
            optimizer.zero_grad()
            answers = model(space.randn(32, 3))
            space.nn.functional.cross_entropy(answers, labels, reduction=reduction).backward()
            optimizer.step()
    known = Case(doc.run).chance(doc.run.courses[0].first)
    assert known == pytest.approx(math.log(4) * (32 if reduction == "sum" else 1))


@pytest.mark.parametrize("space", ENGINES)
def test_nothing_of_the_program_is_touched(space: Any) -> None:
    case, course = course_of(space, lr=0.1)
    before = [np.array(course.optimizer.thing.param_groups[0]["lr"])]
    values = [each.tensor.detach().clone() for each in course.parameters]
    steps, passes = len(course.steps), len(case.run.passes)
    case.trial(course, course.first).descend(0.5)
    assert course.optimizer.thing.param_groups[0]["lr"] == before[0]
    assert all(bool((a == b.tensor).all()) for a, b in zip(values, course.parameters, strict=True))
    assert (steps, passes) == (len(course.steps), len(case.run.passes))


@pytest.mark.parametrize("space", ENGINES)
def test_a_replay_that_is_not_exact_is_refused(space: Any) -> None:
    def shift(x: Any) -> None:
        x.data.add_(1.0)

    case, course = course_of(space, after=shift, lr=0.01)
    assert case.trial(course, course.first) is None


def test_an_optimizer_with_a_closure_is_refused() -> None:
    case, course = course_of(torch, "SGD", lr=0.1)
    course.optimizer.thing = torch.optim.LBFGS([each.tensor for each in course.parameters])
    assert case.trial(course, course.first).descend() is None


def test_a_budget_that_is_spent_refuses() -> None:
    _, course = course_of(torch, lr=0.1)
    budget = Budget(0.0)
    budget.replay(course.first)
    assert Trial(course, course.first, budget).descend() is None


@pytest.mark.parametrize("space", ENGINES)
def test_sharpness_of_a_quadratic(space: Any) -> None:
    case, course = course_of(space, lr=0.1)
    snapshot = course.first
    x = next(each.inputs[0] for each in case.trace(snapshot).calls if each.op == "linear")
    inputs = np.hstack([np.asarray(x.detach()), np.ones((32, 1))])
    expected = np.linalg.eigvalsh(2 * inputs.T @ inputs / 32).max()
    assert case.trial(course, snapshot).sharpness(12) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("space", ENGINES)
def test_condensed_recipe_gives_the_same_loss_with_fewer_calls(space: Any) -> None:
    _, course = course_of(space, lr=0.1)
    short = condensed(course.first, Budget())
    assert len(short.calls) < len(course.first.calls)
    assert replay(short).loss == pytest.approx(replay(course.first).loss)


def test_what_a_descent_says() -> None:
    calm = Descent([4.0, 3.0, 2.0, 1.0])
    wild = Descent([4.0, 40.0, 3.0, 2.0, 1.0])
    lost = Descent([4.0, 400.0, math.inf])
    assert calm.is_calm(0.5)
    assert not calm.is_unstable
    assert wild.is_unstable
    assert not wild.diverges
    assert lost.diverges
    assert str(lost) == "4 → nan in 2 steps"
    assert str(wild) == "4 → 1 in 4 steps, over 40"
    assert drop(2.0, 1.0) == 0.5
    assert drop(-1.0, -2.0) == 1.0
    assert drop(1.0, math.nan) == -math.inf
