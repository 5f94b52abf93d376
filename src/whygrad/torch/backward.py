"""One backward pass of PyTorch's engine, written down.

Hooks on the nodes between a root and a target see what arrives at each node and what it sends on.
``torch.autograd.grad`` with ``retain_graph=True`` does the work: no ``.grad`` changes and nothing
is freed, and hooks that the user has put there run as in any backward pass.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge

from whygrad.errors import fail
from whygrad.torch.finite import quietly
from whygrad.torch.graph import leads_to
from whygrad.torch.lines import user_where
from whygrad.torch.ops import is_custom

__all__ = ["Arrivals", "Pass", "Place", "grad", "released", "run", "walk"]

Place = tuple[Any, int]  # a node, and which of its outputs


class Arrivals(NamedTuple):
    """What arrived at a node, one per output, and what it sent, one per edge; None: nothing."""

    incoming: tuple[Any, ...]
    sent: tuple[Any, ...]


class Pass(NamedTuple):
    """A finished backward pass."""

    root: Place
    target: Place
    between: set[Any]  # the nodes on the ways from root to target, both included
    steps: dict[Any, Arrivals]  # by node, in the order in which they ran
    gradient: Any  # of the target; None: none arrived
    sides: dict[Place, Any]  # complete gradients of the other inputs of nodes between


def walk(question: str, root: torch.Tensor, target: torch.Tensor, seed: Any = None) -> Pass | None:
    """Run backward from ``root`` to ``target``; None if no way leads there."""
    start, end = get_gradient_edge(root), get_gradient_edge(target)
    goal = (end.node, end.output_nr)
    between = leads_to(start.node, goal)
    if not between:
        return None
    inner = between - {end.node}
    asked = [goal, *_sides(inner, between)]
    steps: dict[Any, Arrivals] = {}
    with ExitStack() as hooks:
        for node in inner:
            hooks.callback(node.register_hook(_keeper(node, steps)).remove)
        gradient, *sides = grad(question, root, seed, [GradientEdge(*each) for each in asked])
    known = dict(zip(asked[1:], sides, strict=True))
    return Pass((start.node, start.output_nr), goal, between, steps, gradient, known)


def _sides(inner: set[Any], between: set[Any]) -> list[Place]:
    found = {
        (parent, slot): None
        for node in inner
        for parent, slot in node.next_functions
        if parent is not None and parent not in between
    }
    return list(found)


def _keeper(node: Any, steps: dict[Any, Arrivals]) -> Callable[[Any, Any], None]:
    def keep(sent: tuple[Any, ...], incoming: tuple[Any, ...]) -> None:
        steps[node] = Arrivals(incoming, sent)

    return keep


def grad(question: str, root: torch.Tensor, seed: Any, asked: list[GradientEdge]) -> Any:
    """``torch.autograd.grad`` that frees nothing and says what to do if the graph is gone."""
    try:
        return torch.autograd.grad(
            root, asked, seed, retain_graph=True, create_graph=False, allow_unused=True
        )
    except RuntimeError as error:
        if "second time" not in str(error):
            raise
        raise released(question) from None


def released(question: str) -> RuntimeError:
    """The error of a question that comes after ``backward()``."""
    return fail(
        RuntimeError,
        call=question,
        cause="the graph was released by an earlier backward() or grad()",
        fix="ask before backward(), or call backward(retain_graph=True)",
        where=user_where(),
    )


def run(node: Any, incoming: list[Any]) -> tuple[Any, ...]:
    """What one node makes of incoming gradients, one per edge."""
    with quietly():
        if is_custom(node):
            return _run_custom(node, incoming)
        sent = node(*incoming)
    return sent if isinstance(sent, tuple) else (sent,)


def _run_custom(node: Any, incoming: list[Any]) -> tuple[Any, ...]:
    """A user's ``backward`` answers for every argument; edges exist for the tensors among them."""
    given = [
        torch.zeros(tuple(about.shape), dtype=about.dtype, device=about.device)
        if each is None
        else each
        for each, about in zip(incoming, node._input_metadata, strict=True)
    ]
    sent = node.apply(*given)
    every = sent if isinstance(sent, tuple) else (sent,)
    wanted = iter([each for each, needs in zip(every, node.needs_input_grad) if needs])
    return tuple(None if parent is None else next(wanted) for parent, _ in node.next_functions)
