"""What ``forward`` returned, and the tensors that the user gets for it.

A fresh result is returned as it is.  An argument returned as it came becomes a view of it, and one
that was written to is returned itself, with a new history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whygrad.autograd import leaves, views
from whygrad.autograd.custom.signature import place_of
from whygrad.autograd.custom.varying import is_varying, mark
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, alias, keys, modes
from whygrad.tensor.graph import bases
from whygrad.trees import flatten

if TYPE_CHECKING:
    from whygrad.autograd.custom.context import FunctionCtx
    from whygrad.autograd.custom.signature import Signature
    from whygrad.source import Where
    from whygrad.tensor.graph.node import Node

__all__ = ["Outputs"]


class Outputs:
    """The outputs of one call.  A *slot* counts the tensors among them."""

    def __init__(
        self,
        signature: Signature,
        where: Where,
        arguments: list[Tensor],
        given: list[Tensor],
        records: bool,
    ) -> None:
        self.signature = signature
        self.where = where
        self.arguments = arguments
        self.given = given  # what forward got for the arguments: the same, or aliases of them
        self.records = records
        self.recording = modes.state.recording  # around the call; forward itself records nothing
        self.several = False
        self.values: list[Any] = []
        self.tensors: list[Tensor] = []
        self.places: list[int] = []  # of the tensors among the values
        self.slots: dict[int, int] = {}  # by id of what forward returned
        self.fixed: set[int] = set()  # outputs without a derivative
        self.dirty: dict[int, int] = {}  # by output: the argument that was written to

    def receive(self, output: Any, ctx: FunctionCtx) -> None:
        """Make what the user gets from what ``forward`` returned."""
        self.several = isinstance(output, tuple)
        returned = list(output) if self.several else [output]
        if self.records and not self.several:
            self._check_nothing_is_lost(output)
        self._check_dirty_are_returned(returned, ctx)
        fixed = {id(each) for each in ctx._non_differentiable}
        varies = any(map(is_varying, self.arguments))  # this call is part of another one's forward
        for place, value in enumerate(returned):
            if not isinstance(value, Tensor):
                self.values.append(value)
                continue
            if id(value) in fixed or not value.dtype.is_differentiable:
                self.fixed.add(place)
            made = self._made(place, value, ctx)
            made._keys &= ~keys.VARYING
            if varies and place not in self.fixed:
                mark(made)
            self.slots[id(value)] = len(self.tensors)
            self.values.append(made)
            self.tensors.append(made)
            self.places.append(place)

    def _made(self, place: int, value: Tensor, ctx: FunctionCtx) -> Tensor:
        number = self._argument(value)
        if number is None:
            before = self.slots.get(id(value))
            if before is not None:
                return self.tensors[before]
            made = value if value._node is None else alias(value)
            self._look_at_arguments(made)
        elif any(value is each for each in ctx._dirty):
            self.dirty[place] = number
            made = alias(self.arguments[number])
            made._storage.bump(f"{self.signature.name}.forward", self.where)
        else:
            source = self.arguments[number]
            made = alias(source)
            made._base = source if source._base is None else source._base
        return made

    def _argument(self, value: Tensor) -> int | None:
        return next((i for i, each in enumerate(self.given) if each is value), None)

    def _look_at_arguments(self, made: Tensor) -> None:
        """A view that forward made of its alias is a view of the argument itself."""
        for given, argument in zip(self.given, self.arguments, strict=True):
            if made._base is given:
                made._base = argument

    def raised(self, primals: list[Tensor], duals: list[Tensor]) -> None:
        """A view of an argument is a view of the dual tensor that the user has."""
        for made in self.tensors:
            for primal, dual in zip(primals, duals, strict=True):
                if made._base is primal:
                    made._base = dual

    def restrict_views(self, node: Node) -> None:
        """A recorded write to a view would go around the user's ``backward``: forbid it."""
        for made in self.tensors:
            if made._base is not None:
                bases.restrict(made, (node.op, node.code, node.instruction))

    def finished(self, arguments: list[Tensor]) -> Any:
        """What ``apply`` returns."""
        for place, number in self.dirty.items():
            target = arguments[number]
            if place in self.fixed and target._base is None and modes.state.recording:
                leaves.cut_off(target)
            else:
                views.rewrite(target, self.values[place])
            if self.records:
                target._grad = None  # as in PyTorch: it was the gradient of the old value
            self.values[place] = target
        return tuple(self.values) if self.several else self.values[0]

    def check_writable(self, tensor: Tensor) -> None:
        """Raise unless ``forward`` may write to what it got as ``tensor``."""
        number = self._argument(tensor)
        if number is None:
            raise fail(
                RuntimeError,
                call=f"ctx.mark_dirty({describe(tensor)}) in {self.signature.name}.forward",
                cause="Some elements marked as dirty during the forward method are not among its "
                "arguments: only an argument can be modified in place",
                fix="leave it out: what forward made itself may be written to freely",
                where=place_of(self.signature.forward),
            )
        if self.recording:  # the base of a constant view may have a history
            source = next((each for each in self.arguments if each._node is not None), None)
            name = f"{self.signature.name}.forward"
            views.check_recorded_write(tensor, source, name, self.where, uniform=False)

    def _check_dirty_are_returned(self, returned: list[Any], ctx: FunctionCtx) -> None:
        for tensor in ctx._dirty:
            if not any(tensor is each for each in returned):
                raise fail(
                    RuntimeError,
                    call=f"{self.signature.name}.apply at {self.where}",
                    cause="Some elements marked as dirty during the forward method were not "
                    f"returned as output: {describe(tensor)}. The inputs that are modified inplace "
                    "must all be outputs of the Function",
                    fix="return the argument itself after writing to it",
                    where=place_of(self.signature.forward),
                )

    def _check_nothing_is_lost(self, output: Any) -> None:
        """Tensors inside a list or a dict would come out without a gradient."""
        if isinstance(output, Tensor) or not isinstance(output, (list, dict)):
            return
        if any(isinstance(leaf, Tensor) for leaf in flatten(output)[0]):
            raise fail(
                RuntimeError,
                call=f"{self.signature.name}.apply at {self.where}",
                cause=f"forward returned a {type(output).__name__} of tensors: only a tensor or a "
                "tuple of tensors takes part in autograd, so these would have no gradient",
                fix="return a tuple",
                where=place_of(self.signature.forward),
            )
