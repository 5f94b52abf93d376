"""What to call things in an explanation: as the user calls them.

The label they gave, else the variable that holds it where the question was asked, else the
expression that made it, else the name of the op.  Only identity counts: a variable names a tensor
if it is that tensor (or another tensor over the same output of the same node), never because it
looks equal.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from whygrad.source import Where, user_frame
from whygrad.tensor import Tensor
from whygrad.why.syntax import parsed

if TYPE_CHECKING:
    from whygrad.tensor.graph.node import Node

__all__ = ["Names", "expression_at", "shortened"]

_LONGEST = 32
_COMPREHENSIONS = ("<dictcomp>", "<listcomp>", "<setcomp>")
_FEW = 1000  # members of one object or container that are looked through


class Names:
    """The variables of one frame, looked up by what they hold.

    It keeps what the variables hold alive, but not the frame: use it for one question and let go.
    """

    def __init__(self, frame: FrameType | None = None) -> None:
        frame = user_frame() if frame is None else frame
        kinds = _kinds()
        self._by_identity: dict[int, tuple[str, Any]] = {}
        self._by_output: dict[tuple[int, int], Tensor] = {}
        self._by_payload: dict[int, Tensor] = {}
        self._expressions: dict[Where, str] = {}  # a loop makes thousands of nodes on one line
        variables = _variables(frame)
        # an underscore marks what nobody wants to read about, such as a notebook's `_` and `_3`
        variables.sort(key=lambda pair: pair[0].startswith("_"))
        for name, thing in variables:
            if isinstance(thing, kinds):
                self._enter(name, thing)
        for name, thing in variables:
            if not isinstance(thing, kinds):
                for member, held in _members(thing):
                    if isinstance(held, kinds):
                        self._enter(name + member, held)

    def _enter(self, name: str, thing: Any) -> None:
        self._by_identity.setdefault(id(thing), (name, thing))
        if isinstance(thing, Tensor):
            if thing._node is None:
                self._by_payload.setdefault(id(thing._array), thing)
            else:
                self._by_output.setdefault((id(thing._node), thing._slot), thing)

    def of(self, thing: Any) -> str | None:
        """The user's label or variable; None if there is neither.  Knows PyTorch's tensors, too."""
        label = getattr(thing, "name" if isinstance(thing, Tensor) else "label", None)
        if isinstance(label, str) and label:
            return label
        found = self._by_identity.get(id(thing))
        return None if found is None else found[0]

    def of_tensor(self, tensor: Tensor) -> str:
        """A name for a tensor, whether it has a history or not."""
        known = self.of(tensor)
        if known is not None:
            return known
        return "a tensor" if tensor._node is None else self.of_node(tensor._node, tensor._slot)

    def of_node(self, node: Node, slot: int = 0) -> str:
        """A name for output ``slot`` of ``node``; for a leaf's node, the leaf."""
        held = self.held(node, slot)
        if held is not None:
            known = self.of(held)
            if known is not None:
                return known
        return self.of_op(node)

    def of_op(self, node: Node) -> str:
        """The expression that made a node, or the name of its op."""
        made_by = "a leaf" if node.plan is None else node.plan.op.name
        return self._expression(node.where) or made_by

    def of_payload(self, array: Any) -> str | None:
        """The name of a constant, by the very array it is made of."""
        found = self._by_payload.get(id(array))
        return None if found is None else self.of(found)

    def of_value(self, value: Any) -> str:
        """A name for a ``Value``."""
        known = self.of(value)
        if known is not None:
            return known
        if not value._prev:
            return f"Value({value.data:.4g})"
        return self._expression(value.where) or value._op

    def _expression(self, where: Where) -> str:
        if where not in self._expressions:
            self._expressions[where] = expression_at(where)
        return self._expressions[where]

    def held(self, node: Node, slot: int = 0) -> Tensor | None:
        """The tensor at this place of the graph, if a variable (or the leaf itself) holds it."""
        if node.plan is None:
            return node.variable
        return self._by_output.get((id(node), slot))


def expression_at(where: Where | None, longest: int = _LONGEST) -> str:
    """The expression that made the call, on one line and not too long; empty if unknown."""
    if where is None:
        return ""
    text = where.whole_expression.strip()
    if "\n" in text:  # a comment may hide between the lines, so joining them is not enough
        text = ast.unparse(parsed(f"({text})")) or where.text
    if len(text) <= longest:
        return text
    # what is called stands in front, what is applied last at the end
    tail = longest // 3
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


def shortened(text: str, longest: int = _LONGEST) -> str:
    """``text`` in at most ``longest`` characters, with a mark where something is missing."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _kinds() -> tuple[type, ...]:
    """What has a gradient, or parameters that do, of the libraries that are loaded."""
    homes = (("whygrad.scalar", "Value"), ("torch", "Tensor"), ("torch.nn", "Module"))
    loaded = ((sys.modules.get(home), kind) for home, kind in homes)
    return Tensor, *(getattr(module, kind) for module, kind in loaded if hasattr(module, kind))


def _variables(frame: FrameType) -> list[tuple[str, Any]]:
    """Locals, then globals; a comprehension also sees those of the function it stands in."""
    found = _locals(frame)
    inner = frame
    while inner.f_code.co_name in _COMPREHENSIONS and inner.f_back is not None:
        inner = inner.f_back
        found += _locals(inner)
    return [*found, *frame.f_globals.items()]


def _locals(frame: FrameType) -> list[tuple[str, Any]]:
    inner = frame.f_locals
    found = list(inner.items())
    # Up to Python 3.12 a function's f_locals is a copy that the frame would keep, and with it every
    # tensor that is deleted later.  Unless somebody else holds it (locals() is the same copy), it
    # is emptied; Python fills it again when it is asked for.
    if type(inner) is dict and frame.f_code.co_flags & CO_OPTIMIZED and sys.getrefcount(inner) <= 3:
        inner.clear()
    return found


def _members(thing: Any) -> Iterator[tuple[str, Any]]:
    """What an object has in its attributes, or a container in its places, without running code.

    Each is read as it is now: a thread, or a look at what it holds, may let it grow meanwhile.
    """
    kind = type(thing)
    if kind in (list, tuple) and len(thing) <= _FEW:
        yield from ((f"[{place}]", held) for place, held in enumerate(tuple(thing)))
    elif kind is dict and len(thing) <= _FEW:
        yield from ((f"[{key!r}]", held) for key, held in list(thing.items()) if type(key) is str)
    elif not isinstance(thing, (type, ModuleType)):
        try:
            attributes = object.__getattribute__(thing, "__dict__")
        except AttributeError:
            return
        if type(attributes) is dict and len(attributes) <= _FEW:
            yield from ((f".{name}", held) for name, held in list(attributes.items()))
            yield from _parts(attributes)


def _parts(module: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Parameters and buffers of a module and the modules in it, as ``named_parameters()`` does."""
    waiting = [("", module)]
    for path, attributes in waiting:  # grows while it is walked
        for home in ("_parameters", "_buffers"):
            for name, held in _entries(attributes, home):
                yield f"{path}.{name}", held
        for name, inner in _entries(attributes, "_modules"):
            if hasattr(inner, "__dict__") and len(waiting) < _FEW:
                waiting.append((f"{path}.{name}", vars(inner)))


def _entries(attributes: dict[str, Any], home: str) -> list[tuple[str, Any]]:
    held = attributes.get(home)
    return list(held.items()) if isinstance(held, dict) else []
