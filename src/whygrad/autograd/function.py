"""``Function``: an operation with a derivative of your own.

A subclass says what it computes (``forward``) and how a gradient goes back through it
(``backward``), as in PyTorch.  ``forward`` runs unrecorded, ``backward`` is ordinary code and is
recorded if somebody wants higher derivatives.  What happens in between is in
:mod:`whygrad.autograd.custom`.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from whygrad.autograd.custom.batches import VmapInfo
from whygrad.autograd.custom.call import FunctionCall
from whygrad.autograd.custom.context import FunctionCtx
from whygrad.autograd.custom.once import run_once
from whygrad.autograd.custom.signature import Signature, methods_of
from whygrad.errors import fail

__all__ = ["Function", "FunctionCtx", "VmapInfo", "once_differentiable"]


class Function:
    """Base class of custom functions.  All methods are static; call a function with ``apply``.

    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, incoming):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * incoming
    >>> y = Square.apply(x)
    """

    generate_vmap_rule = False  # True: inside vmap, run the methods on samples

    _signature: Signature  # of the latest call

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = type(self).__name__
        raise fail(
            RuntimeError,
            call=f"{name}()(…)",
            cause="Legacy autograd function with non-static forward method is deprecated: a "
            "function is a class that is never instantiated",
            fix=f"call {name}.apply(…), and make forward and backward static methods",
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result: ``forward(ctx, *args)``; without ``ctx`` if there is setup_context.

        Returns a tensor or a tuple, in which what is no tensor is handed through.  Nothing is
        recorded in here.
        """
        raise NotImplementedError

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep on ``ctx`` what the derivatives will need, given the arguments and the result."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        """One gradient per argument of ``forward``, from one gradient per output."""
        raise NotImplementedError

    vjp = backward

    @staticmethod
    def jvp(ctx: FunctionCtx, *grad_inputs: Any) -> Any:
        """One tangent per output, from one tangent (or None) per argument of ``forward``."""
        raise NotImplementedError

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The function over a batch: ``(output, out_dims)``, from arguments that are batches."""
        raise NotImplementedError

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        signature = cls.__dict__.get("_signature")  # not that of a class it inherits from
        if signature is None or signature.methods != methods_of(cls):
            signature = cls._signature = Signature(cls)
        return FunctionCall(signature, args, kwargs).run()


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a ``backward`` that is not to be differentiated itself: trying to is an error."""

    @functools.wraps(function)
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        return run_once(function, ctx, grad_outputs)

    return backward
