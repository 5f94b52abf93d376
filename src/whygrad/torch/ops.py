"""What a node of PyTorch's graph is called, what its arguments are called, and what it has saved.

A node knows its class and ``_saved_…`` values, not the signature of its op; that comes from the
schema of the ATen op with that name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from whygrad.ops.define import table
from whygrad.ops.families import DROPOUTS, MUL
from whygrad.ops.spellings import shared_name
from whygrad.torch import finite
from whygrad.torch.graph import event_of
from whygrad.why.zero.causes import plain_name

if TYPE_CHECKING:
    from whygrad.torch.names import TorchNames

__all__ = [
    "argument_names", "argument_shapes", "is_custom", "is_elementwise", "is_released", "op_in_call",
    "op_name", "other_arguments", "plain_op", "saved_in_words", "saved_name", "saved_numbers",
]  # fmt: skip

_WORDS = {"result": "y", "min": "low", "max": "high", "exponent": "b"}


def op_name(node: Any) -> str:
    """``relu`` for ``ReluBackward0``; a product that is a dropout is called so."""
    if is_custom(node):
        return type(node).__name__.removesuffix("Backward")
    name = plain_op(node)
    event = event_of(node)
    if name in MUL and event is not None and event.op in DROPOUTS:
        return "dropout"
    return shared_name(name)


def op_in_call(node: Any) -> str:
    """``t`` of a linear layer as ``linear: t``: the user's one call made several nodes."""
    event = event_of(node)
    name = op_name(node)
    return name if event is None or event.nodes < 2 else f"{event.op}: {name}"


def plain_op(node: Any) -> str:
    """PyTorch's own name of the op."""
    return _plain(node.name())


@lru_cache(maxsize=512)
def _plain(name: str) -> str:
    plain = plain_name(name.rsplit("::", 1)[-1])
    return re.sub(r"(?<=[123])_d(?=_|$)", "d", plain)  # MaxPool2DWithIndices


def is_custom(node: Any) -> bool:
    """Whether a user's own ``backward`` would run."""
    return isinstance(node, torch.autograd.function.BackwardCFunction)


def is_elementwise(node: Any) -> bool:
    """Whether each element of the result comes from the elements opposite to it, and no others."""
    op = table.get(op_name(node))
    return op is not None and op.kind == "elementwise" and not is_custom(node)


def argument_names(node: Any) -> tuple[str, ...]:
    """One name per edge of the node: whygrad's for an op that both have, otherwise PyTorch's."""
    count = len(node.next_functions)
    known = table.get(op_name(node))
    if known is not None and not is_custom(node):
        if known.variadic:
            return tuple(f"{known.tensor_names[0]}[{place}]" for place in range(count))
        for names in (_with_rules(known), known.tensor_names):
            if len(names) == count:
                return names
        if count < len(known.tensor_names):  # bounds of clamp that are plain numbers
            return known.tensor_names[:count]
    return _schema_names(plain_op(node), count)


def _with_rules(op: Any) -> tuple[str, ...]:
    return tuple(op.vjp) if isinstance(op.vjp, dict) else ()


@lru_cache(maxsize=512)
def _schema_names(op: str, count: int) -> tuple[str, ...]:
    packet = getattr(torch.ops.aten, op, None)
    for overload in () if packet is None else packet.overloads():
        arguments = getattr(packet, overload)._schema.arguments
        lists = [each.name for each in arguments if str(each.type) == "List[Tensor]"]
        plain = [each.name for each in arguments if "Tensor" in str(each.type)]
        if not lists and len(plain) >= count > 0:
            return tuple(plain[:count])
        if len(lists) == 1 == len(plain):
            return tuple(f"{lists[0]}[{place}]" for place in range(count))
    return tuple(f"input {place}" for place in range(count))


def saved_name(node: Any, position: int) -> str:
    """Under which name a node saves an argument, if it does."""
    return _schema_names(plain_op(node), len(node.next_functions))[position]


def saved_numbers(node: Any) -> dict[str, Any]:
    """Copies of what a node has saved, by PyTorch's names.

    What a pack hook has put elsewhere stays there: to unpack it may run a forward pass again.
    """
    found: dict[str, Any] = {}
    for attribute in dir(node):
        if not attribute.startswith("_saved_"):
            continue
        name = attribute.removeprefix("_saved_")
        raw = getattr(node, f"_raw_saved_{name}", None)
        if getattr(raw, "unpack_hook", None) is not None:
            continue
        try:
            value = getattr(node, attribute)
        except RuntimeError:  # released, or overwritten since
            continue
        if isinstance(value, torch.Tensor):
            if value.layout is torch.strided:
                found[name] = finite.numbers(value)
        elif isinstance(value, (bool, float, int, str, tuple)):
            found[name] = value
    return found


def is_released(node: Any) -> bool | None:
    """Whether a backward pass has freed what a node saved; None if it saves no tensor."""
    found = None
    for attribute in dir(node):
        name = attribute.removeprefix("_raw_saved_")
        if name == attribute:
            continue
        try:
            raw = getattr(node, attribute)
            if getattr(raw, "unpack_hook", None) is None and raw is not None and name != "tensors":
                getattr(node, f"_saved_{name}")
        except RuntimeError as error:
            if "second time" in str(error):
                return True
        found = False
    return found


def saved_in_words(node: Any) -> dict[str, Any]:
    """The same under whygrad's names: arguments as in :func:`argument_names`, the result as y."""
    count = len(node.next_functions)
    own = _schema_names(plain_op(node), count)
    known = table.get(op_name(node))
    theirs = () if known is None or known.variadic else known.tensor_names
    called = dict(zip(own, argument_names(node), strict=True))
    called |= dict(zip(("self", "other"), theirs, strict=False))
    called |= _WORDS
    return {called.get(name, name): value for name, value in saved_numbers(node).items()}


def other_arguments(node: Any, argument: str, names: TorchNames) -> dict[str, str]:
    """What the user calls the other arguments of a node, as far as that is known."""
    count = len(node.next_functions)
    found = {}
    for own, word, (parent, slot) in zip(
        _schema_names(plain_op(node), count), argument_names(node), node.next_functions, strict=True
    ):
        if word == argument:
            continue
        if parent is not None:
            found[word] = names.of_place(parent, slot)
        elif (name := _name_of_saved(node, own, names)) is not None:
            found[word] = name
    return found


def _name_of_saved(node: Any, argument: str, names: TorchNames) -> str | None:
    """A node saves a constant as it is: the very tensor that a variable may hold."""
    raw = getattr(node, f"_raw_saved_{argument}", None)
    if raw is None or raw.unpack_hook is not None:
        return None
    try:
        return names.of(getattr(node, f"_saved_{argument}"))
    except RuntimeError:
        return None


def argument_shapes(node: Any) -> list[tuple[int, ...]] | None:
    """The shapes of a node's arguments, where the graph or the saved values tell them all."""
    saved = saved_numbers(node)
    shapes = []
    own = _schema_names(plain_op(node), len(node.next_functions))
    for name, (parent, slot) in zip(own, node.next_functions, strict=True):
        if parent is not None:
            shapes.append(tuple(map(int, parent._input_metadata[slot].shape)))
        elif isinstance(saved.get(name), np.ndarray):
            shapes.append(saved[name].shape)
        elif isinstance(saved.get(f"{name}_sym_sizes"), tuple):
            shapes.append(saved[f"{name}_sym_sizes"])
        elif name in ("self", "input"):  # what is added to a product: it broadcasts
            shapes.append(())
        else:
            return None
    return shapes
