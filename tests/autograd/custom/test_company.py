"""Custom functions together with hooks, checkpoints, memory reports and threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

import whygrad as wg
from tests.autograd.custom.functions import Square, made
from tests.autograd.tensors import leaf
from whygrad.autograd.graph import saved_tensors_hooks
from whygrad.utils.checkpoint import checkpoint


def test_hooks_see_a_custom_node() -> None:
    x = leaf(1.0, 2.0)
    y = Square.apply(x)
    seen: list[Any] = []
    y.register_hook(lambda gradient: seen.append(gradient.tolist()))
    y.grad_fn.register_prehook(lambda outgoing: (outgoing[0] * 10,))
    y.grad_fn.register_hook(lambda into, out: (into[0] + 1,))
    y.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [21.0, 41.0]


def test_saved_tensors_go_through_pack_hooks() -> None:
    """Arguments, outputs, values on the way and constants alike."""
    constant = wg.ones(2, dtype=wg.float64)

    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y, x + 1, constant)
        return y

    def backward(ctx, incoming):
        x, y, shifted, one = ctx.saved_tensors
        return incoming * (2 * x + 0 * y + 0 * shifted) * one

    packed: list[Any] = []
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(
        lambda tensor: (packed.append(tensor.tolist()), tensor.numpy(force=True).copy())[1],
        lambda array: wg.from_numpy(array),
    ):
        y = made(wg, forward, backward).apply(x)
    assert packed == [[1.0, 2.0], [1.0, 4.0], [2.0, 3.0], [1.0, 1.0]]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_checkpointed_regions_may_contain_custom_functions() -> None:
    def block(x: wg.Tensor) -> wg.Tensor:
        return Square.apply(Square.apply(x).sin())

    x = leaf(0.5, 1.0)
    (plain,) = wg.autograd.grad(block(x).sum(), x)
    y = checkpoint(block, x, use_reentrant=False)
    (again,) = wg.autograd.grad(y.sum(), x)
    np.testing.assert_array_equal(plain, again)


def test_memory_report_names_the_function() -> None:
    report = wg.autograd.graph.memory(Square.apply(leaf(1.0, 2.0) * 1).sum())
    assert "Square: x" in str(report)


def test_threads_run_backward_through_one_node() -> None:
    x = leaf(1.0, 2.0)
    y = Square.apply(x).sum()
    results: list[Any] = []

    def work() -> None:
        for _ in range(50):
            results.append(wg.autograd.grad(y, x, retain_graph=True)[0].tolist())

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [[2.0, 4.0]] * 200
