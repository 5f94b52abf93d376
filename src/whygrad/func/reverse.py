"""Reverse mode as functions of functions: ``grad``, ``grad_and_value``, ``vjp``, ``linearize``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from whygrad.errors import describe, fail
from whygrad.func.arguments import (
    Argnums,
    Selected,
    name_of,
    outputs_of,
    split_aux,
    tensors_like,
)
from whygrad.func.tape import Tape, Transposed
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor
from whygrad.trees import flatten

__all__ = ["grad", "grad_and_value", "linearize", "vjp"]


def grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that computes the gradient of ``func``, which returns one number (0-d).

    ``argnums``
        the argument to differentiate by, a tensor or a nested structure of them; or a tuple of
        several, which makes the result a tuple.
    ``has_aux``
        ``func`` returns ``(output, aux)``, and the result is ``(gradient, aux)``.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        slope, value = both(*args, **kwargs)
        return (slope, value[1]) if has_aux else slope

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Like ``grad``; the result is ``(gradient, value)``, or ``(gradient, (value, aux))``."""
    call = f"grad({name_of(func)})(…)"

    @functools.wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        chosen = Selected(call, args, argnums)
        tape = Tape(chosen.tensors)
        result = tape.run(func, *chosen.replaced(tape.inputs), **kwargs)
        output, aux = split_aux(call, result) if has_aux else (result, None)
        _check_scalar(call, output)
        slopes = tape.pull_or_zeros([output], [recorded.ones_like(output)], retain_graph=has_aux)
        value = tape.released(output)
        return chosen.shaped(slopes), (value, tape.released(aux)) if has_aux else value

    return gradient_and_value


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``func(*primals)`` and the function that pulls cotangents of it back to the primals.

    That function takes what has the structure of the output and returns a tuple, one gradient
    per primal (a single one, if there is one primal only).  With ``has_aux``, ``func`` returns
    ``(output, aux)`` and the result has aux as third part.
    """
    call = f"vjp({name_of(func)}, …)"
    chosen = Selected(call, primals, None)
    tape = Tape(chosen.tensors)
    result = tape.run(func, *chosen.replaced(tape.inputs))
    output, aux = split_aux(call, result) if has_aux else (result, None)
    outputs, tree = outputs_of(call, output)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        sent = tensors_like(f"{call}: its vjp function", "cotangents", cotangents, tree, outputs)
        slopes = tape.pull_or_zeros(
            outputs, sent, retain_graph=retain_graph, create_graph=create_graph
        )
        return chosen.shaped(slopes)

    value = tape.released(output)
    return (value, pull, tape.released(aux)) if has_aux else (value, pull)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)`` and its derivative there, a linear function of the tangents.

    ``func`` runs once; many tangents can then be pushed without computing it again.  They follow
    the tape that reverse mode would follow, so what ``func`` computes under ``no_grad`` counts as
    a constant; ``jvp`` pushes tangents through that, too.
    """
    call = f"linearize({name_of(func)}, …)"
    chosen = Selected(call, primals, None)
    tape = Tape(chosen.tensors)
    output = tape.run(func, *chosen.replaced(tape.inputs))
    outputs, tree = outputs_of(call, output)
    forth = Transposed(tape, outputs)
    _, primal_tree = flatten(primals)

    def push(*tangents: Any) -> Any:
        given = tensors_like(
            f"{call}: its jvp function", "tangents", tangents, primal_tree, chosen.tensors
        )
        return tree.build(forth.push(given))

    return tape.released(output), push


def _check_scalar(call: str, output: Any) -> None:
    if not isinstance(output, Tensor):
        raise fail(
            RuntimeError,
            call=call,
            cause=f"Expected f(*args) to return a Tensor, got {type(output).__name__}",
            fix="return the loss alone; other results can be aux, see has_aux",
        )
    if output.ndim:
        raise fail(
            RuntimeError,
            call=f"{call} of {describe(output)}",
            cause=f"Expected f(*args) to return a scalar Tensor, got tensor with {output.ndim} "
            "dims. Maybe you wanted to use the vjp or jacrev APIs instead?",
            fix="reduce it, for example with sum() or mean(), or use whygrad.func.jacrev",
        )
    if not output.dtype.is_floating_point:
        raise fail(
            RuntimeError,
            call=f"{call} of {describe(output)}",
            cause=f"Expected f(*args) to return a floating point Tensor, got {output.dtype.name}: "
            "an integer has no derivative",
            fix="return the loss as it was computed, without converting it to an integer",
        )
