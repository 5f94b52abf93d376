"""From an op call to the code that runs.

An op call ORs its arguments' keys into one integer and looks it up in the op's own table.  A
missing entry is built once by stacking layers: promotion, forward mode, autograd, and at the
bottom the kernel for the device, layout and dtype.  A backend or a layer is added by registering
kernels, not by editing ops.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whygrad import devices, dtypes, keys
from whygrad.autograd import modes
from whygrad.autograd.graph import Node, next_order
from whygrad.autograd.source import caller, outside, user_frame
from whygrad.errors import describe_call, explained, fail
from whygrad.storage import InferenceStorage
from whygrad.tensor import Tensor, payload_keys, wrap

if TYPE_CHECKING:
    from whygrad.ops.define import Op, Plan

__all__ = [
    "bind",
    "explain",
    "kernel_for",
    "register",
    "register_device",
    "register_layer",
    "register_layout",
]

Entry = Callable[..., Any]
new_node = Node.__new__
active = modes.active
state = modes.state
AUTOGRAD = keys.AUTOGRAD
new_tensor = Tensor.__new__
ndarray = np.ndarray
getframe = sys._getframe
FIRST, FIRST_TWO = (0,), (0, 0)  # shared, so that a node costs one object less


class _Quiet(threading.local):
    """Runs kernels with NumPy's floating point warnings off: log(0) is −inf, as in PyTorch.

    A context of its own costs 20 ns per call where ``np.errstate`` costs a microsecond.
    """

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        self.run = context.run

    @contextmanager
    def again(self) -> Iterator[None]:
        """A context cannot be entered twice: code inside one that calls ops needs a second."""
        outer = self.run
        self.run = contextvars.copy_context().run
        try:
            yield
        finally:
            self.run = outer


quiet = _Quiet()


class KernelTable(dict[int, Entry]):
    """Keys → ready-made call path of one op; builds what it does not have."""

    def __init__(self, op: Op) -> None:
        super().__init__()
        self.op = op
        # (key bits that must all be set, function), most specific first
        self.kernels: list[tuple[int, Callable[..., Any]]] = []
        self.composites: list[tuple[int, Callable[..., Any]]] = []

    def __missing__(self, bits: int) -> Entry:
        entry = route(self.op, bits).build()
        if watching.observe is not None:
            return watching.observe(self.op, bits, entry)
        self[bits] = entry
        return entry


class _Watching(threading.local):
    """Sees every op call of this thread while set; tables keep no entries meanwhile."""

    observe: Callable[[Op, int, Entry], Entry] | None = None


watching = _Watching()


def register(
    op: Op | Callable[..., Any],
    where: str | int,
    kernel: Callable[..., Any] | None = None,
    *,
    composite: bool = False,
) -> Any:
    """Give an op a kernel for a device, layout or dtype: ``register(whygrad.add, "toy", kernel)``.

    The kernel takes the payloads of the tensors and the op's parameters.  With ``composite`` it
    takes the tensors themselves and is made of other ops, whose derivatives are then its own.
    Usable as a decorator.
    """
    target: Op = getattr(op, "op", op)  # type: ignore[arg-type]
    bits = where if isinstance(where, int) else _bit_named(where)

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        rows = target.table.composites if composite else target.table.kernels
        rows.insert(0, (bits, function))  # of two equally specific ones the latest wins
        rows.sort(key=lambda row: -row[0].bit_count())
        target.table.clear()
        return function

    return add if kernel is None else add(kernel)


def _bit_named(name: str) -> int:
    for bit, known in keys._names.items():
        if known == name:
            return bit
    raise fail(
        ValueError,
        call=f"register(…, {name!r})",
        cause=f"no dispatch key has this name; known: {', '.join(keys._names.values())}",
        fix="reserve one with whygrad.dispatch.register_device or register_layout",
    )


def register_device(
    name: str,
    payload: type,
    *,
    from_numpy: Callable[[Any], Any],
    to_numpy: Callable[[Any], Any],
) -> devices.Device:
    """Add a device: a name, the class that holds its data, and the way there and back.

    ``payload`` needs ``shape`` and ``dtype`` (NumPy's).  After this ``x.to(name)`` moves tensors
    there, recorded by autograd; each op still needs its kernel: ``register(op, name, kernel)``.
    """
    _require_new(name)
    bit = keys.new_device(name)
    payload_keys[payload] = bit
    return devices.add(name, bit, from_numpy, to_numpy)


def _require_new(name: str) -> None:
    if name in keys._names.values():
        raise fail(
            ValueError,
            call=f"a device or layout named {name!r}",
            cause="a dispatch key of this name exists already",
            fix="choose another name, or register kernels for the existing one",
        )


def register_layout(name: str, payload: type, device: str = "cpu") -> devices.Layout:
    """Add a memory layout: a name and the class that holds the data on ``device``.

    ``payload`` needs ``shape`` and ``dtype`` (NumPy's).  Kernels are added with
    ``register(op, name, kernel)``.
    """
    _require_new(name)
    layout = devices.Layout(name, keys.new_layout(name))
    devices.layouts.append(layout)
    payload_keys[payload] = devices.of(device).key | layout.key
    return layout


# Layers above autograd: (key bit, builder(op, bits) -> entry), highest first.
_layers: list[tuple[int, Callable[[Op, int], Entry]]] = []


def register_layer(bit: int, build: Callable[[Op, int], Entry]) -> None:
    """Install a layer: ``build`` returns the entry for ops whose arguments carry ``bit``.

    The entry takes its bit off the arguments and calls the op again, which reaches the layers
    below.
    """
    _layers.append((bit, build))
    _layers.sort(key=lambda row: -row[0])


class Route(NamedTuple):
    """Who handles a call with certain keys first, and how that call path is made."""

    layer: str
    build: Callable[[], Entry]


def route(op: Op, bits: int) -> Route:
    """The first layer that has something to do.  It does its part and calls the op again."""
    for kind, (cause, fix) in op.refuses.items():
        if bits & keys.KINDS[kind]:
            return Route("refusal", partial(_refusing, op, cause, fix))
    for mask, function in op.table.composites:
        if bits & mask == mask:
            return Route("composite", partial(_identity, function))
    if (bits & keys.DEVICES).bit_count() > 1:
        return Route("devices", partial(_bringing_together, op))
    if _must_promote(op, bits):
        return Route("promotion", partial(_promoting, op))
    for bit, build in _layers:
        if bits & bit:
            return Route(keys.describe(bit)[0], partial(build, op, bits))
    kernel = kernel_for(op, bits).run
    if not bits & AUTOGRAD or op.vjp is None:
        return Route("kernel", partial(_plain, op, kernel))
    if bits & keys.COMPLEX:
        cause = "gradients through complex numbers are not supported; complex is forward only"
        fix = "detach() the input that requires grad, or compute with real and imaginary parts"
        return Route("refusal", partial(_refusing, op, cause, fix))
    return Route("autograd", partial(_recording, op, kernel, bits))


def _identity(function: Entry) -> Entry:
    return function


def _must_promote(op: Op, bits: int) -> bool:
    if op.promote == "none":
        return False
    present = bits & keys.DTYPES
    if present.bit_count() != 1:
        return True
    category = dtypes.by_key[present].category
    if op.promote == "float" and category <= dtypes.INTEGER:
        return True
    return any(
        bits & bit and dtypes.CATEGORY_OF_PYTHON[kind] > category
        for kind, bit in keys.SCALAR_BITS.items()
    )


def _refusing(op: Op, cause: str, fix: str) -> Entry:
    def refuse(*args: Any) -> Any:
        raise fail(
            RuntimeError,
            call=describe_call(op.name, (*op.tensor_names, *op.param_names), args),
            cause=cause,
            fix=fix,
            where=caller(),
        )

    return refuse


def _promoting(op: Op) -> Entry:
    """Convert the arguments to their common dtype (recorded as casts), then call again."""

    def promote(*args: Any) -> Any:
        target = common_dtype(op, args)
        if op.variadic:
            return op.call([each.to(target) for each in args[0]], *args[1:])
        cast = [_cast(arg, target) if i in op.promoted else arg for i, arg in enumerate(args)]
        return op.call(*cast)

    return promote


def common_dtype(op: Op, args: tuple[Any, ...]) -> dtypes.DType:
    """The dtype that promotion brings the arguments to."""
    operands = args[0] if op.variadic else [args[i] for i in op.promoted]
    target = dtypes.result_type(*(each for each in operands if each is not None))
    if op.promote == "float" and target.category <= dtypes.INTEGER:
        return dtypes.get_default_dtype()
    return target


def _cast(arg: Any, target: dtypes.DType) -> Any:
    if isinstance(arg, Tensor):
        return arg.to(target)
    if arg is None:
        return None
    return Tensor._from_number(arg, target)


class Kernel(NamedTuple):
    """What computes an op on payloads, and where it comes from."""

    origin: str
    function: Callable[..., Any]  # the one a person wrote
    run: Callable[..., Any]  # the one that is called: ``function``, or a wrapper around it


def kernel_for(op: Op, bits: int) -> Kernel:
    """The function on payloads that computes ``op`` for these keys."""
    for mask, function in op.table.kernels:
        if bits & mask == mask:
            origin = f"registered for {' and '.join(keys.describe(mask)) or 'every key'}"
            return Kernel(origin, function, function)
    if bits & keys.META:
        rule = op.forward if op.kind == "view" else meta_rule(op)
        return Kernel("meta rule: shapes only", rule, _meta_kernel(op))
    foreign = bits & (keys.DEVICES | keys.LAYOUTS) & ~keys.CPU
    if foreign:
        missing = _no_kernel(op, foreign)
        return Kernel(f"missing for {' and '.join(keys.describe(foreign))}", missing, missing)
    if bits & keys.HALVES and op.kind != "view" and op.name not in ("cast", "clone"):
        return Kernel("reference, computed in float32", op.forward, _in_float32(op.forward))
    return Kernel("reference", op.forward, op.forward)


def _bringing_together(op: Op) -> Entry:
    """Move 0-d cpu tensors to the other arguments' device; refuse any other mixture."""

    def bring(*args: Any) -> Any:
        operands = args[0] if op.variadic else args
        tensors = [each for each in operands if isinstance(each, Tensor)]
        places = {each.device.key: each.device for each in tensors if each.device.type != "cpu"}
        if len(places) > 1 or any(each.ndim for each in tensors if each.device.type == "cpu"):
            raise _mixed_devices(op, args)
        (target,) = places.values()

        moved = [each.to(target) if isinstance(each, Tensor) else each for each in operands]
        return op.call(moved, *args[1:]) if op.variadic else op.call(*moved)

    return bring


def _mixed_devices(op: Op, args: tuple[Any, ...]) -> RuntimeError:
    named = zip((*op.tensor_names, *op.param_names), args, strict=False)
    places = [f"{name} is on {arg.device}" for name, arg in named if isinstance(arg, Tensor)]
    if op.variadic:
        places = [f"{op.tensor_names[0]}[{i}] is on {t.device}" for i, t in enumerate(args[0])]
    return fail(
        RuntimeError,
        call=describe_call(op.name, (*op.tensor_names, *op.param_names), args),
        cause=f"expected all tensors to be on the same device, but {', '.join(places)}",
        fix="move them to one device with .to(device)",
        where=caller(),
    )


def _no_kernel(op: Op, foreign: int) -> Callable[..., Any]:
    def missing(*_: Any) -> Any:
        names = " and ".join(keys.describe(foreign))
        convert = ".to_dense()" if foreign & keys.LAYOUTS else ".to('cpu')"
        raise fail(
            RuntimeError,
            call=f"{op.name} on {names}",
            cause=f"{op.name} has no kernel for {names}",
            fix=f"convert with {convert}, or add a kernel with whygrad.dispatch.register",
            where=caller(),
        )

    return missing


def _in_float32(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Compute half precision in float32 and round once, as PyTorch's CPU kernels do."""

    def widened(*args: Any) -> Any:
        half: Any = None

        def widen(arg: Any) -> Any:
            nonlocal half
            if isinstance(arg, np.ndarray) and arg.dtype.itemsize == 2 and arg.dtype.kind in "fV":
                half = arg.dtype
                return arg.astype(np.float32)
            if isinstance(arg, (list, tuple)):
                return type(arg)(widen(each) for each in arg)
            return arg

        out = forward(*[widen(arg) for arg in args])
        if isinstance(out, (tuple, list)):
            return tuple(_round(each, half) for each in out)
        return _round(out, half)

    return widened


def _round(array: Any, half: Any) -> Any:
    return np.asarray(array).astype(half) if array.dtype == np.float32 else array


def _meta_kernel(op: Op) -> Callable[..., Any]:
    """Shapes and dtypes only."""
    if op.kind == "view":
        return op.forward

    def shapes_only(*args: Any) -> Any:
        answer = meta_rule(op)(*args)
        if isinstance(answer, list):
            return tuple(devices.meta_array(shape, dtype) for shape, dtype in answer)
        return devices.meta_array(*answer)

    return shapes_only


def meta_rule(op: Op) -> Callable[..., Any]:
    if op.meta is not None:
        return op.meta
    if op.kind == "elementwise":
        return _elementwise_meta

    def unknown(*_: Any) -> Any:
        raise fail(
            RuntimeError,
            call=f"{op.name} on meta tensors",
            cause="the shape of the result depends on the data",
            fix="run it on cpu",
        )

    return unknown


def _elementwise_meta(*args: Any) -> Any:
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    return np.broadcast_shapes(*(each.shape for each in arrays)), arrays[0].dtype


# --- call paths -------------------------------------------------------------------------------


def _payload(arg: Any) -> Any:
    if isinstance(arg, Tensor):
        return arg._array
    if isinstance(arg, (list, tuple)):
        return [each._array if isinstance(each, Tensor) else each for each in arg]
    return arg


def _plain(op: Op, kernel: Callable[..., Any]) -> Entry:
    """Compute; record nothing."""
    count = len(op.tensor_names)
    is_view = op.kind == "view"

    def plain(*args: Any) -> Any:
        try:
            result = quiet.run(kernel, *[_payload(arg) for arg in args[:count]], *args[count:])
        except Exception as error:
            raise _explain_failure(op, args, error) from error
        if isinstance(result, tuple):
            return tuple(_output(each, args, is_view) for each in result)
        return _output(result, args, is_view)

    return plain


def _output(array: Any, args: tuple[Any, ...], is_view: bool) -> Tensor:
    out = wrap(array)
    if is_view:
        _share_memory(out, args[0])
    elif active.count and state.inference:
        out._storage = InferenceStorage(array)
    return out


def _share_memory(view: Tensor, source: Tensor) -> None:
    view._storage = storage = source._storage
    view._base = source if source._base is None else source._base
    if state.grad:
        storage.add_view(view)


def _recording(op: Op, kernel: Callable[..., Any], bits: int) -> Entry:
    """Compute, and leave a node behind."""
    plain = bits & (keys.DEVICES | keys.LAYOUTS) == keys.CPU
    count = len(op.tensor_names)
    complete = all(op.has_rule(name) for name in op.tensor_names)
    if plain and op.kind == "elementwise" and count == 2 and complete and not op.param_names:
        return _recording_binary(op, kernel, bits)
    if count == 1 and len(op.output_names) == 1 and not op.variadic and not op.returns_list:
        return _recording_single(op, kernel, plain)
    return _recording_any(op, kernel, plain)


def _recording_any(op: Op, kernel: Callable[..., Any], plain: bool) -> Entry:
    """Any number of tensors in and out."""
    count = len(op.tensor_names)
    is_view = op.kind == "view"
    differentiable = [op.has_rule(name) for name in op.tensor_names]

    def record(*args: Any) -> Any:
        tensors = args[:count]
        arrays = [_payload(arg) for arg in tensors]
        try:
            result = quiet.run(kernel, *arrays, *args[count:])
        except Exception as error:
            raise _explain_failure(op, args, error) from error
        inputs = tensors[0] if op.variadic else tensors
        needs = tuple(
            isinstance(each, Tensor) and each._node is not None and (op.variadic or ok)
            for each, ok in zip(inputs, differentiable * len(inputs), strict=False)
        )
        if isinstance(result, tuple):
            outs = tuple(_output(each, args, is_view) for each in result)
        else:
            outs = (_output(result, args, is_view),)
        if outs and True in needs:
            plan = op.plan(needs, not plain or type(outs[0]._array) is not ndarray)
            node = _node(plan, inputs, outs, isinstance(result, tuple))
            made = [out._array for out in outs]
            if op.returns_list:
                made = [made]
            node.values = plan.save((*arrays, *made, *args[count:]))
            node.guards = _guards(plan, tensors, outs)
            for slot, out in enumerate(outs):
                if _carries_gradient(out):
                    out._node = node
                    out._slot = slot
                    out._keys |= AUTOGRAD
        return outs if isinstance(result, tuple) else outs[0]

    return record


def _carries_gradient(out: Tensor) -> bool:
    return out._array.dtype.kind not in "iub"


def _node(plan: Plan, inputs: Any, outs: tuple[Tensor, ...], several: bool) -> Node:
    node = new_node(Node)
    node.plan = plan
    parents = [inputs[position] for position in plan.positions]
    node.parents = tuple(parent._node for parent in parents)
    node.slots = tuple(parent._slot for parent in parents)
    first = outs[0]._array
    node.shape = first.shape
    node.dtype = first.dtype
    node.outputs = tuple((out._array.shape, out._array.dtype) for out in outs) if several else None
    node.order = next_order()
    frame = user_frame()
    node.code = frame.f_code
    node.instruction = frame.f_lasti
    node.hooks = None
    node.tangents = None
    node.freed_at = None
    return node


def _guards(plan: Plan, tensors: tuple[Any, ...], outs: tuple[Tensor, ...]) -> tuple[Any, ...]:
    guards = []
    for index, place in plan.guarded:
        source = tensors[place] if place < len(tensors) else outs[place - len(tensors)]
        for each in source if isinstance(source, (list, tuple)) else (source,):
            if isinstance(each, Tensor):
                storage = each._storage
                guards.append((storage, storage.version, index))
    return tuple(guards)


def _recording_single(op: Op, kernel: Callable[..., Any], plain: bool) -> Entry:
    """One tensor in, one out, parameters welcome."""
    on_tensors = op.plan((True,), True)
    plan = op.plan((True,)) if plain else on_tensors
    is_view = op.kind == "view"

    def record(x: Tensor, *params: Any) -> Any:
        source = x._array
        try:
            out = wrap(quiet.run(kernel, source, *params))
        except Exception as error:
            raise _explain_failure(op, (x, *params), error) from error
        array = out._array
        if is_view:
            _share_memory(out, x)
        node = new_node(Node)
        node.plan = plan if type(array) is ndarray else on_tensors
        node.parents = (x._node,)
        node.slots = FIRST if x._slot == 0 else (x._slot,)
        if plan.saved_names:
            node.values = plan.save((source, array, *params))
            node.guards = _guards(plan, (x,), (out,)) if plan.guarded else ()
        else:
            node.values = node.guards = ()
        node.shape = array.shape
        node.dtype = array.dtype
        node.outputs = None
        node.order = next_order()
        frame = outside(getframe(2))
        node.code = frame.f_code
        node.instruction = frame.f_lasti
        node.hooks = None
        node.tangents = None
        node.freed_at = None
        out._node = node
        out._keys |= AUTOGRAD
        return out

    return record


def _recording_binary(op: Op, kernel: Callable[..., Any], bits: int) -> Entry:
    """The hot path: two operands, one result of their dtype, no parameters."""
    both, left_only, right_only = (
        op.plan(needs) for needs in ((True, True), (True, False), (False, True))
    )
    out_keys = bits & ~keys.SCALARS | AUTOGRAD

    def record(a: Any, b: Any) -> Any:
        if isinstance(a, Tensor):
            left = a._array
            left_node = a._node
        else:
            left = a
            left_node = None
        if isinstance(b, Tensor):
            right = b._array
            right_node = b._node
        else:
            right = b
            right_node = None
        try:
            array = quiet.run(kernel, left, right)
        except Exception as error:
            raise _explain_failure(op, (a, b), error) from error
        if type(array) is not ndarray:
            array = np.asarray(array)
        node = new_node(Node)
        out = new_tensor(Tensor)
        out._array = array
        out._keys = out_keys
        out._node = node
        out._slot = 0
        if right_node is None:
            plan = left_only
            node.parents = (left_node,)
            node.slots = FIRST if a._slot == 0 else (a._slot,)
        elif left_node is None:
            plan = right_only
            node.parents = (right_node,)
            node.slots = FIRST if b._slot == 0 else (b._slot,)
        else:
            plan = both
            node.parents = (left_node, right_node)
            node.slots = FIRST_TWO if a._slot == b._slot == 0 else (a._slot, b._slot)
        node.plan = plan
        if plan.saved_names:
            node.values = plan.save((left, right, array))
            node.guards = _guards(plan, (a, b), (out,)) if plan.guarded else ()
        else:
            node.values = node.guards = ()
        node.shape = array.shape
        node.dtype = array.dtype
        node.outputs = None
        node.order = next_order()
        frame = outside(getframe(2))
        node.code = frame.f_code
        node.instruction = frame.f_lasti
        node.hooks = None
        node.tangents = None
        node.freed_at = None
        return out

    return record


def _explain_failure(op: Op, args: tuple[Any, ...], error: Exception) -> Exception:
    """Restate a kernel's exception: the call, the shapes, the cause, the user's line."""
    if explained(error):
        return error
    names = (*op.tensor_names, *op.param_names)
    kind: type[Exception] = RuntimeError if isinstance(error, ValueError) else type(error)
    shapes = [tuple(arg.shape) for arg in args if isinstance(arg, Tensor)]
    cause, fix = str(error), "check the shapes and parameters above"
    if op.kind == "elementwise" and "broadcast" in cause:
        cause = f"the shapes {' and '.join(map(str, shapes))} do not broadcast"
        fix = (
            "sizes must be equal or 1, counted from the last dimension; insert one with unsqueeze()"
        )
    return fail(
        kind,
        call=describe_call(op.name, names, args),
        cause=cause,
        fix=fix,
        where=caller(),
    )


# --- binding ops to their call paths ------------------------------------------------------------


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
    else:
        call = _general_call(table, count)
    op.call = _named(call, op)
    op.public = op.call if public is None else _named(_public(op, public), op, public)


def _named(function: Any, op: Op, like: Any = None) -> Any:
    function.__name__ = function.__qualname__ = op.name
    function.__doc__ = (like.__doc__ if like is not None else None) or op.formula
    function.op = op
    if like is not None:
        function.__wrapped__ = like
    return function


def _public(op: Op, prepare: Callable[..., tuple[Any, ...]]) -> Callable[..., Any]:
    call = op.call

    def public(*args: Any, **kwargs: Any) -> Any:
        prepared = prepare(*args, **kwargs)
        return call(*prepared) if type(prepared) is tuple else prepared

    return public


def _unary_call(table: KernelTable) -> Entry:
    def unary(input: Any) -> Any:
        if not isinstance(input, Tensor):
            input = as_operand(input)
        bits = input._keys
        if active.count:
            bits &= state.mask
        return table[bits](input)

    return unary


def _binary_call(table: KernelTable) -> Entry:
    def binary(input: Any, other: Any) -> Any:
        try:
            bits = input._keys | (
                other._keys if isinstance(other, Tensor) else scalar_keys[type(other)]
            )
        except (AttributeError, TypeError):
            input, other = operand_pair(input, other)
            bits = keys_of(input) | keys_of(other)
        if active.count:
            bits &= state.mask
        return table[bits](input, other)

    return binary


def _general_call(table: KernelTable, count: int) -> Entry:
    promoted = set(table.op.promoted) if table.op.promote != "none" else set()

    def general(*args: Any) -> Any:
        bits = 0
        for position in range(count):
            arg = args[position]
            if isinstance(arg, Tensor):
                bits |= arg._keys if position in promoted else arg._keys & ~keys.DTYPES
            elif arg is not None:
                bits |= scalar_keys[type(arg)]
        first = args[0]
        if not promoted and isinstance(first, Tensor):
            bits |= first._keys
        if active.count:
            bits &= state.mask
        return table[bits](*args)

    return general


def _variadic_call(table: KernelTable) -> Entry:
    def variadic(tensors: Any, *params: Any) -> Any:
        bits = 0
        for each in tensors:
            if not isinstance(each, Tensor):
                raise fail(
                    TypeError,
                    call=f"{table.op.name}([… {type(each).__name__} …])",
                    cause="the list must hold tensors only",
                    fix="convert with whygrad.tensor(value)",
                )
            bits |= each._keys
        if active.count:
            bits &= state.mask
        return table[bits](tensors, *params)

    return variadic


def keys_of(arg: Any) -> int:
    return arg._keys if isinstance(arg, Tensor) else scalar_keys[type(arg)]


def as_operand(value: Any) -> Tensor:
    """A tensor for a lone operand; NumPy arrays and scalars are taken as constants."""
    if isinstance(value, (np.ndarray, np.generic)):
        return wrap(np.asarray(value))
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


def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Show which argument set which key, and which kernels would run in which order."""
    from whygrad.explain_dispatch import explain as show

    return show(function, *args, **kwargs)
