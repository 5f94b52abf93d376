"""Why a gradient of PyTorch's is None: what only PyTorch has, beside the shared situations."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import whygrad.torch


def parameter(size: int = 3) -> torch.Tensor:
    return torch.linspace(1.0, 2.0, size).requires_grad_()


def from_numpy(x: Any, w: Any) -> Any:
    array = x.exp().detach().numpy()  # here
    return (torch.from_numpy(array) * w).sum()


def a_view_of_the_array(x: Any, w: Any) -> Any:
    array = x.exp().detach().numpy()[:2]  # here
    return (torch.as_tensor(array) * w[:2]).sum()


def numpy_computes(x: Any, w: Any) -> Any:
    array = x.detach().numpy()  # here
    other = np.sin(array)
    return (torch.tensor(other) * w).sum()


def an_array_by_protocol(x: Any, w: Any) -> Any:
    array = np.asarray(x.detach())  # here
    return (torch.from_numpy(array) * w).sum()


def a_number(x: Any, w: Any) -> Any:
    scale = float(x.detach().sum())  # here
    return (w * scale).sum()


def a_list(x: Any, w: Any) -> Any:
    values = x.tolist()  # here
    return (torch.tensor(values) * w).sum()


def data(x: Any, w: Any) -> Any:
    return (x.data * w).sum()  # here


def decorated(x: Any, w: Any) -> Any:
    @torch.no_grad()
    def features(x: Any) -> Any:
        return x * 2  # here

    return (features(x) * w).sum()


def copied_without_grad(x: Any, w: Any) -> Any:
    buffer = torch.zeros(3)
    with torch.no_grad():
        buffer.copy_(x)  # here
    return (buffer * w).sum()


def seen_through_another_view(x: Any, w: Any) -> Any:
    buffer = torch.zeros(3)
    view = buffer[:2]
    buffer[0] = x.detach()[0]  # here
    return (view * w[:2]).sum()


def an_index(x: Any, w: Any) -> Any:
    best = x.argmax()  # here
    return w[best]


def cut_before_it_left(x: Any, w: Any) -> Any:
    with torch.no_grad():
        scale = x.exp()  # here
    return (torch.tensor(scale.numpy() * 2) * w).sum()


def an_index_as_a_number(x: Any, w: Any) -> Any:
    best = int(x.argmax())  # here
    return w[best] * 2


def overwritten(x: Any, w: Any) -> Any:
    buffer = x.detach().clone()
    buffer.zero_()
    return (buffer * w).sum()  # here


def overwritten_and_written_again(x: Any, w: Any) -> Any:
    buffer = x.detach().clone()
    view = buffer[1:]
    buffer.zero_()
    view.copy_(x.exp().detach()[1:])  # here
    return (buffer * w).sum()


def logged_many_times_afterwards(x: Any, w: Any) -> Any:
    scale = x.sum().item()  # here
    loss = (w * (scale + 1)).sum()
    for _ in range(20):
        x.sum().item()
    return loss


def a_mask(x: Any, w: Any) -> Any:
    mask = x > 1.5  # here
    return (w * mask).sum()


def a_penalty(x: Any, w: Any) -> Any:
    (slope,) = torch.autograd.grad((x * w).sum(), w)  # here
    return slope.square().sum() + w.sum()


def a_new_parameter(x: Any, w: Any) -> Any:
    made = nn.Parameter(x.exp())
    return (made * w).sum()


def a_deep_copy(x: Any, w: Any) -> Any:
    import copy

    twin = copy.deepcopy(x)  # here
    return (twin * w).sum()


def set_data(x: Any, w: Any) -> Any:
    w.data = x.exp()  # here
    return w.sum()


def after_an_optimizer(x: Any, w: Any) -> Any:
    optimizer = torch.optim.SGD([x], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        x.square().sum().backward()
        optimizer.step()
    x.grad = None
    return (x.exp().detach() * w).sum()  # here


CAUSES = {
    from_numpy: "numpy",
    a_view_of_the_array: "numpy",
    numpy_computes: "numpy",
    an_array_by_protocol: "numpy",
    a_number: "detach",
    a_list: "item",
    data: "data",
    decorated: "no_grad",
    copied_without_grad: "no_grad",
    seen_through_another_view: "detach",
    an_index: "integer",
    cut_before_it_left: "no_grad",
    an_index_as_a_number: "integer",
    overwritten: "unused",
    overwritten_and_written_again: "detach",
    logged_many_times_afterwards: "item",
    a_mask: "boolean",
    a_penalty: "create_graph",
    a_new_parameter: "shared",
    a_deep_copy: "copied",
    set_data: "data",
    after_an_optimizer: "detach",
}


@pytest.mark.parametrize("program", CAUSES, ids=lambda program: program.__name__)
def test_the_cut_and_its_line(program: Any) -> None:
    with whygrad.torch.record():
        x, w = parameter(), parameter()
        loss = program(x, w)
    answer = whygrad.torch.why_none(x, loss)
    assert answer.cause == CAUSES[program]
    assert answer.question == "why_none(x, loss)"
    if answer.cause != "shared":  # nobody sees how a Parameter is made
        assert answer.where is not None
        assert answer.where.file == __file__
        assert answer.where.text.endswith("# here")
    json.dumps(answer.to_dict())


def test_ways_out_and_back() -> None:
    with whygrad.torch.record():
        x, w = parameter(), parameter()
        hidden = (x * 2).exp()
        outside = hidden.detach().sin()
        loss = (outside * w).sum()
    answer = whygrad.torch.why_none(x, loss)
    ways = {title: [each["op"] for each in answer.evidence[title]] for title in WAYS}
    assert ways == {
        "way_out": ["mul", "exp"],
        "outside": ["detach", "sin"],
        "way_back": ["sum", "mul"],
    }
    assert "as far as the graph goes" in answer.report()


WAYS = ("way_out", "outside", "way_back")


def test_without_a_recording_it_says_what_it_does_not_know() -> None:
    x, w = parameter(), parameter()
    loss = (x.detach() * w).sum()
    answer = whygrad.torch.why_none(x, loss)
    assert answer.cause == "no path"
    assert "which one is not known" in str(answer)
    assert answer.fix is not None
    assert "whygrad.torch.record()" in answer.fix


def test_a_recording_of_something_else_is_no_help() -> None:
    with whygrad.torch.record():
        parameter().sum()
    x, w = parameter(), parameter()
    loss = (x.detach() * w).sum()
    assert whygrad.torch.why_none(x, loss).cause == "no path"


def test_an_earlier_recording_can_be_named() -> None:
    with whygrad.torch.record() as tape:
        x, w = parameter(), parameter()
        loss = (x.detach() * w).sum()
    with whygrad.torch.record():
        x.exp()
    assert whygrad.torch.why_none(x, loss, tape).cause == "detach"


def test_what_the_graph_alone_tells() -> None:
    x, constant = parameter(), torch.ones(3)
    hidden = x * constant
    loss = hidden.exp().sum()
    assert whygrad.torch.why_none(constant, loss).cause == "requires_grad is False"
    assert whygrad.torch.why_none(torch.ones(3, dtype=torch.int64), loss).cause == (
        "requires_grad is False"
    )
    assert whygrad.torch.why_none(hidden, loss).cause == "not retained"
    before = whygrad.torch.why_none(x, loss)
    assert before.cause == "not computed"
    assert "has not run, or the gradient was cleared" in str(before)
    loss.backward()
    assert whygrad.torch.why_none(x, loss).ok
    x.grad = None
    after = whygrad.torch.why_none(x, loss)
    assert after.cause == "not computed"
    assert "its graph was walked" in str(after)


def test_the_line_of_backward_if_it_was_recorded() -> None:
    with whygrad.torch.record():
        x = parameter()
        loss = x.exp().sum()
        loss.backward()
        x.grad = None
    answer = whygrad.torch.why_none(x, loss)
    assert answer.where is not None
    assert answer.where.text == "loss.backward()"


def test_requires_grad_that_was_set_before_is_not_new() -> None:
    with whygrad.torch.record():
        x, w = parameter(), parameter()
        loss = w.sum()
        x.requires_grad_()
    assert whygrad.torch.why_none(x, loss).cause == "unused"


def test_a_number_read_later_is_not_it() -> None:
    losses = []
    with whygrad.torch.record():
        x, w = parameter(), parameter()
        for step in range(2):
            scale = x.sum().item() if step else 2.0
            losses.append((w * (scale + 1)).sum())
    assert whygrad.torch.why_none(x, losses[0]).cause == "unused"
    assert whygrad.torch.why_none(x, losses[1]).cause == "item"


def test_a_number_that_is_only_equal_is_no_certainty() -> None:
    with whygrad.torch.record():
        x, w = parameter(), parameter()
        x.sum().item()
        whole = (w * 4.5).sum()
        other = (w * 2.0).sum()
    assert str(whygrad.torch.why_none(x, whole)).startswith("why_none(x, whole): perhaps ")
    assert whygrad.torch.why_none(x, other).cause == "unused"


def test_a_function_and_a_checkpoint_are_no_cuts() -> None:
    from torch.utils.checkpoint import checkpoint

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return torch.from_numpy(x.detach().numpy() * 2)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2

    with whygrad.torch.record():
        x, w = parameter(), parameter()
        hidden = Double.apply(checkpoint(torch.exp, x, use_reentrant=True))
        cut = (hidden * 3).detach()
        loss = (cut * w).sum() + hidden.sum()
        other = (cut * w).sum()
    loss.backward()
    assert whygrad.torch.why_none(x, loss).ok
    answer = whygrad.torch.why_none(x, other)
    assert answer.cause == "detach"
    assert answer.where is not None
    assert answer.where.text == "cut = (hidden * 3).detach()"


def test_a_module_answers_for_its_parameters() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.frozen = nn.Linear(3, 3)
            self.frozen.requires_grad_(False)
            self.encoder = nn.Linear(3, 3)
            self.head = nn.Linear(3, 1)
            self.forgotten = nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.head(self.encoder(self.frozen(x)).detach())

    model = Model()
    with whygrad.torch.record():
        loss = model(torch.randn(4, 3)).mean()
    loss.backward()
    answers = whygrad.torch.why_none(model, loss)
    assert answers.by_cause == {
        "requires_grad is False": ["frozen.weight", "frozen.bias"],
        "detach": ["encoder.weight", "encoder.bias"],
        "unused": ["forgotten.weight", "forgotten.bias"],
    }
    assert str(answers).startswith("why_none(model, loss): 6 of 8 parameters; ")
    assert answers["encoder.weight"].where.text.startswith("return self.head(")
    assert answers["encoder.weight"].question == "why_none(model.encoder.weight, loss)"
    assert "the same for encoder.bias" in answers.report()
    assert not answers.ok
    assert len(answers) == 6
    assert json.loads(json.dumps(answers.to_dict()))["schema"] == "whygrad.answers/1"
    assert "<pre" in answers._repr_html_()


def test_a_healthy_module() -> None:
    model = nn.Linear(3, 1)
    loss = model(torch.randn(4, 3)).mean()
    loss.backward()
    answers = whygrad.torch.why_none(model, loss)
    assert answers.ok
    assert str(answers) == (
        "why_none(model, loss): nothing wrong: each of 2 parameters has a gradient"
    )


@pytest.mark.parametrize(("x", "loss"), [(3.0, torch.ones(1)), (torch.ones(1), nn.Linear(1, 1))])
def test_refusals(x: Any, loss: Any) -> None:
    with pytest.raises(TypeError, match="x must be a tensor or a module of PyTorch's"):
        whygrad.torch.why_none(x, loss)


def test_asking_changes_nothing() -> None:
    with whygrad.torch.record():
        x, w = parameter(), parameter()
        loss = (x.detach() * w).exp().sum()
    state = torch.get_rng_state()
    whygrad.torch.why_none(x, loss)
    whygrad.torch.why_none(w, loss)
    assert x.grad is None
    assert w.grad is None
    assert torch.equal(torch.get_rng_state(), state)
    loss.backward()
    assert w.grad is not None
