"""Gradients of gradients, retained graphs and gradients with a graph; against PyTorch."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf

VALUES = [0.3, -0.7, 1.1]

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "power": lambda lib, x: (x**4).sum(),
    "tanh": lambda lib, x: (x.tanh() * x).sum(),
    "quotient": lambda lib, x: (x.sin() / (1 + x * x)).sum(),
    "softmax": lambda lib, x: (x.softmax(0) * x.exp()).sum(),
    "reused": lambda lib, x: ((x * x + x) * x.sigmoid()).sum() * x.sum(),
    "matmul": lambda lib, x: ((x[:, None] * x[None, :]) @ x).cos().sum(),
    "written": lambda lib, x: (x * 1).mul_(x).exp().sum(),
    "norm": lambda lib, x: (x * x).sum().sqrt() * x.prod(),
}


def orders(lib: Any, function: Callable[[Any, Any], Any], how: str) -> list[Any]:
    """First, second and third order of a sum over derivatives."""
    x = lib.tensor(VALUES, dtype=lib.float64, requires_grad=True)
    y, found = function(lib, x), []
    for order in (1, 2, 3):
        if how == "grad":
            (gradient,) = lib.autograd.grad(y, x, create_graph=order < 3)
        else:
            x.grad = None
            y.backward(create_graph=order < 3)
            gradient = x.grad
        found.append(gradient.detach().numpy())
        y = (gradient * gradient).sum() if order == 1 else gradient.sum()
    x.grad = None  # PyTorch's leaf and gradient hold each other
    return found


@pytest.mark.filterwarnings("ignore:.*reference cycle")
@pytest.mark.parametrize("how", ["grad", "backward"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_three_orders(name: str, how: str) -> None:
    ours, theirs = (orders(lib, FUNCTIONS[name], how) for lib in (wg, torch))
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("retain_graph", [None, False, True])
def test_what_may_be_walked_again(retain_graph: bool | None, create_graph: bool) -> None:
    def walks(lib: Any) -> list[Any]:
        x = lib.tensor(VALUES, dtype=lib.float64, requires_grad=True)
        y = (x * x * x).sum()
        seen: list[Any] = []
        for _ in range(2):
            try:
                (gradient,) = lib.autograd.grad(
                    y, x, retain_graph=retain_graph, create_graph=create_graph
                )
                seen.append((gradient.detach().numpy().round(12).tolist(), gradient.requires_grad))
            except RuntimeError as error:
                seen.append("through the graph a second time" in str(error))
        return seen

    assert walks(wg) == walks(torch)


def test_gradients_with_a_graph_add_up() -> None:
    def total(lib: Any) -> Any:
        x = lib.tensor(VALUES, dtype=lib.float64, requires_grad=True)
        (x**3).sum().backward(create_graph=True)
        (x**2).sum().backward(create_graph=True)
        first, x.grad = x.grad, None
        first.sum().backward()
        return first.detach().numpy(), x.grad.numpy()

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*reference cycle")
        expected = total(torch)
    for mine, other in zip(total(wg), expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)


# Each makes a leaf with a .grad that has a graph, and returns what should be gone afterwards.


def plain() -> list[Any]:
    x = leaf(1.0, 2.0)
    (x**3).sum().backward(create_graph=True)
    return [x, x.grad]


def retained() -> list[Any]:
    x = leaf(1.0, 2.0)
    y = x * x
    y.retain_grad()
    (y**3).sum().backward(create_graph=True)
    return [x, x.grad, y, y.grad]


def hook_on_something_else() -> list[Any]:
    x, scale = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * x
    y.register_hook(lambda gradient: gradient * scale)
    (y**3).sum().backward(create_graph=True)
    return [x, x.grad, scale]


def packed() -> list[Any]:
    x = leaf(1.0, 2.0)
    with wg.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        y = (x**3).sum()
    y.backward(create_graph=True)
    return [x, x.grad]


def hook_on_the_leaf() -> list[Any]:
    x = leaf(1.0, 2.0)
    x.name = "weight"
    y = x * x
    y.register_hook(lambda gradient: gradient * x)  # refers to x
    (y**3).sum().backward(create_graph=True)
    return [x, x.grad]


def gone_without_collector(program: Callable[[], list[Any]]) -> bool:
    gc.collect()
    gc.disable()
    try:
        watched = [weakref.ref(each) for each in program()]
        return all(each() is None for each in watched)
    finally:
        gc.enable()


@pytest.mark.parametrize("program", [plain, retained, hook_on_something_else, packed])
def test_a_gradient_with_a_graph_makes_no_cycle_and_no_warning(program: Any) -> None:
    assert gone_without_collector(program)


def test_where_a_cycle_forms_there_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="will create a reference cycle") as caught:
        assert not gone_without_collector(hook_on_the_leaf)
    text = str(caught[0].message)
    assert "the hook '<lambda>' registered at" in text
    assert "# refers to x refers to the leaf float64[2] 'weight'" in text
    assert "autograd.grad()" in text
    assert "set .grad to None" in text
    assert caught[0].filename == __file__


def test_the_remedies_work() -> None:
    def with_grad() -> list[Any]:
        x = leaf(1.0, 2.0)
        y = x * x
        y.register_hook(lambda gradient: gradient * x)
        (gradient,) = wg.autograd.grad((y**3).sum(), x, create_graph=True)
        return [x, gradient]

    def set_to_none() -> list[Any]:
        x, *_ = hook_on_the_leaf()
        x.grad = None
        return [x]

    assert gone_without_collector(with_grad)
    with pytest.warns(UserWarning, match="reference cycle"):
        assert gone_without_collector(set_to_none)
