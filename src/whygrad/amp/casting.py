"""The layer of ``autocast``: casts the arguments of an op as its row of the table says.

What runs below a cast op runs without the layer: an op has one precision, not one for each of the
ops it is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from whygrad.amp.state import get_autocast_dtype, state
from whygrad.dispatch import register_layer
from whygrad.dispatch.arguments import lowering
from whygrad.tensor import Tensor, dtypes, keys, modes

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = ["cast_floats", "run_lowered"]

_TRANSFORMED = keys.BATCHED | keys.FORWARD | keys.VARYING


def run_lowered(
    op: Op, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``function(*args, **kwargs)`` in the precision that suits the op."""
    kind = _kind(op, args, kwargs)
    if kind is None:
        return function(*args, **kwargs)
    if kind != "keep" and kwargs.get("out") is None:
        target = _target(kind, (args, kwargs))
        args = cast_floats(args, target)
        kwargs = {name: cast_floats(each, target) for name, each in kwargs.items()}
    added = modes.state.added
    modes.state.added = added & ~keys.AUTOCAST
    try:
        return function(*args, **kwargs)
    finally:
        modes.state.added = added


def _kind(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return op.autocast(*args, **kwargs) if callable(op.autocast) else op.autocast


def _target(kind: str, arguments: Any) -> dtypes.DType:
    if kind == "float32":
        return dtypes.float32
    lower: dtypes.DType = get_autocast_dtype("cpu")
    if kind == "promote":
        for tensor in _tensors(arguments):
            if _eligible(tensor):
                lower = dtypes.promote_types(lower, tensor.dtype)
    return lower


def cast_floats(value: Any, target: dtypes.DType) -> Any:
    """Every tensor of floats in a nested argument in another precision; float64 stays."""
    if isinstance(value, Tensor):
        if not _eligible(value) or value.dtype is target:
            return value
        return _kept_cast(value, target)
    if type(value) in (list, tuple):
        return type(value)([cast_floats(each, target) for each in value])
    return value


def _eligible(tensor: Tensor) -> bool:
    dtype = tensor.dtype
    return dtype.is_floating_point and dtype is not dtypes.float64 and tensor.device.type == "cpu"


def _kept_cast(tensor: Tensor, target: dtypes.DType) -> Tensor:
    """A cast; that of a parameter is kept, so that its gradient is cast back once.

    It is made anew if the parameter was written since, or if it is to be recorded now and was not
    before.
    """
    keep = (
        state.keeps_casts
        and state.nesting > 0
        and tensor.dtype is dtypes.float32
        and target is not dtypes.float32
        and tensor.requires_grad
        and tensor.is_leaf
        and tensor._base is None
        and not tensor._keys & _TRANSFORMED
    )
    if not keep:
        return _cast(tensor, target)
    leaf, version, known = state.casts.get(id(tensor), (None, 0, None))
    if (
        known is not None
        and leaf is tensor
        and version == tensor._storage.version
        and known.dtype is target
        and known.requires_grad is modes.state.recording
    ):
        return known
    made = _cast(tensor, target)
    state.casts[id(tensor)] = tensor, tensor._storage.version, made
    return made


def _cast(tensor: Tensor, target: dtypes.DType) -> Tensor:
    made: Tensor = tensor.to(target)
    return made


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for each in value for tensor in _tensors(each)]
    return []


def _layer(op: Op, bits: int) -> Callable[..., Any]:
    if op.autocast is None:
        return op.table[bits & ~keys.AUTOCAST]

    def lower(*args: Any) -> Any:
        if _kind(op, args, {}) is None:
            return op.table[bits & ~keys.AUTOCAST](*args)
        return run_lowered(op, op.call, args, {})

    return lower


register_layer(keys.AUTOCAST, _layer)
lowering.run = run_lowered
