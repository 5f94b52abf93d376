"""The learner's repaired script and guardrail, at work: what happens in each step."""

from __future__ import annotations

import contextlib
import io
import math
import traceback
from typing import TYPE_CHECKING, Any

import whygrad
import whygrad.nn  # loaded before the clock runs
import whygrad.optim

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def observed(learner: Learner, script: str) -> dict[str, Any]:
    """Train; the losses, and what becomes of each parameter.  The guardrail stands aside."""
    return watched(learner.module(script))


def watched(module: Any) -> dict[str, Any]:
    losses: list[float] = []
    held: list[float] = []  # the gradients that are there when backward() begins
    never: set[str] = set()  # parameters whose gradient was None in some step
    models: list[Any] = []
    first: dict[str, list[Any]] = {}

    def guard(step: int, model: Any, loss: Any) -> None:
        if not models:
            models.append(model)
            first.update({name: each.tolist() for name, each in model.named_parameters()})
        losses.append(loss.item())
        never.update(name for name, each in model.named_parameters() if each.grad is None)

    backward = whygrad.Tensor.backward

    def observing(loss: Any, *args: Any, **options: Any) -> None:
        if models:
            grads = [each.grad for each in models[0].parameters() if each.grad is not None]
            held.append(math.sqrt(sum((grad**2).sum().item() for grad in grads)))
        backward(loss, *args, **options)

    module.guard = guard
    whygrad.Tensor.backward = observing  # type: ignore[assignment, method-assign]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            module.train()
    finally:
        whygrad.Tensor.backward = backward  # type: ignore[method-assign]
    last = dict(models[0].named_parameters()) if models else {}
    return {
        "losses": losses,
        "held": held,
        "without": sorted(never),
        "unmoved": sorted(name for name, each in last.items() if each.tolist() == first[name]),
        "shapes": sorted(list(each.shape) for each in last.values()),
    }


def guarded(learner: Learner, script: str) -> dict[str, Any]:
    """Train with the learner's guardrail: in which step, and with what words, did it stop?"""
    module: Any = learner.module(script)
    guard = module.guard
    steps = 0

    def counting(*args: Any, **named: Any) -> None:
        nonlocal steps
        steps += 1
        guard(*args, **named)

    module.guard = counting
    stopped, message, kind = False, "", ""
    try:
        module.train()
    except Exception as error:
        files = [each.filename for each in traceback.extract_tb(error.__traceback__)]
        if not any(each.endswith("guardrail.py") for each in files):
            raise
        stopped, message, kind = True, str(error), type(error).__name__
    return {"steps": steps, "stopped": stopped, "message": message[:500], "kind": kind}
