"""Small custom functions for tests."""

from __future__ import annotations

from typing import Any

from whygrad.autograd import Function

__all__ = ["Square", "made"]


def made(lib: Any, forward: Any, backward: Any = None, **more: Any) -> Any:
    """A custom function named F, in either library."""
    methods = {"forward": staticmethod(forward), **more}
    if backward is not None:
        methods["backward"] = staticmethod(backward)
    return type("F", (lib.autograd.Function,), methods)


class Square(Function):
    """y = x²"""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, incoming):
        (x,) = ctx.saved_tensors
        return 2 * x * incoming
