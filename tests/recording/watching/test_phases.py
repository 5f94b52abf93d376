"""A program that trains again with another optimizer: the second phase is looked at as well."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only
from whygrad.doctor import watch

pytest.importorskip("torch")

PHASES = """
body = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
first = nn.Linear(8, 4)
optimizer = torch.optim.Adam([*body.parameters(), *first.parameters()], lr=0.003)
for step in range({before}):
    loss = F.mse_loss(first(body(x)), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
head = nn.Linear(8, {outputs})
optimizer = torch.optim.{rate}
for step in range(60):
    output = head(body(x))
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_RATE = "Adam([*body.parameters(), *head.parameters()], lr=0.003)"
_LABELS = "(x[:, 0] > 0).long()"


def _script(loss: str, before: int = 100, outputs: int = 1, rate: str = _RATE) -> str:
    return PHASES.format(before=before, outputs=outputs, rate=rate, loss=loss)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("before", [20, 100])
def test_faults_of_the_loss(tmp_path: Path, engine: str, before: int) -> None:
    text = _script("F.mse_loss(output, y[:, 0])  # here", before)
    assert only(tmp_path, "loss-broadcast", text, engine).step == before
    twice = f"F.cross_entropy(torch.softmax(output, 1), {_LABELS})  # here"
    only(tmp_path, "double-softmax", _script(twice, before, 3), engine)
    for rule, right in [("loss-broadcast", "F.mse_loss(output, y)"),
                        ("double-softmax", f"F.cross_entropy(output, {_LABELS})")]:  # fmt: skip
        assert not ask(tmp_path, rule, _script(right, before, 3 - 2 * ("mse" in right)), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rate_that_is_too_high_in_the_second_phase(tmp_path: Path, engine: str) -> None:
    rate = "SGD([*body.parameters(), *head.parameters()], lr=30.0, momentum=0.9)  # here"
    text = _script("F.mse_loss(output, y)", rate=rate)
    found = only(tmp_path, "lr-too-high", text, engine)
    assert found.step == 100
    exploding = ask(tmp_path, "exploding-gradient", text, engine)
    assert all(each.step is not None and each.step > 100 for each in exploding)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_steps_of_a_phase_are_sampled(engine: str) -> None:
    space = importlib.import_module(engine)
    sampled = []
    with watch() as doc:
        for _ in range(3):
            model = space.nn.Linear(3, 1)
            optimizer = space.optim.SGD(model.parameters(), lr=0.01)
            for _ in range(70):
                loss = model(space.ones(4, 3)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    for course in doc.run.courses:
        sampled.append([step.index for step in course.steps if step.sample is not None])
        assert course.first is not None
        assert course.first.step == course.steps[0].number
    assert sampled == [[0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64]] * 3
    assert doc.run.troubles == []


def test_many_optimizers_do_not_keep_it_awake() -> None:
    torch = importlib.import_module("torch")
    model = torch.nn.Linear(3, 1)
    with watch() as doc:
        for number in range(60):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            for _ in range(5):
                loss = model(torch.ones(4, 3)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if number == 30:
                assert doc.observer.sampler.idle
    assert len(doc.run.passes) == 300
    assert torch.overrides._get_current_function_mode_stack() == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_watch_in_the_same_process_sees_as_much(engine: str) -> None:
    space = importlib.import_module(engine)
    for _ in range(2):
        model = space.nn.Linear(3, 1)
        optimizer = space.optim.SGD(model.parameters(), lr=0.1)
        with watch(model, optimizer) as doc:
            for _ in range(3):
                optimizer.zero_grad()
                model(space.randn(4, 3)).square().mean().backward()
                optimizer.step()
        assert len(doc.run.passes) == 3
    model(space.randn(4, 3)).sum().backward()
    assert len(doc.run.passes) == 3  # nobody looks any more
