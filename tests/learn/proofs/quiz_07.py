"""Proofs of the quiz on scalar autograd."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import permutations

import pytest
import torch

import whygrad as wg
from tests.learn.programs import changed_lines, names, printed, question
from tests.learn.proofs import proves
from whygrad import Value
from whygrad.scalar.check import check_gradient, numeric_gradient


def _gradient(function: Callable[[Value], Value], at: float) -> float:
    x = Value(at)
    function(x).backward()
    return x.grad


def _walked(result: Value, *order: Value) -> None:
    """A backward pass that visits the nodes in the order given."""
    result.grad = 1.0
    for node in order:
        node._backward()


def _log_sigmoid(x: Value) -> Value:
    return x.sigmoid().log()


@proves("q-07-01")
def a_sum_over_paths() -> None:
    overwrites, adds = (names(text) for text in (question("q-07-14").code, question("q-07-14").fix))
    answers = []
    for engine in (overwrites, adds):
        x = engine["Node"](3.0)
        (x * x + x).backward()
        once, other = engine["Node"](3.0), engine["Node"](5.0)
        (once * other).backward()
        answers.append((x.grad, once.grad, other.grad))
    assert answers == [(3.0, 5.0, 3.0), (7.0, 5.0, 3.0)]


@proves("q-07-02")
def order_of_the_walk() -> None:
    answers = {}
    for turn in ("in time", "early", "forward"):
        x = Value(1.0)
        h = x * 2
        above = h + 1
        y = h * above
        orders = {"in time": (y, above, h), "early": (y, h, above), "forward": (h, above, y)}
        _walked(y, *orders[turn])
        answers[turn] = x.grad
    assert answers == {"in time": 10.0, "early": 6.0, "forward": 0.0}
    assert _gradient(lambda x: (x * 2) * (x * 2 + 1), 1.0) == 10.0


@proves("q-07-03")
def diamond() -> None:
    a, b, c = Value(2.0), Value(3.0), Value(4.0)
    loss = (a * b + c) * (a - c)
    explanation = wg.explain(loss, wrt=a)
    assert sorted(each.value for each in explanation.contributions) == [-6.0, 10.0]
    through_sum, through_difference = Value(10.0), Value(-2.0)
    (through_sum * through_difference).backward()
    assert (through_sum.grad, through_difference.grad) == (-2.0, 10.0)
    loss.backward()
    assert (loss.data, a.grad, b.grad, c.grad) == (-20.0, 4.0, -4.0, -12.0)


@proves("q-07-04")
def differences_are_the_weaker_oracle() -> None:
    check = check_gradient(_log_sigmoid, 1.5)
    errors = sorted(step.error for step in check.steps)
    assert 1e-13 < errors[0] < 1e-11
    assert errors[-1] > 1e-4
    x = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    x.sigmoid().log().backward()
    assert abs(check.gradient - x.grad.item()) < 1e-15
    first, second = (step.error for step in check.steps[:2])
    assert first / second == pytest.approx(100.0, rel=0.05)  # truncation goes with the square


@proves("q-07-05")
def gradients_pile_up() -> None:
    w = wg.tensor(0.0, requires_grad=True)
    optimizer = wg.optim.SGD([w], lr=1.0)
    moves = []
    for _ in range(100):
        before = w.item()
        (w * 3).backward()
        optimizer.step()
        moves.append(before - w.item())
    assert moves == [3.0 * step for step in range(1, 101)]
    assert w.grad.shape == w.shape

    def descend(clear: bool) -> list[float]:
        w = Value(1.0)
        seen = []
        for _ in range(100):
            if clear:
                w.zero_grad()
            (w * w).backward()
            w.data -= 0.1 * w.grad
            seen.append(w.data)
        return seen

    swinging = descend(clear=False)[-20:]
    assert -1.1 < min(swinging) < -0.9
    assert 0.9 < max(swinging) < 1.1
    assert abs(descend(clear=True)[-1]) < 1e-9

    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    x.sum().backward()  # raises nothing
    assert x.grad.tolist() == [2.0, 2.0]


@proves("q-07-06")
def the_other_factor() -> None:
    after = names(question("q-07-06").code)
    assert after["loss"].data == 49.0
    assert [after[name].grad for name in "xwb"] == [42.0, 28.0, 14.0]
    x, w = Value(5.0), Value(3.0)
    ((x * w + 1) ** 2).backward()
    assert x.grad < w.grad


@proves("q-07-07")
def only_one_order() -> None:
    values = names(question("q-07-07").code)
    nodes = [values[name] for name in "yeda"]
    right = [
        order
        for order in permutations(nodes)
        if all(order.index(n) < order.index(p) for n in nodes for p in n._prev if p in order)
    ]
    assert right == [tuple(nodes)]
    assert (values["d"].grad, values["a"].grad) == (15.0, 36.0)
    for value in nodes:
        value.grad = 0.0
    y, e, d, a = nodes
    _walked(y, y, d, e)
    assert a.grad == 24.0


@proves("q-07-09")
def relu_at_zero() -> None:
    assert _gradient(Value.relu, 0.0) == 0.0
    assert _gradient(Value.relu, 1e-9) == 1.0
    for library in (wg, torch):
        x = library.zeros(1, requires_grad=True)
        x.relu().sum().backward()
        assert x.grad.item() == 0.0
    assert numeric_gradient(Value.relu, 0.0) == 0.5


@proves("q-07-10")
def local_slopes() -> None:
    for at in (0.3, 1.7):
        rules: dict[Callable[[Value], Value], Callable[[float], float]] = {
            Value.tanh: lambda y: 1 - y * y,
            Value.sigmoid: lambda y: y * (1 - y),
            Value.exp: lambda y: y,
        }
        for op, slope in rules.items():
            assert _gradient(op, at) == pytest.approx(slope(op(Value(at)).data))
        assert _gradient(Value.log, at) == pytest.approx(1 / at)
        assert _gradient(Value.log, at) != pytest.approx(1 / math.log(at))
    assert _gradient(lambda a: a * 7, 2.0) == 7.0
    assert _gradient(Value.sigmoid, 0.0) == 0.25
    assert all(_gradient(Value.sigmoid, at / 10) < 0.25 for at in range(-50, 50) if at)


@proves("q-07-11")
def chains_of_sigmoids() -> None:
    def chain(length: int, at: float) -> float:
        def function(x: Value) -> Value:
            for _ in range(length):
                x = x.sigmoid()
            return x

        return _gradient(function, at)

    answer = int(question("q-07-11").answer or 0)
    assert chain(answer - 1, 0.0) > 1e-6 > 0.25**answer
    assert all(chain(answer, at / 4) < 0.25**answer for at in range(-40, 41))
    bounds = (0.25**9, 0.25**10, chain(9, 0.0), chain(10, 0.0), chain(1, 10.0))
    assert [f"{each:.1e}" for each in bounds] == [
        "3.8e-06", "9.5e-07", "1.7e-06", "3.9e-07", "4.5e-05",
    ]  # fmt: skip


@proves("q-07-12")
def stale_gradients_in_between() -> None:
    asked = question("q-07-12")
    (right,) = (option for option in asked.options if option.correct)
    assert printed(asked.code) == right.text["en"] == "36.0"
    assert names(asked.code)["h"].grad == 4.0
    x = Value(3.0)
    y = (x * x) * 2
    y.backward()
    assert x.grad == 12.0
    y.backward()
    assert x.grad == 24.0
    t = torch.tensor(3.0, requires_grad=True)
    y = (t * t) * 2
    y.backward(retain_graph=True)
    y.backward()
    assert t.grad.item() == 24.0
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@proves("q-07-14")
def overwriting() -> None:
    asked = question("q-07-14")
    assert changed_lines(asked) == asked.lines
    assert printed(asked.code) == "3.0"
    assert printed(asked.fix) == str(_gradient(lambda x: x * x + x, 3.0)) == "7.0"


@proves("q-07-15")
def sending_on_twice() -> None:
    asked = question("q-07-15")
    assert changed_lines(asked) == asked.lines
    assert printed(asked.code) == "54.0"
    assert printed(asked.fix) == str(_gradient(lambda a: (a * 2) * (a * 2 + a), 3.0)) == "36.0"
    engine = names(asked.fix)["Node"]
    visits = []

    class Counting(engine):
        def backward(self, arrived: float = 1.0) -> None:
            visits.append(self)
            super().backward(arrived)

        def __add__(self, other: Counting) -> Counting:
            return Counting(self.data + other.data, [(self, 1.0), (other, 1.0)])

    for depth, expected in ((3, 2**4 - 1), (6, 2**7 - 1)):
        visits.clear()
        y = Counting(1.0)
        for _ in range(depth):
            y = y + y
        y.backward()
        assert len(visits) == expected


@proves("q-07-16")
def a_missing_factor() -> None:
    asked = question("q-07-16")
    assert changed_lines(asked) == asked.lines
    assert printed(asked.code) == "0.7864"
    assert printed(asked.fix) == f"{_gradient(lambda x: x.tanh() * 3, 0.5):.4f}" == "2.3593"
    engine = names(asked.code)
    engine["tape"].clear()
    x = engine["Node"](0.5)
    y = engine["tanh"](x)
    y.grad = 1.0
    engine["tape"][0]()
    assert x.grad == _gradient(Value.tanh, 0.5)  # alone, the wrong rule is right


@proves("q-07-17")
def the_valley_of_epsilon() -> None:
    check = check_gradient(_log_sigmoid, 1.5, epsilons=(1e-1, 1e-5, 1e-13, 1e-300))
    large, good, small, nothing = check.steps
    assert large.error == pytest.approx(1.6e-4, rel=0.05)
    assert good.error < 1e-10
    assert 3e-5 < small.error < 1e-3
    assert nothing.estimate == 0.0
    assert min(check.steps, key=lambda step: step.error) is good


@proves("q-07-18")
def log_of_sigmoid() -> None:
    asked = question("q-07-18")
    assert _gradient(_log_sigmoid, 0.0) == asked.answer == 0.5
    assert _gradient(Value.log, 0.5) * _gradient(Value.sigmoid, 0.0) == 2.0 * 0.25
    for at in (-3.0, 0.4, 2.0):
        sigmoid = Value(at).sigmoid().data
        assert _gradient(_log_sigmoid, at) == pytest.approx(1 - sigmoid)
        x = wg.tensor(at, dtype=wg.float64, requires_grad=True)
        wg.nn.functional.logsigmoid(x).backward()
        assert x.grad.item() == pytest.approx(1 - sigmoid)
    x = wg.tensor(-800.0, dtype=wg.float64, requires_grad=True)
    assert x.sigmoid().log().item() == -math.inf
    y = wg.nn.functional.logsigmoid(x)
    y.backward()
    assert (y.item(), x.grad.item()) == (-800.0, 1.0)


@proves("q-07-19")
def recursion_ends() -> None:
    recursive = names(question("q-07-14").fix)["Node"]
    y = recursive(1.0)
    one = recursive(1.0)
    for _ in range(5000):
        y = y + one
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        with pytest.raises(RecursionError):
            y.backward()
        x = Value(1.0)
        total = x
        for _ in range(5000):
            total = total + 1
        total.backward()
        assert x.grad == 1.0
        t = torch.ones(1, requires_grad=True)
        total = t
        for _ in range(5000):
            total = total + 1
        total.backward()
        assert t.grad.item() == 1.0
    finally:
        sys.setrecursionlimit(before)
    assert one.grad == 0.0


@proves("q-07-20")
def the_seed_is_a_factor() -> None:
    for library in (wg, torch):
        for seed in (0.0, 1.0, 2.0):
            x = library.tensor(3.0, requires_grad=True)
            loss = x * x + x
            loss.backward(library.tensor(seed))
            assert x.grad.item() == 7.0 * seed
    x = Value(3.0)
    loss = x * x
    loss.backward()
    assert loss.grad == 1.0


@proves("q-07-21")
def a_test_that_sees_nothing() -> None:
    def careless(outer: Callable[[Value, Value], Value], inner: Callable[[Value], Value]) -> float:
        """The gradient at 3, if the rule of addition overwrites."""
        x = Value(3.0)
        middle = inner(x)
        result = outer(middle, x)
        result.grad = 1.0
        for node in (result, middle):
            if node._op == "+":
                for parent, slope in zip(node._prev, node._slopes):
                    parent.grad = slope * node.grad
            else:
                node._backward()
        return x.grad

    assert careless(lambda square, x: square + x, lambda x: x * x) == 7.0
    assert careless(lambda above, x: above * x, lambda x: x + 1) == 3.0
    assert careless(lambda twice, _: twice, lambda x: x + x) == 1.0
    assert [_gradient(f, 3.0) for f in (lambda x: x + x, lambda x: (x + 1) * x)] == [2.0, 7.0]
