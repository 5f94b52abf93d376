"""A recording sees everything and changes nothing."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import whygrad.torch
from whygrad.torch.record import Recording, latest_recording


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2


def mlp() -> Any:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    loss = F.cross_entropy(model(torch.randn(5, 4)), torch.randint(3, (5,)))
    return loss, model


def transformer() -> Any:
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return model(torch.randn(2, 3, 8)).square().mean(), model


def convolutions() -> Any:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.MaxPool2d(2), nn.Flatten())
    return model(torch.randn(2, 1, 8, 8)).sum(), model


def recurrent() -> Any:
    model = nn.LSTM(3, 4)
    return model(torch.randn(2, 1, 3))[0].sum(), model


def checkpointed() -> Any:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Tanh())
    hidden = checkpoint(model, torch.randn(2, 3), use_reentrant=False)
    again = checkpoint(model, hidden, use_reentrant=True)
    return again.sum(), model


def custom_function() -> Any:
    model = nn.Linear(3, 3)
    return Double.apply(model(torch.randn(2, 3))).sum(), model


def trained() -> Any:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 3)).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model(torch.randn(4, 3)).mean(), model


def writes_and_views() -> Any:
    model = nn.Linear(3, 4)
    hidden = model(torch.randn(2, 3))
    left, right = hidden[:, :2], hidden[:, 2:]
    hidden[:, 0].mul_(2)
    with torch.no_grad():
        hidden.clamp_(-1, 1)
    buffer = torch.zeros(2, 2)
    buffer[0] = left[0]
    return (buffer * right).sum() + hidden.relu().sum(), model


def transforms() -> Any:
    model = nn.Linear(3, 1)
    parameters = {name: each.detach() for name, each in model.named_parameters()}

    def of(weights: Any, x: Any) -> Any:
        return torch.func.functional_call(model, weights, (x,)).sum()

    gradients = torch.func.vmap(torch.func.grad(of), (None, 0))(parameters, torch.randn(4, 3))
    return model(torch.randn(4, 3)).sum() + gradients["weight"].sum(), model


PROGRAMS = [
    mlp,
    transformer,
    convolutions,
    recurrent,
    checkpointed,
    custom_function,
    trained,
    writes_and_views,
    transforms,
]


def outcome(program: Callable[[], Any]) -> list[torch.Tensor]:
    torch.manual_seed(0)
    loss, model = program()
    model.zero_grad()
    loss.backward()
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    return [loss.detach(), *gradients, *model.state_dict().values(), torch.rand(3)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_gradients_and_random_numbers_are_the_same_bits(program: Any) -> None:
    plain = outcome(program)
    with whygrad.torch.record() as tape:
        recorded = outcome(program)
    assert tape.seen > 0
    for before, now in zip(plain, recorded, strict=True):
        assert torch.equal(before, now)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_node_of_a_recorded_graph_has_a_line_of_the_users_program(program: Any) -> None:
    from whygrad.torch.graph import node_of, reachable, where_of

    with whygrad.torch.record():
        loss, _ = program()
        loss = loss * 1
    for node in reachable(node_of(loss)):
        if not hasattr(node, "variable"):
            where = where_of(node)
            assert where is not None, node.name()
            assert where.file == __file__, where


def lines(tape: Recording, op: str) -> list[str]:
    return [event.call.text for event in tape.events if event.op == op and event.call]


def test_the_line_is_where_the_users_code_calls_the_module() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    with whygrad.torch.record() as tape:
        model(
            torch.ones(1, 2),
        )
    assert lines(tape, "linear") == ["model("]
    assert lines(tape, "relu") == ["model("]


def test_the_line_inside_a_module_of_the_users() -> None:
    class Mine(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.exp()

    with whygrad.torch.record() as tape:
        Mine()(torch.ones(2))
    assert lines(tape, "exp") == ["return x.exp()"]


def test_the_line_of_a_function_and_of_what_it_calls() -> None:
    x = torch.ones(2, requires_grad=True)
    with whygrad.torch.record() as tape:
        made = Double.apply(x)
        made.sum()
    assert lines(tape, "mul") == ["return x * 2"]
    assert lines(tape, "Double") == ["made = Double.apply(x)"]


def cuts(tape: Recording) -> dict[str, list[str | None]]:
    return {event.op: list(event.cuts) for event in tape.events if any(event.cuts)}


def test_each_kind_of_cut() -> None:
    x = torch.ones(3, requires_grad=True)
    with whygrad.torch.record() as tape:
        x.detach()
        _ = x.data
        x.sum().item()
        x.argmax()
        x.gt(0)
        x.max(dim=0)
        with torch.no_grad():
            x.mul(2)
        with torch.inference_mode():
            x.exp()
        x.new_tensor([1.0])
        torch.zeros_like(x)
        x.long()
    assert cuts(tape) == {
        "detach": ["detach"],
        "data": ["data"],
        "item": ["item"],
        "argmax": ["integer"],
        "gt": ["boolean"],
        "max": [None, "integer"],
        "mul": ["no_grad"],
        "exp": ["inference_mode"],
        "long": ["integer"],
    }


def test_no_grad_inside_a_function_is_no_cut() -> None:
    x = torch.ones(3, requires_grad=True)
    with whygrad.torch.record() as tape:
        Double.apply(x).sum()
        checkpoint(torch.exp, x, use_reentrant=True).sum()
    assert cuts(tape) == {}


def test_the_line_that_switched_recording_off() -> None:
    x = torch.ones(3, requires_grad=True)
    with whygrad.torch.record() as tape:
        before = x.sum()
        with torch.no_grad():
            x * before
    (event,) = [event for event in tape.events if event.op == "mul"]
    assert event.since is not None
    assert event.since.text == "with torch.no_grad():"


def test_nothing_is_kept_alive() -> None:
    with whygrad.torch.record() as tape:
        x = torch.ones(1000, requires_grad=True)
        hidden = x.exp()
        array = hidden.detach().numpy()
        loss = hidden.sum()
        loss.backward()
    gone = [weakref.ref(each) for each in (x, hidden, loss, array)]
    gc.disable()
    try:
        del x, hidden, loss, array
        assert [each() for each in gone] == [None] * 4
    finally:
        gc.enable()
    assert tape.seen > 3


def test_a_long_program_is_forgotten_from_its_beginning() -> None:
    x = torch.ones(2)
    with whygrad.torch.record(limit=10) as tape:
        for _ in range(25):
            x = x + 1
    assert len(tape.events) == 10
    assert tape.forgotten == 15
    assert repr(tape) == "<a recording of 25 calls of PyTorch>"


def test_it_ends_with_its_block_also_when_that_fails() -> None:
    depth = torch._C._len_torch_function_stack()
    with pytest.raises(ZeroDivisionError), whygrad.torch.record() as tape:
        raise ZeroDivisionError
    assert torch._C._len_torch_function_stack() == depth
    torch.ones(2) + 1
    assert tape.seen == 0
    assert latest_recording() is tape


def test_a_recording_inside_another() -> None:
    x = torch.ones(2, requires_grad=True)
    with whygrad.torch.record() as outer:
        x.exp()
        with whygrad.torch.record() as inner:
            x.log()
            assert latest_recording() is inner
        assert latest_recording() is outer
        x.sin()
    assert [event.op for event in outer.events] == ["exp", "log", "sin"]
    assert [event.op for event in inner.events] == ["log"]
    assert {*lines(outer, "log"), *lines(inner, "log")} == {"x.log()"}


def test_other_threads_are_not_recorded() -> None:
    with whygrad.torch.record() as tape:
        thread = threading.Thread(target=lambda: torch.ones(3).exp())
        thread.start()
        thread.join()
    assert tape.seen == 0


def test_memory_that_went_through_numpy_is_recognised() -> None:
    x = torch.ones(3, requires_grad=True)
    with whygrad.torch.record() as tape:
        array = x.detach().numpy()
        torch.from_numpy(array[1:]).exp()
        torch.tensor(array[:2])
        torch.tensor(np.sin(array))
    detached, _, exp, copied, stranger = tape.events
    assert exp.inputs[0].memory == detached.outputs[0].memory
    assert copied.inputs == tape.events[1].outputs
    assert (stranger.inputs, stranger.strangers) == ((), 1)


def test_other_modes_see_the_program_only() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.ops: list[str] = []

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.ops.append(str(func))
            return func(*args, **(kwargs or {}))

    def ops(recorded: bool) -> list[str]:
        x = torch.ones(3, requires_grad=True)
        with Counting() as mode:
            if recorded:
                with whygrad.torch.record():
                    (x * 2).log_().sum().backward()
            else:
                (x * 2).log_().sum().backward()
        return mode.ops

    assert ops(recorded=True) == ops(recorded=False)
