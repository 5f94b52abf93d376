"""why_none: the whole answer, for each thing that can be the matter."""

from __future__ import annotations

import gc
import json
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.autograd.tensors import leaf
from tests.why.asking import ask, marked_line
from whygrad.why.answer import Answer

# By situation: a program that ends with an ``answer``, its cause, and the whole report.  The line
# of the import is not counted in the program, but in the numbers.
REPORTS = {
    "a cut in the middle": (
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        v = tensor([3.0, 4.0], requires_grad=True)
        hidden = w.exp()
        features = (hidden * 2).detach()  # here
        scores = features.reshape(2)
        loss = (scores * v).sum()
        answer = whygrad.why_none(w, loss)
        """,
        "detach",
        """
        why_none(w, loss)
          cause: the value of w was cut off by detach()
          at:    program.py:5: features = (hidden * 2).detach()  # here
          fix:   leave detach() out if the gradient is wanted here

          from w, as far as the graph goes
            leaf         program.py:2: w = tensor([1.0, 2.0], requires_grad=True)
            exp          program.py:4: hidden = w.exp()
            mul          program.py:5: features = (hidden * 2).detach()  # here

          outside the graph
            detach       program.py:5: features = (hidden * 2).detach()  # here
            view         program.py:6: scores = features.reshape(2)

          back from loss, as far as the graph goes
            sum          program.py:7: loss = (scores * v).sum()
            mul          program.py:7: loss = (scores * v).sum()
        """,
    ),
    "a number that the source code leads to": (
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        v = tensor([3.0, 4.0], requires_grad=True)
        scale = w.sum().item()  # here
        loss = (v * scale).sum()
        answer = whygrad.why_none(w, loss)
        """,
        "item",
        """
        why_none(w, loss)
          cause: the value of w became a Python number, which has no history
          at:    program.py:4: scale = w.sum().item()  # here
          fix:   use the tensor itself instead of item() or float()

          used again, as the source code shows
            program.py:5: loss = (v * scale).sum()
        """,
    ),
    "not used": (
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        v = tensor([3.0, 4.0], requires_grad=True)
        loss = (v * v).sum()  # here
        answer = whygrad.why_none(w, loss)
        """,
        "unused",
        """
        why_none(w, loss)
          cause: no recorded op leads from w to loss
          at:    program.py:4: loss = (v * v).sum()  # here
          fix:   use w in the computation of loss, or leave it out of the optimizer

          what loss depends on
            v            program.py:3: v = tensor([3.0, 4.0], requires_grad=True)

          w requires grad since
            program.py:2: w = tensor([1.0, 2.0], requires_grad=True)
            what was computed from it before counts as a constant
        """,
    ),
    "replaced": (
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        loss = (w * w).sum()
        loss.backward()
        w = (
            w - 0.1 * w.grad  # here
        )
        loss = (w * w).sum()
        answer = whygrad.why_none(w, loss)
        """,
        "replaced",
        """
        why_none(w, loss)
          cause: w is not the leaf it was: this line computed a new tensor of the same name
          at:    program.py:6: w - 0.1 * w.grad  # here
          fix:   update the leaf in place: with no_grad(): w -= step, or use an optimizer

          the leaf that was replaced
            w, since program.py:2: w = tensor([1.0, 2.0], requires_grad=True)
        """,
    ),
    "nothing wrong": (
        """
        w = tensor([3.0, 4.0], requires_grad=True)
        loss = (w * w).sum() / 2
        loss.backward()
        answer = whygrad.why_none(w, loss)
        """,
        "nothing wrong",
        """
        why_none(w, loss)
          cause: nothing wrong: w has a gradient with norm 5, and loss reaches it
        """,
    ),
}


@pytest.mark.parametrize(
    ("program", "cause", "report"), [pytest.param(*row, id=name) for name, row in REPORTS.items()]
)
def test_the_whole_report(program: str, cause: str, report: str) -> None:
    answer: Answer = ask(program)["answer"]
    assert answer.cause == cause
    assert answer.report() == dedent(report).strip("\n").rstrip()
    assert (None if answer.where is None else answer.where.line) == marked_line(program)
    assert answer.ok == (cause == "nothing wrong")
    assert str(answer).startswith(f"{answer.question}: {answer.headline}")
    assert "\n" not in str(answer)


def test_long_paths_are_shortened() -> None:
    w, v = leaf(1.0), leaf(2.0)
    hidden = w
    for _ in range(50):
        hidden = hidden * 1.0
    answer = wg.why_none(w, (hidden.detach() * v).sum())
    assert "… 39 more …" in answer.report()
    assert len(answer.to_dict()["evidence"]["way_out"]) == 51


def test_a_dictionary_for_programs() -> None:
    w, v = leaf(1.0), leaf(2.0)
    cut = w.detach()
    answer = wg.why_none(w, (cut * v).sum())
    data: dict[str, Any] = json.loads(json.dumps(answer.to_dict()))
    assert data["schema"] == "whygrad.answer/1"
    assert (data["cause"], data["ok"]) == ("detach", False)
    assert data["where"]["text"] == "cut = w.detach()"
    assert data["evidence"]["certain"] is True
    assert [each["op"] for each in data["evidence"]["way_back"]] == ["sum", "mul"]
    assert [each["op"] for each in data["evidence"]["outside"]] == ["detach"]


def test_a_number_read_later_is_not_it() -> None:
    w, v = leaf(1.0), leaf(2.0)
    losses = []
    for step in range(2):
        scale = w.sum().item() if step else 2.0
        losses.append((v * scale).sum())
    assert wg.why_none(w, losses[0]).cause == "unused"
    assert wg.why_none(w, losses[1]).cause == "item"


@pytest.mark.parametrize("copied", [False, True])
def test_the_cut_before_a_value_left_for_numpy(copied: bool) -> None:
    w, v, u = leaf(1.0), leaf(2.0), leaf(3.0)
    cut = w.detach()
    hidden = cut * v
    array = hidden.detach().numpy()
    loss = (wg.from_numpy(array * 2 if copied else array) * u).sum()
    assert wg.why_none(v, loss).cause == "numpy"
    answer = wg.why_none(w, loss)
    assert answer.cause == "detach"
    assert answer.where is not None
    assert answer.where.text == "cut = w.detach()"


def test_numbers_that_are_read_afterwards_push_none_out() -> None:
    w, v = leaf(1.0), leaf(2.0)
    scale = w.sum().item()
    loss = (v * scale).sum()
    for _ in range(20):
        w.sum().item()
    answer = wg.why_none(w, loss)
    assert answer.cause == "item"
    assert answer.where is not None
    assert answer.where.text == "scale = w.sum().item()"


def test_asking_changes_nothing() -> None:
    w, v = leaf(1.0), leaf(2.0)
    cut = w.detach()
    loss = (cut * v).sum()
    before = (w._version, cut._version, loss._version)
    state = wg.get_rng_state()
    for x in (w, v, cut, loss):
        wg.why_none(x, loss).report()
    assert (w.grad, v.grad) == (None, None)
    assert (w._version, cut._version, loss._version) == before
    assert bool((wg.get_rng_state() == state).all())
    loss.backward()
    assert v.grad.tolist() == [1.0]


def test_asking_keeps_nothing_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        w, v = leaf(1.0), leaf(2.0)
        loss = (w.detach() * v).sum()
        answer = wg.why_none(w, loss)
        before = sum(type(each) is wg.Tensor for each in gc.get_objects())
        del w, v, loss
        after = sum(type(each) is wg.Tensor for each in gc.get_objects())
        assert after == before - 3
        assert answer.cause == "detach"
    finally:
        gc.enable()


def test_a_deep_graph() -> None:
    w, v = leaf(1.0), leaf(2.0)
    hidden = v
    for _ in range(100_000):
        hidden = hidden * 1.0
    assert wg.why_none(w, (hidden * w.detach()).sum()).cause == "detach"


@pytest.mark.parametrize(
    ("x", "loss", "text"),
    [
        (
            np.ones(2),
            wg.tensor(1.0),
            "why_none(x, loss) with x: float64[2]\n"
            "  cause: both must be tensors of whygrad\n"
            "  fix:   for PyTorch's use whygrad.torch.why_none; the grad of a Value is never None",
        ),
        (
            wg.tensor(1.0),
            2.5,
            "why_none(x, loss) with loss: 2.5\n"
            "  cause: both must be tensors of whygrad\n"
            "  fix:   keep the tensor: item() and float() end its graph",
        ),
    ],
)
def test_only_tensors_are_asked_about(x: Any, loss: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        wg.why_none(x, loss)
    assert str(caught.value).startswith(text)
