"""Why a gradient of PyTorch's is zero: the same words as for whygrad's tensors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import whygrad.torch
from whygrad.why.zero.walk import ZeroWalk


class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 0


MASK = torch.zeros(4)
ROWS = torch.tensor([0, 1])
ANNIHILATED: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "relu": (lambda x: torch.relu(x - 10).sum(), "inactive", "relu is inactive for 4 of 4"),
    "relu module": (lambda x: nn.ReLU()(-x.abs()).sum(), "inactive", "relu is inactive"),
    "clamp": (
        lambda x: x.clamp(5, 6).sum(),
        "clamped",
        "clamp holds 4 of 4 elements at its limits, min 5 and max 6",
    ),
    "hardtanh": (lambda x: F.hardtanh(x + 9).sum(), "clamped", "hardtanh holds 4 of 4"),
    "product": (
        lambda x: (x * MASK).sum(),
        "multiplied by zero",
        "mul multiplies 4 of 4 elements by MASK, which is 0 there",
    ),
    "matrix product": (
        lambda x: x @ MASK,
        "multiplied by zero",
        "matmul multiplies 4 of 4 elements by MASK, which is 0 there",
    ),
    "sigmoid": (lambda x: torch.sigmoid(x + 200).sum(), "saturated", "sigmoid is saturated"),
    "tanh": (lambda x: torch.tanh(x * 100 + 900).sum(), "saturated", "tanh is saturated"),
    "dropout": (lambda x: F.dropout(x, 1.0).sum(), "dropout", "dropout masks 4 of 4 elements"),
    "where": (
        lambda x: torch.where(x > 100, x, x.detach()).sum(),
        "not selected",
        "the condition is False there",
    ),
    "where, the other branch": (
        lambda x: torch.where(x < 100, x.detach(), x).sum(),
        "not selected",
        "the condition is True there",
    ),
    "masked_fill": (lambda x: x.masked_fill(x < 100, 0.0).sum(), "not selected", "masked_fill"),
    "maximum": (lambda x: torch.maximum(x, x.detach() + 1).sum(), "not selected", "larger"),
    "round": (lambda x: x.round().sum(), "flat", "round is flat"),
    "x - x": (lambda x: (x - x).sum(), "cancelled", "contributions cancel: +1 from sub"),
    "softmax": (lambda x: x.softmax(0).sum(), "cancelled", "softmax adds up contributions"),
    "half precision": (
        lambda x: (x.half() * 1e-5 * 1e-4).sum(),
        "underflow",
        "too small for float16",
    ),
    "overwritten": (lambda x: (x * 1).fill_(3).sum(), "overwritten", "overwritten"),
    "custom": (lambda x: Nothing.apply(x).sum(), "zero derivative", "the derivative of Nothing"),
}


@pytest.mark.parametrize("name", ANNIHILATED)
def test_the_op_that_lets_nothing_through(name: str) -> None:
    program, cause, words = ANNIHILATED[name]
    torch.manual_seed(0)
    with whygrad.torch.record():
        x = torch.randn(4, requires_grad=True)
        loss = program(x)
    answer = whygrad.torch.why_zero(x, loss)
    assert answer.cause == cause, str(answer)
    assert words in str(answer)
    assert answer.question == "why_zero(x, loss)"
    assert answer.where is not None
    assert answer.where.file == __file__
    json.dumps(answer.to_dict())


HEALTHY: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "half of relu": lambda x: torch.relu(x).sum(),
    "max": lambda x: x.max(),
    "layer": lambda x: F.linear(x, torch.ones(2, 4)).sum(),
    "attention": lambda x: F.softmax(x[:, None] @ x[None], 1)[0, 1],
}


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_wrong(name: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(4, requires_grad=True)
    answer = whygrad.torch.why_zero(x, HEALTHY[name](x))
    assert answer.ok
    assert "nothing wrong" in str(answer)


@pytest.mark.parametrize("name", [*ANNIHILATED, *HEALTHY])
def test_the_gradient_of_the_autopsy_is_the_engines(name: str) -> None:
    from torch.autograd.graph import get_gradient_edge

    from whygrad.torch.edges import TorchGraph

    program = ANNIHILATED[name][0] if name in ANNIHILATED else HEALTHY[name]
    torch.manual_seed(1)
    x = torch.randn(4, requires_grad=True)
    loss = program(x)
    root, target = get_gradient_edge(loss), get_gradient_edge(x)
    graph = TorchGraph(root.node, (target.node, 0))
    seed = np.ones((), str(loss.dtype).removeprefix("torch."))
    walked = ZeroWalk(graph, (root.node, 0), seed, (target.node, 0))
    (expected,) = torch.autograd.grad(loss, x)
    np.testing.assert_allclose(walked.gradient, expected.numpy(), rtol=1e-6)


def test_one_element() -> None:
    with whygrad.torch.record():
        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        loss = torch.relu(x).sum()
    first = whygrad.torch.why_zero(x, loss, index=0)
    assert first.cause == "inactive"
    assert first.question == "why_zero(x, loss, index=0)"
    assert whygrad.torch.why_zero(x, loss, index=1).ok


def test_no_path_is_not_zero() -> None:
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    for loss in (w.sum(), torch.ones(1).sum()):
        answer = whygrad.torch.why_zero(x, loss)
        assert answer.cause == "no path"


def test_lines_that_are_not_known_are_said_to_be_so() -> None:
    x = -torch.ones(2)
    x.requires_grad_()
    answer = whygrad.torch.why_zero(x, torch.relu(x).sum())
    assert answer.cause == "inactive"
    assert "line not recorded: run it inside whygrad.torch.record()" in answer.report()


def test_a_module_answers_for_its_parameters() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    with torch.no_grad():
        model[0].bias.fill_(-100)
    with whygrad.torch.record():
        loss = model(torch.ones(4, 2)).mean()
    answers = whygrad.torch.why_zero(model, loss)
    assert answers.by_cause == {
        "inactive": ["0.weight", "0.bias"],
        "multiplied by zero": ["2.weight"],
    }
    assert answers.asked == 4
    with torch.no_grad():
        model[0].bias.fill_(100)
    assert whygrad.torch.why_zero(model, model(torch.ones(4, 2)).mean()).ok


def test_nothing_changes() -> None:
    x = torch.ones(3, requires_grad=True)
    calls = []
    x.register_hook(calls.append)
    state = torch.get_rng_state()
    loss = (x * x.exp()).sum()
    whygrad.torch.why_zero(x, loss)
    assert x.grad is None
    assert calls == []
    assert torch.equal(torch.get_rng_state(), state)
    loss.backward()
    assert len(calls) == 1


def test_refusals() -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(TypeError, match="it needs two tensors of PyTorch's"):
        whygrad.torch.why_zero(x, 3.0)
    with pytest.raises(RuntimeError, match="only a single number can do without a gradient"):
        whygrad.torch.why_zero(x, x * 2)
    loss = x.exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="released by an earlier backward"):
        whygrad.torch.why_zero(x, loss)
    assert whygrad.torch.why_zero(x, x * 2, gradient=torch.ones(3)).ok
