"""LBFGS: PyTorch's steps with and without a line search, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.optim.problems import Problem, case_id
from whygrad.optim.line_search import Point, strong_wolfe

CASES: list[tuple[dict[str, Any], int]] = [
    ({"lr": 0.1}, 10),
    ({"lr": 0.5, "history_size": 3, "max_iter": 4}, 30),
    ({"lr": 1, "line_search_fn": "strong_wolfe"}, 5),
    ({"lr": 5, "line_search_fn": "strong_wolfe", "max_iter": 6}, 6),
    ({"lr": 0.3, "line_search_fn": "strong_wolfe", "max_eval": 9}, 6),
    ({"lr": 1, "line_search_fn": "strong_wolfe", "history_size": 2, "tolerance_change": 1e-4}, 8),
]


class Convex(Problem):
    """Logistic regression: what rounding moves comes back, so everything can be compared."""

    def __init__(self, library: Any) -> None:
        super().__init__(library)
        self.parameters = self.parameters[:2]

    def loss(self) -> Any:
        weights, bias = self.parameters
        scores = self.x @ weights.t() + bias
        labels = self.library.sign(self.y[:, :1])
        return self.library.log1p(self.library.exp(-labels * scores)).mean() + 0.02 * (
            (weights**2).sum() + (bias**2).sum()
        )


class Counted:
    """A closure that counts its calls and keeps the losses."""

    def __init__(self, problem: Problem, optimizer: Any) -> None:
        self.problem, self.optimizer = problem, optimizer
        self.losses: list[float] = []

    def __call__(self) -> Any:
        self.optimizer.zero_grad()
        loss = self.problem.loss()
        loss.backward()
        self.losses.append(loss.item())
        return loss


def minimised(library: Any, options: dict[str, Any], steps: int) -> tuple[Problem, Counted]:
    problem = Convex(library)
    optimizer = library.optim.LBFGS(problem.parameters, **options)
    closure = Counted(problem, optimizer)
    for _ in range(steps):
        optimizer.step(closure)
    return problem, closure


@pytest.mark.parametrize(("options", "steps"), CASES, ids=case_id)
def test_same_evaluations_and_parameters(options: dict[str, Any], steps: int) -> None:
    """Every loss that is computed on the way, so every decision of the line search."""
    ours, our_calls = minimised(whygrad, options, steps)
    theirs, their_calls = minimised(torch, options, steps)
    assert len(our_calls.losses) == len(their_calls.losses)
    np.testing.assert_allclose(our_calls.losses, their_calls.losses, rtol=1e-7)
    for one, other in zip(ours.values(), theirs.values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def rosenbrock(library: Any, search: str | None) -> tuple[list[float], dict[str, Any]]:
    """Down a bent valley; one parameter per coordinate and one that the loss does not know."""
    x, y = (library.tensor(v, dtype=library.float64).requires_grad_() for v in (-1.2, 1.0))
    unused = library.zeros(2, dtype=library.float64).requires_grad_()
    optimizer = library.optim.LBFGS([x, unused, y], lr=0.1, line_search_fn=search)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (1 - x) ** 2 + 100 * (y - x**2) ** 2
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(8)]
    return [x.item(), y.item(), *losses], optimizer.state_dict()["state"][0]


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_rosenbrock(search: str | None) -> None:
    ours, our_state = rosenbrock(whygrad, search)
    theirs, their_state = rosenbrock(torch, search)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert our_state["func_evals"] == their_state["func_evals"]
    assert our_state["n_iter"] == their_state["n_iter"]
    assert set(their_state) - set(our_state) <= {"al"}  # scratch memory that PyTorch saves


def test_resumes_where_it_was() -> None:
    whole, _ = minimised(whygrad, CASES[2][0], 4)
    problem = Convex(whygrad)
    first = whygrad.optim.LBFGS(problem.parameters, **CASES[2][0])
    for _ in range(2):
        first.step(Counted(problem, first))
    second = whygrad.optim.LBFGS(problem.parameters)
    second.load_state_dict(first.state_dict())
    for _ in range(2):
        second.step(Counted(problem, second))
    for one, other in zip(problem.values(), whole.values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_gradients_zeroed_in_place_are_not_remembered() -> None:
    """What is kept from one evaluation to the next does not share memory with ``.grad``."""
    x = whygrad.tensor([3.0, -2.0]).requires_grad_()
    optimizer = whygrad.optim.LBFGS([x], lr=1, max_iter=8)

    def closure() -> Any:
        optimizer.zero_grad(set_to_none=False)
        loss = (x * x * whygrad.tensor([1.0, 10.0])).sum()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    np.testing.assert_allclose(x.detach().numpy(), 0, atol=1e-4)


def test_parameters_survive_a_closure_that_fails() -> None:
    x = whygrad.tensor([3.0, -2.0]).requires_grad_()
    optimizer = whygrad.optim.LBFGS([x], line_search_fn="strong_wolfe")
    calls = []

    def closure() -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with pytest.raises(KeyboardInterrupt):
        optimizer.step(closure)
    assert x.tolist() == [3.0, -2.0]


def test_a_search_without_room_takes_the_better_end() -> None:
    """``most`` evaluations are used up in the first: start and trial are compared."""
    nothing = whygrad.zeros(1)

    def evaluate(length: float) -> Point:
        return Point(length, (length - 3) ** 2, nothing, 2 * (length - 3))

    start = Point(0.0, 9.0, nothing, -6.0)
    found, tried = strong_wolfe(evaluate, start, 1e-3, 1.0, most=0)
    assert (found.length, tried) == (1e-3, 1)
    found, tried = strong_wolfe(evaluate, start, 1e-3, 1.0, most=20)
    assert found.length == pytest.approx(3.0, abs=2.7)
    assert tried < 8


@pytest.mark.parametrize(
    ("call", "kind", "cause"),
    [
        (
            lambda p: whygrad.optim.LBFGS([{"params": [p[0]]}, {"params": [p[1]]}]),
            ValueError,
            r"doesn't support per-parameter options \(parameter groups\)",
        ),
        (
            lambda p: whygrad.optim.LBFGS(p, line_search_fn="armijo"),
            RuntimeError,
            "only 'strong_wolfe' is supported",
        ),
        (lambda p: whygrad.optim.LBFGS(p, lr=-1), ValueError, "Invalid learning rate: -1"),
        (
            lambda p: whygrad.optim.LBFGS(p).step(),
            TypeError,
            r"missing 1 required positional argument: 'closure'[^\0]*fix:.*returns the loss",
        ),
    ],
)
def test_refusals(call: Any, kind: type[Exception], cause: str) -> None:
    with pytest.raises(kind, match=cause):
        call(Problem(whygrad).parameters)


@pytest.mark.parametrize("line_search_fn", [None, "strong_wolfe"])
def test_no_gradient_at_all(line_search_fn: str | None) -> None:
    for library in (whygrad, torch):
        parameter = library.ones(3, requires_grad=True)
        optimizer = library.optim.LBFGS(
            [parameter], tolerance_grad=-float("inf"), line_search_fn=line_search_fn
        )

        def closure(parameter: Any = parameter, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (parameter * 0).sum()
            loss.backward()
            return loss

        assert optimizer.step(closure).item() == 0.0
        assert parameter.tolist() == [1.0, 1.0, 1.0]
