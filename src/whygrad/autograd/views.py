"""Views and the tensor they look at: one memory, one history.

A write through a view changes its base, and with it every other view.  So the *base* gets the new
history, "the old base with this part written over", and every living view of it becomes an
``as_strided`` of the new base.  PyTorch's name for the first is CopySlices.  Nothing is copied:
the write itself happened in memory, only the graph is told.

The parts of complex numbers are such views, too (``x.real``, ``view_as_real``): where view and base
are not of one dtype, both are looked at as the real numbers they consist of.

PyTorch does not allow writes to some views, and neither do we: to one of several outputs (split,
unbind, chunk), and to a view that was made while recording was off.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from whygrad.autograd import leaves
from whygrad.errors import describe, fail
from whygrad.source import Where, user_frame
from whygrad.tensor import keys, modes
from whygrad.tensor.graph.bases import Made
from whygrad.tensor.graph.node import Node, next_order
from whygrad.tensor.memory import may_overlap

if TYPE_CHECKING:
    from whygrad.ops.define import Op
    from whygrad.tensor import Tensor

__all__ = ["check_recorded_write", "rewrite"]


def twins(twin: Tensor, tensor: Tensor) -> Tensor:
    """``twin`` is the same memory with other tangents; neither is a view of the other.

    A recorded write to one of them would leave the other with a history that is not its own.
    """
    storage = twin._storage
    storage.restricted = True
    storage.add_view(twin)
    twin.__dict__["_twin"] = weakref.ref(tensor)  # make_dual(x.clone(), …) is alone
    return twin


def _has_twin(tensor: Tensor) -> bool:
    return _twin_of(tensor) is not None or any(
        _twin_of(each) is tensor for each in tensor._storage.live_views()
    )


def _twin_of(tensor: Tensor) -> Tensor | None:
    reference = tensor.__dict__.get("_twin")
    return None if reference is None else reference()


def check_recorded_write(
    target: Tensor, source: Tensor | None, name: str, where: Where, uniform: bool
) -> None:
    """Raise unless a recorded write of ``source`` to ``target`` has a meaning."""
    base = target if target._base is None else target._base
    gains_history = source is not None and source._node is not None
    if not gains_history and target._node is None and base._node is None:
        return
    if target._storage.restricted and _has_twin(base):
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)} at {where}",
            cause="make_dual() or unpack_dual() has made another tensor over its memory, whose "
            "history a recorded write would leave behind",
            fix="use the out-of-place form, or make_dual() of a clone()",
            where=None,
        )
    if target._base is not None:
        made = target.__dict__.get("_made") if target._storage.restricted else None
        if made is not None:
            raise _not_writable(made, target, name, where)
        _check_geometry(target, base, name, where, uniform)
    leaf = next((each for each in (base, target) if each._node and each.is_leaf), None)
    # A base without gradients may have views that are leaves with some: this is a view of one.
    hidden = target._node is not None and target is not base and base._node is None
    if leaf is not None or hidden:
        what = "a leaf" if leaf is target else "a view of a leaf"
        made = (
            "" if leaf is None else f"it became a leaf by requires_grad at {leaf._node.where}, and "
        )
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)} at {where}",
            cause=f"{what} Variable that requires grad is being used in an in-place operation; "
            f"{made}its gradient belongs to the value it had",
            fix="write inside `with whygrad.no_grad():`, or use the out-of-place form",
            where=None,
        )


def _not_writable(made: Made, target: Tensor, name: str, where: Where) -> RuntimeError:
    op, code, instruction = made
    place = f"{op.name}()" if code is None else f"{op.name}() at {Where(code, instruction)}"
    if op.kind == "custom":
        cause = (
            f"it is a view made by {place}: it was created inside a custom Function (or an input "
            "was returned as-is), and a recorded write would override its backward, leading to "
            "incorrect gradients"
        )
        fix = f"clone() the output of {op.name} before writing to it"
    elif op.returns_list:
        cause = (
            f"it is a view made by {place}, which returns multiple views. Such functions do not "
            "allow the output views to be modified inplace"
        )
        fix = "use the out-of-place form, or write to a slice of the base: x[1:3].mul_(2)"
    else:
        cause = (
            f"it is a view that was created in no_grad mode, by {place}, and is being modified "
            "inplace with grad mode enabled: should the write be recorded or not?"
        )
        fix = "make the view where it is written: both inside no_grad(), or both outside"
    return fail(
        RuntimeError,
        call=f"{name} on {describe(target)} at {where}",
        cause=cause,
        fix=fix,
        where=None,
    )


def _check_geometry(target: Tensor, base: Tensor, name: str, where: Where, uniform: bool) -> None:
    if base._keys & keys.LAYOUTS:
        cause = f"its base is {describe(base)}, a sparse tensor, whose history cannot be rewritten"
    elif target.dtype is not base.dtype and not _is_part(target, base):
        cause = f"its base is {describe(base)}: no gradient goes through a change of dtype"
    elif not uniform and may_overlap(tuple(target.shape), target.stride()):
        cause = "several of its elements share memory, so it is not defined which one was written"
    else:
        return
    raise fail(
        RuntimeError,
        call=f"{name} on {describe(target)}, a view, at {where}",
        cause=cause,
        fix="clone() it before writing, or write to the base",
        where=None,
    )


def rewrite(target: Tensor, written: Tensor) -> None:
    """``written`` is now in the memory of ``target``: give target, base and views their history."""
    base = target if target._base is None else target._base
    involved = (written, target, base)
    recording = modes.state.recording and any(each._node is not None for each in involved)
    tangents = any(each._tangent for each in involved)
    if not recording and not tangents:
        return
    if base is not target:
        _write_part(base, target, written, recording)
    else:
        if recording:
            leaves.move(target, written._node, written._slot)
        if tangents:
            _adopt(target, dict(written._tangent or {}))
    showing = base._storage.live_views()
    if tangents and not any(view is target for view in showing):  # it was made under no_grad
        showing.append(target)
    for view in showing:
        if view._base is base and (view.dtype is base.dtype or _is_part(view, base)):
            _look_again(view, base, recording)
    if tangents and base._storage.restricted:
        _tell_primal(base)


def _tell_primal(dual: Tensor) -> None:
    """What was written to a dual tensor stands in its primal, with the tangents of lower levels."""
    from whygrad.autograd.transforms.forward_ad import without

    reference, level = dual.__dict__.get("_primal", (None, 0))
    primal = None if reference is None else reference()
    if primal is not None:
        rewrite(primal, without(dual, level))


def _is_part(view: Tensor, base: Tensor) -> bool:
    """Whether one shows complex numbers and the other the real numbers they consist of."""
    pair, single = (view, base) if view.dtype.is_complex else (base, view)
    halves = pair.dtype.is_complex and single.dtype.is_floating_point
    return halves and pair.dtype.itemsize == 2 * single.dtype.itemsize


def _reals(tensor: Tensor) -> Tensor:
    """The same memory as real numbers, recorded."""
    from whygrad.ops.namespace import recorded

    if not tensor.dtype.is_complex:
        return tensor
    pairs: Tensor = recorded.view_as_real(tensor)
    return pairs


def _complexes(pairs: Tensor) -> Tensor:
    from whygrad.ops.namespace import recorded

    joined: Tensor = recorded.complex(pairs[..., 0], pairs[..., 1])
    return joined


def _write_part(base: Tensor, target: Tensor, written: Tensor, recording: bool) -> None:
    from whygrad.ops.define import table
    from whygrad.tensor import alias

    op, mixed = table["copy_slices"], target.dtype is not base.dtype
    show = _reals if mixed else _itself
    whole, part = show(base), show(written)
    geometry = _geometry(show(target), whole)
    if base._tangent or written._tangent:
        tangents = {
            level: op.call(show(_tangent(base, level)), show(_tangent(written, level)), *geometry)
            for level in {*(base._tangent or {}), *(written._tangent or {})}
        }
        if whole is not base:
            tangents = {level: _complexes(each) for level, each in tangents.items()}
        _adopt(base, tangents)
    if recording:
        node = _node(op, (whole, part), whole, geometry)
        if whole is not base:
            node = _node(table["view_as_complex"], (alias(whole, node, 0),), base, ())
        leaves.move(base, node, 0)


def _look_again(view: Tensor, base: Tensor, recording: bool) -> None:
    """Make ``view`` an ``as_strided`` of what its base is now."""
    from whygrad.ops.define import table
    from whygrad.tensor import alias

    show = _reals if view.dtype is not base.dtype else _itself
    seen, whole = show(view), show(base)
    geometry = _geometry(seen, whole)
    if base._tangent or view._tangent:
        tangents = {
            level: table["restride"].call(show(tangent), *geometry)
            for level, tangent in (base._tangent or {}).items()
        }
        if seen is not view:
            tangents = {level: _complexes(each) for level, each in tangents.items()}
        _adopt(view, tangents)
    if recording and base._node is not None:
        made = view.__dict__.get("_made") if view._storage.restricted else None
        if made is not None and made[0].kind == "custom" and view._node is not None:
            from whygrad.autograd.custom.refusal import refuse_overwritten

            refuse_overwritten(view, base, made)
            return
        node = _node(table["as_strided"], (whole,), seen, geometry, view._node)
        if seen is not view:
            node = _node(table["view_as_complex"], (alias(seen, node, 0),), view, (), view._node)
        leaves.move(view, node, 0)


def _itself(tensor: Tensor) -> Tensor:
    return tensor


def _geometry(view: Tensor, base: Tensor) -> tuple[Any, ...]:
    """size, stride, offset of the view and strides of its base, in elements.

    Many views may have to look again after every write, so the answer is kept.
    """
    kept = view.__dict__.get("_geometry")
    if kept is not None and kept[0] is view._array and kept[1] is base._array:
        known: tuple[Any, ...] = kept[2]
        return known
    geometry = (
        tuple(view._array.shape),
        view.stride(),
        view.storage_offset() - base.storage_offset(),
        base.stride(),
    )
    view.__dict__["_geometry"] = (view._array, base._array, geometry)
    return geometry


def _tangent(tensor: Tensor, level: int) -> Tensor:
    from whygrad.ops.namespace import recorded

    found = (tensor._tangent or {}).get(level)
    return recorded.zeros_like(tensor.detach()) if found is None else found


def _adopt(tensor: Tensor, tangents: dict[int, Tensor]) -> None:
    """Give ``tensor`` these tangents; a write that is not recorded leaves their history alone."""
    from whygrad.autograd.transforms.forward_ad import set_tangents

    before = tensor._tangent
    if before is not None and not modes.state.recording:
        tangents = {
            level: _with_history(each, before[level]) if level in before else each
            for level, each in tangents.items()
        }
    set_tangents(tensor, tangents)


def _with_history(written: Tensor, before: Tensor) -> Tensor:
    from whygrad.tensor import alias

    if written._keys & before._keys & keys.BATCHED and written._array.level == before._array.level:
        from whygrad.autograd.transforms.batching import add_batch

        batch = _with_history(written._array.tensor, before._array.tensor)
        return add_batch(batch, written._array.level)
    if before._keys & keys.BATCHED or before._node is None or written._node is not None:
        return written
    kept = alias(written, before._node, before._slot)
    if written._tangent is not None:
        _adopt(kept, dict(written._tangent))
    return kept


def _node(
    op: Op,
    inputs: tuple[Tensor, ...],
    output: Tensor,
    params: tuple[Any, ...],
    before: Node | None = None,
) -> Node:
    """The record of an op whose result is already in memory.

    ``before`` is the node a view had: the line that made it says more than that of the write.
    """
    needs = tuple([each._node is not None for each in inputs])
    plan = op.plan(needs, bool(output._keys & keys.META))
    node = Node()
    node.plan = plan
    node.parents = tuple([each._node for each in inputs if each._node is not None])
    node.slots = tuple([each._slot for each in inputs if each._node is not None])
    array = output._array
    node.values = plan.save((*[each._array for each in inputs], array, *params))
    node.guards = ()
    node.shape = array.shape
    node.dtype = array.dtype
    node.order = next_order()
    if before is None:
        frame = user_frame()
        node.code, node.instruction = frame.f_code, frame.f_lasti
    else:
        node.code, node.instruction = before.code, before.instruction
    node._extras = None
    return node
