"""Which layer handles a call: the op's own table from keys to ready-made call paths.

A missing entry is built once.  The first layer that has something to do (refusal, a registered
composite, mixed devices, promotion, forward mode, …) does its part and calls the op again with
fewer keys; at the bottom autograd records and the kernel computes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.dispatch.kernels import kernel_for
from whygrad.dispatch.paths import Entry, plain, recording
from whygrad.errors import describe_call, fail
from whygrad.tensor import Tensor, devices, dtypes, keys, payload_keys
from whygrad.tensor.graph import lineage
from whygrad.threads import PerThread

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = [
    "KernelTable",
    "Route",
    "common_dtype",
    "register",
    "register_device",
    "register_layer",
    "register_layout",
    "route",
    "watching",
]


class KernelTable(dict[int, Entry]):
    """Keys → ready-made call path of one op; builds what it does not have."""

    def __init__(self, op: Op) -> None:
        super().__init__()
        self.op = op
        # (key bits that must all be set, function), most specific first
        self.kernels: list[tuple[int, Callable[..., Any]]] = []
        self.composites: list[tuple[int, Callable[..., Any]]] = []

    def __missing__(self, bits: int) -> Entry:
        while before_first_op:
            before_first_op.pop()()
        entry = route(self.op, bits).build()
        if watching.observe is not None:
            return watching.observe(self.op, bits, entry)
        self[bits] = entry
        return entry


# Run once, when the process first computes with whygrad: importing it changes nothing.
before_first_op: list[Callable[[], None]] = []


class _Watching(PerThread):
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
    if bits & keys.OVERRIDDEN:  # before anybody has touched the arguments
        from whygrad.dispatch.overriding import layer  # loaded when there is a subclass or a mode

        return Route("overridden", partial(layer, op, bits))
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
            if bit == keys.FORWARD and op.vjp is not None and _lacks_complex_rule(op, bits):
                return _no_complex_rule(op)
            return Route(keys.describe(bit)[0], partial(build, op, bits))
    if lineage.noteworthy(op, bits):
        return Route("lineage", partial(lineage.following, op, bits))
    recorded = lineage.is_recorded(op, bits)
    bits &= ~keys.NOTES
    kernel = kernel_for(op, bits).run
    if not recorded:
        return Route("kernel", partial(plain, op, kernel))
    if _lacks_complex_rule(op, bits):
        return _no_complex_rule(op)
    return Route("autograd", partial(recording, op, kernel, bits))


def _lacks_complex_rule(op: Op, bits: int) -> bool:
    return bool(bits & keys.COMPLEX) and op.complex_rule is None


def _no_complex_rule(op: Op) -> Route:
    cause = f"{op.name} has no gradient through complex numbers"
    fix = "detach() the input that requires grad, or compute with real and imaginary parts"
    return Route("refusal", partial(_refusing, op, cause, fix))


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
            NotImplementedError,  # a RuntimeError, and what PyTorch raises for want of a kernel
            call=describe_call(op.name, (*op.tensor_names, *op.param_names), args),
            cause=cause,
            fix=fix,
        )

    return refuse


def _promoting(op: Op) -> Entry:
    """Convert the arguments to their common dtype (recorded as casts), then call again."""

    def promote(*args: Any) -> Any:
        target = common_dtype(op, args)
        if op.variadic:
            return op.call([each.to(target) for each in args[0]], *args[1:])
        cast = [_cast(arg, target) if i in op.promoted_at else arg for i, arg in enumerate(args)]
        return op.call(*cast)

    return promote


def common_dtype(op: Op, args: tuple[Any, ...]) -> dtypes.DType:
    """The dtype that promotion brings the arguments to."""
    operands = args[0] if op.variadic else [args[i] for i in op.promoted_at]
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
    )
