"""Proofs of the cards on scalar autograd."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import pytest
import torch

import whygrad as wg
from tests.learn.proofs import proves
from whygrad import Value
from whygrad.scalar.check import numeric_gradient


def _assigning(result: Value) -> None:
    """``backward()`` with ``=`` in place of ``+=``."""
    nodes = _ancestors(result)
    result.grad = 1.0
    for node in sorted(nodes, key=lambda node: -node._order):
        for parent, slope in zip(node._prev, node._slopes, strict=True):
            parent.grad = slope * node.grad


def _ancestors(result: Value) -> set[Value]:
    found, waiting = {result}, [result]
    while waiting:
        for parent in waiting.pop()._prev:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


@proves("d-07-01")
def assigning_keeps_the_last_contribution() -> None:
    x = Value(3.0)
    y = (x * 5) + (x * 7)
    _assigning(y)
    assert x.grad in (5.0, 7.0)
    x.grad = 0.0
    y.backward()
    assert x.grad == 12.0


@proves("d-07-02")
def products_along_paths_summed() -> None:
    a, b, c = Value(2.0), Value(3.0), Value(4.0)
    loss = (a * b + c) * (a - c)
    loss.backward()

    def paths(node: Value) -> list[list[float]]:
        if node is a:
            return [[]]
        return [
            [slope, *rest]
            for parent, slope in zip(node._prev, node._slopes, strict=True)
            for rest in paths(parent)
        ]

    products = [math.prod(path) for path in paths(loss)]
    assert sorted(products) == [-6.0, 10.0]
    assert sum(products) == a.grad == 4.0
    assert wg.explain(loss, wrt=a).gradient == 4.0


@proves("d-07-03")
def a_node_that_comes_too_early() -> None:
    def gradient(order: Callable[[Value, Value, Value], tuple[Value, ...]]) -> float:
        x = Value(1.0)
        h = x * 2
        above = h + 1
        y = h * above
        y.grad = 1.0
        for node in order(y, above, h):
            node._backward()  # adds, with +=
        return x.grad

    assert gradient(lambda y, above, h: (y, above, h)) == 10.0
    assert gradient(lambda y, above, h: (y, h, above)) == 6.0
    assert gradient(lambda y, above, h: (h, above, y)) == 0.0


@proves("d-07-04")
def it_begins_with_one() -> None:
    for result in (Value(5.0), Value(2.0) * Value(3.0)):
        result.backward()
        assert result.grad == 1.0
    y = torch.tensor(2.0, requires_grad=True) * 3
    y.retain_grad()
    y.backward()
    assert y.grad.item() == 1.0


def _local(function: Callable[[Value], Value], at: float) -> float:
    x = Value(at)
    function(x).backward()
    return x.grad


@proves("d-07-05")
def each_factor_gets_the_other() -> None:
    a, b = Value(2.0), Value(5.0)
    (a * b * 10).backward()
    assert (a.grad, b.grad) == (10 * 5.0, 10 * 2.0)
    node = (wg.ones(1, requires_grad=True) * wg.ones(1, requires_grad=True)).grad_fn
    assert set(node.saved) == {"a", "b"}


@proves("d-07-06")
def three_contributions() -> None:
    x = Value(3.0)
    product = x * x
    y = product + x
    assert product._slopes == (3.0, 3.0)
    assert y._slopes == (1.0, 1.0)
    y.backward()
    assert x.grad == 7.0 == 2 * 3 + 1


@proves("d-07-07", "d-07-08")
def slopes_by_the_output() -> None:
    for at in (-3.0, -0.5, 0.0, 1.2, 4.0):
        y = math.tanh(at)
        assert _local(Value.tanh, at) == pytest.approx(1 - y * y)
        y = 1 / (1 + math.exp(-at))
        assert _local(Value.sigmoid, at) == pytest.approx(y * (1 - y))
    assert set(wg.ones(1, requires_grad=True).tanh().grad_fn.saved) == {"y"}
    for saturated in (-20.0, 20.0):
        assert _local(Value.sigmoid, saturated) < 1e-8


@proves("d-07-09")
def relu_at_its_kink() -> None:
    assert _local(Value.relu, 0.0) == 0.0
    for engine in (torch, wg):
        x = engine.tensor(0.0, requires_grad=True)
        x.relu().backward()
        assert x.grad.item() == 0.0
    step = 1e-3
    left, right = (Value(side).relu().data / side for side in (-step, step))
    assert (left, right) == (0.0, 1.0), "slopes on both sides; all between are subgradients"


@proves("d-07-10")
def slope_of_a_denominator() -> None:
    for bottom in (0.1, -2.0, 4.0):
        assert _local(lambda b: Value(3.0) / b, bottom) == pytest.approx(-3.0 / bottom**2)
    near, nearer = (_local(lambda b: Value(1.0) / b, at) for at in (1e-2, 1e-3))
    assert nearer / near == pytest.approx(100.0)


def _error(difference: Callable[[float], float], step: float) -> float:
    return abs(difference(step) - math.cos(1.0))


@proves("d-07-11")
def order_of_the_error() -> None:
    def centred(step: float) -> float:
        return (math.sin(1 + step) - math.sin(1 - step)) / (2 * step)

    def one_sided(step: float) -> float:
        return (math.sin(1 + step) - math.sin(1)) / step

    assert _error(centred, 1e-2) / _error(centred, 1e-3) == pytest.approx(100, rel=0.01)
    assert _error(one_sided, 1e-2) / _error(one_sided, 1e-3) == pytest.approx(10, rel=0.01)
    assert numeric_gradient(Value.sin, 1.0) == pytest.approx(math.cos(1.0), abs=1e-9)


@proves("d-07-12")
def the_best_step() -> None:
    def centred(step: float) -> float:
        return (math.sin(1 + step) - math.sin(1 - step)) / (2 * step)

    steps = [10.0**-power for power in range(1, 13)]
    errors = {step: _error(centred, step) for step in steps}
    assert min(errors, key=lambda step: errors[step]) in (1e-5, 1e-6)
    assert errors[1e-12] > 1e4 * errors[1e-5]
    truncation = 1e-5**2 / 6 * abs(math.cos(1.0))
    rounding = sys.float_info.epsilon / 2 * math.sin(1.0) / 1e-5
    assert 0.1 < truncation / rounding < 10


@proves("d-07-13")
def steps_that_grow() -> None:
    for engine in (torch, wg):
        w = engine.tensor(0.0, requires_grad=True)
        for number in range(1, 101):
            (w * 3).backward()
            assert w.grad.item() == number * 3.0


@proves("d-07-14")
def work_by_edges() -> None:
    class Counted(Value):
        __slots__ = ()
        visits = 0

        def _backward(self) -> None:
            Counted.visits += len(self._prev)
            super()._backward()

    def visited(leaves: int) -> tuple[int, int]:
        inputs = [Value(1.0 + number) for number in range(leaves)]
        total = inputs[0] * 2
        for each in inputs[1:]:
            total = total + each * total
        nodes = [node for node in _ancestors(total) if node._prev]
        for node in nodes:
            node.__class__ = Counted
        Counted.visits = 0
        total.backward()
        assert all(each.grad for each in inputs)
        return Counted.visits, sum(len(node._prev) for node in nodes)

    for leaves in (10, 40):
        visits, edges = visited(leaves)
        assert visits == edges


@proves("d-07-15")
def a_long_chain() -> None:
    x = Value(1.0)
    y = x
    for _ in range(100_000):
        y = y + 0.0

    def sort(node: Value, seen: set[Value], order: list[Value]) -> None:
        if node not in seen:
            seen.add(node)
            for parent in node._prev:
                sort(parent, seen, order)
            order.append(node)

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(3000)  # Python's own is lower; other tests may have raised it
    try:
        with pytest.raises(RecursionError):
            sort(y, set(), [])
    finally:
        sys.setrecursionlimit(before)
    y.backward()
    assert x.grad == 1.0
    assert all(parent._order < node._order for node in _ancestors(y) for parent in node._prev)


@proves("d-07-16")
def the_branch_that_ran() -> None:
    def function(x: Value, limit: Value) -> Value:
        return x * 3 if x.data > limit.data else x.exp()

    for at, ops, slope in ((2.0, {"*", ""}, 3.0), (0.0, {"exp", ""}, 1.0)):
        x, limit = Value(at), Value(1.0)
        y = function(x, limit)
        assert {node._op for node in _ancestors(y)} == ops
        y.backward()
        assert (x.grad, limit.grad) == (slope, 0.0)
        assert limit not in _ancestors(y)
