"""One hook on several tensors, against PyTorch."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any, Literal

import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf

Mode = Literal["all", "any"]


def calls(lib: Any, mode: Mode, walk: Callable[..., Any]) -> list[Any]:
    """What the hook on (a, b, a·b, a·b again) sees in one walk from the third."""
    log: list[Any] = []

    def note(arrived: Any) -> None:
        several = arrived if isinstance(arrived, list) else [arrived]
        log.append([None if each is None else each.tolist() for each in several])

    a = lib.tensor([1.0, 2.0], requires_grad=True)
    b = lib.tensor([3.0, 4.0], requires_grad=True)
    c, d = a * b, a * b
    handle = lib.autograd.graph.register_multi_grad_hook((a, b, c, d), note, mode=mode)
    walk(lib, a, b, c, d)
    walk(lib, a, b, c, d)
    assert isinstance(handle, lib.utils.hooks.RemovableHandle)
    handle.remove()
    walk(lib, a, b, c, d)
    return log


WALKS = [
    lambda lib, a, b, c, d: c.sum().backward(retain_graph=True),
    lambda lib, a, b, c, d: (c + d).sum().backward(retain_graph=True),
    lambda lib, a, b, c, d: c.sum().backward(inputs=(a,), retain_graph=True),
    lambda lib, a, b, c, d: lib.autograd.grad(c.sum(), [c], retain_graph=True),
    lambda lib, a, b, c, d: lib.autograd.grad((c * d).sum(), [d, c], create_graph=True),
    lambda lib, a, b, c, d: (b * 2).sum().backward(),
]


@pytest.mark.parametrize("mode", ["all", "any"])
@pytest.mark.parametrize("walk", WALKS)
def test_calls_as_in_pytorch(mode: Mode, walk: Callable[..., Any]) -> None:
    assert calls(wg, mode, walk) == calls(torch, mode, walk)


def test_an_output_that_gets_no_gradient_is_not_waited_for() -> None:
    log: list[Any] = []
    x = wg.ones(2, 3, requires_grad=True)
    used, unused = x.unbind()
    wg.autograd.graph.register_multi_grad_hook((used, unused), log.extend)
    used.sum().backward()
    assert log[0].tolist() == [1, 1, 1]
    assert log[1] is None


def test_grad_of_a_leaf() -> None:
    """PyTorch refuses this."""
    log: list[Any] = []
    a, b = leaf(1.0), leaf(2.0)
    y = a * b
    wg.autograd.graph.register_multi_grad_hook((a, b, y), log.append)
    wg.autograd.grad(y.sum(), a)
    assert [None if each is None else each.tolist() for each in log[0]] == [[2.0], None, [1.0]]


def test_a_walk_that_failed_is_forgotten() -> None:
    log: list[Any] = []
    x = leaf(1.0)
    y = x * 2
    broken = x.register_hook(lambda _: 1 / 0)
    wg.autograd.graph.register_multi_grad_hook((x, y), log.append)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward(retain_graph=True)
    broken.remove()
    y.sum().backward()
    assert [[each.tolist() for each in gradients] for gradients in log] == [[[2.0], [1.0]]]


@pytest.mark.parametrize("lib", [wg, torch], ids=["whygrad", "torch"])
def test_any_passes_over_constants(lib: Any) -> None:
    log: list[Any] = []
    x = lib.ones(2, requires_grad=True)
    lib.autograd.graph.register_multi_grad_hook((lib.ones(2), x), log.append, mode="any")
    (x * 2).sum().backward()
    assert [each.tolist() for each in log] == [[2.0, 2.0]]


def test_a_hook_that_raises_is_named() -> None:
    x = leaf(1.0)
    wg.autograd.graph.register_multi_grad_hook((x,), lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        (x * 2).sum().backward()
    assert len(caught.value.__notes__) == 1
    assert "raised in the hook '<lambda>' registered at" in caught.value.__notes__[0]
    assert x.grad is None


@pytest.mark.parametrize(
    ("tensors", "mode", "kind", "words"),
    [
        ([leaf(1.0)], "some", ValueError, "mode to be one of ('all', 'any') but got some"),
        (
            [leaf(1.0), wg.ones(2)],
            "all",
            RuntimeError,
            "a tensor that doesn't require gradient: tensors[1] is float32[2]",
        ),
    ],
)
def test_refused(tensors: Any, mode: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        wg.autograd.graph.register_multi_grad_hook(tensors, print, mode=mode)
    assert words in str(caught.value)
    (tensors[0] * 2).sum().backward()  # nothing was registered


def test_a_hook_on_several_tensors_leaves_no_cycle() -> None:
    def step() -> Any:
        hidden = leaf(1.0, 2.0).exp()
        wg.autograd.graph.register_multi_grad_hook([hidden, hidden * 2], lambda gradients: None)
        hidden.sum().backward()
        return weakref.ref(hidden.grad_fn)

    gc.collect()
    gc.disable()
    try:
        assert step()() is None
    finally:
        gc.enable()
