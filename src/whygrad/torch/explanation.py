"""``explain`` for PyTorch: the same :class:`~whygrad.why.explanation.Explanation`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from whygrad.errors import describe, fail
from whygrad.source import user_frame
from whygrad.torch import ops
from whygrad.torch.backward import Pass, walk
from whygrad.torch.finite import numbers
from whygrad.torch.flow import TorchFlow
from whygrad.torch.lines import user_where
from whygrad.torch.names import TorchNames
from whygrad.why.contributions import Terms
from whygrad.why.explanation import MOST_PATHS, Explanation, explained_flow
from whygrad.why.flow import Edge
from whygrad.why.question import checked_index
from whygrad.why.sources.terms import largest_terms

__all__ = ["NOT_RECORDED", "explain"]

NOT_RECORDED = "line not recorded: run it inside whygrad.torch.record()"


def explain(
    y: Any, wrt: Any, *, gradient: Any = None, index: Any = None, max_paths: int = MOST_PATHS
) -> Any:
    """Take the gradient of ``y`` with respect to ``wrt`` apart into what it is the sum of.

    As :func:`whygrad.explain`, for PyTorch's tensors; a list gives a tuple of explanations, and a
    module gives one for each parameter that the gradient reaches, by name.  Lines are known for
    what ran inside :func:`whygrad.torch.record`.

    PyTorch's engine runs the pass, with ``retain_graph=True``: no ``.grad`` changes and nothing is
    freed, but hooks on tensors and modules run as they do in ``backward()``.
    """
    names = TorchNames(user_frame())
    with torch._C.DisableTorchFunction():
        return _explained(y, wrt, names, gradient, index, max_paths)


def _explained(
    y: Any, wrt: Any, names: TorchNames, gradient: Any, index: Any, max_paths: int
) -> Any:
    if isinstance(wrt, torch.nn.Module):
        parameters = {name: each for name, each in wrt.named_parameters() if each.requires_grad}
        found = {
            name: _Question(y, each, names, gradient, None, max_paths).answered(required=False)
            for name, each in parameters.items()
        }
        return {name: each for name, each in found.items() if each is not None}
    if isinstance(wrt, (list, tuple)):
        asked = [_Question(y, each, names, gradient, index, max_paths) for each in wrt]
        return tuple(each.answered() for each in asked)
    return _Question(y, wrt, names, gradient, index, max_paths).answered()


class _Question:
    """One call of ``explain`` for one tensor: checked before anything runs."""

    def __init__(
        self, y: Any, x: Any, names: TorchNames, gradient: Any, index: Any, max_paths: int
    ) -> None:
        for role, each in (("y", y), ("wrt", x)):
            if not isinstance(each, torch.Tensor):
                raise fail(
                    TypeError,
                    call=f"whygrad.torch.explain(y, wrt=x) with {role} = {describe(each)}",
                    cause=f"{role} is a {type(each).__name__}, not a tensor of PyTorch's",
                    fix="whygrad.explain takes Values and whygrad's tensors",
                    where=user_where(),
                )
        self.y, self.x, self.names, self.gradient = y, x, names, gradient
        self.max_paths = max_paths
        self.y_name, self.x_name = names.of_torch(y), names.of_torch(x)
        self.call = f"explain({self.y_name}, wrt={self.x_name})"
        self.index = None if index is None else checked_index(self.call, index, tuple(x.shape))
        if not isinstance(max_paths, int) or max_paths < 1:
            raise self._fail(
                ValueError,
                f"max_paths is {max_paths!r}: at least one path has to be shown",
                "pass a positive integer, or leave it out",
            )
        for each, name in ((y, self.y_name), (x, self.x_name)):
            if not each.requires_grad:
                raise self._fail(
                    RuntimeError,
                    f"{name} does not require grad, so backward computes no gradient for it",
                    "call requires_grad_() on what should, before the computation; "
                    f"whygrad.torch.why_none({self.x_name}, {self.y_name}) says how it came to be",
                )
        if gradient is None and y.numel() != 1:
            raise self._fail(
                RuntimeError,
                f"{self.y_name} has the shape {tuple(y.shape)}: grad can be implicitly created "
                "only for scalar outputs",
                f"pass gradient= in that shape, or explain {self.y_name}.sum()",
            )

    def answered(self, required: bool = True) -> Explanation | None:
        finished = walk(self.call, self.y, self.x, self.gradient)
        if finished is None or finished.gradient is None:
            if not required:
                return None
            raise self._fail(
                RuntimeError,
                f"no gradient of {self.y_name} reaches {self.x_name}, so there is nothing to "
                "explain",
                f"whygrad.torch.why_none({self.x_name}, {self.y_name}) names the cut",
            )
        made = TorchFlow(finished, self.names)
        terms: dict[Edge, Terms | None] = {}
        if self.index is not None:
            for node, position, edge in made.last_steps:
                terms[edge] = _terms(finished, node, position, self.index)
        return explained_flow(
            made.flow,
            index=self.index,
            max_paths=self.max_paths,
            notes=tuple(_notes(made)),
            terms=terms,
        )

    def _fail(self, kind: type[Any], cause: str, fix: str) -> Any:
        return fail(kind, call=self.call, cause=cause, fix=fix, where=user_where())


def _notes(made: TorchFlow) -> Iterable[str]:
    target = made.flow.target
    assert target is not None, "a flow of a finished pass has one"
    sent = [edge.contribution for edge in target.consumers if edge.contribution is not None]
    if any(edge.consumer.where is None for edge in target.consumers):
        yield NOT_RECORDED
    if sent:
        total = sum(np.asarray(each, np.complex128) for each in sent)
        size = sum(np.abs(np.asarray(each, np.complex128)) for each in sent)
        with np.errstate(all="ignore"):
            different = np.abs(total - target.gradient) > 1e-2 * size
        if different.any():
            yield "the contributions do not add up to the gradient: a hook has changed it"


def _terms(finished: Pass, node: Any, position: int, index: tuple[int, ...]) -> Terms | None:
    """Which elements of the consumer one element answers for; None if that cannot be told.

    What a node sends is linear in what comes in, so the slopes are the derivative of one by the
    other, and PyTorch's nodes are differentiable themselves.
    """
    incoming = finished.steps[node].incoming
    arrived = [each for each in incoming if each is not None]
    if ops.is_custom(node) or len(arrived) != 1 or arrived[0].is_complex():
        return None
    leaf = arrived[0].detach().clone().requires_grad_()
    given = [None if each is None else leaf for each in incoming]
    try:
        with torch.enable_grad():
            sent = node(*given)
            element = (sent if isinstance(sent, tuple) else (sent,))[position][index]
            (slopes,) = torch.autograd.grad(element, leaf)
    except RuntimeError:  # not every node of PyTorch can be differentiated
        return None
    return largest_terms(numbers(arrived[0]), numbers(slopes))
