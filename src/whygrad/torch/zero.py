"""``why_zero`` for PyTorch: the walk and the words of :mod:`whygrad.why.zero`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.autograd.graph import get_gradient_edge

from whygrad.errors import describe, fail
from whygrad.source import user_frame
from whygrad.torch import ops
from whygrad.torch.answers import Answers
from whygrad.torch.backward import released
from whygrad.torch.edges import TorchGraph
from whygrad.torch.explanation import NOT_RECORDED
from whygrad.torch.finite import numbers
from whygrad.torch.lines import user_where
from whygrad.torch.names import TorchNames
from whygrad.why.answer import Answer
from whygrad.why.question import checked_index
from whygrad.why.zero.answers import ZeroReport, diagnose
from whygrad.why.zero.causes import BlockedEdge
from whygrad.why.zero.walk import Event, Passage, ZeroWalk

__all__ = ["why_zero"]


def why_zero(
    x: Any,
    loss: torch.Tensor,
    *,
    gradient: torch.Tensor | None = None,
    index: int | tuple[int, ...] | None = None,
    tolerance: float = 1e-10,
) -> Any:
    """Why the gradient of ``x`` is zero: which op on the way from ``loss`` let nothing through.

    As :func:`whygrad.why_zero`, for PyTorch's tensors.  For a module: one answer per parameter
    whose gradient is zero.  Nothing is changed, and hooks are not called; an ``autograd.Function``
    runs its ``backward`` once.
    """
    names = TorchNames(user_frame())
    with torch._C.DisableTorchFunction():
        if not isinstance(x, torch.nn.Module):
            return _answered(x, loss, names, gradient, index, tolerance)
        every = {
            name: _answered(each, loss, names, gradient, None, tolerance)
            for name, each in x.named_parameters()
            if each.requires_grad
        }
        wrong = {name: each for name, each in every.items() if not each.ok}
        question = f"why_zero({names.of(x) or 'the module'}, {names.of_torch(loss)})"
    return Answers(question, wrong, len(every), "has a gradient that is not zero")


def _answered(
    x: Any, loss: Any, names: TorchNames, gradient: Any, index: Any, tolerance: float
) -> Answer:
    for given in (x, loss):
        if not isinstance(given, torch.Tensor):
            raise fail(
                TypeError,
                call=f"whygrad.torch.why_zero({describe(x)}, {describe(loss)})",
                cause="it needs two tensors of PyTorch's: what the gradient is of, and the loss",
                fix="whygrad.why_zero takes Values and whygrad's tensors",
                where=user_where(),
            )
    call = f"why_zero({names.of_torch(x)}, {names.of_torch(loss)})"
    place = None if index is None else checked_index(call, index, tuple(x.shape))
    walk = _walk(call, x, loss, gradient)
    unknown = walk is not None and any(
        passage.edge.where is None for each in walk.passages.values() for passage in each
    )
    return diagnose(
        ZeroReport(
            names.of_torch(x),
            names.of_torch(loss),
            walk,
            lambda found: _blocked(found, names),
            tolerance,
            place,
            (NOT_RECORDED,) if unknown else (),
        )
    )


def _walk(call: str, x: torch.Tensor, loss: torch.Tensor, gradient: Any) -> ZeroWalk | None:
    if not (x.requires_grad and loss.requires_grad):
        return None
    if gradient is None and loss.numel() != 1:
        raise fail(
            RuntimeError,
            call=call,
            cause=f"the loss has the shape {tuple(loss.shape)}, and only a single number can do "
            "without a gradient to start from",
            fix="pass gradient= in that shape",
            where=user_where(),
        )
    root, target = get_gradient_edge(loss), get_gradient_edge(x)
    graph = TorchGraph(root.node, (target.node, target.output_nr))
    if not graph.useful:
        return None
    seed = numbers(torch.ones_like(loss) if gradient is None else gradient)
    try:
        return ZeroWalk(graph, (root.node, root.output_nr), seed, (target.node, target.output_nr))
    except RuntimeError as error:
        if "second time" not in str(error):
            raise
        raise released(call) from None


def _blocked(found: Event | Passage, names: TorchNames) -> BlockedEdge:
    edge: Any = found.edge
    node = edge.node
    saved = ops.saved_in_words(node)
    held = names.tensor_at(edge.source, edge.slot)
    value = saved.get(edge.argument)
    if not isinstance(value, np.ndarray) and held is not None:
        value = numbers(held)
    about = edge.source._input_metadata[edge.slot]
    shape = tuple(map(int, about.shape))
    mask = found.mask if isinstance(found, Event) else np.ones(shape, bool)
    dtype = numbers(torch.empty(0, dtype=about.dtype)).dtype
    others = ops.other_arguments(node, edge.argument, names)
    return BlockedEdge(edge.op, edge.argument, mask, saved, value, others, dtype)
