"""Every cost of watching is constant per step: the second half of a run costs what the first did.

Work is counted in calls of Python functions of ours, not in seconds, and memory in objects that the
garbage collector knows and in bytes that were allocated and are still there.
"""

from __future__ import annotations

import copy
import gc
import os
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import whygrad as wg
from whygrad.doctor import watch
from whygrad.recording.watching import parameters, snapshots

_OURS = tuple(
    os.path.join(os.path.dirname(wg.__file__), room) + os.sep for room in ("recording", "doctor")
)
_STEPS = 80
_MORE = 1.15  # times the first half, for what is done now and then
_FEW = 400  # calls or objects that a run of any length may add …
_BYTES = 100_000  # … and bytes


class Work:
    """Counts the calls of our functions while it is on."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_OURS):
            self.calls += 1


def linear() -> tuple[Any, Any]:
    wg.manual_seed(0)
    return wg.nn.Sequential(wg.nn.Linear(3, 4), wg.nn.Tanh(), wg.nn.Linear(4, 1)), wg.randn(8, 3)


def loss_of(net: Any, x: Any) -> Any:
    return ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()


# --- kinds of runs: each yields what makes one step -----------------------------------------------


def ordinary() -> Callable[[], Any]:
    net, x = linear()
    optimizer = wg.optim.SGD(net.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        loss_of(net, x).backward()
        optimizer.step()

    return step


def no_step() -> Callable[[], Any]:
    net, x = linear()
    optimizer = wg.optim.SGD(net.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        loss_of(net, x).backward()

    return step


def no_optimizer() -> Callable[[], Any]:
    net, _ = linear()
    return lambda: net(wg.randn(1, 3, requires_grad=True)).sum().backward()


def by_hand() -> Callable[[], Any]:
    net, x = linear()

    def step() -> None:
        loss_of(net, x).backward()
        with wg.no_grad():
            for each in net.parameters():
                each -= 0.01 * each.grad
                each.grad = None

    return step


def many_optimizers() -> Callable[[], Any]:
    net, x = linear()

    def step() -> None:
        optimizer = wg.optim.SGD(net.parameters(), lr=0.01)
        optimizer.zero_grad()
        loss_of(net, x).backward()
        optimizer.step()

    return step


def many_models() -> Callable[[], Any]:
    def step() -> None:
        net, x = linear()
        optimizer = wg.optim.SGD(net.parameters(), lr=0.01)
        loss_of(net, x).backward()
        optimizer.step()

    return step


def gradients_only() -> Callable[[], Any]:
    net, x = linear()
    return lambda: wg.autograd.grad(loss_of(net, x), list(net.parameters()))


def evaluation_only() -> Callable[[], Any]:
    net, x = linear()
    net.eval()

    def step() -> None:
        with wg.no_grad():
            wg.nn.functional.mse_loss(net(x), x[:, :1]).item()

    return step


def trained_and_evaluated() -> Callable[[], Any]:
    train, evaluate = ordinary(), evaluation_only()

    def step() -> None:
        train()
        evaluate()

    return step


def hooks() -> Callable[[], Any]:
    net, x = linear()
    optimizer = wg.optim.SGD(net.parameters(), lr=0.01)

    def step() -> None:
        handle = net[0].register_forward_hook(lambda *_: None)
        made = net(x)
        made.register_hook(lambda gradient: gradient * 1)
        optimizer.zero_grad()
        made.mean().backward()
        optimizer.step()
        handle.remove()

    return step


def lbfgs() -> Callable[[], Any]:
    net, x = linear()
    optimizer = wg.optim.LBFGS(net.parameters(), lr=0.01, max_iter=1, history_size=2)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = loss_of(net, x)
        loss.backward()
        return loss

    return lambda: optimizer.step(closure)


def deep_copies() -> Callable[[], Any]:
    train, net, x = ordinary(), *linear()

    def step() -> None:
        train()
        with wg.no_grad():
            copy.deepcopy(net)(x)

    return step


def one_sample() -> Callable[[], Any]:
    net, _ = linear()
    optimizer = wg.optim.SGD(net.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        loss_of(net, wg.randn(1, 3)).backward()
        optimizer.step()

    return step


def rollouts() -> Callable[[], Any]:
    """The moves of a game without gradients, then an update."""
    net, x = linear()
    optimizer = wg.optim.SGD(net.parameters(), lr=0.01)

    def step() -> None:
        state = x[:1]
        for _ in range(10):
            with wg.no_grad():
                state = state + 0.1 * wg.tanh(net(state))
        optimizer.zero_grad()
        loss_of(net, x).backward()
        optimizer.step()

    return step


KINDS = [
    ordinary, no_step, no_optimizer, by_hand, many_optimizers, many_models, gradients_only,
    evaluation_only, trained_and_evaluated, hooks, lbfgs, deep_copies, one_sample, rollouts,
]  # fmt: skip


def held() -> tuple[int, int]:
    """How many objects there are that a garbage collector follows, and bytes if they are traced."""
    gc.collect()
    return len(gc.get_objects()), tracemalloc.get_traced_memory()[0]


def measured(step: Callable[[], Any], steps: int) -> tuple[int, int, int]:
    """The calls of ours, and the objects and bytes that are left, of so many steps."""
    work, before = Work(), held()
    sys.setprofile(work)
    try:
        for _ in range(steps):
            step()
    finally:
        sys.setprofile(None)
    after = held()
    return work.calls, after[0] - before[0], after[1] - before[1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_half_costs_what_the_first_did(kind: Callable[[], Any]) -> None:
    tracemalloc.start()
    try:
        with watch() as doc:
            step = kind()
            measured(step, _STEPS // 2)  # the beginning is looked at closely
            first = measured(step, _STEPS)
            second = measured(step, _STEPS)
    finally:
        tracemalloc.stop()
    assert doc.run.troubles == []
    for before, now, few in zip(first, second, (_FEW, _FEW, _BYTES), strict=True):
        assert now <= _MORE * max(before, 0) + few


def test_ten_thousand_passes_without_a_step() -> None:
    """Every tenth of them costs what the others do, and leaves little more than its loss."""
    weight = wg.ones(2, requires_grad=True)

    def one() -> None:
        (weight * weight).sum().backward()

    with watch() as doc:
        tenths = [measured(one, 1000) for _ in range(10)]
    assert len(doc.run.passes) == 10_000
    for calls, held_then, _ in tenths[1:]:
        assert calls <= _MORE * tenths[1][0] + _FEW
        assert held_then <= 4 * 1000


def test_data_that_are_filled_element_by_element() -> None:
    """Twice as many writes before the first pass cost twice as much, not four times."""

    def work(writes: int) -> int:
        def once() -> None:
            later, data = wg.zeros(writes, 2), wg.zeros(writes, 2)  # the first is not used
            for row in range(writes):
                later[row, row % 2] = data[row, row % 2] = 1.0
            weight = wg.ones(2, requires_grad=True)
            (data @ weight).sum().backward()

        with watch():
            return measured(once, 1)[0]

    assert work(2000) <= 2 * _MORE * work(1000) + _FEW


def test_copies_of_many_tensors() -> None:
    """Twice as many tensors in a deep copy cost twice as much: the memo is no argument."""
    torch = pytest.importorskip("torch")

    def work(tensors: int) -> int:
        state = {str(at): torch.zeros(2) for at in range(tensors)}

        def once() -> None:
            copied = copy.deepcopy({"one": state, "other": state})
            assert copied["one"] is copied["other"]  # what the memo is for

        with watch():
            return measured(once, 1)[0]

    assert work(400) <= 2 * _MORE * work(200) + _FEW


def test_of_a_large_model_two_copies_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "_LARGE", 64)
    monkeypatch.setattr(snapshots, "_SMALL", 32)
    monkeypatch.setattr(parameters, "_LARGE", 32)
    with watch() as doc:
        step = ordinary()
        for _ in range(40):
            step()
    (course,) = doc.run.courses
    held = {id(each.snapshot) for each in course.steps if each.snapshot is not None}
    assert held == {id(course.first), id(course.last)}
    assert course.earlier is None
    assert [tuple(each.shape) for each in course.after.values()] == [(4,), (1, 4), (1,)]
    assert all(each.changed for each in course.parameters)
    assert doc.diagnosis.healthy
