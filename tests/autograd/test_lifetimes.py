"""Threads, long chains, and what is left when nobody looks any more."""

from __future__ import annotations

import gc
import threading
from typing import Any

import whygrad as wg
from tests.autograd.tensors import leaf


def test_grad_mode_is_per_thread() -> None:
    seen = []
    with wg.no_grad():
        worker = threading.Thread(target=lambda: seen.append(wg.is_grad_enabled()))
        worker.start()
        worker.join()
        assert not wg.is_grad_enabled()
    assert seen == [True]
    assert wg.is_grad_enabled()


def test_backward_in_threads() -> None:
    x = leaf(1.0, 2.0)

    def work(results: list[Any]) -> None:
        for _ in range(200):
            (g,) = wg.autograd.grad((x * x * x).sum(), x)
            results.append(g.tolist())

    results: list[Any] = []
    workers = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [[3.0, 12.0]] * 800


def test_a_long_chain_runs_and_is_freed() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(1_000_000):
        y = y * 1.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0]
    del y


def test_no_cycles() -> None:
    """With the collector off, a step leaves nothing behind."""
    import weakref

    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        h = x * 2
        y = (h.exp() * h).sum()
        watched = [weakref.ref(each) for each in (h, y, y.grad_fn, h.grad_fn)]
        (g,) = wg.autograd.grad(y, x, create_graph=True)
        watched += [weakref.ref(g), weakref.ref(g.grad_fn)]
        g.sum().backward()
        del h, y, g
        assert [ref() for ref in watched] == [None] * len(watched)
    finally:
        gc.enable()


def test_create_graph_gradient_makes_no_cycle() -> None:
    import weakref

    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        (x * x * x).sum().backward(create_graph=True)
        watched = weakref.ref(x.grad)
        node = weakref.ref(x.grad.grad_fn)
        del x
        assert watched() is None
        assert node() is None
    finally:
        gc.enable()


def test_threads_share_one_version_counter() -> None:
    def look(tensor: wg.Tensor, found: list[Any]) -> None:
        found.append(tensor._storage)

    for _ in range(200):
        x, found = wg.ones(2), []
        workers = [threading.Thread(target=look, args=(x, found)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(set(map(id, found))) == 1
