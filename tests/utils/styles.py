"""Ways to checkpoint a function of two tensors, and a deep stack of layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import whygrad as wg
from whygrad.utils.checkpoint import checkpoint

__all__ = ["STYLES", "Function", "deep", "nested_in_work", "whole"]

Function = Callable[..., Any]


def whole(function: Function, *args: Any) -> Any:
    return checkpoint(function, *args, use_reentrant=False)


def to_the_end(function: Function, *args: Any) -> Any:
    return checkpoint(function, *args, early_stop=False)


def nested(function: Function, *args: Any) -> Any:
    return checkpoint(lambda *inner: checkpoint(function, *inner), *args)


def nested_in_work(function: Function, x: Any, w: Any) -> Any:
    def outer(x: Any, w: Any) -> Any:
        return checkpoint(lambda a, b: checkpoint(function, a, b), x * 1.0, w.clone()) * 1.0

    return checkpoint(outer, x, w)


STYLES = [whole, to_the_end, nested, nested_in_work]


def deep(count: int, size: int = 64) -> tuple[list[Function], Any]:
    """Layers that save two values each."""
    weights = [(wg.randn(size, size) * 0.1).requires_grad_() for _ in range(count)]
    return [partial(lambda w, x: wg.tanh(x @ w), each) for each in weights], wg.randn(32, size)
