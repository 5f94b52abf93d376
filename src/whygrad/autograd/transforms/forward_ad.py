"""Forward mode: values that carry their derivative along (dual numbers).

A dual tensor has one tangent per level.  An op on duals takes the highest level off its
arguments, runs on what is left, and pushes the tangents through the op's forward rule.  What is
left may carry tangents of lower levels, so levels nest, and a tangent of one level is never
mistaken for another's (no perturbation confusion).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple

from whygrad.autograd.views import twins
from whygrad.dispatch import register_layer
from whygrad.errors import describe, fail
from whygrad.ops.define import Op
from whygrad.ops.namespace import recorded
from whygrad.ops.plan import names_needed_by
from whygrad.tensor import Tensor, alias, keys, modes
from whygrad.tensor.graph.node import Node
from whygrad.threads import PerThread

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class _Level:
    """One open level; knows who carries its tangents, to take them back when it closes."""

    def __init__(self) -> None:
        self.number = _next_number()
        self.carriers: list[weakref.ref[Any]] = []

    def close(self) -> None:
        for reference in self.carriers:
            carrier = reference()
            if isinstance(carrier, Tensor):
                _drop(carrier, self.number)
            elif carrier is not None:
                _drop_saved(carrier, self.number)


class _Levels(PerThread):
    def __init__(self) -> None:
        self.open: list[_Level] = []


_levels = _Levels()
_next_number = count(
    1
).__next__  # never used twice, so a stale tangent is never taken for a new one


class UnpackedDualTensor(NamedTuple):
    """A value and its derivative; ``tangent`` is None where there is none."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open a level for tangents and return its number."""
    _levels.open.append(_Level())
    return _levels.open[-1].number


def exit_dual_level(level: int | None = None) -> None:
    """Close the innermost level; its tangents are gone."""
    innermost = _levels.open[-1].number if _levels.open else None
    if innermost is None or (level is not None and level != innermost):
        raise fail(
            RuntimeError,
            call=f"exit_dual_level(level={level})",
            cause=f"the innermost open level is {innermost}",
            fix="use `with dual_level():`, which closes levels in order",
        )
    _levels.open.pop().close()


@contextmanager
def dual_level() -> Iterator[int]:
    """A level for tangents that is closed on every exit."""
    level = enter_dual_level()
    try:
        yield level
    finally:
        while _levels.open and _levels.open[-1].number >= level:  # inner ones left open as well
            exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor of the same value that carries ``tangent`` as its derivative."""
    level = _current(level, "make_dual")
    if tensor.shape != tangent.shape or tensor.dtype is not tangent.dtype:
        raise fail(
            RuntimeError,
            call=f"make_dual({describe(tensor)}, {describe(tangent)})",
            cause="a tangent needs the shape and dtype of its tensor",
            fix="make it with whygrad.randn_like(tensor) or whygrad.ones_like(tensor)",
        )
    if tensor._keys & keys.BATCHED:
        from whygrad.autograd.transforms.batching import (
            add_batch,
            remove_batch,
            without_highest_level,
        )

        (physical,), batch = without_highest_level(tensor)
        tangent = remove_batch(tangent, batch, physical.shape[0])
        return add_batch(make_dual(physical, tangent, level=level), batch)
    dual = without_tangents(tensor)
    dual._base = None  # views of it are written back to the tangent of the dual, not of its base
    dual._tangent = tensor._tangent
    attach(dual, level, tangent)
    dual.__dict__["_primal"] = (weakref.ref(tensor), level)
    return twins(dual, tensor if tensor._base is None else tensor._base)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Take a dual tensor apart."""
    level = _current(level, "unpack_dual")
    if tensor._keys & keys.BATCHED:
        from whygrad.autograd.transforms.batching import add_batch
        from whygrad.autograd.transforms.lifting import within_level

        batch = tensor._array.level
        inner = unpack_dual(tensor._array.tensor, level=level)
        tangent = None if inner.tangent is None else within_level(inner.tangent, batch)
        return UnpackedDualTensor(add_batch(inner.primal, batch), tangent)
    primal = without(tensor, level)
    if primal is not tensor:
        twins(primal, tensor)
    return UnpackedDualTensor(primal, tangent_at(tensor, level))


def _current(level: int | None, call: str) -> int:
    if not _levels.open:
        raise fail(
            RuntimeError,
            call=f"{call}(…)",
            cause="no dual level is open in this thread",
            fix="call it inside `with forward_ad.dual_level():`",
        )
    return _levels.open[-1].number if level is None else level


def attach(tensor: Tensor, level: int, tangent: Tensor) -> None:
    """Give ``tensor`` its tangent of this level."""
    tensor._tangent = {**(tensor._tangent or {}), level: tangent}
    tensor._keys |= keys.FORWARD
    _carry(tensor, level)


def set_tangents(tensor: Tensor, tangents: dict[int, Tensor]) -> None:
    """``tensor`` has another value now, whose tangents are these."""
    tensor._tangent = tangents or None
    tensor._keys = tensor._keys | keys.FORWARD if tangents else tensor._keys & ~keys.FORWARD
    for level in tangents:
        _carry(tensor, level)


def _carry(carrier: Any, level: int) -> None:
    for each in _levels.open:
        if each.number == level:
            each.carriers.append(weakref.ref(carrier))


def _drop(tensor: Tensor, level: int) -> None:
    left = {key: each for key, each in (tensor._tangent or {}).items() if key != level}
    tensor._tangent = left or None
    if not left:
        tensor._keys &= ~keys.FORWARD


def _drop_saved(node: Node, level: int) -> None:
    kept = [
        {key: each for key, each in (tangents or {}).items() if key != level} or None
        for tangents in node.extras.tangents or ()
    ]
    node.extras.tangents = tuple(kept) if any(kept) else None


def without_tangents(tensor: Tensor) -> Tensor:
    """The same memory and the same place in the graph, without tangents."""
    primal = alias(tensor, tensor._node, tensor._slot)
    primal._keys = tensor._keys & ~keys.FORWARD
    primal._base = tensor._base
    if tensor._storage.restricted:
        primal.__dict__.update(tensor.__dict__)
    return primal


def tangent_at(value: Any, level: int) -> Any:
    """The tangent of this level; None where there is none."""
    tangents = value._tangent if isinstance(value, Tensor) else None
    return None if tangents is None else tangents.get(level)


def without(value: Any, level: int) -> Any:
    """The same value without its tangent of this level."""
    if not isinstance(value, Tensor) or tangent_at(value, level) is None:
        return value
    left = {key: each for key, each in value._tangent.items() if key != level}
    primal = without_tangents(value)
    if left:
        primal._tangent = left
        primal._keys |= keys.FORWARD
    return primal


def _layer(op: Op, bits: int) -> Callable[..., Any]:
    count = len(op.tensor_names)

    def with_tangents(*args: Any) -> Any:
        tensors = list(args[0]) if op.variadic else list(args[:count])
        level = max(max(each._tangent) for each in tensors if _is_dual(each))
        primals = [without(each, level) for each in tensors]
        tangents = tuple(tangent_at(each, level) for each in tensors)
        params = args[count:]
        result = op.call(primals, *params) if op.variadic else op.call(*primals, *params)
        outputs = result if isinstance(result, tuple) else (result,)
        for output in outputs:
            if output._base is None:
                continue
            if output._base is primals[0]:
                output._base = tensors[0]  # a write to the view is a write to the dual tensor
            if not modes.state.recording:  # tangents follow a write even where histories do not
                output._storage.add_view(output)
        derivative = push(op, primals, tangents, outputs, params)
        if derivative is not None:
            tangents_out = derivative if isinstance(result, tuple) else (derivative,)
            for output, tangent in zip(outputs, tangents_out, strict=True):
                if tangent is not None:
                    attach(output, level, tangent)
        _remember(outputs, tensors, level)
        return result

    return with_tangents


def _remember(outputs: tuple[Tensor, ...], inputs: list[Any], level: int) -> None:
    node = next((out._node for out in outputs if out._node is not None), None)
    if node is not None:
        values = (*inputs, *outputs)
        found = (each._tangent if isinstance(each, Tensor) else None for each in values)
        remember(node, tuple(found), level)


def remember(node: Node, tangents: tuple[Any, ...], level: int) -> None:
    """Let a node find the tangents of its inputs and outputs, for reverse mode over forward."""
    node.extras.tangents = tangents
    _carry(node, level)


def _is_dual(value: Any) -> bool:
    return isinstance(value, Tensor) and value._tangent is not None


def push(
    op: Op,
    primals: list[Any],
    tangents: tuple[Any, ...],
    outputs: tuple[Tensor, ...],
    params: tuple[Any, ...],
) -> Any:
    """The derivative of an op's outputs along the given tangents of its inputs."""
    if op.vjp is None:
        return None
    known = _Named(op, primals, outputs, params)
    if op.jvp is not None:
        return op.jvp(recorded, tangents, *known.arguments(op.jvp))
    if op.linear:
        return _push_linear(op, primals, tangents, params)
    return _push_elementwise(op, tangents, outputs[0], known)


def _push_linear(
    op: Op, primals: list[Any], tangents: tuple[Any, ...], params: tuple[Any, ...]
) -> Any:
    """A linear op moves tangents exactly as it moves values."""
    moved: list[Any] = []
    for position, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        name = op.tensor_names[0 if op.variadic else position]
        if not isinstance(primal, Tensor) and op.has_rule(name):
            moved.append(0.0 if primal is not None else None)
        elif not op.has_rule(name):
            moved.append(primal)
        else:
            moved.append(recorded.zeros_like(primal) if tangent is None else tangent)
    if op.name == "view":  # a tangent need not lie in memory as its primal does
        moved[0] = moved[0].contiguous()
    return op.call(moved, *params) if op.variadic else op.call(*moved, *params)


def _push_elementwise(
    op: Op, tangents: tuple[Any, ...], output: Tensor, known: _Named
) -> Tensor | None:
    """The Jacobian of an elementwise op is diagonal: its reverse rule is also its forward rule."""
    assert isinstance(op.vjp, dict), f"op {op.name} needs an explicit jvp"
    total: Any = None
    for name, tangent in zip(op.tensor_names, tangents, strict=True):
        if tangent is not None and name in op.vjp:
            rule = op.vjp[name]
            term = rule(recorded, tangent, *known.arguments(rule))
            if term is not None:
                total = term if total is None else total + term
    if total is None or total.shape == output.shape:
        return total
    return recorded.expand(total, output.shape)


class _Named:
    """Looks up what a rule asks for by parameter name."""

    def __init__(
        self,
        op: Op,
        primals: list[Any],
        outputs: tuple[Tensor, ...],
        params: tuple[Any, ...],
    ) -> None:
        self.values: dict[str, Any] = dict(zip(op.param_names, params, strict=True))
        self.values.update(zip(op.output_names, outputs, strict=False))
        self.values["needs"] = tuple(True for _ in primals)
        if op.variadic:
            name = op.tensor_names[0]
            self.values[name] = primals
            self.values[f"{name}_shape"] = tuple(each.shape for each in primals)
            return
        for name, primal in zip(op.tensor_names, primals, strict=True):
            self.values[name] = primal
            if isinstance(primal, Tensor):
                self.values[f"{name}_shape"] = primal._array.shape
                self.values[f"{name}_dtype"] = primal._array.dtype

    def arguments(self, rule: Callable[..., Any]) -> list[Any]:
        return [self.values.get(name) for name in names_needed_by(rule)]


register_layer(keys.FORWARD, _layer)
