"""When hooks are called and what they are given: the same programs here and in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad as wg
from tests.autograd.hooking import Log, node_of, noting, numbers, times


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
    x.detach_()
    x.requires_grad_(True)
    (x * 3).sum().backward()
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
