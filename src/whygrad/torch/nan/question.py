"""``why_nan`` for PyTorch: who made the first number that is not finite, forward or backward."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.autograd.graph import GradientEdge

from whygrad.autograd.anomaly_mode.examination import bad_elements, fits, found
from whygrad.autograd.anomaly_mode.findings import Finding, Trail, merged
from whygrad.autograd.anomaly_mode.finite import trouble
from whygrad.errors import describe, fail
from whygrad.source import user_frame
from whygrad.torch import finite, ops
from whygrad.torch.backward import Place, grad, released, run
from whygrad.torch.flow import dense
from whygrad.torch.graph import event_of, is_leaf, node_of, reachable, where_of
from whygrad.torch.identity import identities
from whygrad.torch.lines import user_where
from whygrad.torch.names import TorchNames
from whygrad.torch.nan.anomalies import known_op
from whygrad.torch.nan.selection import dropped_by
from whygrad.torch.record import record
from whygrad.why.answer import NOTHING_WRONG, Answer, Section
from whygrad.why.nan.answers import answer_from
from whygrad.why.nan.leaves import BadLeaf, of_leaves

__all__ = ["why_nan"]

_RECORD = (
    "compute it inside `with whygrad.torch.record():`, or pass the computation as a function: "
    "why_nan(lambda: …)"
)


def why_nan(loss: Any) -> Answer:
    """Who made the first NaN or Inf that reaches ``loss`` or a gradient of it.

    As :func:`whygrad.why_nan`, for PyTorch: ``loss`` is a tensor, or a function that computes and
    returns one and is run once inside :func:`whygrad.torch.record`.  The forward pass is known if
    it was recorded.  For the backward pass PyTorch's engine runs with ``retain_graph=True``: no
    ``.grad`` changes and nothing is freed, but hooks run as they do in ``backward()``.
    """
    if isinstance(loss, torch.Tensor):
        names = TorchNames(user_frame())
        with torch._C.DisableTorchFunction():
            name = names.of_torch(loss)
            return _of_tensor(loss, f"why_nan({name})", name, names)
    if callable(loss) and not isinstance(loss, torch.nn.Module):
        return _of_function(loss)
    raise fail(
        TypeError,
        call=f"whygrad.torch.why_nan({describe(loss)})",
        cause="it needs a tensor of PyTorch's, or a function that returns one",
        fix="pass the loss, or a function that computes it: why_nan(lambda: loss_of(model(x)))",
        where=user_where(),
    )


def _of_function(function: Callable[[], Any]) -> Answer:
    label = getattr(function, "__name__", type(function).__name__)
    question = f"why_nan({'lambda: …' if label == '<lambda>' else label})"
    names = TorchNames(user_frame())
    with record():
        loss = function()
        if isinstance(loss, torch.Tensor):
            with torch._C.DisableTorchFunction():
                return _of_tensor(loss, question, "the result", names)
    raise fail(
        TypeError,
        call=question,
        cause=f"the function returned {describe(loss)}, not a tensor of PyTorch's",
        fix="return the loss",
        where=user_where(),
    )


def _of_tensor(loss: torch.Tensor, question: str, name: str, names: TorchNames) -> Answer:
    kind = finite.trouble(loss)
    if kind is not None:
        track = identities.known(loss)
        if track is not None and track.trail is not None:
            known = track.trail.culprits[0].where is not None
            written = [] if known else [each for each in _bad_leaves(loss, names) if each.trained]
            return of_leaves(question, name, kind, written) or answer_from(
                track.trail, question, f"it reached {name}, which holds {kind}"
            )
        unknown = "who made it is not known: the forward pass was not recorded"
        given = of_leaves(question, name, kind, _bad_leaves(loss, names))
        return given or Answer(
            question, "undecided", f"{name} holds {kind}, and {unknown}", fix=_RECORD
        )
    root = node_of(loss)
    if root is None:
        headline = f"{name} is finite, and it has no graph to look for gradients in"
        return Answer(question, NOTHING_WRONG, f"nothing wrong: {headline}")
    if any(ops.is_released(each) for each in reachable(root)):
        raise released(question)
    inspection = _Backward(question, loss, root)
    for leaf, trail in inspection.reached.items():
        reached = names.of(leaf) or f"a leaf, {finite.described(leaf)}"
        return answer_from(trail, question, f"it reached the gradient of {reached}")
    return _healthy(question, name, loss, inspection, names)


def _bad_leaves(loss: torch.Tensor, names: TorchNames) -> list[BadLeaf]:
    """The leaves that hold numbers which are not finite; of a graph that was used, nobody knows
    whether they were so when it began."""
    root = node_of(loss)
    nodes = [] if root is None else list(reachable(root))
    if any(ops.is_released(each) for each in nodes):
        return []
    leaves = sorted((node.variable for node in nodes if is_leaf(node)), key=lambda each: -each.ndim)
    return [  # weights before biases
        BadLeaf(names.of_torch(each), kind, finite.numbers(each), each._version > 0)
        for each in leaves
        if (kind := finite.trouble(each)) is not None
    ]


def _healthy(
    question: str, name: str, loss: torch.Tensor, backward: _Backward, names: TorchNames
) -> Answer:
    kept = [
        f"{names.of_torch(leaf)}.grad already holds {kind}"
        for leaf in backward.leaves
        if leaf.grad is not None and (kind := finite.trouble(leaf.grad)) is not None
    ]
    if kept:
        return Answer(
            question,
            "given",
            f"{name} and its gradients are finite, but {kept[0]}: backward() adds to it",
            fix="clear it before backward(): zero_grad(), or .grad = None",
            sections=(Section("gradients that were there before", tuple(kept)),),
        )
    value = f" ({name} = {loss.item():.4g})" if loss.numel() == 1 and not loss.is_complex() else ""
    harmless = tuple(f"{each.name} made {each.kind} at {each.where}" for each in backward.made)
    return Answer(
        question,
        NOTHING_WRONG,
        f"nothing wrong: {name} and every gradient of it are finite{value}",
        sections=(Section("not finite on the way, without harm", harmless),) if harmless else (),
    )


class _Backward:
    """A backward pass in which every gradient that is not finite gets a trail."""

    def __init__(self, question: str, loss: torch.Tensor, root: Any) -> None:
        self.nodes = reachable(root)
        self.root = root
        self.trails: dict[Place, list[Trail]] = {}
        self.made: list[Finding] = []
        self._senders: dict[Place, list[Any]] = {}
        ends = [node for node in self.nodes if is_leaf(node)]
        self.leaves: list[torch.Tensor] = [node.variable for node in ends]
        with ExitStack() as hooks:
            for node in self.nodes:
                if not is_leaf(node):
                    hooks.callback(node.register_hook(self._look_at(node)).remove)
            seed = torch.ones_like(loss)
            gradients = grad(question, loss, seed, [GradientEdge(node, 0) for node in ends])
        self.reached: dict[torch.Tensor, Trail] = {}
        for node, gradient in zip(ends, gradients, strict=True):
            if gradient is not None and finite.trouble(gradient) is not None:
                trails = self._arrived(node, 0, dense(gradient))
                self.reached[node.variable] = merged(trails, trails[0].kind)

    def _look_at(self, node: Any) -> Callable[[Any, Any], None]:
        def look(sent: tuple[Any, ...], incoming: tuple[Any, ...]) -> None:
            for position, gradient in enumerate(sent):
                parent, slot = node.next_functions[position]
                if gradient is None or parent is None:
                    continue
                self._senders.setdefault((parent, slot), []).append(node)
                if finite.trouble(gradient):
                    trail = self._trail(node, position, gradient, incoming)
                    self.trails.setdefault((parent, slot), []).append(trail)

        return look

    def _arrived(self, node: Any, slot: int, gradient: Any) -> list[Trail]:
        """The trails of a gradient that is not finite where it arrives."""
        known = self.trails.get((node, slot))
        if known:
            return known
        kind = trouble(gradient) or "nan"
        senders = self._senders.get((node, slot), [])
        if kind == "inf" and len(senders) > 1:
            finding = _summed(senders[-1], gradient)
        else:  # finite numbers do not add up to NaN, and a single one is no sum
            writer = f"a hook on what arrives for {node.name()}"
            finding = found(gradient, kind, writer=writer, where=where_of(node))
        self.trails[node, slot] = [Trail(kind, (finding,))]
        return self.trails[node, slot]

    def _trail(self, node: Any, position: int, sent: Any, incoming: tuple[Any, ...]) -> Trail:
        gradient = dense(sent)
        arrived = {slot: dense(each) for slot, each in enumerate(incoming) if each is not None}
        with np.errstate(all="ignore"):
            kind = trouble(gradient) or "nan"
            saved = ops.saved_in_words(node)
            before = [
                trail
                for slot, each in arrived.items()
                if trouble(each) is not None
                for trail in self._arrived(node, slot, each)
            ]
            bad = bad_elements(gradient, kind)
            only = next(iter(arrived.values())) if len(arrived) == 1 else None
            if before and only is not None and _opposite(node, only, gradient):
                fresh = bad & np.isfinite(only)
                bad, before = (fresh, []) if fresh.any() else (bad, before)
            if not before and _of_saved(saved, bad):
                before = _forward_trails(node)
            fed = bool(before) or _of_saved(saved)
            finding = self._made(node, position, gradient, bad, kind, only, saved, fed)
        if not before:
            self.made.append(finding)
            return Trail(kind, (finding,))
        turned = finding if kind == "nan" and all(each.kind == "inf" for each in before) else None
        return merged(before, kind, turned)

    def _made(
        self,
        node: Any,
        position: int,
        gradient: Any,
        bad: Any,
        kind: Any,
        incoming: Any,
        saved: dict[str, Any],
        fed: bool,
    ) -> Finding:
        shape = gradient.shape
        known = {
            name: np.asarray(each)
            for name, each in saved.items()
            if isinstance(each, (np.ndarray, float, int)) and fits(np.asarray(each), shape)
        }
        opposite = incoming if incoming is not None and incoming.shape == shape else None
        derivatives = None if opposite is None else _slopes(node, position)
        finding = found(
            gradient,
            kind,
            bad,
            op=known_op(ops.op_name(node), ops.is_custom(node)),
            inputs=known,
            incoming=opposite,
            slopes=None
            if derivatives is None
            else lambda places: [derivatives[place] for place in places],
            where=where_of(node),
            backward=True,
            position=position,
            fed="inf" if fed else None,
        )
        first = finding.elements[0]
        if first.incoming != 0:
            return finding
        return replace(finding, selection=dropped_by(node, first.index, self.root))


def _opposite(node: Any, incoming: Any, sent: Any) -> bool:
    """Whether each element that is sent comes from the element opposite to it."""
    return ops.is_elementwise(node) and incoming.shape == sent.shape


def _of_saved(saved: dict[str, Any], among: Any = None) -> bool:
    """Whether a value that the node kept from the forward pass was not finite already.

    ``among`` says for which elements, as far as values stand opposite them.
    """
    for each in saved.values():
        if isinstance(each, np.ndarray) and each.dtype.kind in "fc":
            wrong = ~np.isfinite(each)
            if among is not None and fits(each, among.shape):
                wrong = wrong & among
            if wrong.any():
                return True
    return False


def _forward_trails(node: Any) -> list[Trail]:
    """Where numbers came from that were not finite when the op of this node got them."""
    event = event_of(node)
    sources = () if event is None else event.inputs
    return [each.trail for each in sources if each.trail is not None]


def _slopes(node: Any, position: int) -> Any:
    """The local derivatives of an op on elements: what the node makes of a gradient of 1."""
    if not ops.is_elementwise(node):
        return None
    about = node._input_metadata[0]
    one = torch.ones(tuple(about.shape), dtype=about.dtype, device=about.device)
    return dense(run(node, [one])[position])


def _summed(node: Any, gradient: Any) -> Finding:
    """The sum is not finite since ``node`` added its contribution, which is, to the others."""
    op = known_op(ops.op_name(node), ops.is_custom(node))
    where = where_of(node)
    return found(gradient, "inf", op=op, where=where, backward=True, summed=True)
