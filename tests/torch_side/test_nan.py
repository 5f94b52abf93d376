"""Where a NaN of PyTorch's came from."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import whygrad.torch

INF = float("inf")


def leaf(*numbers: float, dtype: Any = torch.float32) -> torch.Tensor:
    return torch.tensor(numbers, dtype=dtype).requires_grad_()


def log_of_zero() -> Any:
    x = leaf(0.0, 1.0)
    return torch.log(x).sum()  # here


def log_in_place() -> Any:
    x = leaf(0.0, 1.0) * 1
    x.log_()  # here
    return x.sum()


def root_of_a_negative() -> Any:
    x = leaf(-1.0, 1.0)
    hidden = x.sqrt()  # here
    return (hidden * 2).mean()


def zero_by_zero() -> Any:
    x = leaf(0.0, 1.0)
    return (x / x).sum()  # here


def one_by_zero() -> Any:
    x = leaf(0.0, 1.0)
    return (1 / x).sum()  # here


def large_exponent() -> Any:
    scores = leaf(100.0, 1.0)
    weights = scores.exp()  # here
    return (weights / weights.sum()).sum()


def all_masked() -> Any:
    scores = leaf(1.0, 2.0).masked_fill(torch.tensor([True, True]), -INF)
    return F.softmax(scores, 0).sum()  # here


def half_precision() -> Any:
    x = leaf(300.0, dtype=torch.float16)
    return (x * x).sum()  # here


def a_weight() -> Any:
    model = nn.Linear(2, 2)
    with torch.no_grad():
        model.weight[0, 0] = float("nan")  # here
    return model(torch.ones(1, 2)).sum()


def a_slope_of_a_root() -> Any:
    x = leaf(0.0, 1.0)
    return x.sqrt().sum()  # here


def a_length() -> Any:
    x = leaf(0.0, 0.0)
    return (x * x).sum().sqrt()  # here


def a_branch_not_chosen() -> Any:
    x = leaf(0.0, 4.0)
    root = x.sqrt()  # here
    return torch.where(x > 0, root, torch.zeros(2)).sum()


def hidden_by_a_mask() -> Any:
    x = leaf(0.0, 4.0)
    logarithm = (x + 1 - 1).clamp(min=0) ** 0.5  # here
    return (logarithm * torch.tensor([0.0, 1.0])).sum()


def infinite_on_the_way() -> Any:
    x = leaf(1.0, 1000.0)
    large = x.exp()  # here
    return large.square().sigmoid().sum()


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient / 0


def own_backward() -> Any:
    x = leaf(1.0, 2.0)
    return Broken.apply(x).sum()  # here


CAUSES = {
    log_of_zero: ("forward", "log(0) is −inf"),
    log_in_place: ("forward", "log(0) is −inf"),
    root_of_a_negative: ("forward", "a negative number has no real square root"),
    zero_by_zero: ("forward", "0 / 0 is not a number"),
    one_by_zero: ("forward", "a division by 0"),
    large_exponent: ("forward", "eˣ is larger than the dtype can hold"),
    all_masked: ("forward", "every score of a row is −inf"),
    half_precision: ("forward", "the largest float16"),
    a_weight: ("given", "it came from the number nan"),
    a_slope_of_a_root: ("backward", "the slope of a square root is infinite at 0"),
    a_length: ("backward", "the slope of a square root is infinite at 0"),
    a_branch_not_chosen: ("backward", "the slope of a square root is infinite at 0"),
    hidden_by_a_mask: ("backward", "infinite at 0 for p below 1"),
    infinite_on_the_way: ("forward", "eˣ is larger than the dtype can hold"),
    own_backward: ("backward", "Broken is your own function, and its backward computed it"),
}


@pytest.mark.parametrize("program", CAUSES, ids=lambda program: program.__name__)
def test_the_maker_and_its_line(program: Any) -> None:
    cause, words = CAUSES[program]
    answer = whygrad.torch.why_nan(program)
    assert answer.cause == cause, str(answer)
    assert words in str(answer)
    assert answer.question == f"why_nan({program.__name__})"
    assert answer.where is not None
    assert answer.where.file == __file__
    assert answer.where.text.endswith("# here")
    assert answer.fix is not None
    json.dumps(answer.to_dict())


@pytest.mark.parametrize("program", CAUSES, ids=lambda program: program.__name__)
def test_a_recorded_loss_gets_the_same_answer(program: Any) -> None:
    with whygrad.torch.record():
        loss = program()
    answer = whygrad.torch.why_nan(loss)
    assert answer.cause == CAUSES[program][0]
    assert answer.question == "why_nan(loss)"
    assert answer.where == whygrad.torch.why_nan(program).where


def test_who_threw_the_value_away() -> None:
    report = whygrad.torch.why_nan(a_branch_not_chosen).report()
    assert "where does not choose the second argument there and sends 0 back" in report
    assert "incoming 0 · derivative inf at y = 0 → nan" in report
    assert "double where" in report
    report = whygrad.torch.why_nan(hidden_by_a_mask).report()
    assert "the 0 comes from mul" in report


def test_where_inf_became_nan() -> None:
    report = whygrad.torch.why_nan(large_exponent).report()
    assert "inf became nan in" in report


def test_what_a_where_hides_on_purpose_is_harmless() -> None:
    def safe() -> Any:
        x = leaf(0.0, 4.0)
        chosen = torch.where(x > 0, x, 1.0)
        return torch.where(x > 0, chosen.sqrt(), 0.0).sum()

    assert whygrad.torch.why_nan(safe).ok


def partly_masked() -> Any:
    scores = leaf(1.0, 2.0).masked_fill(torch.tensor([True, False]), -INF)
    return F.softmax(scores, 0)[1]


HEALTHY = {
    "layer": lambda: nn.Linear(3, 2)(torch.ones(1, 3)).sum(),
    "masked softmax": partly_masked,
    "constant": lambda: torch.ones(2).sum(),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_wrong(name: str) -> None:
    answer = whygrad.torch.why_nan(HEALTHY[name])
    assert answer.ok, str(answer)
    assert "nothing wrong" in str(answer)


def test_without_a_recording_the_forward_pass_is_not_known() -> None:
    loss = torch.log(leaf(0.0)).sum()
    answer = whygrad.torch.why_nan(loss)
    assert answer.cause == "undecided"
    assert "was not recorded" in str(answer)
    assert answer.fix is not None
    assert "record()" in answer.fix


def test_a_gradient_that_was_there_before() -> None:
    x = leaf(1.0)
    x.grad = torch.tensor([float("nan")])
    answer = whygrad.torch.why_nan(x.sum())
    assert answer.cause == "given"
    assert "x.grad already holds nan" in str(answer)


def test_data_from_before_the_recording() -> None:
    data = torch.tensor([1.0, float("nan")])
    with whygrad.torch.record():
        loss = (leaf(1.0, 2.0) * data).sum()
    answer = whygrad.torch.why_nan(loss)
    assert answer.cause == "given"
    assert "a tensor that was there before the recording" in str(answer)


def test_a_hook_that_writes_nan_is_not_blamed_on_an_op() -> None:
    x = leaf(1.0, 2.0)
    hidden = x * 2
    hidden.register_hook(lambda gradient: gradient * float("nan"))
    answer = whygrad.torch.why_nan(hidden.sum())
    assert not answer.ok
    assert "a hook" in str(answer)


def test_contributions_whose_sum_overflows() -> None:
    with whygrad.torch.record():
        x = leaf(0.0)
        loss = (x * 3e38).sum() + (x * 3e38).sum()
    answer = whygrad.torch.why_nan(loss)
    assert answer.cause == "backward"
    assert "adding what mul sends back to other contributions made inf" in str(answer)


def test_nothing_changes() -> None:
    x = leaf(1.0, 2.0)
    loss = x.exp().sum()
    state = torch.get_rng_state()
    whygrad.torch.why_nan(loss)
    assert x.grad is None
    assert torch.equal(torch.get_rng_state(), state)
    loss.backward()


def test_refusals() -> None:
    with pytest.raises(TypeError, match="it needs a tensor of PyTorch's, or a function"):
        whygrad.torch.why_nan(3.0)
    with pytest.raises(TypeError, match="the function returned 3"):
        whygrad.torch.why_nan(lambda: 3)
    x = leaf(1.0)
    loss = x.exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="released by an earlier backward"):
        whygrad.torch.why_nan(loss)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_parameter_that_an_update_spoilt(recorded: bool) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    (model(x) * float("nan")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if recorded:
        with whygrad.torch.record():
            loss = model(x).square().mean()
    else:
        loss = model(x).square().mean()
    found = whygrad.torch.why_nan(loss)
    assert found.cause == "given"
    assert "model.weight held nan in 2 of 2 elements before the pass began" in found.headline
    loss.backward()
    later = whygrad.torch.why_nan(model(x).mean())
    assert later.evidence["leaves"] == ["model.weight", "model.bias"]
