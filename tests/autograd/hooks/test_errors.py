"""Hooks that raise or return what does not fit, and what is said of overwritten values."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import whygrad as wg
from tests.autograd.hooking import Mine, fails, node_of
from tests.autograd.tensors import leaf


@pytest.mark.parametrize("kind", ["tensor", "pre-hook", "node", "leaf", "leaf node"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_hook_that_raises_leaves_everything_as_it_was(kind: str, create_graph: bool) -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    w.grad = wg.ones(2, dtype=wg.float64)
    y = x * 2
    z = y * w
    z.retain_grad()
    register = {
        "tensor": y.register_hook,
        "pre-hook": y.grad_fn.register_prehook,
        "node": y.grad_fn.register_hook,
        "leaf": x.register_hook,
        "leaf node": node_of(x).register_prehook,
    }[kind]
    loss = (z * z).sum()
    handle = register(fails)  # the line that registers
    with pytest.raises(Mine, match="of the user") as caught, wg.no_grad():
        loss.backward(retain_graph=True, create_graph=create_graph)
    assert caught.value.args == ("of the user",)
    assert len(caught.value.__notes__) == 1
    assert "raised in the hook 'fails' registered at" in caught.value.__notes__[0]
    assert "the line that registers" in caught.value.__notes__[0]
    assert wg.is_grad_enabled()
    assert x.grad is None
    assert z.grad is None
    assert w.grad.tolist() == [1.0, 1.0]
    handle.remove()
    loss.backward()
    assert x.grad.tolist() == [72.0, 256.0]


def test_what_was_accumulated_before_a_hook_raised_stays() -> None:
    x, early, late = leaf(1.0), leaf(2.0), leaf(3.0)
    early.register_post_accumulate_grad_hook(lambda _: None)
    y = x * 2
    y.register_hook(fails)
    with pytest.raises(Mine):
        (y * early * late).sum().backward()
    assert early.grad.tolist() == [6.0]
    assert x.grad is None
    assert late.grad is None


def bad_replacement(register: str, result: Any) -> None:
    y = wg.ones(2, requires_grad=True) * wg.ones(2)
    place = y if register == "tensor" else y.grad_fn
    method = place.register_prehook if register == "prehook" else place.register_hook

    def careless(*_: Any) -> Any:
        return result

    method(careless)  # the guilty line
    y.sum().backward()


@pytest.mark.parametrize(
    ("register", "result", "kind", "words"),
    [
        ("tensor", wg.ones(3), RuntimeError, "has changed the size of value: it got float32[2]"),
        ("tensor", wg.ones(1), RuntimeError, "and returned float32[1]"),
        ("tensor", wg.ones(2).double(), RuntimeError, "was float32 · cpu got float64 · cpu"),
        ("tensor", wg.ones(2, device="meta"), RuntimeError, "has changed the type of value"),
        ("tensor", 3, TypeError, "expected Variable, but hook returned 'int'"),
        ("node", (wg.ones(3), None), RuntimeError, "has changed the size of value"),
        ("node", (wg.ones(2), wg.ones(2)), RuntimeError, "can't replace a None gradient"),
        ("node", (wg.ones(2),), RuntimeError, "number of values (got 1, but expected 2)"),
        ("node", wg.ones(2), TypeError, "expected tuple, but hook returned 'Tensor'"),
        ("prehook", (wg.ones(2),) * 2, RuntimeError, "(got 2, but expected 1)"),
        ("prehook", (3,), TypeError, "expected Variable, but hook returned 'int'"),
    ],
)
def test_replacements_that_do_not_fit(
    register: str, result: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        bad_replacement(register, result)
    assert words in str(caught.value)
    assert "the hook 'careless' registered at" in str(caught.value)
    assert "the guilty line" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda: wg.ones(2).register_hook(print),
            RuntimeError,
            "cannot register a hook on a tensor that doesn't require gradient",
        ),
        (
            lambda: wg.ones(2).register_post_accumulate_grad_hook(print),
            RuntimeError,
            "cannot register a hook on a tensor that doesn't require gradient",
        ),
        (
            lambda: wg.func.vmap(lambda x: x.register_hook(print))(leaf(1.0)),
            RuntimeError,
            "inside vmap, only the whole batch has a place in the graph",
        ),
        (
            lambda: (leaf(1.0) * 2).register_post_accumulate_grad_hook(print),
            RuntimeError,
            "cannot be registered on non-leaf tensors: this one was computed by MulBackward",
        ),
        (lambda: leaf(1.0).register_hook(3), TypeError, "'int' object is not callable"),
        (
            lambda: (leaf(1.0) * 2).grad_fn.register_prehook(None),
            TypeError,
            "'NoneType' object is not callable",
        ),
    ],
)
def test_refused_registrations(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


def test_hooks_without_a_name_are_told_by_their_type() -> None:
    y = leaf(1.0) * 2
    y.register_hook(functools.partial(fails, 1))
    with pytest.raises(Mine) as caught:
        y.sum().backward()
    assert "the hook 'partial'" in caught.value.__notes__[0]


def test_a_step_between_two_backwards_names_the_parameter_and_the_step() -> None:
    weight = wg.ones(2, 3, requires_grad=True)  # a leaf is born
    weight.name = "weight"
    x = wg.ones(4, 3, requires_grad=True)
    loss = ((x @ weight.T) ** 2).sum()
    loss.backward(retain_graph=True)
    with wg.no_grad():
        weight.sub_(0.1 * weight.grad)  # the step
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    call, cause, fix = str(caught.value).splitlines()
    assert "MatmulBackward saved 'b', which is the leaf 'weight' (float32[2, 3], since" in call
    assert "a leaf is born" in call
    assert "modified by an inplace operation: sub_ wrote to this memory at" in cause
    assert "the step" in cause
    assert "run the forward again instead of retaining the graph" in fix


def test_a_step_in_a_hook_names_the_hook() -> None:
    def step(parameter: Any) -> None:
        with wg.no_grad():
            parameter.add_(1)  # inside the hook

    a, b = leaf(1.0), leaf(2.0)
    a.register_post_accumulate_grad_hook(step)  # registered here
    loss = (a * b).sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    call, cause, _ = str(caught.value).splitlines()
    assert "which is a leaf (float64[1], since" in call
    assert "with a post-accumulate hook from" in call
    assert "registered here" in call
    assert "inside the hook" in cause
    assert b.grad.tolist() == [1.0]
