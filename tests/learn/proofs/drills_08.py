"""Proofs of the cards on tensor autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad as wg
from tests.learn.proofs import proves

ENGINES = (torch, wg)


def _random(engine: Any, *shape: int) -> Any:
    return engine.randn(*shape, dtype=engine.float64).requires_grad_()


@proves("d-08-01", "d-08-02")
def sums_over_broadcast_axes() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        incoming = engine.randn(4, 3, dtype=engine.float64)
        other = _random(engine, 4, 3)
        row, column = _random(engine, 3), _random(engine, 4, 1)
        (row + column + other).backward(incoming)
        assert engine.equal(row.grad, incoming.sum(0))
        assert engine.equal(column.grad, incoming.sum(1, keepdim=True))
        assert row.grad.shape == (3,)
        assert column.grad.shape == (4, 1)
        copies = [row.detach().clone().requires_grad_() for _ in range(4)]
        engine.stack(copies).backward(incoming)
        summed = copies[0].grad + copies[1].grad + copies[2].grad + copies[3].grad
        assert engine.allclose(summed, row.grad), "one path per copy"


@proves("d-08-03", "d-08-16")
def a_linear_layer() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        layer = engine.nn.Linear(5, 2, dtype=engine.float64)
        x = _random(engine, 7, 5)
        incoming = engine.randn(7, 2, dtype=engine.float64)
        y = layer(x)
        assert engine.allclose(y, x @ layer.weight.T + layer.bias)
        y.backward(incoming)
        assert layer.weight.shape == (2, 5)
        assert engine.allclose(layer.bias.grad, incoming.sum(0))
        assert engine.allclose(layer.weight.grad, incoming.T @ x)
        assert layer.weight.grad.shape == layer.weight.shape


@proves("d-08-04", "d-08-05")
def a_matrix_product() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        a, b = _random(engine, 4, 3), _random(engine, 3, 5)
        incoming = engine.randn(4, 5, dtype=engine.float64)
        (a @ b).backward(incoming)
        assert engine.allclose(a.grad, incoming @ b.T)
        assert engine.allclose(b.grad, a.T @ incoming)


@proves("d-08-06", "d-08-07")
def sum_and_mean() -> None:
    for engine in ENGINES:
        x = engine.zeros(3, 5, requires_grad=True)
        incoming = engine.tensor(7.0)
        x.sum().backward(incoming)
        assert engine.equal(x.grad, engine.full((3, 5), 7.0))
        x.grad = None
        x.mean().backward(incoming)
        assert engine.allclose(x.grad, engine.full((3, 5), 7.0 / 15))
        small = engine.tensor(1.0, requires_grad=True)
        small.expand(3, 5).sum().backward()
        assert small.grad.item() == 15.0, "the backward of a broadcast is a sum"


@proves("d-08-08")
def the_place_of_the_maximum() -> None:
    for engine in ENGINES:
        x = engine.tensor([[1.0, 5.0, 5.0]], requires_grad=True)
        values, indices = x.max(1)
        values.sum().backward()
        expected = [0.0, 0.0, 0.0]
        expected[indices.item()] = 1.0
        assert x.grad[0].tolist() == expected
        x.grad = None
        x.amax(1).sum().backward()
        assert x.grad[0].tolist() == [0.0, 0.5, 0.5]


@proves("d-08-09", "d-08-10")
def probability_minus_target() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        logits = _random(engine, 6, 4)
        labels = engine.tensor([0, 3, 1, 2, 2, 0])
        loss = engine.nn.functional.cross_entropy(logits, labels)
        loss.backward()
        target = engine.nn.functional.one_hot(labels, 4).to(engine.float64)
        expected = (engine.softmax(logits, 1) - target) / 6
        assert engine.allclose(logits.grad, expected)
        assert logits.grad.sum(1).abs().max().item() < 1e-15
        shifted = engine.nn.functional.cross_entropy(logits + 3.0, labels)
        assert shifted.item() == pytest.approx(loss.item(), abs=1e-12)


@proves("d-08-11")
def backward_of_softmax() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        x = _random(engine, 5)
        incoming = engine.randn(5, dtype=engine.float64)
        y = engine.softmax(x, 0)
        y.backward(incoming)
        output = y.detach()
        assert engine.allclose(x.grad, output * (incoming - (incoming * output).sum()))
    saved = wg.softmax(wg.ones(3, requires_grad=True), 0).grad_fn.saved
    assert saved.keys() == {"y", "dim"}
    node = torch.softmax(torch.ones(3, requires_grad=True), 0).grad_fn
    assert node._saved_result is not None
    assert not hasattr(node, "_saved_self")


@proves("d-08-12")
def the_inverse_permutation() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        x = _random(engine, 2, 3, 4)
        y = x.permute(2, 0, 1)
        incoming = engine.randn(4, 2, 3, dtype=engine.float64)
        y.backward(incoming)
        assert engine.equal(x.grad, incoming.permute(1, 2, 0))
        assert engine.equal(y.permute(1, 2, 0), x)


@proves("d-08-13")
def repeated_indices_accumulate() -> None:
    for engine in ENGINES:
        x = engine.zeros(3, requires_grad=True)
        x[[0, 0, 2]].sum().backward()
        assert x.grad.tolist() == [2.0, 0.0, 1.0]


@proves("d-08-14")
def a_vector_needs_a_gradient() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        x = _random(engine, 3)
        with pytest.raises(RuntimeError, match="scalar outputs"):
            (x * x).backward()
        v = engine.randn(3, dtype=engine.float64)
        (x * x).backward(v)
        by_vector, x.grad = x.grad, None
        (v * x * x).sum().backward()
        assert engine.allclose(by_vector, x.grad)
        by_default, x.grad = x.grad, None
        (v * x * x).sum().backward(engine.tensor(1.0, dtype=engine.float64))
        assert engine.equal(by_default, x.grad)


@proves("d-08-15", "d-07-14")
def two_evaluations_per_input() -> None:
    calls = 0

    def counted(function: Callable[[list[float]], float]) -> Callable[[list[float]], float]:
        def call(values: list[float]) -> float:
            nonlocal calls
            calls += 1
            return function(values)

        return call

    def energy(values: list[float]) -> float:
        return sum(value**3 for value in values)

    point, step = [0.5, -1.0, 2.0, 3.0, 0.1], 1e-5
    probe = counted(energy)
    numeric = []
    for place in range(len(point)):
        up, down = list(point), list(point)
        up[place] += step
        down[place] -= step
        numeric.append((probe(up) - probe(down)) / (2 * step))
    assert calls == 2 * len(point)
    x = wg.tensor(point, dtype=wg.float64, requires_grad=True)
    (x**3).sum().backward()
    assert x.grad.tolist() == pytest.approx(numeric, rel=1e-8)
