"""The node that a call of a custom function leaves behind.

To the engine it is a node like any other: its plan has one rule for all arguments, which runs on
tensors, and that rule is the user's ``backward``.

Two kinds of saved tensors do not show in the signature, and are treated as if they did.  A tensor
from outside (a constant, say) counts as a further *input*, without a gradient.  A value computed on
the way that depends on the arguments counts as a further *output*.  Its derivative is not known, so
a gradient that arrives there is an error, and that is exactly when a second derivative would have
been wrong.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.autograd.custom.answers import Kind, gradients
from whygrad.autograd.custom.signature import place_of
from whygrad.autograd.saving.values import as_tensors
from whygrad.errors import explained, fail
from whygrad.tensor import Tensor, modes, wrap
from whygrad.tensor.graph.node import ManyOutputs

if TYPE_CHECKING:
    from whygrad.autograd.custom.context import FunctionCtx
    from whygrad.autograd.custom.signature import Signature
    from whygrad.ops.define import Op
    from whygrad.source import Where

__all__ = ["CallPlan", "FunctionNode", "no_history", "of_user"]


class FunctionNode(ManyOutputs):
    """One recorded call of a custom function.  As in PyTorch, it also answers for its ``ctx``."""

    __slots__ = ()

    def check_versions(self) -> None:
        """Saved tensors are checked when ``backward`` asks for them: it may not."""

    def check_saved(self, numbers: Sequence[int]) -> None:
        """Refuse to hand out saved tensors that have been written to, or lack their tangent."""
        for storage, version, index in self.guards:
            if index in numbers and storage.version != version:
                raise self._overwritten(storage, version, index)
        plan: Any = self.plan
        extras = self._extras
        if extras is not None and extras.tangents is not None:
            for number in numbers:
                if number in plan.intermediates:
                    name = plan.saved_names[number]
                    raise no_history(plan.signature, "backward", name, self.where, "a tangent")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        plan: Any = self.plan
        return getattr(plan.ctx.showing(_Lazily(self), self.check_saved), name)


class _Lazily:
    """The saved tensors of a node, fetched when one is asked for."""

    def __init__(self, node: FunctionNode) -> None:
        self.node = node

    def __getitem__(self, number: int) -> Any:
        return as_tensors(self.node, self.node.unpacked())[number]


class CallPlan:
    """How backward works for one call: what the engine asks of a plan, and the call's ``ctx``."""

    __slots__ = (
        "_node", "_slots", "arity", "conjugates", "ctx", "guarded", "in_float32", "inputs",
        "intermediates", "names", "needs", "on_tensors", "op", "outputs", "positions", "regular",
        "saved_names", "saves_arrays", "signature",
    )  # fmt: skip

    ties = False  # what backward returns says itself what it hangs on

    def __init__(
        self,
        signature: Signature,
        op: Op,
        ctx: FunctionCtx,
        names: Sequence[str],
        inputs: Sequence[Kind | None],
        outputs: Sequence[Kind | None],
    ) -> None:
        self.signature = signature
        self.op = op
        self.ctx = ctx
        self.names = names  # of all arguments
        self.inputs = inputs  # of all arguments; None for what is no tensor
        self.outputs = outputs  # likewise
        self.regular = self.in_float32 = self.conjugates = False
        self.on_tensors = True
        self._slots = sum(kind is not None for kind in outputs)

    @property
    def rules(self) -> tuple[tuple[Callable[..., Any], None]]:
        return ((self.joint, None),)

    def keep(
        self,
        node: FunctionNode,
        needs: tuple[bool, ...],
        saved: Sequence[tuple[Tensor, int, str]],
    ) -> None:
        """Let ``node`` keep (tensor, place, name); places count inputs first, then outputs."""
        inputs = len(needs)
        arguments = sum(kind is not None for kind in self.inputs)
        self._node = weakref.ref(node)
        self.needs = needs
        self.arity = inputs if True in needs[arguments:] else arguments
        self.positions = tuple(place for place, needed in enumerate(needs) if needed)
        self.guarded = tuple((index, place) for index, (_, place, _) in enumerate(saved))
        self.saved_names = tuple(name for _, _, name in saved)
        self.saves_arrays = any(each is not None for each in self.ctx._for_backward)
        self.intermediates = {
            index for index, place in self.guarded if place >= inputs + self._slots
        }
        node.values = tuple(tensor._array for tensor, _, _ in saved)
        node.guards = tuple(
            (tensor._storage, tensor._storage.version, index)
            for index, (tensor, _, _) in enumerate(saved)
        )

    def joint(self, xp: Any, incoming: list[Any], *values: Any) -> list[Tensor | None]:
        """The user's ``backward``, as the rule of the node."""
        node = self._node()
        assert node is not None, "a node outlives the walk it takes part in"
        where = node.where
        for slot in range(self._slots, len(incoming)):
            if incoming[slot] is not None:
                place = len(self.needs) + slot
                name = next(self.saved_names[i] for i, p in self.guarded if p == place)
                raise no_history(self.signature, "backward", name, where, "a gradient")
        self.signature.check_backward(where)
        function: Any = self.signature.backward
        ctx = self.ctx.showing(values, node.check_saved)
        arrived = iter(incoming)
        received = [
            None if kind is None else self._lent(next(arrived), kind) for kind in self.outputs
        ]
        with of_user(self.signature, "backward", where):
            returned = function(ctx, *received)
        checked = gradients(
            self.signature, self.names, self.inputs, ctx.needs_input_grad, returned, where
        )
        found = [
            _given_back(each)
            for each, kind in zip(checked, self.inputs, strict=True)
            if kind is not None
        ]
        return found + [None] * (self.arity - len(found))

    def _lent(self, gradient: Any, kind: Kind) -> Any:
        """What ``backward`` may read but not write to: others may be about to use it as well."""
        if gradient is None:
            if not self.ctx.materialize_grads:
                return None
            zeros = wrap(np.zeros(kind.shape, kind.dtype.numpy))
            return zeros.to(kind.device)
        array = gradient._array
        if not isinstance(array, np.ndarray):
            return gradient
        lent = wrap(array.view())
        lent._array.flags.writeable = False
        lent._keys, lent._node, lent._slot = gradient._keys, gradient._node, gradient._slot
        lent._tangent = gradient._tangent
        return lent


def _given_back(gradient: Tensor | None) -> Tensor | None:
    """A gradient that is (a view of) what was lent, as the caller of a recorded walk may own it.

    Other walks copy what they hand out anyway.
    """
    if gradient is None or not modes.state.recording or not isinstance(gradient._array, np.ndarray):
        return gradient
    return gradient if gradient._array.flags.writeable else gradient.clone()


def no_history(
    signature: Signature, method: str, name: str, where: Where, what: str
) -> RuntimeError:
    """Somebody differentiates ``backward`` or ``jvp`` through a value that forward computed."""
    label = signature.name
    function = signature.backward if method == "backward" else signature.jvp
    return fail(
        RuntimeError,
        call=f"the derivative of {label}.{method}, for {label}.apply at {where}",
        cause=f"{what} flows into {name}, which forward computed on the way: it depends on the "
        "arguments but is neither an argument nor an output, so nobody knows its derivative, and "
        "taking it for a constant would give a wrong result",
        fix=f"compute it again in {method} from saved arguments, or return it as a further output "
        "and save that; save value.detach() if it is meant to count as a constant; decorate "
        "backward with @once_differentiable if it is not to be differentiated",
        where=place_of(function),
    )


class of_user:
    """Around a call of the user's own function: its exception stays what it is, with a note."""

    def __init__(self, signature: Signature, method: str, where: Where) -> None:
        self.name = signature.name
        self.method = method
        self.where = where

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not explained(error):
            error.add_note(f"in {self.name}.{self.method}, for {self.name}.apply at {self.where}")
            error.whygrad_explained = True  # type: ignore[attr-defined]
