"""``x[...]`` and ``x[...] = v`` in every form.

:mod:`whygrad.ops.indexing.subscripts` reads the index; here it is carried out: the basic part as
a view, arrays and masks as positions in that view.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import _getframe as getframe
from typing import Any

import numpy as np

from whygrad.dispatch import quiet
from whygrad.dispatch.answers import Answer, public_codes
from whygrad.errors import describe, fail
from whygrad.ops.define import define, table
from whygrad.ops.indexing.positions import index_put, write
from whygrad.ops.indexing.subscripts import Selection, read, read_plain
from whygrad.ops.inplace import writing
from whygrad.ops.numbers import number_for
from whygrad.source import caller
from whygrad.tensor import Tensor, keys, modes, wrap
from whygrad.tensor.graph import lineage

__all__ = ["assignable"]

Array = Any
Shape = tuple[int, ...]


def _getitem(self: Tensor, index: Any) -> Tensor:
    """``x[index]``: a view for basic indices, a copy for arrays and masks."""
    try:
        plain = read_plain(self._array.shape, index)
        if plain is not None:
            view: Tensor = table["slice"].call(self, plain)
            return view
        chosen = read(self, index)
        result = self
        if chosen.position is None or not chosen.whole:
            result = table["slice"].call(self, chosen.basic)
        if chosen.position is not None:
            result = table["index"].call(result, chosen.position, chosen.dims)
        return lineage.chosen_by(result, chosen.chosen_by) if chosen.chosen_by else result
    except Answer as answer:
        if answer.frame is not getframe():
            raise
        answered: Tensor = answer.given()
        return answered


public_codes[_getitem.__code__] = "__getitem__"


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``, broadcast and converted to the dtype of ``x``."""
    chosen = read(self, index)
    value = assignable(self, chosen, value, "x[index] = value")
    if not chosen.chosen_by and _writes_directly(self, value, chosen.position):
        writing.check_writable(self, "__setitem__")
        quiet.run(_write, self._array, chosen, getattr(value, "_array", value))
        self._storage.bump("__setitem__", caller())
        return
    target = self
    if chosen.position is None or not chosen.whole:
        target = table["slice"].call(self, chosen.basic)
    writing.check_writable(target, "__setitem__", value if isinstance(value, Tensor) else None)
    params: tuple[Any, ...] = ()
    op = table["copy" if isinstance(value, Tensor) else "fill"]
    if chosen.position is not None:
        op, params = table["index_put"], (chosen.position, chosen.dims, False)
    written = op.call(writing.snapshot(target, op), value, *params)
    if chosen.chosen_by:
        written = lineage.chosen_by(written, chosen.chosen_by)
    writing.assign(target, written, "__setitem__")


def _writes_directly(target: Tensor, value: Any, position: Tensor | None) -> bool:
    """Whether this is a plain write into memory: nothing to record, no other layer involved."""
    involved = [each for each in (target, value, position) if isinstance(each, Tensor)]
    in_graph = [each for each in involved if each._node is not None]
    if in_graph and (modes.state.recording or any(each is not target for each in in_graph)):
        return False
    if lineage.is_known(target):
        return False
    others = keys.DEVICES | keys.LAYOUTS | keys.CUT | keys.LAYERS & ~keys.AUTOGRAD
    if any(each._keys & others != keys.CPU for each in involved):
        return False
    return not modes.state.added & keys.INTERCEPTED and not writing.overlaps_itself(target._array)


def _write(array: Array, chosen: Selection, value: Array) -> None:
    view = array[(*chosen.basic, Ellipsis)]
    if chosen.position is None:
        view[...] = value
    else:
        write(view, value, chosen.position._array, chosen.dims)


def assignable(target: Tensor, chosen: Selection, value: Any, call: str) -> Any:
    """The value as a tensor of the target's dtype that broadcasts to the selection, or a number."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = wrap(np.asarray(value)) if value.ndim else value.item()
    if not isinstance(value, Tensor):
        return number_for(target, value, call)
    converts = chosen.position is None or (chosen.masks_only and value.numel() == 1)
    if value.dtype is not target.dtype and not converts:
        raise fail(
            RuntimeError,
            call=f"{call} with {describe(value)} into {describe(target)}",
            cause="Index put requires the source and destination dtypes match, got "
            f"{target.dtype.name} for the destination and {value.dtype.name} for the source",
            fix=f"convert the value: value.to(whygrad.{target.dtype.name})",
        )
    surplus = value.ndim - len(chosen.shape)
    if surplus > 0 and set(value.shape[:surplus]) == {1}:
        value = value.reshape(value.shape[surplus:])
    if not _broadcasts(value.shape, chosen.shape):
        raise fail(
            RuntimeError,
            call=f"{call} with {describe(value)} into {describe(target)}",
            cause=f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast "
            f"to indexing result of shape {list(chosen.shape)}",
            fix="sizes must be equal or 1, counted from the last dimension",
        )
    return value.to(target.dtype)


def _broadcasts(shape: Shape, target: Shape) -> bool:
    return len(shape) <= len(target) and all(
        size in (1, wanted) for size, wanted in zip(reversed(shape), reversed(target), strict=False)
    )


def _index_put_args(
    input: Tensor, indices: Any, values: Tensor, accumulate: bool = False
) -> tuple[Any, ...]:
    if not isinstance(indices, (tuple, list)) or not indices:
        raise fail(
            TypeError,
            call=f"index_put({describe(input)}, {describe(indices)}, …)",
            cause=f"argument 'indices' must be tuple of Tensors, not {describe(indices)}",
            fix="pass a tuple with one tensor per indexed dimension, such as (index,)",
        )
    chosen = read(input, tuple(map(_as_array_index, indices)))
    value = assignable(input, chosen, values, "index_put")
    return input, value, chosen.position, chosen.dims, accumulate


def _as_array_index(index: Tensor | None) -> Any:
    if index is None:
        return slice(None)
    return index.reshape((1,)) if index.ndim == 0 else index  # 0-d would be read as a number


def _index_put_rule(
    xp: Any, incoming: Array, position: Array, dims: tuple[int, ...], accumulate: bool
) -> Array:
    return incoming if accumulate else xp.index_put(incoming, 0.0, position, dims, False)


def _index_put_value_rule(
    xp: Any, incoming: Array, position: Array, dims: tuple[int, ...], accumulate: bool
) -> Array:
    pick = xp.index if accumulate else xp.index_last
    return pick(incoming, position, dims)


define(
    "index_put(x, value, position; dims, accumulate)",
    "y = x with value written (or added) at position;  ∂x = incoming, 0 where written,  "
    "∂value = incoming at position",
    forward=index_put,
    vjp={"x": _index_put_rule, "value": _index_put_value_rule},
    linear=True,
    meta=lambda x, value, position, dims, accumulate: (x.shape, x.dtype),
    public=_index_put_args,
    inplace=True,
    notes="Of several values written to one place the last one stays and only it gets a "
    "gradient; PyTorch sends the gradient to all of them.",
    samples=lambda make: [
        make.call(make(4, 3), (np.array([2, 0]),), make(2, 3)),
        make.call(make(4, 3), (np.array([2, 0]), np.array([1, 1])), make()),
        make.call(make(4, 3), (np.array([2, -2]), np.array([1, 1])), make(2), accumulate=True),
        make.call(make(4, 3), (make.bools(4, 3),), make(1)),
    ],
)


def _iter(self: Tensor) -> Iterator[Tensor]:
    """The slices along the first dimension."""
    if self.ndim == 0:
        raise _no_length("iteration over a 0-d tensor")
    return iter(table["unbind"].call(self, 0))


def _reversed(self: Tensor) -> Tensor:
    """The slices along the first dimension in the other order, as one tensor."""
    return table["flip"].call(self, (0,)) if self.ndim else self


def _len(self: Tensor) -> int:
    """The size of the first dimension."""
    if self.ndim == 0:
        raise _no_length("len() of a 0-d tensor")
    return self.shape[0]


def _no_length(cause: str) -> TypeError:
    return fail(
        TypeError,
        call="a tensor without dimensions, used as a sequence",
        cause=cause,
        fix="use item() for its number, or x[None] to add a dimension",
    )


def _contains(self: Tensor, element: Any) -> bool:
    """Whether any element equals ``element``."""
    if not isinstance(element, (Tensor, bool, int, float, complex)):
        raise fail(
            RuntimeError,
            call=f"{element!r} in {describe(self)}",
            cause="Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element).__name__}",
            fix="convert it with whygrad.tensor(value)",
        )
    return bool(table["eq"].call(self, element).any().item())


for _name, _method in {
    "__contains__": _contains,
    "__getitem__": _getitem,
    "__iter__": _iter,
    "__len__": _len,
    "__reversed__": _reversed,
    "__setitem__": _setitem,
}.items():
    setattr(Tensor, _name, _method)
