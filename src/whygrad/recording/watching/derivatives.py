"""Calls of ``autograd.grad``: a way to train without ``backward``, or derivatives on the side."""

from __future__ import annotations

import weakref
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.record import Derivative, Run
from whygrad.recording.watching.snapshots import Snapshots, leaves_of
from whygrad.source import Where

__all__ = ["differentiated", "may_train"]

_DERIVATIVES = 1000  # that are kept at most


def may_train(run: Run, engine: Engine, loss: Any, leaves: list[Any]) -> bool:
    """Whether ``autograd.grad`` is asked for the gradients of parameters, to change them.

    Of a single leaf that is no Parameter it may be those of an input; and a program with an
    optimizer trains by that, whatever it asks on the side.
    """
    if run.has_optimizer:
        return False
    kinds = engine.tensor, engine.namespace.nn.Parameter
    if not isinstance(loss, kinds[0]) or loss.numel() != 1 or not loss.requires_grad:  # type: ignore[attr-defined]
        return False
    parameters = [each for each in leaves if isinstance(each, kinds[0]) and each.is_leaf]  # type: ignore[attr-defined]
    named = all(isinstance(each, kinds[1]) for each in parameters)
    return len(parameters) == len(leaves) and (named or len(leaves) > 1)


def differentiated(
    run: Run, snapshots: Snapshots, engine: Engine, loss: Any, results: Any, where: Where
) -> None:
    """``autograd.grad`` has answered; without a graph what follows is a constant."""
    log = snapshots.log(engine)
    source = log.source(loss)
    if source is None or len(run.derivatives) >= _DERIVATIVES:
        return
    leaves = frozenset(leaves_of(log.slice([source]).values(), engine.tensor))
    for each in results:
        if isinstance(each, engine.tensor) and not each.requires_grad:  # type: ignore[attr-defined]
            run.derivatives[id(each)] = Derivative(weakref.ref(each), where, leaves)
