"""why_none: the cause, and the sentence that matters, in less common situations."""

from __future__ import annotations

import pytest

from tests.why.asking import ask, marked_line
from whygrad.why.answer import Answer

# By situation: a program, the cause, and something the answer must say.
SAID = {
    "two cuts": (
        """
        w, v = tensor([1.0], requires_grad=True), tensor([2.0], requires_grad=True)
        loss = (w.detach() * v + w.data).sum()  # here
        answer = whygrad.why_none(w, loss)
        """,
        "detach",
        "cut off elsewhere as well\n    .data at program.py:3",
    ),
    "the value came back through another leaf": (
        """
        w = tensor([1.0], requires_grad=True)
        hidden = (w * 2).detach()  # here
        hidden.requires_grad_()
        loss = (hidden * hidden).sum()
        answer = whygrad.why_none(w, loss)
        """,
        "detach",
        "back from loss, as far as the graph goes",
    ),
    "a constant that was cut": (
        """
        w = tensor([1.0], requires_grad=True)
        with whygrad.no_grad():
            hidden = w * 2  # here
        loss = (hidden * w).sum()
        answer = whygrad.why_none(hidden, loss)
        """,
        "no_grad",
        "hidden is a constant: it was computed where nothing is recorded",
    ),
    "held in a list, replaced under its name": (
        """
        w = tensor([1.0], requires_grad=True)
        parameters = [w]
        (w * w).sum().backward()
        with whygrad.no_grad():
            w = w - 0.1 * w.grad  # here
        loss = (w * parameters[0]).sum()
        answer = whygrad.why_none(w, loss)
        """,
        "replaced",
        "w is not the leaf it was",
    ),
    "the step before a leaf": (
        """
        hidden = tensor([1.0], requires_grad=True) / 2  # here
        loss = (hidden * hidden).sum()
        loss.backward()
        answer = whygrad.why_none(hidden, loss)
        """,
        "not retained",
        "call hidden.retain_grad() before backward(), or ask for it: autograd.grad(loss, hidden)",
    ),
    "retain_grad() too late": (
        """
        w = tensor([1.0], requires_grad=True)
        hidden = w * w
        loss = (hidden * hidden).sum()
        loss.backward()  # here
        hidden.retain_grad()
        answer = whygrad.why_none(hidden, loss)
        """,
        "not computed",
        "retain_grad() came after that",
    ),
    "grad() fills no .grad": (
        """
        w = tensor([1.0], requires_grad=True)
        loss = (w * w).sum()
        whygrad.autograd.grad(loss, w)  # here
        answer = whygrad.why_none(w, loss)
        """,
        "not computed",
        "that call was grad() or had inputs=",
    ),
    "inputs= names another": (
        """
        w, v = tensor([1.0], requires_grad=True), tensor([2.0], requires_grad=True)
        loss = (w * v).sum()
        loss.backward(inputs=[v])  # here
        answer = whygrad.why_none(w, loss)
        """,
        "not computed",
        "that call was grad() or had inputs=",
    ),
    "no backward() so far": (
        """
        w = tensor([1.0], requires_grad=True)
        loss = (w * w).sum()  # here
        answer = whygrad.why_none(w, loss)
        """,
        "not computed",
        "backward() has not run, or the gradient was cleared",
    ),
    "an integer tensor": (
        """
        index = tensor([0, 1])
        w = tensor([1.0, 2.0], requires_grad=True)
        loss = w[index].sum()
        answer = whygrad.why_none(index, loss)
        """,
        "requires_grad is False",
        "index is int64[2]: only floating-point tensors can have gradients",
    ),
    "requires_grad_() between two uses": (
        """
        w, v = tensor([1.0]), tensor([2.0], requires_grad=True)
        hidden = w * 2
        w.requires_grad_()
        loss = (hidden * v).sum()  # here
        answer = whygrad.why_none(w, loss)
        """,
        "unused",
        "what was computed from it before counts as a constant",
    ),
    "a gradient from another loss": (
        """
        w, v = tensor([1.0], requires_grad=True), tensor([2.0], requires_grad=True)
        (w * w).sum().backward()
        loss = (v * v).sum()  # here
        answer = whygrad.why_none(w, loss)
        """,
        "unused",
        "the .grad that w has\n    does not come from this loss",
    ),
    "a loss without history": (
        """
        w = tensor([1.0], requires_grad=True)
        loss = tensor(2.0)
        answer = whygrad.why_none(w, loss)
        """,
        "unused",
        "loss has no history, and no recorded op leads from w to loss",
    ),
    "numbers that were only logged": (
        """
        w, v = tensor([1.0], requires_grad=True), tensor([2.0], requires_grad=True)
        print(w.sum().item())
        loss = (v * v).sum()  # here
        answer = whygrad.why_none(w, loss)
        """,
        "unused",
        "numbers computed from w were handed to Python, see the report",
    ),
    "an index that was computed": (
        """
        w, v = tensor([1.0, 2.0], requires_grad=True), tensor([2.0, 1.0], requires_grad=True)
        best = int(w.argmax())  # here
        loss = v[best] * 2
        answer = whygrad.why_none(w, loss)
        """,
        "integer",
        "became an integer",
    ),
    "the history of a constant is too long": (
        """
        w, v = tensor([1.0], requires_grad=True), tensor([2.0], requires_grad=True)
        average = v.detach()
        for _ in range(200):
            average = 0.9 * average
        loss = (average * v).sum()  # here
        answer = whygrad.why_none(w, loss)
        """,
        "unused",
        "what became of values outside the graph is remembered in part only",
    ),
    "a large graph that is gone": (
        """
        w, v = tensor([1.0], requires_grad=True), tensor([2.0], requires_grad=True)
        hidden = w
        for _ in range(100):
            hidden = hidden * 1.0
        hidden = hidden.detach()  # here
        loss = (hidden * v).sum()
        answer = whygrad.why_none(w, loss)
        """,
        "detach",
        "whether w was in the graph that was cut off: it is gone, and was a large one",
    ),
}


@pytest.mark.parametrize(
    ("program", "cause", "said"), [pytest.param(*row, id=name) for name, row in SAID.items()]
)
def test_said(program: str, cause: str, said: str) -> None:
    answer: Answer = ask(program)["answer"]
    assert answer.cause == cause, answer.report()
    assert said in answer.report()
    assert (None if answer.where is None else answer.where.line) == marked_line(program)
