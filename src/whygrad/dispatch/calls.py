"""From a Python call to a look-up: collect the keys of the arguments, find the call path."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.dispatch.answers import (
    Answer,
    handed,
    is_theirs,
    public_codes,
)
from whygrad.dispatch.arguments import (
    SURPRISES,
    by_other_names,
    guarded,
    restated,
    run_lowered,
)
from whygrad.dispatch.out import into
from whygrad.dispatch.paths import Entry
from whygrad.dispatch.routes import KernelTable
from whygrad.errors import explained, fail
from whygrad.tensor import Tensor, keys, modes, wrap

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = [
    "as_operand",
    "bind",
    "is_operand",
    "keys_of",
    "method_of",
    "operand_pair",
    "operator_call",
    "scalar_keys",
]

active = modes.active
state = modes.state


class _ScalarKeys(dict[type, int]):
    """Key bits of a Python number; knows what to say about everything else."""

    def __missing__(self, kind: type) -> int:
        raise fail(
            TypeError,
            call=f"an op with an argument of type {kind.__name__}",
            cause="ops take tensors and Python numbers",
            fix="convert with whygrad.tensor(value)",
        )


scalar_keys = _ScalarKeys(keys.SCALAR_BITS)


def bind(op: Op, public: Callable[..., tuple[Any, ...]] | None) -> None:
    """Give the op its table, its primitive call and its public function."""
    op.table = table = KernelTable(op)
    count = len(op.tensor_names)
    if op.variadic:
        call = _variadic_call(table)
    elif count == 1 and not op.param_names:
        call = _unary_call(table)
    elif count == 2 and not op.param_names:
        call = _binary_call(table)
    elif count == 1:
        call = _single_call(table)
    else:
        call = _general_call(table, count)
    op.call = _named(call, op)
    if public is not None:
        op.public = _named(_public(op, public, op.takes_out), op, public)
    elif op.takes_out:
        accepting = _unary_function if count == 1 else _binary_function
        op.public = _named(accepting(table), op)
    else:
        op.public = op.call


def method_of(op: Op) -> Callable[..., Any]:
    """The public function without ``out=``, which PyTorch's methods do not take."""
    if not op.takes_out:
        return op.public
    inner = getattr(op.public, "__wrapped__", None)
    if inner is None:
        return op.call
    if hasattr(inner, "op"):  # a finished function, which knows its op
        return guarded(op, inner, takes_out=False)
    return _named(_public(op, inner, takes_out=False), op, inner)


def _named(function: Any, op: Op, like: Any = None) -> Any:
    function.__name__ = function.__qualname__ = op.name
    function.__doc__ = (like.__doc__ if like is not None else None) or op.formula
    function.op = op
    if like is not None:
        function.__wrapped__ = like
    return function


def _public(op: Op, prepare: Callable[..., tuple[Any, ...]], takes_out: bool) -> Callable[..., Any]:
    call = op.call
    lowers = op.autocast is not None

    def public(*args: Any, **kwargs: Any) -> Any:
        try:
            if lowers and active.count and state.added & keys.AUTOCAST:
                return run_lowered(op, public, args, kwargs)
            prepared = prepare(*args, **kwargs)
            return call(*prepared) if type(prepared) is tuple else prepared
        except Answer as answer:
            if answer.frame is not getframe():
                raise
            return answer.given()
        except SURPRISES as error:
            if is_theirs(args, kwargs):
                return handed(public, args, kwargs)
            writes = takes_out and "out" in kwargs
            renamed = None if writes else by_other_names(prepare, args, kwargs)
            if renamed is None and not writes:
                if explained(error):
                    raise  # not from itself: that cycle would keep the arguments alive
                raise restated(op, prepare, args, kwargs, error) from error
        return into(op, args, kwargs) if renamed is None else public(*renamed[0], **renamed[1])

    public_codes[public.__code__] = "public"
    return public


def _unary_call(table: KernelTable) -> Entry:
    def unary(input: Any) -> Any:
        if not isinstance(input, Tensor):
            if is_theirs((input,), {}):
                return handed(table.op.public, (input,), {})
            input = as_operand(input)
        bits = input._keys
        if active.count:
            bits |= state.added
        return table[bits](input)

    return unary


def _single_call(table: KernelTable) -> Entry:
    def single(input: Any, *params: Any) -> Any:
        if not isinstance(input, Tensor):
            if is_theirs((input,), {}):
                return handed(table.op.public, (input, *params), {})
            input = as_operand(input)
        bits = input._keys
        if active.count:
            bits |= state.added
        return table[bits](input, *params)

    return single


def operator_call(op: Op) -> Entry:
    """The op as a Python operator: a stranger on the other side may know what to do."""
    if len(op.tensor_names) == 2 and not op.param_names:
        return _named(_binary_call(op.table, polite=True), op)
    return op.call


def _binary_call(table: KernelTable, polite: bool = False) -> Entry:
    def binary(input: Any, other: Any) -> Any:
        try:
            bits = input._keys | (
                other._keys if isinstance(other, Tensor) else scalar_keys[type(other)]
            )
        except (AttributeError, TypeError):
            if is_theirs((input, other), {}):
                return handed(table.op.public, (input, other), {})
            if polite and not is_operand(other):
                return NotImplemented
            input, other = operand_pair(input, other)
            bits = keys_of(input) | keys_of(other)
        if active.count:
            bits |= state.added
        return table[bits](input, other)

    return binary


def _unary_function(table: KernelTable) -> Entry:
    """As :func:`_unary_call`, for users; rules and operators never ask for ``out``."""

    def unary(input: Any, *, out: Tensor | None = None) -> Any:
        if out is not None:
            if is_theirs((input, out), {}):
                return handed(table.op.public, (input,), {"out": out})
            return into(table.op, (input,), {"out": out})
        if not isinstance(input, Tensor):
            if is_theirs((input,), {}):
                return handed(table.op.public, (input,), {})
            input = as_operand(input)
        bits = input._keys
        if active.count:
            bits |= state.added
        return table[bits](input)

    return unary


def _binary_function(table: KernelTable) -> Entry:
    """As :func:`_binary_call`, for users."""

    def binary(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
        if out is not None:
            if is_theirs((input, other, out), {}):
                return handed(table.op.public, (input, other), {"out": out})
            return into(table.op, (input, other), {"out": out})
        try:
            bits = input._keys | (
                other._keys if isinstance(other, Tensor) else scalar_keys[type(other)]
            )
        except (AttributeError, TypeError):
            if is_theirs((input, other), {}):
                return handed(table.op.public, (input, other), {})
            input, other = operand_pair(input, other)
            bits = keys_of(input) | keys_of(other)
        if active.count:
            bits |= state.added
        return table[bits](input, other)

    return binary


def _general_call(table: KernelTable, count: int) -> Entry:
    promoted = set(table.op.promoted_at) if table.op.promote != "none" else set()

    def general(*args: Any) -> Any:
        bits = 0
        try:
            for position in range(count):
                arg = args[position]
                if isinstance(arg, Tensor):
                    bits |= arg._keys if position in promoted else arg._keys & ~keys.DTYPES
                elif arg is not None:
                    bits |= scalar_keys[type(arg)]
        except TypeError:
            if is_theirs(args, {}):
                return handed(table.op.public, args, {})
            raise
        first = args[0]
        if not promoted and isinstance(first, Tensor):
            bits |= first._keys
        if active.count:
            bits |= state.added
        return table[bits](*args)

    return general


def _variadic_call(table: KernelTable) -> Entry:
    def variadic(tensors: Any, *params: Any) -> Any:
        bits = 0
        for each in tensors:
            if not isinstance(each, Tensor):
                if is_theirs((tensors,), {}):
                    return handed(table.op.public, (tensors, *params), {})
                raise fail(
                    TypeError,
                    call=f"{table.op.name}([… {type(each).__name__} …])",
                    cause="the list must hold tensors only",
                    fix="convert with whygrad.tensor(value)",
                )
            bits |= each._keys
        if active.count:
            bits |= state.added
        return table[bits](tensors, *params)

    return variadic


def keys_of(arg: Any) -> int:
    return arg._keys if isinstance(arg, Tensor) else scalar_keys[type(arg)]


def is_operand(value: Any) -> bool:
    """Whether ops know what to do with it: a tensor, a Python number, or something of NumPy's."""
    return type(value) in keys.SCALAR_BITS or isinstance(value, (Tensor, np.ndarray, np.generic))


def as_operand(value: Any) -> Tensor:
    """A tensor for a lone operand.

    NumPy arrays and scalars are taken as constants, by copy: a later write to the array would go
    unnoticed by the version counter.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return wrap(np.array(value))
    raise fail(
        TypeError,
        call=f"an op with an argument of type {type(value).__name__}",
        cause="this op takes a tensor",
        fix="convert with whygrad.tensor(value)",
    )


def operand_pair(left: Any, right: Any) -> tuple[Any, Any]:
    """At least one tensor, the other a tensor or a Python number."""

    def accept(value: Any) -> Any:
        if isinstance(value, Tensor) or type(value) in keys.SCALAR_BITS:
            return value
        if isinstance(value, (np.floating, np.integer, np.bool_, np.complexfloating)):
            return value.item()
        return as_operand(value)

    left, right = accept(left), accept(right)
    if not isinstance(left, Tensor) and not isinstance(right, Tensor):
        left = Tensor._from_number(left, None)
    return left, right
