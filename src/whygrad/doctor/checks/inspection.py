"""``inspect_batch``: one batch through the model and back, with a look at every number."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.doctor.checks.batch import Batch, LossFunction, require_module, tensors_in
from whygrad.doctor.checks.preserving import preserving
from whygrad.doctor.checks.result import Result, figure
from whygrad.recording.engines import Engine
from whygrad.recording.ranges import Range, summarize

__all__ = ["Inspection", "ParameterGradient", "inspect_batch"]


@dataclass
class ParameterGradient:
    """The gradient of one parameter.  ``norm``, ``low`` and ``high`` are None if there is none."""

    name: str
    shape: tuple[int, ...]
    state: str  # "ok", "zero", "not finite", "no gradient" or "frozen"
    norm: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(repr=False)
class Inspection(Result):
    """What :func:`inspect_batch` saw, in the order in which it happened."""

    values: dict[str, Range] = field(default_factory=dict)  # "input[0]", "output", "loss", …
    parameters: list[ParameterGradient] = field(default_factory=list)
    error: Exception | None = None  # what the model, the loss or backward() raised

    check = "doctor.inspect_batch"
    fix = "start with the first row of the table that is not finite or has no gradient"

    @property
    def loss(self) -> float:
        """The loss of the batch; NaN if there was none."""
        seen = self.values.get("loss")
        return math.nan if seen is None else seen.mean

    def __getitem__(self, name: str) -> ParameterGradient:
        return {each.name: each for each in self.parameters}[name]

    def rows(self) -> tuple[list[list[str]], str]:
        head = ["what", "shape", "norm", "min", "max", "state"]
        body = [
            [name, str(list(each.shape)), "", figure(each.low), figure(each.high), _state(each)]
            for name, each in self.values.items()
        ]
        body += [
            [each.name, str(list(each.shape)), figure(each.norm), figure(each.low),
             figure(each.high), each.state]
            for each in self.parameters
        ]  # fmt: skip
        return [head, *body], "<<>>><"


def inspect_batch(model: Any, batch: Any, loss_fn: LossFunction | None = None) -> Inspection:
    """Run one batch forward and backward and look at inputs, outputs, the loss and gradients.

    ``batch`` is ``(input, target)``, ``(input, …, target)``, a dictionary of named inputs, or an
    input alone; ``loss_fn(output, target)`` gives a scalar.  Raises nothing that the model raises:
    see ``ok``, ``problems`` and ``raise_if_bad()``.  Gradients, modes, buffers and random numbers
    are afterwards what they were.
    """
    engine = require_module(model, "inspect_batch")
    seen = Inspection()
    with preserving(model):
        try:
            _run(seen, engine, model, Batch.of(batch), loss_fn)
        except Exception as error:
            seen.error = error
            stage = "the model" if "output" not in _kinds(seen) else "the loss function"
            stage = "backward()" if "loss" in seen.values else stage
            seen.problems.append(f"{stage} raised {type(error).__name__}: {error}")
        else:
            seen.parameters = [
                _gradient(engine, name, each) for name, each in model.named_parameters()
            ]
            _judge_gradients(seen)
    return seen


def _run(
    seen: Inspection, engine: Engine, model: Any, batch: Batch, loss_fn: LossFunction | None
) -> None:
    for name, value in (
        *((f"input[{place}]" if len(batch.inputs) > 1 else "input", each)
          for place, each in enumerate(batch.inputs)),
        *batch.named.items(),
        ("target", batch.target),
    ):  # fmt: skip
        _look(seen, engine, name, value)
    output = batch.output(model)
    _look(seen, engine, "output", output)
    loss = batch.loss(output, loss_fn)
    _look(seen, engine, "loss", loss)
    if loss.numel() != 1:
        shape = list(loss.shape)
        seen.problems.append(f"the loss has shape {shape}; backward() starts at a single number")
        loss = loss.sum()
    if not loss.requires_grad:
        seen.problems.append(
            "the loss has no graph: nothing that was computed depends on a parameter"
        )
        return
    loss.backward()


def _look(seen: Inspection, engine: Engine, name: str, value: Any) -> None:
    for path, each in tensors_in(value, engine.tensor, name):
        found = seen.values[path] = summarize(engine.array(each))
        if not found.finite:
            passed_on = any(not before.finite for before in list(seen.values.values())[:-1])
            counts = f"{found.nans} NaN and {found.infs} Inf of {found.size}"
            how = ", passed on from above" if passed_on else ""
            seen.problems.append(f"{path} is not finite: {counts}{how}")


def _gradient(engine: Engine, name: str, parameter: Any) -> ParameterGradient:
    shape = tuple(parameter.shape)
    if parameter.grad is None:
        return ParameterGradient(
            name, shape, "no gradient" if parameter.requires_grad else "frozen"
        )
    values = engine.array(parameter.grad).astype(np.float64)
    if values.size == 0:
        return ParameterGradient(name, shape, "ok", 0.0)
    state = "ok" if values.any() else "zero"
    state = state if np.isfinite(values).all() else "not finite"
    norm = float(np.linalg.norm(values.ravel()))
    return ParameterGradient(name, shape, state, norm, float(values.min()), float(values.max()))


def _judge_gradients(seen: Inspection) -> None:
    by_state: dict[str, list[str]] = {}
    for each in seen.parameters:
        by_state.setdefault(each.state, []).append(each.name)
    for state, words in (("not finite", "is not finite"), ("no gradient", "does not arrive")):
        for name in by_state.get(state, ()):
            seen.problems.append(f"the gradient of {name} {words}")
    zero = by_state.get("zero", [])
    if zero and "ok" not in by_state and "not finite" not in by_state:
        seen.problems.append("every gradient that arrives is exactly zero")
    elif zero:
        seen.notes.append(f"exactly zero, which is not the same as missing: {', '.join(zero)}")
    if by_state.get("no gradient"):
        name = by_state["no gradient"][0]
        seen.notes.append(f"whygrad.why_none(parameter, loss) says why {name} has no gradient")


def _state(values: Range) -> str:
    return "ok" if values.finite else f"{values.nans} NaN, {values.infs} Inf"


def _kinds(seen: Inspection) -> set[str]:
    return {name.partition("[")[0] for name in seen.values}
