"""Pack and unpack hooks, against PyTorch's: when they are called, with what, what stays."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.packing import keep, same, through_numpy
from tests.autograd.tensors import leaf
from whygrad.autograd.graph import saved_tensors_hooks
from whygrad.utils.checkpoint import checkpoint

PROGRAMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "both factors": lambda lib, a, b: a * b,
    "one tensor twice": lambda lib, a, b: a * a,
    "a number": lambda lib, a, b: a * 2,
    "a constant": lambda lib, a, b: a * lib.ones(3),
    "nothing": lambda lib, a, b: a + b,
    "the output": lambda lib, a, b: a.exp(),
    "input of a chain": lambda lib, a, b: (a * 3).sin(),
    "softmax": lambda lib, a, b: a.softmax(0),
    "integers": lambda lib, a, b: a[lib.tensor([0, 2])],
    "integer output": lambda lib, a, b: a.max(0).values,
    "quotient": lambda lib, a, b: a / b,
    "product of matrices": lambda lib, a, b: a.unsqueeze(1) @ b.unsqueeze(0),
    "recording off": lambda lib, a, b: a.detach() * 3,
}


def seen_by_pack(lib: Any, program: Callable[[Any, Any, Any], Any]) -> list[Any]:
    a = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = lib.tensor([4.0, 5.0, 6.0], requires_grad=True)
    seen = []

    def pack(x: Any) -> Any:
        kind = str(x.dtype).split(".")[-1]
        history = (x.requires_grad, x.is_leaf, lib.is_grad_enabled())
        seen.append((tuple(x.shape), kind, history, [f"{v:.4g}" for v in x.flatten().tolist()]))
        return x.detach()

    with lib.autograd.graph.saved_tensors_hooks(pack, same):
        program(lib, a, b)
    return sorted(seen, key=repr)


@pytest.mark.parametrize("name", PROGRAMS)
def test_pack_is_called_as_in_pytorch(name: str) -> None:
    program = PROGRAMS[name]
    assert seen_by_pack(wg, program) == seen_by_pack(torch, program)


def test_unpack_is_called_each_time_the_value_is_needed() -> None:
    unpacked: list[Any] = []
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(keep, lambda y: unpacked.append(y) or y):
        y = x.exp()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert len(unpacked) == 2
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([1.0, 2.0]))


def test_what_pack_returns_is_what_unpack_gets() -> None:
    store = {}

    def pack(x: wg.Tensor) -> int:
        store[len(store)] = x.detach().numpy().copy()
        return len(store) - 1

    x = leaf(3.0, 4.0)
    with saved_tensors_hooks(pack, lambda key: wg.from_numpy(store[key])):
        y = (x * x).sum()
    y.backward()
    assert len(store) == 2
    assert x.grad.tolist() == [6.0, 8.0]


def test_the_innermost_pair_counts() -> None:
    calls: list[str] = []

    def hooks(name: str) -> saved_tensors_hooks:
        return saved_tensors_hooks(lambda x: calls.append(name) or x.detach(), same)

    x = leaf(1.0)
    with hooks("outer"):
        x.exp()
        with hooks("inner"):
            x.exp()
            with hooks("inner"):
                pass
            x.exp()
        x.exp()
    x.exp()
    assert calls == ["outer", "inner", "inner", "outer"]


def test_the_same_object_may_be_entered_again() -> None:
    calls: list[int] = []
    hooks = saved_tensors_hooks(lambda x: calls.append(1) or x.detach(), same)
    x = leaf(1.0)
    with hooks:
        with hooks:
            x.exp()
        x.exp()
    x.exp()
    assert len(calls) == 2


def test_hooks_do_not_run_inside_hooks() -> None:
    depth: list[int] = []

    def busy(x: wg.Tensor) -> wg.Tensor:
        depth.append(1)
        with wg.enable_grad():
            y = x.detach().requires_grad_()
            (y * y).sum().backward()
        return x.detach()

    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(busy, busy):
        y = x.exp()
        assert len(depth) == 1
        y.sum().backward()
        assert len(depth) == 2


def test_hooks_belong_to_their_thread() -> None:
    calls: list[int] = []
    x = leaf(1.0)
    with saved_tensors_hooks(lambda y: calls.append(1) or y.detach(), same):
        worker = threading.Thread(target=lambda: x.exp().sum().backward())
        worker.start()
        worker.join()
    assert calls == []
    assert x.grad is not None


def test_nothing_leaks_without_the_collector() -> None:
    while gc.collect():  # what other tests left may take several rounds
        pass
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        with saved_tensors_hooks(same, same):
            h = x * 2
            y = (h.exp() * h).sum()
            y.backward(create_graph=True)
        watched = [weakref.ref(each) for each in (h, y, y.grad_fn, h.grad_fn, x, x.grad)]
        del h, y, x
        assert [ref() for ref in watched] == [None] * len(watched)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_saved_reads_through_the_hooks() -> None:
    x = leaf(1.0, 2.0)
    with through_numpy():
        y = x * 3 * x
    saved = y.grad_fn.saved
    assert list(saved) == ["a", "b"]
    np.testing.assert_array_equal(saved["a"], [3.0, 6.0])
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed by the backward"):
        _ = y.grad_fn.saved


def test_what_a_custom_function_saves_is_packed() -> None:
    def packed(lib: Any) -> list[Any]:
        class Scaled(lib.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, w: Any) -> Any:
                y = x * w
                ctx.save_for_backward(x, w, y)
                return y

            @staticmethod
            def backward(ctx: Any, incoming: Any) -> Any:
                x, w, _ = ctx.saved_tensors
                return incoming * w, incoming * x

        seen = []
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        w = lib.tensor([3.0, 4.0])
        hooks = lib.autograd.graph.saved_tensors_hooks(
            lambda t: seen.append(t.tolist()) or t.detach(), same
        )
        with hooks:
            Scaled.apply(x, w).sum().backward()
        return [*seen, x.grad.tolist()]

    assert packed(wg) == packed(torch)


def test_a_checkpoint_inside_hooks_keeps_to_itself() -> None:
    calls: list[int] = []
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(lambda t: calls.append(1) or t.detach(), same):
        y = checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False)
        y.sum().backward()
    assert calls == []
    np.testing.assert_allclose(x.grad.numpy(), np.cos(np.exp([1.0, 2.0])) * np.exp([1.0, 2.0]))
