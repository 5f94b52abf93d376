"""Between sampled steps the wrappers are idle: what must be seen all the same."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

import whygrad
from tests.doctor.asking import ENGINES, only
from tests.doctor.test_broken_runs import examined
from whygrad.doctor import watch
from whygrad.recording.engines.pytorch import TorchEngine
from whygrad.recording.replay import replay
from whygrad.recording.watching.metrics import Metrics
from whygrad.recording.watching.recorder import Recorder

# step 150 is far beyond the settled beginning and is not sampled
_LATE = """
x = torch.randn(16, 4)
w = torch.randn(4, 1)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(170):
    {batch}
    optimizer.zero_grad()
    {loss}
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_bad_step_is_put_together_from_an_earlier_recipe(tmp_path: Path, engine: str) -> None:
    batch = "inputs = x.clone() if step != 150 else x * 0"
    loss = "loss = torch.sqrt(((net(inputs) - net(inputs * 2)) ** 2).sum(1)).mean()  # here"
    found = only(tmp_path, "nan-from-sqrt", _LATE.format(batch=batch, loss=loss), engine)
    assert found.step == 150


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("what", ["inputs", "targets"])
def test_an_outlier_batch(tmp_path: Path, engine: str, what: str) -> None:
    batch = f"inputs, targets = x, x @ w; {what} = {what} * (200 if step == 150 else 1)"
    loss = "loss = F.mse_loss(net(inputs), targets)"
    diagnosis = examined(tmp_path, _LATE.format(batch=batch, loss=loss), engine)
    assert [each.step for each in diagnosis.findings if each.rule == "outlier-batch"] == [150]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_layer_that_fails(tmp_path: Path, engine: str) -> None:
    text = """
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(170):
    inputs = torch.randn(1 if step == 150 else 16, 4)
    optimizer.zero_grad()
    loss = F.mse_loss(net(inputs), inputs[:, :1])
    loss.backward()
    optimizer.step()
"""
    diagnosis = examined(tmp_path, text, engine)
    assert diagnosis.verdict is not None
    assert diagnosis.verdict.rule == "batchnorm-single-sample"
    failure = diagnosis.case.run.failure
    assert failure is not None
    assert (failure.op, failure.module) == ("batch_norm", "1")


def _engine(name: str):
    return torch if name == "torch" else whygrad


def _loop(space, model, optimizer, measure) -> None:
    inputs = space.ones(8, 3)
    for step in range(170):
        optimizer.zero_grad()
        model(inputs).square().mean().backward()
        optimizer.step()
        measure(step, model, inputs)


def _evaluated(name: str, measure) -> list[int]:
    """After how many passes the losses of evaluations were seen."""
    space = _engine(name)
    model = space.nn.Linear(3, 1)
    optimizer = space.optim.SGD(model.parameters(), lr=0.01)
    with watch(model, optimizer) as doc:
        _loop(space, model, optimizer, lambda *what: measure(space, *what))
    assert doc.run.troubles == []
    return [each.after for each in (*doc.run.evaluations, *doc.run.figures)]


def _without_gradients(space, step: int, model, inputs) -> None:
    if step in (100, 150):
        with space.no_grad():
            space.nn.functional.mse_loss(model(inputs), space.zeros(8, 1))


def _in_inference_mode(space, step: int, model, inputs) -> None:
    if step in (100, 150):
        with space.inference_mode():
            space.nn.functional.mse_loss(model(inputs), space.zeros(8, 1))


def _by_hand_on_another_line(space, step: int, model, inputs) -> None:
    """Neither eval() nor no_grad(): only the line is another one."""
    if step in (100, 150):
        right = (model(inputs) > 0) == space.ones(8, 1, dtype=space.bool)
        right.to(space.float32).mean()


def _after_eval(space, step: int, model, inputs) -> None:
    if step in (100, 150):
        model.eval()
        right = (model(inputs) > 0) == space.ones(8, 1, dtype=space.bool)
        right.to(space.float32).mean()
        model.train()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "measure",
    [_without_gradients, _in_inference_mode, _by_hand_on_another_line, _after_eval],
    ids=lambda function: function.__name__.strip("_"),
)
def test_an_evaluation_is_recorded(engine: str, measure) -> None:
    assert _evaluated(engine, measure) == [101, 151]


@pytest.mark.parametrize("engine", ENGINES)
def test_steps_are_idle_and_recorded(engine: str) -> None:
    space = _engine(engine)
    model = space.nn.Linear(3, 1)
    optimizer = space.optim.SGD(model.parameters(), lr=0.01)
    idle = []
    with watch(model, optimizer) as doc:
        _loop(space, model, optimizer, lambda *_: idle.append(doc.observer.sampler.idle))
    assert not any(idle[:31])
    # from 64 on two passes in a doubling are looked at; what is asked after a step is of the next
    assert [step + 1 for step in range(63, 170) if not idle[step]] == [64, 96, 128]


def test_modes_of_the_program_are_left_as_they_are() -> None:
    class Mine(torch.overrides.TorchFunctionMode):
        seen = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            type(self).seen += 1
            return func(*args, **(kwargs or {}))

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch(model, optimizer) as doc:
        _loop(torch, model, optimizer, lambda *_: None)
        assert doc.observer.sampler.idle
        with Mine():
            torch.ones(3).sum()
            seen = Mine.seen
            with torch.no_grad():  # the doctor comes back below the program's mode
                torch.ones(3).sum()
            assert Mine.seen > seen > 0
            stack = torch.overrides._get_current_function_mode_stack()
            assert isinstance(stack[-1], Mine)
        assert not doc.observer.sampler.idle
    assert torch.overrides._get_current_function_mode_stack() == []


def _at_every_step(space, step: int, model, inputs) -> None:
    with space.no_grad():
        space.nn.functional.mse_loss(model(inputs), space.zeros(8, 1))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_comes_at_every_step_is_seen_at_some(engine: str) -> None:
    seen = _evaluated(engine, _at_every_step)
    assert seen[:32] == [*range(1, 33)]  # by the end of the beginning it is known
    assert set(range(40, 170, 8)) <= set(seen)
    assert len(seen) < 70


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_teacher_says_is_not_taken_for_training(engine: str) -> None:
    space = _engine(engine)
    model, teacher = space.nn.Linear(3, 1), space.nn.Linear(3, 1)
    optimizer = space.optim.SGD(model.parameters(), lr=0.01)
    with watch(model, optimizer) as doc:
        for step in range(170):
            inputs = space.randn(8, 3)
            with space.no_grad():
                wanted = teacher(inputs * 100)
            wanted = wanted * (1e4 if step == 150 else 1)
            loss = space.nn.functional.mse_loss(model(inputs), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert doc.run.troubles == []
    assert len(doc.run.passes) == len(doc.run.courses[0].steps) == 170
    unusual = doc.run.passes[150]
    assert unusual.input_rms[0] < 10  # not what the teacher was given
    assert unusual.target_rms[0] > 1e4


@pytest.mark.parametrize("engine", ENGINES)
def test_passes_are_heard_after_one_that_was_not_watched(engine: str) -> None:
    space = _engine(engine)
    weight = space.ones(2, requires_grad=True)
    weight.sum().backward()
    with watch() as doc:
        weight.sum().backward()
    weight.sum().backward()
    assert len(doc.run.passes) == 1


_MOVES, _GAMES = 100, 30


def _counted(monkeypatch: pytest.MonkeyPatch, what: str = "call") -> list[int]:
    """How many calls the recorder has got, or looked at, in a list of one."""
    calls, carried_out = [0], getattr(Recorder, what)

    def counted(*args, **kwargs):
        calls[0] += 1
        return carried_out(*args, **kwargs)

    monkeypatch.setattr(Recorder, what, counted)
    return calls


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("distributions", [True, False])
def test_the_moves_of_games_are_seen_at_some(
    engine: str, distributions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And an evaluation at another line every time, though games go before it."""
    calls, space = _counted(monkeypatch), _engine(engine)
    if distributions:  # which check their arguments by comparisons
        draw = space.distributions.Categorical
    else:
        draw = lambda logits: space.nn.functional.softmax(logits, -1).multinomial  # noqa: E731
    space.manual_seed(0)
    model = space.nn.Sequential(space.nn.Linear(3, 8), space.nn.Tanh(), space.nn.Linear(8, 2))
    optimizer = space.optim.SGD(model.parameters(), lr=0.01)
    games, inputs = [], space.ones(8, 3)
    with watch(model, optimizer) as doc:
        for game in range(_GAMES):
            before = calls[0]
            for _ in range(_MOVES):
                with space.no_grad():
                    drawn = draw(logits=model(inputs[:1]))
                    _ = drawn.sample() if distributions else drawn(1)
            games.append(calls[0] - before)
            if game % 6 == 5:
                with space.no_grad():
                    space.nn.functional.mse_loss(model(inputs), space.zeros(8, 2))
            for _ in range(4):
                optimizer.zero_grad()
                model(inputs).square().mean().backward()
                optimizer.step()
    assert doc.run.troubles == []
    assert len(doc.run.passes) == 4 * _GAMES
    assert sum(each < games[0] / 4 for each in games[-12:]) >= 6
    seen = [each.after for each in (*doc.run.evaluations, *doc.run.figures)]
    assert seen == [4 * game for game in range(5, _GAMES, 6)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_long_game_before_the_first_pass(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks until the model is called with gradients, and then the step is known."""
    calls, space = _counted(monkeypatch), _engine(engine)
    model = space.nn.Sequential(space.nn.Linear(3, 8), space.nn.Tanh(), space.nn.Linear(8, 2))
    optimizer = space.optim.SGD(model.parameters(), lr=0.01)
    inputs = space.ones(8, 3)
    with watch(model, optimizer) as doc:
        for _ in range(2000):
            with space.no_grad():
                model(inputs[:1])
        played = calls[0]
        assert played < 4500
        model(inputs).square().mean().backward()
        optimizer.step()
    assert calls[0] > played
    assert doc.run.troubles == []
    (course,) = doc.run.courses
    assert course.first is not None
    assert replay(course.first).reproduced


@pytest.mark.parametrize("engine", ENGINES)
def test_moves_with_gradients_are_seen_at_some(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where one function calls the model for moves and for training."""
    calls, space = _counted(monkeypatch), _engine(engine)
    model = space.nn.Sequential(space.nn.Linear(3, 8), space.nn.Tanh(), space.nn.Linear(8, 2))
    optimizer = space.optim.SGD(model.parameters(), lr=0.01)
    games, inputs = [], space.ones(8, 3)

    def policy(states):
        return space.nn.functional.softmax(model(states), -1)

    with watch(model, optimizer) as doc:
        for _ in range(12):
            before = calls[0]
            for _ in range(3 * _MOVES):
                policy(inputs[:1])
            games.append(calls[0] - before)
            optimizer.zero_grad()
            policy(inputs).square().mean().backward()
            optimizer.step()
    assert doc.run.troubles == []
    assert len(doc.run.passes) == 12
    (course,) = doc.run.courses
    assert [each.index for each in course.steps if each.sample is not None] == [*range(9)]
    assert max(games[1:]) < games[0]
    assert max(games[6:]) < games[0] / 3


@pytest.mark.parametrize("engine", ENGINES)
def test_data_filled_anew_for_each_pass(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, space = _counted(monkeypatch, "_is_more_data"), _engine(engine)
    model, seen = space.nn.Linear(3, 1), []
    optimizer = space.optim.SGD(model.parameters(), lr=0.01)
    with watch(model, optimizer) as doc:
        for _ in range(10):
            before, inputs = calls[0], space.zeros(800, 3)
            for row in range(800):
                inputs[row] = inputs[row] + 1.0
            seen.append(calls[0] - before)
            optimizer.zero_grad()
            model(inputs).square().mean().backward()
            optimizer.step()
    assert doc.run.troubles == []
    assert max(seen[7:]) < seen[0] / 5


def test_a_long_evaluation_hands_over_little_after_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is read, written or summed up is still seen, and all of the training after it."""
    calls = _counted(monkeypatch)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.ones(8, 3)
    with watch(model, optimizer) as doc:
        with torch.no_grad():
            _ = model(inputs).argmax(1) == 0
            for _ in range(6000):
                inputs.abs()
            handed = calls[0]
            for _ in range(10_000):
                inputs.abs()
            assert calls[0] == handed < 4100
            assert inputs.sum().item() == 24
            assert calls[0] == handed + 2
        before = calls[0]
        model(inputs).square().mean().backward()
        optimizer.step()
        assert calls[0] - before >= 3
        before = calls[0]
        with torch.no_grad():  # another phase
            inputs.abs()
        assert calls[0] == before + 1
    assert doc.run.troubles == []


def test_data_of_an_evaluation_with_gradients_are_prepared_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sample by sample, by layers without parameters as well; what the model does is seen."""

    class Scaled(torch.nn.Module):
        def forward(self, given):
            return given.mul(2).add(1)

    calls, model, scaled = _counted(monkeypatch), torch.nn.Linear(3, 2), Scaled()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, counts = torch.ones(8, 3), []
    with watch(model, optimizer) as doc:
        for _ in range(3):
            optimizer.zero_grad()
            model(inputs).square().mean().backward()
            optimizer.step()
        for _ in range(6):
            before = calls[0]
            for _ in range(600):
                scaled(inputs[0])
            counts.append(calls[0] - before)
            model(inputs)
        doc.run.beside.clear()
        before = calls[0]
        model(inputs)
    assert doc.run.troubles == []
    assert counts[0] > 1000
    assert max(counts[1:]) <= counts[0] / 4
    assert calls[0] - before >= 1
    assert doc.run.beside


def test_a_module_made_anew_at_each_step_does_not_end_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Around(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, given):
            return self.inner(given)

    calls, model = _counted(monkeypatch), torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.ones(8, 3)
    with watch(model, optimizer) as doc:
        for step in range(400):
            if step == 200:
                before = calls[0]
            optimizer.zero_grad()
            Around(model)(inputs).square().mean().backward()
            optimizer.step()
    assert doc.run.troubles == []
    assert calls[0] - before < 200  # of more than a thousand


def test_comparisons_of_data_are_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, steps = [0], Metrics._steps

    def counted(*args):
        looked[0] += 1
        return steps(*args)

    monkeypatch.setattr(Metrics, "_steps", counted)
    model, inputs = torch.nn.Linear(3, 2), torch.ones(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch(model, optimizer) as doc:
        model(inputs).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            for _ in range(300):
                torch.eq(inputs[0], 0)
            assert looked[0] < 60
            (model(inputs).argmax(1) == 0).float().mean()
    assert doc.run.troubles == []
    assert doc.run.comparisons


def test_of_many_copies_few_are_asked_why_they_have_no_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, asks = [], TorchEngine.why_none
    monkeypatch.setattr(
        TorchEngine, "why_none", lambda self, *args: asked.extend(args[0]) or asks(self, *args)
    )
    model = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(20)), torch.nn.Linear(3, 1))
    unused = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD([*model.parameters(), *unused.parameters()], lr=0.01)
    with watch(model, optimizer) as doc:
        copies = [copy.deepcopy(model) for _ in range(4)]
        for each in copies:
            each(torch.ones(8, 3))
        model(torch.ones(8, 3)).mean().backward()
        optimizer.step()
    assert doc.run.troubles == []
    known = [each for each in doc.run.parameters.values() if each.tensor.grad is None]
    assert len(known) > 100
    assert len(asked) == 8 + 2
    assert all(doc.run.parameters[id(each)].none_because for each in unused.parameters())


@pytest.mark.parametrize("engine", ENGINES)
def test_an_update_of_many_passes_is_skipped_like_many_updates(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An L-BFGS may make all of its passes in one update; its gradients are those at its end."""
    calls, space = _counted(monkeypatch), _engine(engine)
    space.manual_seed(0)
    model = space.nn.Sequential(space.nn.Linear(4, 16), space.nn.Tanh(), space.nn.Linear(16, 1))
    optimizer = space.optim.LBFGS(model.parameters(), max_iter=300)
    inputs = space.randn(64, 4)
    wanted = inputs.sum(1, keepdim=True).sin()

    def closure():
        optimizer.zero_grad()
        loss = space.nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        return loss

    with watch(model, optimizer) as doc:
        optimizer.step(closure)
    assert doc.run.troubles == []
    (course,) = doc.run.courses
    (step,) = course.steps
    assert len(step.passes) == len(doc.run.passes) > 200
    assert all(size is not None for size in step.gradients.values())
    assert calls[0] < 60 * len(doc.run.passes)  # of some four hundred a pass
