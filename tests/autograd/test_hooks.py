"""Hooks, against PyTorch: order, replacement, what they may do and what is refused."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf

Log = list[Any]


def numbers(value: Any) -> Any:
    """Tensors as lists, tuples of them as tuples, so that both libraries' logs compare."""
    if isinstance(value, (tuple, list)):
        return tuple(numbers(each) for each in value)
    return value.tolist() if hasattr(value, "tolist") else value


def noting(log: Log, name: str, change: Callable[[Any], Any] = lambda _: None) -> Any:
    """A hook that writes down what it got and returns ``change`` of its first argument."""

    def hook(*gradients: Any) -> Any:
        log.append((name, *numbers(gradients)))
        return change(gradients[0])

    return hook


def times(factor: float) -> Callable[[Any], Any]:
    return lambda gradient: (
        tuple(None if each is None else each * factor for each in gradient)
        if isinstance(gradient, tuple)
        else gradient * factor
    )


def node_of(x: Any) -> Any:
    """The AccumulateGrad of a leaf, found as in PyTorch."""
    return x.view_as(x).grad_fn.next_functions[0][0]


def all_kinds(lib: Any, log: Log) -> tuple[Any, Any, Any]:
    """A small graph with every kind of hook on a leaf and on a value in the middle."""
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    w = lib.tensor([3.0, 4.0], requires_grad=True)
    y = x * w
    y.grad_fn.register_hook(noting(log, "y node", times(2)))
    y.grad_fn.register_prehook(noting(log, "y node pre", times(3)))
    y.retain_grad()
    y.register_hook(noting(log, "y first", times(5)))
    y.register_hook(noting(log, "y second"))
    node = node_of(x)
    node.register_hook(noting(log, "x node"))
    node.register_prehook(noting(log, "x node pre", times(7)))
    x.register_post_accumulate_grad_hook(
        lambda leaf: log.append(("x accumulated", *numbers([leaf.grad])))
    )
    x.register_hook(noting(log, "x", times(11)))
    w.register_hook(noting(log, "w"))
    return x, w, y


def with_backward(lib: Any, log: Log) -> Any:
    x, w, y = all_kinds(lib, log)
    (y * y).sum().backward()
    return x.grad, w.grad, y.grad


def with_create_graph(lib: Any, log: Log) -> Any:
    x, w, y = all_kinds(lib, log)
    (y * y).sum().backward(create_graph=True)
    return x.grad, w.grad, y.grad


def with_leaf_as_input(lib: Any, log: Log) -> Any:
    x, w, y = all_kinds(lib, log)
    (y * y).sum().backward(inputs=[x])
    return x.grad, w.grad, y.grad


def with_middle_as_input(lib: Any, log: Log) -> Any:
    x, w, y = all_kinds(lib, log)
    z = y * 2
    z.sum().backward(inputs=[z, y])
    assert z.retains_grad
    return x.grad, w.grad, y.grad, z.grad


def grad_of_leaf(lib: Any, log: Log) -> Any:
    x, w, y = all_kinds(lib, log)
    return *lib.autograd.grad((y * y).sum(), [x]), x.grad, w.grad, y.grad


def grad_of_middle(lib: Any, log: Log) -> Any:
    _, _, y = all_kinds(lib, log)
    return lib.autograd.grad((y * y).sum(), [y])


def leaves_as_roots(lib: Any, log: Log) -> Any:
    x, w, y = all_kinds(lib, log)
    one = lib.ones(2)
    lib.autograd.backward([x, w, y], [one, one, one])
    return x.grad, w.grad, y.grad


def written_in_place(lib: Any, log: Log) -> Any:
    """Hooks stay with the value that was overwritten, retain_grad moves on."""
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(noting(log, "before the write", times(2)))
    y.retain_grad()
    y.mul_(5)
    y.register_hook(noting(log, "after the write"))
    (y * 7).sum().backward()
    return x.grad, y.grad


def written_through_a_view(lib: Any, log: Log) -> Any:
    x = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 3
    part = y[:2]
    y.register_hook(noting(log, "y before"))
    y.retain_grad()
    part.retain_grad()
    part.mul_(5)
    y.register_hook(noting(log, "y after", times(2)))
    part.register_hook(noting(log, "part after"))
    (y.sum() + (part * 7).sum()).backward()
    return x.grad, y.grad, part.grad


def several_outputs(lib: Any, log: Log) -> Any:
    """Within one tensor by registration, between tensors by the first registration."""
    x = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    a, b = x.unbind()
    a.register_hook(noting(log, "a", times(2)))
    b.register_hook(noting(log, "b"))
    a.register_hook(noting(log, "a again"))
    a.grad_fn.register_prehook(noting(log, "pre", times(3)))
    a.retain_grad()
    (a * b).sum().backward()
    return x.grad, a.grad


def shared_leaf(lib: Any, log: Log) -> Any:
    """A leaf has its turn once everybody has sent to it, and not before."""
    w = lib.tensor([1.0, 2.0], requires_grad=True)
    v = lib.tensor([3.0, 4.0], requires_grad=True)
    w.register_hook(noting(log, "w"))
    w.register_post_accumulate_grad_hook(lambda leaf: log.append(("w has", *numbers([leaf.grad]))))
    v.register_hook(noting(log, "v"))
    first = w * 2
    second = first * v
    third = second * w
    for name, each in {"first": first, "second": second, "third": third}.items():
        each.register_hook(noting(log, name))
    (third + v).sum().backward()
    return w.grad, v.grad


def optimizer_in_backward(lib: Any, log: Log) -> Any:
    def step(parameter: Any) -> None:
        log.append(numbers(parameter.grad))
        with lib.no_grad():
            parameter.sub_(0.5 * parameter.grad)
        parameter.grad = None

    parameters = [lib.tensor([1.0, -2.0], requires_grad=True) for _ in range(3)]
    for each in parameters:
        each.register_post_accumulate_grad_hook(step)
    for _ in range(2):
        y = lib.tensor([1.0, 1.0])
        for each in parameters:
            y = (y * each).relu() + each
        y.sum().backward()
    return [numbers(each.detach()) for each in parameters], [each.grad for each in parameters]


def none_from_node_hooks(lib: Any, log: Log) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    w = lib.tensor([3.0, 4.0], requires_grad=True)
    y = x * w
    y.grad_fn.register_hook(lambda passed, _: (None, passed[1]))
    z = x * 5
    z.grad_fn.register_prehook(lambda _: (None,))
    (y + z).sum().backward()
    return x.grad, w.grad


def added_and_removed_inside(lib: Any, log: Log) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3

    def once(gradient: Any) -> None:
        log.append("once")
        handle.remove()
        y.register_hook(noting(log, "added"))

    handle = y.register_hook(once)
    y.register_hook(noting(log, "always"))
    for _ in range(2):
        y.sum().backward(retain_graph=True)
    return x.grad


def frozen_and_back(lib: Any, log: Log) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(noting(log, "x"))
    x.register_post_accumulate_grad_hook(lambda leaf: log.append(numbers(leaf.grad)))
    x.requires_grad_(False)
    x.data = lib.ones(3)
    x.requires_grad_(True)
    (x * 2).sum().backward()
    x.requires_grad_(False)
    return x.grad


def recorded(lib: Any, log: Log) -> Any:
    """What a hook computes is part of the graph, if there is one."""
    x = lib.tensor([1.0, 2.0], dtype=lib.float64, requires_grad=True)
    y = x * x
    y.register_hook(lambda gradient: gradient * x)
    y.grad_fn.register_hook(lambda passed, _: tuple(each * x.tanh() for each in passed))
    (first,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = lib.autograd.grad(second.sum(), x)
    return numbers([each.detach().round(decimals=9) for each in (first, second, third)])


def modes_inside(lib: Any, log: Log) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.register_hook(lambda gradient: log.append((lib.is_grad_enabled(), gradient.requires_grad)))
    x.register_post_accumulate_grad_hook(lambda _: log.append(lib.is_grad_enabled()))
    z = (y * y).sum()
    z.backward(retain_graph=True)
    with lib.no_grad():
        lib.autograd.grad(z, x, create_graph=True)
    return lib.is_grad_enabled()


def walk_inside_a_walk(lib: Any, log: Log) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)

    def hook(gradient: Any) -> Any:
        with lib.enable_grad():
            inner = (x.detach().requires_grad_() * gradient).exp()
            total = inner.sum()
        inner.register_hook(noting(log, "inner"))
        total.backward()
        return gradient + inner.detach()

    y = x * 2
    y.register_hook(hook)
    (y * 0.5).sum().backward()
    return numbers(x.grad.double().round(decimals=5))


@pytest.mark.filterwarnings("ignore:.*(reference cycle|not a leaf Tensor)")
@pytest.mark.parametrize(
    "program",
    [
        with_backward, with_create_graph, with_leaf_as_input, with_middle_as_input, grad_of_leaf,
        grad_of_middle, leaves_as_roots, written_in_place, written_through_a_view, several_outputs,
        shared_leaf, optimizer_in_backward, none_from_node_hooks, added_and_removed_inside,
        frozen_and_back, recorded, modes_inside, walk_inside_a_walk,
    ],
    ids=lambda program: program.__name__,
)  # fmt: skip
def test_as_in_pytorch(program: Callable[[Any, Log], Any]) -> None:
    ours: Log = []
    theirs: Log = []
    assert numbers(program(wg, ours)) == numbers(program(torch, theirs))
    assert ours == theirs


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


class Mine(Exception):
    pass


def fails(*_: Any) -> None:
    raise Mine("of the user")


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
