"""Steps that go by unseen: the program is left as it is, and the record is complete."""

from __future__ import annotations

import io
import math
from types import SimpleNamespace

import pytest
import torch

import whygrad
from tests.doctor.asking import ENGINES
from whygrad.doctor import watch

SPACES = {"torch": torch, "whygrad": whygrad}


@pytest.fixture(params=ENGINES)
def space(request):
    return SPACES[request.param]


def _train(space, net, optimizer, steps: int = 200, after=lambda step: None) -> None:
    for step in range(steps):
        x = space.ones(16, 4) * (1 + step % 3)
        optimizer.zero_grad()
        space.nn.functional.mse_loss(net(x), x[:, :1]).backward()
        optimizer.step()
        after(step)


def _sgd(space, net):
    return space.optim.SGD(net.parameters(), lr=0.001)


# --- the program ----------------------------------------------------------------------------------


def test_two_sessions_one_in_the_other(space) -> None:
    net = space.nn.Sequential(space.nn.Linear(4, 8), space.nn.Linear(8, 1))
    optimizer = _sgd(space, net)
    plain = space.nn.Module.__call__, space.autograd.backward, space.no_grad.__enter__
    with watch(net, optimizer) as outer:
        _train(space, net, optimizer, 5)
        with watch(net, optimizer) as inner:
            _train(space, net, optimizer, 140)
        _train(space, net, optimizer, 100)
    assert (len(outer.run.passes), len(inner.run.passes)) == (245, 140)
    assert plain == (space.nn.Module.__call__, space.autograd.backward, space.no_grad.__enter__)


def test_a_model_whose_call_is_decorated_late(space) -> None:
    class Net(space.nn.Linear):
        pass

    net, calls = Net(4, 1), []
    optimizer = _sgd(space, net)
    with watch(net, optimizer) as doc:
        _train(space, net, optimizer, 100)
        before = Net.__call__
        Net.__call__ = lambda self, x: calls.append(1) or before(self, x)
        _train(space, net, optimizer, 80)
    assert len(calls) == 80
    assert len(doc.run.courses[0].steps) == 180


def test_a_subclass_with_a_call_of_its_own_beside_its_base(space) -> None:
    class Base(space.nn.Linear):
        pass

    class Warm(Base):
        calls = 0

        def __call__(self, x):
            Warm.calls += 1
            return super().__call__(x)

    base, warm = Base(4, 1), Warm(4, 1)
    optimizer = space.optim.SGD([*base.parameters(), *warm.parameters()], lr=0.001)
    with watch(base, warm, optimizer):
        _train(space, lambda x: base(x) + warm(x), optimizer)
    assert Warm.calls == 200


def test_every_module_call_is_wrapped_late(space) -> None:
    net, calls = space.nn.Sequential(space.nn.Linear(4, 8), space.nn.Linear(8, 1)), []
    optimizer = _sgd(space, net)
    with watch(net, optimizer):
        _train(space, net, optimizer, 100)
        before = space.nn.Module.__call__
        space.nn.Module.__call__ = lambda self, *args: calls.append(1) or before(self, *args)
        try:
            _train(space, net, optimizer, 20)
        finally:
            space.nn.Module.__call__ = before
    assert len(calls) == 60


def test_losses_are_what_they_were() -> None:
    net = torch.nn.Linear(4, 1)
    net.loss = torch.nn.functional.mse_loss
    optimizer = _sgd(torch, net)
    with watch(net, optimizer):
        _train(torch, net, optimizer, 150)
        assert net.loss is torch.nn.functional.mse_loss
        torch.save(net, io.BytesIO())


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("steps", [10, 100])
def test_a_model_that_is_traced(steps: int) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Tanh())
    optimizer = _sgd(torch, net)
    with watch(net, optimizer):
        _train(torch, net, optimizer, steps)
        traced = torch.jit.trace(net, torch.ones(2, 4))
    assert torch.equal(traced(torch.ones(2, 4)), net(torch.ones(2, 4)))


def test_modes_of_the_program_stay_in_their_order() -> None:
    class Mine(torch.overrides.TorchFunctionMode):
        calls = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            Mine.calls += 1
            return function(*args, **(kwargs or {}))

    net = torch.nn.Linear(4, 1)
    optimizer = _sgd(torch, net)
    stack = torch.overrides._get_current_function_mode_stack
    with Mine() as mine:
        with watch(net, optimizer):
            _train(torch, net, optimizer, 130)
        assert stack() == [mine]
    assert stack() == []


# --- the record -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [150, 151])
def test_a_gradient_that_is_nan_while_the_loss_is_not(space, bad: int) -> None:
    linear, head = space.nn.Linear(4, 8, bias=False), space.nn.Linear(8, 1)
    optimizer = space.optim.SGD([*linear.parameters(), *head.parameters()], lr=0.01)
    with watch(optimizer) as doc:
        for step in range(160):
            x = space.randn(16, 4)
            x = x * 0 if step == bad else x
            hidden = linear(x)
            size = hidden.square().sum(1, keepdim=True).sqrt()
            loss = space.nn.functional.mse_loss(head(hidden.tanh()) + 0.01 * size, x[:, :1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert [(each.kind, each.step) for each in doc.run.incidents] == [("gradient", bad)]


def _around(space):
    class Around(space.optim.Optimizer):
        def __init__(self, base) -> None:
            self.base = base
            super().__init__(base.param_groups[0]["params"], {"lr": 0.1})

        def step(self, closure=None):
            return self.base.step()

    return Around


def test_an_optimizer_around_another(space) -> None:
    net = space.nn.Linear(4, 1)
    with watch(net) as doc:
        _train(space, net, _around(space)(_sgd(space, net)))
    assert [len(each.steps) for each in doc.run.courses] == [200, 200]


def test_a_step_that_calls_that_of_its_base_class(space) -> None:
    class Mine(space.optim.SGD):
        def step(self, closure=None):
            return super().step(closure)

    net = space.nn.Linear(4, 1)
    _sgd(space, net)
    with watch(net) as doc:
        _train(space, net, Mine(net.parameters(), lr=0.001))
    steps = doc.run.courses[0].steps
    assert len(steps) == 200
    assert all(each.passes for each in steps)


def test_a_schedule_from_before_the_doctor_came() -> None:
    nets = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    first, second = (_sgd(torch, each) for each in nets)
    schedule = torch.optim.lr_scheduler.StepLR(second, 50)
    with watch(*nets, first, second) as doc:
        for _ in range(200):
            _train(torch, nets[0], first, 1)
            _train(torch, nets[1], second, 1)
            schedule.step()
    assert [len(each.steps) for each in doc.run.courses] == [200, 200]
    assert len({each.rates[0] for each in doc.run.courses[1].steps}) == 4


def test_an_optimizer_that_is_first_used_late(space) -> None:
    net = space.nn.Linear(4, 1)
    first, second = space.optim.Adam(net.parameters(), lr=0.001), _sgd(space, net)
    with watch(net, first, second) as doc:
        _train(space, net, first, 100)
        _train(space, net, second, 200)
    assert [len(each.steps) for each in doc.run.courses] == [100, 200]
    assert doc.run.unfinished == []


def test_parameters_of_unusual_types(space) -> None:
    net = space.nn.Linear(4, 1).to(space.bfloat16)
    optimizer = _sgd(space, net)
    with watch(net, optimizer) as doc:
        for _ in range(150):
            x = space.ones(16, 4).to(space.bfloat16)
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()
    assert len(doc.run.courses[0].steps) == 150
    assert doc.run.troubles == []


def test_complex_parameters() -> None:
    weight = torch.nn.Parameter(torch.ones(3, dtype=torch.complex64))
    optimizer = torch.optim.SGD([weight], lr=0.01)
    with watch(optimizer) as doc:
        for _ in range(100):
            optimizer.zero_grad()
            (weight * (1 + 2j)).abs().square().mean().backward()
            optimizer.step()
    assert doc.run.troubles == []


def test_gradients_that_are_no_longer_cleared_behind_a_frozen_layer(space) -> None:
    net = space.nn.Sequential(space.nn.Linear(4, 8), space.nn.Tanh(), space.nn.Linear(8, 1))
    net[0].requires_grad_(False)
    real = _sgd(space, net)
    clearing = SimpleNamespace(zero_grad=lambda: passes >= 100 or real.zero_grad(), step=real.step)
    passes = 0

    def count(step: int) -> None:
        nonlocal passes
        passes = step + 1

    with watch(net, real) as doc:
        _train(space, net, clearing, 200, count)
    assert [each.index for each in doc.run.courses[0].steps if each.contaminated] == [
        *range(100, 200)
    ]


def test_a_loss_with_one_element_and_an_axis(space) -> None:
    net = space.nn.Linear(4, 1)
    optimizer = _sgd(space, net)
    with watch(net, optimizer) as doc:
        for _ in range(100):
            optimizer.zero_grad()
            net(space.ones(1, 4)).square().reshape(1).backward()
            optimizer.step()
    assert len(doc.run.passes) == 100
    assert doc.run.troubles == []


def test_passes_without_updates_hold_no_data(space) -> None:
    net = space.nn.Linear(4, 1)
    optimizer = _sgd(space, net)
    with watch(net, optimizer) as doc:
        _train(space, net, optimizer, 100)
        for _ in range(100):
            net(space.ones(16, 4)).mean().backward()
        assert len(doc.observer.snapshots._held) <= 16


@pytest.mark.parametrize("passes", [1, 4, 5])
def test_updates_of_several_passes_are_sampled(space, passes: int) -> None:
    net = space.nn.Linear(4, 1)
    optimizer = _sgd(space, net)
    with watch(net, optimizer) as doc:
        for number in range(600):
            net(space.ones(16, 4)).square().mean().backward()
            if number % passes == passes - 1:
                optimizer.step()
                optimizer.zero_grad()
    sampled = [each.passes[-1].number for each in doc.run.courses[0].steps if each.sample]
    assert sampled[-1] >= 512


def test_optimizers_that_take_turns_are_both_sampled(space) -> None:
    nets = space.nn.Linear(4, 1), space.nn.Linear(4, 1)
    optimizers = [_sgd(space, each) for each in nets]
    with watch(*nets, *optimizers) as doc:
        for _ in range(200):
            for net, optimizer in zip(nets, optimizers):
                _train(space, net, optimizer, 1)
    for course in doc.run.courses:
        assert [each for each in course.steps if each.sample][-1].index >= 128


def test_a_model_that_is_asked_at_the_end(space, monkeypatch) -> None:
    monkeypatch.setattr("whygrad.recording.engines.modes._compiling", [True])
    net = space.nn.Sequential(space.nn.Linear(4, 8), space.nn.Tanh(), space.nn.Linear(8, 1))
    optimizer = _sgd(space, net)
    with watch(net, optimizer) as doc:
        for step in range(151):
            out = net(space.ones(3 if step == 150 else 16, 4))
            if step < 150:
                optimizer.zero_grad()
                space.nn.functional.mse_loss(out, space.ones(16, 1)).backward()
                optimizer.step()
    assert doc.run.incidents == []


def test_a_program_that_stops_when_its_loss_is_bad(space) -> None:
    net = space.nn.Linear(4, 1)
    optimizer = _sgd(space, net)
    with watch(net, optimizer) as doc:
        for step in range(200):
            x = space.ones(16, 4) * (math.inf if step == 150 else 1)
            loss = net(x).square().mean()
            if not math.isfinite(loss.item()):
                break
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert [(each.kind, each.step) for each in doc.run.incidents] == [("loss", 150)]
    assert doc.verdict is not None


def test_a_doctor_that_cannot_watch_is_out_of_the_way(space, monkeypatch) -> None:
    def broken(*_):
        raise TypeError("no eyes")

    monkeypatch.setattr("whygrad.doctor.session.attached", broken)
    net = space.nn.Linear(4, 1)
    optimizer = _sgd(space, net)
    with watch(net, optimizer) as doc:
        _train(space, net, optimizer, 5)
    assert doc.run.troubles == ["TypeError: no eyes"]
