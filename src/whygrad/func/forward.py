"""Forward mode as a function of functions: ``jvp``, and ``hvp`` built on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.autograd.transforms.forward_ad import dual_level, make_dual, unpack_dual
from whygrad.autograd.transforms.runs import Run
from whygrad.errors import describe, fail
from whygrad.func.arguments import Selected, name_of, outputs_of, split_aux, tensors_like
from whygrad.func.reverse import grad
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, modes
from whygrad.trees import flatten

__all__ = ["hvp", "jvp"]


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """``func(*primals)`` and its derivative in the direction of ``tangents``, in one pass.

    ``strict`` refuses an output that does not depend on the primals, whose derivative is otherwise
    zero.  With ``has_aux``, ``func`` returns ``(output, aux)`` and the result has aux as third
    part.
    """
    call = f"jvp({name_of(func)}, primals, tangents)"
    _, chosen, given = _primals_and_tangents(call, primals, tangents)
    with dual_level() as level:
        duals = [
            make_dual(primal, tangent, level=level)
            for primal, tangent in zip(chosen.tensors, given, strict=True)
        ]
        with modes.inside(Run(level)):
            result = func(*chosen.replaced(duals))
        output, aux = split_aux(call, result) if has_aux else (result, None)
        outputs, tree = outputs_of(call, output, floating=False)
        values, slopes = [], []
        for each in outputs:
            value, slope = unpack_dual(each, level=level)
            if slope is None and strict:
                raise _independent(call, each)
            values.append(value)
            slopes.append(recorded.zeros_like(value) if slope is None else slope)
        answer = (tree.build(values), tree.build(slopes))
        return (*answer, _primal_part(aux, level)) if has_aux else answer


def hvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The Hessian of ``func``, which returns one number, times ``tangents``.

    The derivative of the gradient along the tangents: forward mode over reverse mode, about four
    times the cost of ``func``, whatever the size of the Hessian.  The result is like ``primals``,
    or a single thing if there is one primal.
    """
    call = f"hvp({name_of(func)}, primals, tangents)"
    _primals_and_tangents(call, primals, tangents)
    argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(grad(func, argnums), primals, tangents)[1]


def _primals_and_tangents(
    call: str, primals: Any, tangents: Any
) -> tuple[Any, Selected, list[Tensor]]:
    if not isinstance(primals, tuple):
        raise fail(
            RuntimeError,
            call=call,
            cause="Expected primals to be a tuple. E.g. it should be valid to call f(*primals); "
            f"got {describe(primals)}",
            fix="write (x,) for a single argument",
        )
    chosen = Selected(call, primals, None)
    if not chosen.tensors:
        raise fail(
            RuntimeError,
            call=call,
            cause="Expected primals to contain at least one Tensor",
            fix="pass the point at which to differentiate",
        )
    leaves, tree = flatten(primals)
    return tree, chosen, tensors_like(call, "tangents", tangents, tree, leaves)


def _primal_part(aux: Any, level: int) -> Any:
    leaves, tree = flatten(aux)
    return tree.build(
        [unpack_dual(x, level=level).primal if isinstance(x, Tensor) else x for x in leaves]
    )


def _independent(call: str, output: Tensor) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"{call} with strict=True: {describe(output)} among the outputs",
        cause="The output of f is independent of the inputs. This is not allowed with strict=True",
        fix="leave strict out to get zeros",
    )
