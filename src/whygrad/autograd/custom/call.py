"""One call of a custom function, on its way down through the layers.

A custom function is not an op, but what holds for ops holds for it: batches come off first, then
tangents, one level at a time, and at the bottom ``forward`` runs and a node is left behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.custom import answers
from whygrad.autograd.custom.answers import Kind
from whygrad.autograd.custom.context import FunctionCtx, Held
from whygrad.autograd.custom.outputs import Outputs
from whygrad.autograd.custom.record import CallPlan, FunctionNode, no_history, of_user
from whygrad.autograd.custom.varying import is_varying, mark
from whygrad.autograd.transforms import forward_ad
from whygrad.dispatch.interception import offer
from whygrad.ops.namespace import recorded
from whygrad.source import caller, user_frame
from whygrad.tensor import Tensor, alias, keys, modes
from whygrad.tensor.graph.node import next_order

if TYPE_CHECKING:
    from whygrad.autograd.custom.signature import Signature

__all__ = ["FunctionCall"]


class _Source(NamedTuple):
    """What a tensor that was taken out of ``ctx`` is to the call."""

    kind: str  # "input", "output", "intermediate" or "constant"
    number: int  # among those
    held: Held


class FunctionCall:
    """The arguments of one ``apply``, and what has become of it so far."""

    ctx: FunctionCtx
    made: Outputs
    sources: list[_Source]
    node: FunctionNode | None = None

    def __init__(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        args, kwargs = signature.bind(args, kwargs)
        self.signature = signature
        self.args = (*args, *kwargs.values())
        self.keywords = tuple(kwargs)
        self.places = [i for i, arg in enumerate(self.args) if isinstance(arg, Tensor)]
        self.tensors: list[Tensor] = [self.args[place] for place in self.places]
        self.where = caller()
        self.pushes = False  # whether tangents will be pushed through

    @property
    def names(self) -> list[str]:
        return self.signature.names(len(self.args), self.keywords)

    def arranged(self, tensors: Sequence[Any], others: bool = True) -> list[Any]:
        """One value per argument: these for the tensors; the others as they are, or None."""
        filled = list(self.args) if others else [None] * len(self.args)
        for place, tensor in zip(self.places, tensors, strict=True):
            filled[place] = tensor
        return filled

    def run(self) -> Any:
        """What ``apply`` returns."""
        if any(each._keys & keys.BATCHED for each in self.tensors):
            from whygrad.autograd.custom.batches import over_batch

            return over_batch(self)
        self._push(self.tensors)
        return self.made.finished(self.tensors)

    def _push(self, tensors: list[Tensor]) -> None:
        """Run on ``tensors``; if some are dual, push the tangents of the highest level."""
        levels = [level for each in tensors for level in each._tangent or ()]
        if not levels:
            self._run(tensors)
            return
        if self.signature.jvp is None:  # before forward, which may write to its arguments
            raise self.signature.missing(
                "jvp(ctx, *tangents)",
                "You must implement the jvp function for custom autograd.Function to use it with "
                "forward mode AD",
                self.where,
            )
        self.pushes = True
        level = max(levels)
        primals = [forward_ad.without(each, level) for each in tensors]
        self._push(primals)
        self.made.raised(primals, tensors)
        slopes = self._slopes(primals, [forward_ad.tangent_at(each, level) for each in tensors])
        for output, slope in zip(self.made.values, slopes, strict=True):
            if slope is not None:
                forward_ad.attach(output, level, slope)
        if self.node is not None:
            forward_ad.remember(self.node, self._all_tangents(tensors), level)

    def _all_tangents(self, tensors: list[Tensor]) -> tuple[Any, ...]:
        """Of inputs and outputs, in the places where the node's plan looks for them."""
        assert self.node is not None
        plan: Any = self.node.plan
        found = [each._tangent for each in tensors]
        found += [None] * (plan.arity - len(found))
        found += [each._tangent for each in self.made.tensors]
        return (*found, *[None] * len(plan.intermediates))

    def _slopes(self, primals: list[Tensor], slopes: list[Any]) -> list[Tensor | None]:
        """What the user's ``jvp`` makes of the tangents of the arguments."""
        signature = self.signature
        assert signature.jvp is not None
        if self.ctx.materialize_grads:
            slopes = [
                recorded.zeros_like(primal.detach()) if slope is None else slope
                for primal, slope in zip(primals, slopes, strict=True)
            ]
        check = partial(self._check_intermediates, any(each._tangent for each in primals))
        ctx = self.ctx.showing([self._seen(each, primals) for each in self.sources], check, True)
        with of_user(signature, "jvp", self.where):
            returned = signature.jvp(ctx, *self.arranged(slopes, others=False))
        return answers.tangents(signature, self.made.values, self.made.fixed, returned, self.where)

    def _seen(self, source: _Source, primals: list[Tensor]) -> Tensor:
        """A tensor of ``ctx`` with the place in the graph and the lower tangents it has here."""
        tensor = source.held.tensor
        if source.kind == "input":
            return primals[source.number]
        if source.kind == "output":
            return self.made.tensors[source.number]
        if source.kind == "intermediate" and self.node is not None:
            return alias(tensor, self.node, len(self.made.tensors) + source.number)
        return tensor

    def _check_intermediates(self, have_tangents: bool, numbers: Sequence[int]) -> None:
        for number in numbers:
            if have_tangents and self.sources[number].kind == "intermediate":
                label = self.sources[number].held.label
                raise no_history(self.signature, "jvp", label, self.where, "a tangent")

    def _run(self, tensors: list[Tensor]) -> None:
        """Call ``forward`` and record the call."""
        signature = self.signature
        if signature.forward is None:
            raise signature.missing(
                "forward(ctx, *args)",
                "You must implement the forward function for custom autograd.Function",
                self.where,
            )
        records = modes.state.recording and any(each._node is not None for each in tensors)
        needs = [isinstance(arg, Tensor) and arg.requires_grad for arg in self.args]
        self.ctx = ctx = FunctionCtx(tuple(needs))
        given = tensors
        if records or self.pushes:
            given = [
                _argument(each, each._node is not None or original._tangent is not None)
                for each, original in zip(tensors, self.tensors, strict=True)
            ]
        self.made = made = Outputs(signature, self.where, tensors, given, records)
        try:
            ctx._writable = made.check_writable
            with modes.no_grad():
                output = signature.run(ctx, self.arranged(given), self.keywords)
        finally:
            ctx._writable = None
        made.receive(output, ctx)
        if records or self.pushes:
            self.sources = self._take_out(given)
        if records and len(made.fixed) < len(made.tensors):
            self._record(tensors)

    def _take_out(self, given: list[Tensor]) -> list[_Source]:
        """The tensors on ``ctx``, sorted by what they are to this call."""
        made = self.made
        inputs = {id(each): number for number, each in enumerate(given)}
        for number in made.dirty.values():
            inputs.pop(id(given[number]), None)  # it is the output now
        fixed = {id(made.values[place]) for place in made.fixed}
        outputs = {key: slot for key, slot in made.slots.items() if key not in fixed}

        def belongs(tensor: Tensor) -> bool:
            return id(tensor) in inputs or id(tensor) in made.slots or _lacks_history(tensor)

        sources: list[_Source] = []
        counts = {"intermediate": 0, "constant": 0}
        for held in self.ctx.take_out(belongs):
            key = id(held.tensor)
            if key in inputs:
                label = self.names[self.places[inputs[key]]]
                sources.append(_Source("input", inputs[key], held._replace(label=label)))
            elif key in outputs:
                label = f"output {outputs[key]}" if made.several else "the output"
                sources.append(_Source("output", outputs[key], held._replace(label=label)))
            else:
                on_the_way = _lacks_history(held.tensor) and key not in fixed
                kind = "intermediate" if on_the_way else "constant"
                sources.append(_Source(kind, counts[kind], held))
                counts[kind] += 1
        return sources

    def _record(self, tensors: list[Tensor]) -> None:
        """Leave a node behind."""
        constants = [each.held.tensor for each in self.sources if each.kind == "constant"]
        inputs = [*tensors, *constants]
        names = self.names
        shown = [names[place] for place in self.places]
        op = self.signature.op((*shown, *(f"constant {i}" for i in range(len(constants)))))
        kinds = [Kind.of(arg) if isinstance(arg, Tensor) else None for arg in self.args]
        made = [Kind.of(each) if isinstance(each, Tensor) else None for each in self.made.values]
        plan = CallPlan(self.signature, op, self.ctx, names, kinds, made)
        offer(op, partial(self._leave_node, plan), *inputs)

    def _leave_node(self, plan: CallPlan, *inputs: Tensor) -> tuple[Tensor, ...]:
        self.node = node = FunctionNode.__new__(FunctionNode)
        parents = [each for each in inputs if each._node is not None]
        on_the_way = [each.held.tensor for each in self.sources if each.kind == "intermediate"]
        outputs = (*self.made.tensors, *on_the_way)
        node.plan = plan  # type: ignore[assignment]
        node.parents = tuple([each._node for each in parents])
        node.slots = tuple([each._slot for each in parents])
        node.outputs = tuple([(each._array.shape, each._array.dtype) for each in outputs])
        node.shape, node.dtype = node.outputs[0]
        node.order = next_order()
        frame = user_frame()
        node.code, node.instruction = frame.f_code, frame.f_lasti
        node._extras = None
        first = {
            "input": 0,
            "constant": len(self.tensors),
            "output": len(inputs),
            "intermediate": len(inputs) + len(self.made.tensors),
        }
        saved = [
            (each.held.tensor, first[each.kind] + each.number, each.held.label)
            for each in self.sources
        ]
        plan.keep(node, tuple([each._node is not None for each in inputs]), saved)
        for slot, (output, place) in enumerate(zip(self.made.tensors, self.made.places)):
            if place not in self.made.fixed:
                output._enter_graph(node, slot)
        self.made.restrict_views(node)
        return outputs


def _argument(tensor: Tensor, follow: bool) -> Tensor:
    """What ``forward`` gets: the same tensor as another object, marked if a derivative follows."""
    same = forward_ad.without_tangents(tensor)
    same.__dict__.update(tensor.__dict__)
    if follow:
        mark(same)
    return same


def _lacks_history(tensor: Tensor) -> bool:
    """Whether a value depends on the arguments and was not recorded (``enable_grad`` records)."""
    return tensor._node is None and is_varying(tensor)
