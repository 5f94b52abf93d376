"""autograd.functional against PyTorch's."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch

import whygrad as wg
from tests.func.both import same, t, to_torch
from whygrad.autograd import functional as F

ONE = lambda x: (x.tanh() * x.sum()).exp()  # noqa: E731
MANY = lambda x, y: (x * y.sin(), (x.sum() * y**2))  # noqa: E731
SCALAR = lambda x: (x.tanh() * x.sum()).pow(3).sum()  # noqa: E731
SCALAR_OF_TWO = lambda x, y: (x.sin() * y**3).sum() * x.sum()  # noqa: E731


def agree(name: str, function: Any, *args: Any, **options: Any) -> Any:
    mine = getattr(F, name)(function, *args, **options)
    theirs = getattr(torch.autograd.functional, name)(function, *to_torch(args), **options)
    same(mine, theirs)
    return mine


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", ["vjp", "jvp"])
def test_products_with_the_jacobian(name: str, create_graph: bool) -> None:
    options = {"create_graph": create_graph}
    agree(name, ONE, t(3), t(3, seed=1), **options)
    agree(name, MANY, (t(3), t(3, seed=1)), (t(3, seed=2), t(3, seed=3)), **options)
    agree(name, lambda x: x**2, t(1), **options)
    agree(name, lambda x, y: x * 2, (t(3), t(3)), (t(3), t(3)) if name == "jvp" else t(3))


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", ["hvp", "vhp"])
def test_products_with_the_hessian(name: str, create_graph: bool) -> None:
    options = {"create_graph": create_graph}
    agree(name, SCALAR, t(3), t(3, seed=1), **options)
    points, vector = (t(3), t(3, seed=1)), (t(3, seed=2), t(3, seed=3))
    agree(name, SCALAR_OF_TWO, points, vector, **options)
    agree(name, lambda x: x**3, t(1), **options)
    agree(name, lambda x, y: x.exp().sum(), points, vector, **options)


@pytest.mark.parametrize(("vectorize", "create_graph"), list(product([False, True], repeat=2)))
def test_jacobian(vectorize: bool, create_graph: bool) -> None:
    options = {"vectorize": vectorize, "create_graph": create_graph}
    agree("jacobian", ONE, t(2, 3), **options)
    agree("jacobian", MANY, (t(3), t(3, seed=1)), **options)
    agree("jacobian", lambda x: (x,), t(3), **options)
    agree("jacobian", lambda x, y: x.sum(), (t(3), t(2)), **options)


@pytest.mark.parametrize("vectorize", [False, True])
def test_hessian(vectorize: bool) -> None:
    agree("hessian", SCALAR, t(3), vectorize=vectorize)
    agree("hessian", SCALAR_OF_TWO, (t(3), t(3, seed=1)), vectorize=vectorize)
    agree("hessian", lambda x: x.sum(), t(3), vectorize=vectorize)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_forward_mode() -> None:
    options = {"vectorize": True, "strategy": "forward-mode"}
    agree("jacobian", MANY, (t(3), t(3, seed=1)), **options)
    options = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    agree("hessian", SCALAR_OF_TWO, (t(3), t(3, seed=1)), **options)
    one_by_one = F.jacobian(ONE, t(3), strategy="forward-mode")
    same(one_by_one, to_torch(F.jacobian(ONE, t(3))))


@pytest.mark.parametrize("mode", [wg.enable_grad, wg.no_grad])
@pytest.mark.parametrize(
    "derivative",
    [
        lambda x, **options: F.vjp(SCALAR, x, **options)[1],
        lambda x, **options: F.jvp(SCALAR, x, x.detach(), **options)[1],
        lambda x, **options: F.hvp(SCALAR, x, x.detach(), **options)[1],
        lambda x, **options: F.jacobian(SCALAR, x, **options),
        lambda x, **options: F.jacobian(SCALAR, x, strategy="forward-mode", **options),
        lambda x, **options: F.hessian(SCALAR, x, **options),
    ],
)
def test_create_graph_decides_about_the_outside(derivative: Any, mode: Any) -> None:
    x = t(3).requires_grad_()
    with mode():
        assert not derivative(x).requires_grad
        connected = derivative(x, create_graph=True)
    assert connected.requires_grad
    connected.sum().backward()
    assert x.grad is not None


def test_values_have_a_graph_only_on_request() -> None:
    x = t(3).requires_grad_()
    for name in ("vjp", "jvp", "hvp", "vhp"):
        run = getattr(F, name)
        vector = None if name == "vjp" else t(3)
        assert not run(SCALAR, x, vector)[0].requires_grad
        assert run(SCALAR, x, vector, create_graph=True)[0].requires_grad


@pytest.mark.parametrize("create_graph", [False, True])
def test_strict_accepts_what_depends(create_graph: bool) -> None:
    options = {"strict": True, "create_graph": create_graph}
    agree("vjp", SCALAR, t(3), **options)
    agree("jvp", SCALAR, t(3), t(3), **options)
    agree("vhp", SCALAR, t(3), t(3), **options)
    agree("hvp", SCALAR, t(3), t(3), **options)
    agree("jacobian", ONE, t(3), **options)
    agree("hessian", SCALAR, t(3), **options)


def constant(x: Any) -> Any:
    return x.detach() * 2


def ignores_second(x: Any, y: Any) -> Any:
    return (x**2).sum()


def linear(x: Any) -> Any:
    return (x * 2).sum()


X = (t(2), t(2))


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: F.vjp(ONE, t(3)), RuntimeError, "v can only be None if the user-provided"),
        (lambda: F.jvp(ONE, t(3)), RuntimeError, "v can only be None if the input to"),
        (lambda: F.vjp(ONE, t(3), t(2)), RuntimeError, "Entry 0 in v has invalid size"),
        (lambda: F.vjp(ONE, t(3), X), RuntimeError, "invalid length: should be 1 but got 2"),
        (lambda: F.vjp(ONE, [t(3)]), TypeError, "inputs given to vjp must be either a Tensor"),
        (lambda: F.vjp(ONE, wg.arange(3)), RuntimeError, "Tensors of floating point dtype"),
        (lambda: F.vjp(ONE, (t(3), 2.0)), TypeError, "value at index 1 has type float"),
        (lambda: F.jacobian(lambda x: 3.0, t(3)), TypeError, "outputs of the user-provided"),
        (lambda: F.hvp(ONE, t(3), t(3)), RuntimeError, "given to hvp should return a single"),
        (lambda: F.hessian(ONE, t(3)), RuntimeError, "should contain a single element"),
        (lambda: F.jacobian(ONE, t(3), strategy="sideways"), AssertionError, 'either "forward'),
        (
            lambda: F.jacobian(ONE, t(3), strict=True, vectorize=True),
            RuntimeError,
            "`strict=True` and `vectorize=True`",
        ),
        (lambda: F.vjp(constant, t(2), t(2), strict=True), RuntimeError, "does not require grad"),
        (lambda: F.vjp(ignores_second, X, strict=True), RuntimeError, "independent of input 1"),
        (lambda: F.jvp(ignores_second, X, X, strict=True), RuntimeError, "independent of input 1"),
        (lambda: F.jacobian(ignores_second, X, strict=True), RuntimeError, "of input 1"),
        (lambda: F.hessian(ignores_second, X, strict=True), RuntimeError, "independent of input 1"),
        (
            lambda: F.vjp(linear, t(2), strict=True, create_graph=True),
            RuntimeError,
            "independent of the input",
        ),
        (
            lambda: F.jacobian(linear, t(2), strict=True, create_graph=True),
            RuntimeError,
            "independent of the input",
        ),
        (lambda: F.hessian(linear, t(2), strict=True), RuntimeError, "independent of the input"),
        (lambda: F.vhp(linear, t(2), t(2), strict=True), RuntimeError, "independent of the input"),
    ],
)
def test_what_it_says(call: Any, kind: type[Exception], phrase: str) -> None:
    with pytest.raises(kind, match=phrase) as caught:
        call()
    assert "fix:" in str(caught.value)
