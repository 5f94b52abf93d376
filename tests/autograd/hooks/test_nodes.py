"""What hooks may do to a gradient, how they are removed, what they keep alive."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.autograd.hooking import Log, fails, noting, numbers, times
from tests.autograd.tensors import leaf
from whygrad.autograd.hooks.nodes import hooked_leaves


def test_a_gradient_asked_for_is_the_one_the_hooks_made() -> None:
    """Also if the walk goes on from there, where PyTorch returns what arrived before the hooks."""
    x = leaf(1.0, 2.0)
    y = x * 3
    y.register_hook(times(10))
    alone = wg.autograd.grad((y * 2).sum(), [y], retain_graph=True)[0]
    together = wg.autograd.grad((y * 2).sum(), [y, x])[0]
    assert alone.tolist() == together.tolist() == [20.0, 20.0]


def test_no_gradient_no_call() -> None:
    """PyTorch calls the hook of an unused output with None."""
    x = wg.ones(2, 3, requires_grad=True)
    used, unused = x.unbind()
    unused.register_hook(lambda gradient: gradient * 2)
    used.sum().backward()
    assert x.grad.tolist() == [[1, 1, 1], [0, 0, 0]]


def test_leaves_that_are_ready_together_go_in_the_order_of_the_arguments() -> None:
    log: Log = []
    leaves = [wg.ones(1, requires_grad=True) for _ in range(5)]
    for number, each in enumerate(leaves):
        each.register_hook(lambda _, number=number: log.append(number))
    wg.cat(leaves).sum().backward()
    assert log == [0, 1, 2, 3, 4]


def write(gradient: Any) -> None:
    gradient.mul_(10)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("kind", ["tensor", "pre-hook", "node", "leaf"])
def test_a_write_counts_on_this_way_only(kind: str, create_graph: bool) -> None:
    a, b, seed = leaf(1.0, 2.0), leaf(1.0, 2.0), wg.ones(2, dtype=wg.float64)
    left, right = a * 1, b * 1
    if kind == "tensor":
        left.register_hook(write)
    elif kind == "pre-hook":
        left.grad_fn.register_prehook(lambda arrived: write(arrived[0]))
    elif kind == "node":
        left.grad_fn.register_hook(lambda passed, arrived: write(passed[0]) or write(arrived[0]))
    else:
        a.register_hook(write)
    right.retain_grad()
    both = left + right  # one array goes to both
    both.retain_grad()
    both.backward(seed, create_graph=create_graph)
    assert a.grad.tolist() == [10.0, 10.0]
    assert b.grad.tolist() == right.grad.tolist() == both.grad.tolist() == seed.tolist() == [1, 1]


def test_a_gradient_a_hook_keeps_does_not_change_any_more() -> None:
    kept: Log = []
    x = leaf(1.0, 2.0)
    x.register_hook(kept.append)
    y = x * 3
    y.register_hook(kept.append)
    y.grad_fn.register_prehook(lambda arrived: kept.append(arrived[0]))
    y.grad_fn.register_hook(lambda passed, arrived: kept.extend([passed[0], arrived[0]]))
    z = (y * y).sum()
    z.backward(retain_graph=True)
    before = numbers(kept)
    x.grad.fill_(0)
    z.backward()
    assert numbers(kept[: len(before)]) == before
    assert x.grad.tolist() == [18.0, 36.0]


def test_a_returned_tensor_is_only_read() -> None:
    constant = wg.full((2,), 7.0)
    x = wg.ones(2, requires_grad=True)
    x.register_hook(lambda _: constant)
    for _ in range(2):
        (x * 2).sum().backward()
    x.grad.mul_(2)
    assert constant.tolist() == [7.0, 7.0]
    assert x.grad.tolist() == [28.0, 28.0]


def test_memory_is_given_back_during_the_walk() -> None:
    alive: list[weakref.ref[Any]] = []

    def use(parameter: Any) -> None:
        assert not any(each() is not None for each in alive)
        alive.append(weakref.ref(parameter.grad.numpy()))
        parameter.grad = None

    parameters = [wg.ones(3, requires_grad=True) for _ in range(4)]
    y = wg.ones(3)
    for each in parameters:
        each.register_post_accumulate_grad_hook(use)
        y = (y * each).tanh()
    gc.disable()
    try:
        y.sum().backward()
    finally:
        gc.enable()
    assert len(alive) == 4


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_hooks_on_other_payloads(device: str) -> None:
    seen: Log = []
    x = wg.ones(2, device=device, requires_grad=True)
    y = x * 2
    y.register_hook(lambda gradient: seen.append(gradient.device.type) or gradient * 3)
    y.grad_fn.register_hook(lambda passed, _: passed)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.device.type))
    y.backward(wg.ones(2, device=device))
    assert seen == [device, device]
    assert x.grad.shape == (2,)


def test_half_precision_and_broadcasting_around_hooks() -> None:
    x = wg.ones(3, dtype=wg.float16, requires_grad=True)
    scale = wg.ones(1, dtype=wg.float16, requires_grad=True)
    y = x * scale
    y.grad_fn.register_hook(lambda passed, _: tuple(each * 2 for each in passed))
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert scale.grad.tolist() == [6]
    assert scale.grad.dtype is wg.float16


def test_handles_remove_their_hook_only() -> None:
    log: Log = []
    x = leaf(1.0)
    y = x * 2
    registering = [
        x.register_hook, x.register_post_accumulate_grad_hook, y.register_hook,
        y.grad_fn.register_hook, y.grad_fn.register_prehook,
    ]  # fmt: skip
    for register in registering:
        keep = register(lambda *_: log.append("kept"))
        with register(lambda *_: log.append("gone")) as handle:
            assert isinstance(handle, wg.utils.hooks.RemovableHandle)
        handle.remove()
        y.sum().backward(retain_graph=True)
        assert log == ["kept"]
        keep.remove()
        log.clear()
    y.sum().backward()
    assert log == []


def test_a_leaf_whose_hooks_are_gone_is_an_ordinary_leaf() -> None:
    """Walks look for leaves with hooks only while there are some."""
    before = len(hooked_leaves)
    x = leaf(1.0)
    handles = [
        x.register_hook(fails),
        x.register_post_accumulate_grad_hook(fails),
        wg.autograd.graph.register_multi_grad_hook([x], fails),
    ]
    assert len(hooked_leaves) > before
    for handle in handles:
        handle.remove()
    assert len(hooked_leaves) == before
    assert pickle.loads(pickle.dumps(handles[0])).id == handles[0].id


def test_nothing_leaks() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        y = x * x
        y.retain_grad()
        handles = [
            y.register_hook(lambda gradient: gradient * 2),
            x.register_hook(lambda gradient: gradient * 2),
            x.register_post_accumulate_grad_hook(lambda leaf: None),
            y.grad_fn.register_hook(lambda passed, arrived: passed),
            y.grad_fn.register_prehook(lambda arrived: arrived),
        ]
        (y * y).sum().backward(create_graph=True)
        watched = [weakref.ref(each) for each in (x, y, x.grad, y.grad, y.grad_fn)]
        del x, y
        assert [each() for each in watched] == [None] * len(watched)
        for handle in handles:
            handle.remove()
    finally:
        gc.enable()


def test_hooks_of_a_leaf_that_is_gone() -> None:
    log: Log = []
    x, w = wg.ones(2, requires_grad=True), wg.ones(2, requires_grad=True)
    x.register_hook(noting(log, "x"))
    x.register_post_accumulate_grad_hook(fails)
    y = (x * w).sum()
    del x
    y.backward()
    assert log == [("x", [1.0, 1.0])]
    assert w.grad.tolist() == [1.0, 1.0]


def test_a_walk_without_hooks_does_not_look_for_them() -> None:
    """A leaf with hooks elsewhere changes nothing here."""
    other = leaf(1.0)
    other.register_hook(fails)
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])
