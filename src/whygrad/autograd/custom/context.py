"""``ctx``: what one call hands from ``forward`` to ``backward`` and ``jvp``.

When ``forward`` is done, the tensors that belong to the call are taken out of ``ctx`` and numbers
take their place, wherever the user had put them: ``save_for_backward``, an attribute, a list in an
attribute.  The node saves them the way every node does.  So an output on ``ctx`` makes no reference
cycle, and when ``backward`` or ``jvp`` asks, it sees each tensor as it is *there*: with the place
in the graph or the tangents that this derivative needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor
from whygrad.trees import Tree, flatten

__all__ = ["FunctionCtx", "Held"]


class Held(NamedTuple):
    """A tensor that was taken out of a ``ctx``, and where it was."""

    tensor: Tensor
    label: str


class _Number(int):
    """Stands in an attribute for the tensor of this number."""


class _Shown(NamedTuple):
    """The tensors that were taken out, as one derivative sees them."""

    tensors: Sequence[Any]
    check: Callable[[Sequence[int]], None]  # whether these may be used
    in_jvp: bool


class FunctionCtx:
    """Keeps what ``backward`` and ``jvp`` will need.  Attributes are free for the user."""

    __slots__ = (
        "__dict__", "__weakref__", "_attributes", "_dirty", "_for_backward", "_for_forward",
        "_non_differentiable", "_shown", "_writable", "materialize_grads", "needs_input_grad",
    )  # fmt: skip

    needs_input_grad: tuple[bool, ...]  # for each argument of forward, whether it requires grad

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.materialize_grads = True
        self._for_backward: tuple[Any, ...] = ()
        self._for_forward: tuple[Any, ...] = ()
        self._dirty: tuple[Tensor, ...] = ()
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._writable: Callable[[Tensor], None] | None = None  # raises unless this may be written
        self._attributes: dict[str, tuple[Tree, list[Any]]] = {}
        self._shown: _Shown | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``backward``, which finds them in ``saved_tensors``.  Call it once.

        Save arguments and outputs.  What is neither has no history, so ``backward`` could not be
        differentiated through it: that is an error then, not a wrong number.
        """
        _require_tensors("save_for_backward", "can only save variables", tensors)
        self._for_backward = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``jvp``, which finds them in ``saved_tensors``.  Call it once."""
        _require_tensors("save_for_forward", "can only save variables", tensors)
        self._for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say that ``forward`` writes to these arguments.  It must return them, too.

        Called before the write, a write that is not allowed is refused while nothing has changed.
        """
        _require_tensors("mark_dirty", "can only accept variables", args, none=False)
        if self._writable is not None:
            for each in args:
                self._writable(each)
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say that these outputs have no derivative.  Integers have none anyway."""
        _require_tensors(
            "mark_non_differentiable", "only accepts variable arguments", args, none=False
        )
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether the derivatives get zeros where nothing arrives (the default), or None."""
        self.materialize_grads = bool(value)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved for the derivative that is being computed."""
        shown = self._shown
        if shown is None:
            return self._for_backward
        numbers = self._for_forward if shown.in_jvp else self._for_backward
        shown.check([each for each in numbers if each is not None])
        return tuple(None if each is None else shown.tensors[each] for each in numbers)

    def __getattr__(self, name: str) -> Any:
        if name in FunctionCtx.__slots__:  # of a copy in the making
            raise AttributeError(name)
        shown = self._shown
        if shown is None or name not in self._attributes:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        tree, leaves = self._attributes[name]
        shown.check([each for each in leaves if isinstance(each, _Number)])
        return tree.build(
            [shown.tensors[each] if isinstance(each, _Number) else each for each in leaves]
        )

    @property
    def is_in_jvp(self) -> bool:
        return self._shown is not None and self._shown.in_jvp

    def shown(self) -> Sequence[Any]:
        """The tensors that were taken out, as this derivative sees them."""
        return () if self._shown is None else self._shown.tensors

    def take_out(self, belongs: Callable[[Tensor], bool]) -> list[Held]:
        """Put numbers in the place of the saved tensors, and of attributes' that ``belong``."""
        taken: dict[int, _Number] = {}
        held: list[Held] = []

        def number(tensor: Tensor, label: str) -> _Number:
            if id(tensor) not in taken:
                taken[id(tensor)] = _Number(len(held))
                held.append(Held(tensor, label))
            return taken[id(tensor)]

        def numbers(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(
                None if each is None else number(each, f"saved_tensors[{place}]")
                for place, each in enumerate(tensors)
            )

        self._for_backward = numbers(self._for_backward)
        self._for_forward = numbers(self._for_forward)
        for name, value in list(vars(self).items()):
            leaves, tree = flatten(value)
            places = [isinstance(leaf, Tensor) and belongs(leaf) for leaf in leaves]
            if any(places):
                label = f"ctx.{name}" if tree.kind is None else f"ctx.{name}[{{}}]"
                kept = [
                    number(leaf, label.format(place)) if here else leaf
                    for place, (leaf, here) in enumerate(zip(leaves, places, strict=True))
                ]
                self._attributes[name] = tree, kept
                del self.__dict__[name]
        self._dirty = self._non_differentiable = ()
        return held

    def showing(
        self,
        tensors: Sequence[Any],
        check: Callable[[Sequence[int]], None] = lambda numbers: None,
        in_jvp: bool = False,
    ) -> FunctionCtx:
        """The same ``ctx`` for one derivative; what the user sets on it stays."""
        shown = FunctionCtx(self.needs_input_grad)
        shown.__dict__ = self.__dict__
        shown.materialize_grads = self.materialize_grads
        shown._for_backward = self._for_backward
        shown._for_forward = self._for_forward
        shown._attributes = self._attributes
        shown._shown = _Shown(tensors, check, in_jvp)
        return shown


def _require_tensors(call: str, phrase: str, values: tuple[Any, ...], none: bool = True) -> None:
    for place, value in enumerate(values):
        if not isinstance(value, Tensor) and not (none and value is None):
            raise fail(
                TypeError,
                call=f"ctx.{call}({', '.join(map(describe, values))})",
                cause=f"{call} {phrase}, but argument {place} is of type {type(value).__name__}",
                fix="pass tensors one by one; anything else can be an attribute: ctx.scale = scale",
            )
