"""Backward calls inside backward calls, however deep: 2,000 of them, as PyTorch allows."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import whygrad
from whygrad.threads import PerThread, on_new_stack

DEPTH = 2000


class Nested(whygrad.autograd.Function):
    """Runs another backward in its own, ``depth`` times over."""

    @staticmethod
    def forward(ctx: Any, x: Any, depth: int) -> Any:
        ctx.depth = depth
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        if ctx.depth:
            with whygrad.enable_grad():
                inner = whygrad.ones(1, requires_grad=True)
                Nested.apply(inner, ctx.depth - 1).sum().backward()
            assert inner.grad is not None
            return gradient + inner.grad, None
        return gradient, None


def test_inside_custom_functions() -> None:
    x = whygrad.ones(1, requires_grad=True)
    Nested.apply(x, DEPTH).sum().backward()
    assert x.grad is not None
    assert x.grad.item() == DEPTH + 1


def test_inside_hooks() -> None:
    seen: list[bool] = []

    def hook(gradient: Any) -> None:
        seen.append(whygrad.is_grad_enabled())
        if len(seen) < DEPTH:
            with whygrad.enable_grad():
                start()

    def start() -> None:
        y = whygrad.ones(1, requires_grad=True) * 2
        y.register_hook(hook)
        y.sum().backward()

    start()
    assert len(seen) == DEPTH
    assert not any(seen), "the modes go along"


def test_an_error_comes_back_through_all_of_them() -> None:
    calls = [0]

    def hook(gradient: Any) -> None:
        calls[0] += 1
        if calls[0] == 300:
            raise KeyError("at the bottom")
        with whygrad.enable_grad():
            start()

    def start() -> None:
        y = whygrad.ones(1, requires_grad=True) * 2
        y.register_hook(hook)
        y.sum().backward()

    with pytest.raises(KeyError, match="at the bottom"):
        start()
    assert whygrad.is_grad_enabled()


class _State(PerThread):
    value = 0


def test_state_moves_there_and_back() -> None:
    state = _State()
    state.value = 1

    def work() -> tuple[int, str]:
        before, state.value = state.value, 2
        return before, threading.current_thread().name

    assert on_new_stack(work) == (1, "whygrad-stack")
    assert state.value == 2
