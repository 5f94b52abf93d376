"""What was wrong with the arguments of a public function.

Public functions are plain Python and check what PyTorch checks.  What they do not foresee (a
string where a tensor belongs, one argument too many) surfaces as whatever Python or NumPy happens
to raise.  Only then, in the ``except`` branch, is the call held against its signature.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from sys import _getframe as getframe
from typing import TYPE_CHECKING, Any

from whygrad import keys
from whygrad.autograd import modes
from whygrad.autograd.source import caller
from whygrad.dispatch.answers import Answer, handed, is_theirs, public_codes
from whygrad.dispatch.out import into
from whygrad.errors import describe, explained, fail, kind_of, too_large
from whygrad.tensor import Tensor

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = ["by_other_names", "guarded", "restated", "run_lowered"]

active = modes.active
state = modes.state

# What Python and NumPy raise when they are handed something of the wrong type or size.
SURPRISES = (
    AttributeError, IndexError, KeyError, MemoryError, OverflowError, TypeError, ValueError,
    ZeroDivisionError,
)  # fmt: skip

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
    from whygrad.amp.casting import run_lowered as run  # loaded when somebody is inside autocast

    return run(op, function, args, kwargs)


def by_other_names(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The call with PyTorch's second names for arguments replaced; None if there are none.

    PyTorch takes NumPy's names, calls the first tensor ``input`` whatever its documentation calls
    it, and lets a list of sizes or dimensions be named that may also be given one by one.
    """
    renamed = {_NUMPY_NAMES.get(key, key): value for key, value in kwargs.items()}
    if len(renamed) < len(kwargs) or not kwargs:
        return None
    parameters = inspect.signature(function).parameters
    first = next(iter(parameters), "input")
    if not args and "input" in renamed and "input" not in parameters and first not in renamed:
        renamed[first] = renamed.pop("input")
    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind is parameter.VAR_POSITIONAL and name in renamed and len(args) <= place:
            leading = [each for each in list(parameters)[len(args) : place] if each in renamed]
            args = (*args, *[renamed.pop(each) for each in (*leading, name)])
    return None if renamed.keys() == kwargs.keys() else (args, renamed)


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
        where=caller(),
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
