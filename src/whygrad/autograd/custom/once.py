"""A ``backward`` that is not to be differentiated.

PyTorch looks only at the incoming gradients to see whether anybody could try.  They are constants
in ``grad(f(x), x, create_graph=True)``, so there a second derivative silently lacks a part.  Here
the saved tensors count as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from whygrad.autograd.custom.refusal import physical, refusing
from whygrad.autograd.custom.signature import place_of
from whygrad.errors import fail
from whygrad.tensor import Tensor, modes

if TYPE_CHECKING:
    from whygrad.autograd.custom.context import FunctionCtx

__all__ = ["run_once"]


def run_once(function: Callable[..., Any], ctx: FunctionCtx, incoming: tuple[Any, ...]) -> Any:
    """``function(ctx, *incoming)``, whose result cannot be differentiated."""

    def error() -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"the derivative of {function.__qualname__}",
            cause="trying to differentiate twice a function that was marked with "
            "@once_differentiable",
            fix="differentiate it once only; or, if backward is made of whygrad's functions, take "
            "the decorator off",
            where=place_of(function),
        )

    sources = [physical(each) for each in (*incoming, *ctx.shown()) if isinstance(each, Tensor)]
    if any(each._tangent for each in sources):
        raise error()
    with modes.no_grad():
        returned = function(ctx, *incoming)
    if not modes.state.recording or all(each._node is None for each in sources):
        return returned
    found = returned if isinstance(returned, tuple) else (returned,)
    refused = tuple(
        refusing(each, sources, "OnceDifferentiable", error) if isinstance(each, Tensor) else each
        for each in found
    )
    return refused if isinstance(returned, tuple) else refused[0]
