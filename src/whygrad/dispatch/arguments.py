"""What was wrong with the arguments of a public function.

Public functions are plain Python and check what PyTorch checks.  What they do not foresee (a
string where a tensor belongs, one argument too many) surfaces as whatever Python or NumPy happens
to raise.  Only then, in the ``except`` branch, is the call held against its signature.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from sys import _getframe as getframe
from typing import TYPE_CHECKING, Any

from whygrad.dispatch.answers import Answer, handed, is_theirs, public_codes
from whygrad.dispatch.out import into
from whygrad.errors import describe, explained, fail, kind_of, too_large
from whygrad.tensor import Tensor, keys, modes

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = ["also_named", "by_other_names", "guarded", "restated", "run_lowered"]

active = modes.active
state = modes.state

# What Python and NumPy raise when they are handed something of the wrong type or size.
SURPRISES = (
    AttributeError, IndexError, KeyError, MemoryError, OverflowError, TypeError, ValueError,
    ZeroDivisionError,
)  # fmt: skip

# Keywords that older versions of PyTorch took by place, before the tensors they multiply.
_FACTORS = (("alpha",), ("value",), ("beta", "alpha"))
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}

_ACCEPTED: dict[str, tuple[type, ...]] = {
    "Tensor": (Tensor,),
    "bool": (bool,),
    "float": (float, int, Tensor),
    "int": (int, Tensor),
    "str": (str,),
    "None": (type(None),),
}


def guarded(op: Op, function: Callable[..., Any], takes_out: bool) -> Callable[..., Any]:
    """``function``, with its surprises explained."""
    lowers = op.autocast is not None

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        try:
            if lowers and active.count and state.added & keys.AUTOCAST:
                return run_lowered(op, function, args, kwargs)
            return function(*args, **kwargs)
        except Answer as answer:
            if answer.frame is not getframe():
                raise
            return answer.given()
        except SURPRISES as error:
            if is_theirs(args, kwargs):
                return handed(public, args, kwargs)
            writes = takes_out and "out" in kwargs
            renamed = None if writes else by_other_names(function, args, kwargs)
            if renamed is None and not writes:
                if explained(error):
                    raise  # not from itself: that cycle would keep the arguments alive
                raise restated(op, function, args, kwargs, error) from error
        return into(op, args, kwargs) if renamed is None else public(*renamed[0], **renamed[1])

    public_codes[public.__code__] = "public"  # type: ignore[attr-defined]
    return public


def run_lowered(
    op: Op, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The call in the precision that ``autocast`` wants: the casts come before anybody looks."""
    return lowering.run(op, function, args, kwargs)


class _Lowering:
    """Filled by :mod:`whygrad.amp.casting`, which whoever switches autocast on has loaded."""

    run: Callable[..., Any]


lowering = _Lowering()


def also_named(**second: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let arguments answer to second names: of PyTorch's method, or of its other overloads."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.second_names = second  # type: ignore[attr-defined]
        return function

    return mark


def by_other_names(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The call as ``function`` is declared, if it was written in PyTorch's second way; else None.

    PyTorch takes NumPy's names, calls the first tensor ``input`` whatever its documentation calls
    it, and lets a list of sizes or dimensions be named that may also be given one by one.
    """
    parameters = inspect.signature(function).parameters
    second = {**_NUMPY_NAMES, **getattr(function, "second_names", {})}
    renamed = {second.get(key, key): value for key, value in kwargs.items()}
    if len(renamed) < len(kwargs):
        return None
    first = next(iter(parameters), "input")
    if not args and "input" in renamed and "input" not in parameters and first not in renamed:
        renamed[first] = renamed.pop("input")
    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind is parameter.VAR_POSITIONAL and name in renamed and len(args) <= place:
            leading = [each for each in list(parameters)[len(args) : place] if each in renamed]
            args = (*args, *[renamed.pop(each) for each in (*leading, name)])
    if renamed.keys() == kwargs.keys():
        return _factors_first(parameters, args, kwargs)
    return args, renamed


def _factors_first(
    parameters: Mapping[str, inspect.Parameter], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The call with factors given by place, as old programs do and PyTorch still understands.

    ``x.add_(-rate, grad)``, ``x.addcdiv_(-rate, mean, root)``, ``addmm(beta, x, alpha, a, b)``: the
    factors are keywords now.  None if this is no such call.
    """
    places = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    factors = tuple(name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY)
    extra = len(args) + len(kwargs.keys() & set(places)) - len(places)
    if factors not in _FACTORS or not 0 < extra <= len(factors) or kwargs.keys() & set(factors):
        return None
    leading = 0 if len(factors) > 1 and not isinstance(args[0], Tensor) else 1
    tensors = [*args[:leading], *args[leading + extra :]]
    given = list(args[leading : leading + extra])
    if leading == 0:  # the function of an op with two factors: one stands on either side of input
        tensors, given = [args[1], *args[1 + extra :]], [args[0], *args[2 : 1 + extra]]
    if any(isinstance(factor, Tensor) for factor in given):
        return None
    call = f"({', '.join(places)}, *, {', '.join(factors)})"
    warnings.warn(
        f"factors between the tensors are deprecated: use the form {call}", UserWarning, 4
    )
    return tuple(tensors), {**kwargs, **dict(zip(factors, given, strict=False))}


def restated(
    op: Op,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    error: Exception,
) -> Exception:
    """The same failure in the house layout."""
    name = op.public_name or op.name
    given = [*map(describe, args), *(f"{key}={describe(value)}" for key, value in kwargs.items())]
    signature = inspect.signature(function)
    kind, cause = _diagnosis(name, signature, args, kwargs, error)
    return fail(
        kind,
        call=f"{name}({', '.join(given)})",
        cause=cause,
        fix=f"call it as {name}{_short(signature)}",
    )


def _diagnosis(
    name: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    error: Exception,
) -> tuple[type[Exception], str]:
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as mismatch:
        return TypeError, f"{name}() received an invalid combination of arguments: {mismatch}"
    for position, (label, value) in enumerate(bound.arguments.items()):
        parameter = signature.parameters[label]
        wanted = str(parameter.annotation).split(" | ")
        if parameter.annotation is parameter.empty and label == "input":
            wanted = ["Tensor"]
        known = parameter.kind is parameter.POSITIONAL_OR_KEYWORD and set(wanted) <= set(_ACCEPTED)
        if known and not isinstance(value, sum((_ACCEPTED[each] for each in wanted), ())):
            return TypeError, (
                f"argument '{label}' (position {position + 1}) must be {' or '.join(wanted)}, "
                f"not {type(value).__name__}"
            )
    beyond_memory = too_large(error)
    if beyond_memory is not None:
        return RuntimeError, beyond_memory
    reason = f"{type(error).__name__}: {error}"
    return kind_of(error), f"these arguments do not fit together: {reason}"


def _short(signature: inspect.Signature) -> str:
    """The signature without annotations."""
    bare = [
        each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()
    ]
    return str(inspect.Signature(bare))
