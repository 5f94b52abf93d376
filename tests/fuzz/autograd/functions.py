"""Custom functions, the same for both libraries."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["functions"]


@cache
def functions(lib: Any) -> dict[str, Any]:
    """The classes a program can apply, by name."""

    class Cube(lib.autograd.Function):  # type: ignore[misc]
        """Saves its input; differentiable twice."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * incoming

    class Product(lib.autograd.Function):  # type: ignore[misc]
        """``setup_context`` apart from forward, two inputs that need not have one shape."""

        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y.sum()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            x, y = ctx.saved_tensors
            to_x = (incoming * y.sum()).to(x.dtype) if ctx.needs_input_grad[0] else None
            to_y = (incoming * x).sum().expand(y.shape).to(y.dtype)
            return to_x, to_y if ctx.needs_input_grad[1] else None

    class Both(lib.autograd.Function):  # type: ignore[misc]
        """Two outputs, saved as well, and a number that is no tensor."""

        @staticmethod
        def forward(ctx: Any, x: Any, factor: float = 2.0) -> Any:
            first, second = x.exp(), x * factor
            ctx.save_for_backward(first)
            ctx.factor = factor
            return first, second

        @staticmethod
        def backward(ctx: Any, to_first: Any, to_second: Any) -> Any:
            (first,) = ctx.saved_tensors
            return to_first * first + to_second * ctx.factor

    class Late(lib.autograd.Function):  # type: ignore[misc]
        """A gradient that is not materialized may be None."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return None if incoming is None else incoming * 2

    class Partial(lib.autograd.Function):  # type: ignore[misc]
        """No gradient for the second input."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.dtype = x.dtype
            return x + y.sum()

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return incoming.to(ctx.dtype), None

    class View(lib.autograd.Function):  # type: ignore[misc]
        """Returns a view of its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return incoming * 2

    class Double(lib.autograd.Function):  # type: ignore[misc]
        """Writes to its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return incoming * 2

    class Marked(lib.autograd.Function):  # type: ignore[misc]
        """The second output has no derivative."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            sign = x.sign()
            ctx.mark_non_differentiable(sign)
            ctx.save_for_backward(sign)
            return x.abs(), sign

        @staticmethod
        def backward(ctx: Any, incoming: Any, unused: Any) -> Any:
            return incoming * ctx.saved_tensors[0]

    class Once(lib.autograd.Function):  # type: ignore[misc]
        """A backward that cannot be differentiated."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @lib.autograd.function.once_differentiable
        def backward(ctx: Any, incoming: Any) -> Any:
            return incoming * 2 * ctx.saved_tensors[0]

    made = (Cube, Product, Both, Late, Partial, View, Double, Marked, Once)
    return {each.__name__: each for each in made}
