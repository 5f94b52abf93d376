"""``check_init``: does a fresh model start where it should?

A classifier that knows nothing should be as wrong as chance, log(classes); a regression about as
wrong as the mean, the variance of the targets.  On the way there no layer may blow up, shrink to
nothing, be dead or saturated, or consist of units that are copies of each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from whygrad.doctor.checks.batch import Batch, LossFunction, require_module, tensors_in
from whygrad.doctor.checks.preserving import preserving
from whygrad.doctor.checks.result import Result, figure
from whygrad.recording.engines import Engine
from whygrad.recording.layers import look

__all__ = ["InitCheck", "LayerScale", "check_init"]

_CONFIDENT = 1.5  # times chance: a classifier that is this wrong is sure of the wrong things
_FAR_OFF = 10.0  # times the targets' mean square: outputs and targets are on different scales
_SMALL, _LARGE = 1e-3, 1e3  # of a layer's output, in units of what it was given
_HALF = 0.5  # of a layer's units
_OPS = {
    "ELU": "elu", "Hardtanh": "hardtanh", "LeakyReLU": "leaky_relu", "ReLU": "relu",
    "ReLU6": "relu6", "Sigmoid": "sigmoid", "Tanh": "tanh",
}  # fmt: skip


@dataclass(frozen=True)
class LayerScale:
    """What came out of one module."""

    name: str
    kind: str
    rms: float
    dead: float  # share of units that are zero for the whole batch
    saturated: float  # share of values at the flat ends of a sigmoid or tanh


@dataclass(repr=False)
class InitCheck(Result):
    """What :func:`check_init` measured."""

    loss: float = math.nan
    chance: float | None = None  # the loss of a model that knows nothing; None if not known
    layers: list[LayerScale] = field(default_factory=list)

    check = "doctor.check_init"
    fix = "start from the layers' own initialisation, and scale inputs and targets to about 1"

    def rows(self) -> tuple[list[list[str]], str]:
        head = ["module", "class", "output rms", "dead", "saturated"]
        body = [
            [each.name, each.kind, figure(each.rms), f"{each.dead:.0%}", f"{each.saturated:.0%}"]
            for each in self.layers
        ]
        return [head, *body], "<<>>>"


def check_init(model: Any, batch: Any, loss_fn: LossFunction | None = None) -> InitCheck:
    """Look at a model that was not trained yet: loss against chance, scale of every layer.

    ``batch`` and ``loss_fn`` are as for ``inspect_batch``; the loss should be a mean over samples.
    """
    engine = require_module(model, "check_init")
    parts = Batch.of(batch)
    found = InitCheck()
    with preserving(model):
        size = max((_rms(engine, each) for each in parts.inputs), default=1.0)
        handles = [
            each.register_forward_hook(partial(_measure, engine, found, name))
            for name, each in model.named_modules()
            if next(each.children(), None) is None
        ]
        try:
            output = parts.output(model)
        finally:
            for handle in handles:
                handle.remove()
        loss = parts.loss(output, loss_fn)
        found.loss = float(np.mean(engine.array(loss)))
        if loss.requires_grad:
            loss.sum().backward()
        _judge_loss(found, engine, parts, output)
        _judge_layers(found, size)
        for name, each in model.named_parameters():
            _judge_symmetry(found, engine, name, each)
    return found


def _measure(
    engine: Engine, found: InitCheck, name: str, module: Any, args: Any, output: Any
) -> None:
    """A hook that looks at what a module gives."""
    kind = type(module).__name__
    for _, each in islice(tensors_in(output, engine.tensor, name), 1):
        if each.is_floating_point():
            seen = look(_OPS.get(kind, kind), engine.array(each))
            found.layers.append(LayerScale(name, kind, seen.rms, seen.dead, seen.saturated))


def _judge_loss(found: InitCheck, engine: Engine, batch: Batch, output: Any) -> None:
    if not math.isfinite(found.loss):
        found.problems.append(f"the loss is {found.loss} before any training")
        return
    classes = batch.classes(engine, output)
    if classes is not None and classes > 1:
        found.chance = math.log(classes)
        if found.loss > _CONFIDENT * found.chance:
            found.problems.append(
                f"the loss is {found.loss:.3g}, chance is log({classes}) = {found.chance:.3g}: the "
                "model starts out sure of wrong answers; make the last layer's weights smaller"
            )
        else:
            found.notes.append(f"loss {found.loss:.3g}, chance log({classes}) = {found.chance:.3g}")
    elif isinstance(batch.target, engine.tensor) and isinstance(output, engine.tensor):
        target = engine.array(batch.target).astype(np.float64)
        square = float(np.mean(target**2))
        found.chance = float(target.var())
        if square > 0 and found.loss > _FAR_OFF * max(square, 1.0):
            found.problems.append(
                f"the loss is {found.loss:.3g}, the targets' mean square {square:.3g}: the output "
                "starts on another scale than the targets"
            )
        elif found.chance > 100.0:
            found.problems.append(
                f"the targets have a variance of {found.chance:.3g}: scale them to about 1, or the "
                "first gradients are as large"
            )
        else:
            found.notes.append(f"loss {found.loss:.3g}, variance of targets {found.chance:.3g}")


def _judge_layers(found: InitCheck, size: float) -> None:
    for each in found.layers:
        where = f"{each.name} ({each.kind})"
        if not math.isfinite(each.rms):
            found.problems.append(f"the output of {where} is not finite")
            return
        if size > 0 and each.rms > _LARGE * max(size, 1.0):
            found.problems.append(f"{where} gives values of size {each.rms:.3g}: they explode")
            return
        if size > 0 and 0 < each.rms < _SMALL * min(size, 1.0):
            found.problems.append(f"{where} gives values of size {each.rms:.3g}: they vanish")
            return
        if each.dead > _HALF:
            found.problems.append(f"{each.dead:.0%} of the units of {where} are dead at the start")
        if each.saturated > _HALF:
            found.problems.append(f"{each.saturated:.0%} of the values of {where} are saturated")


def _judge_symmetry(found: InitCheck, engine: Engine, name: str, parameter: Any) -> None:
    """Units with equal weights and equal gradients stay equal for ever."""
    weight = engine.array(parameter)
    if weight.ndim < 2 or len(weight) < 2 or parameter.grad is None:
        return
    rows = weight.reshape(len(weight), -1)
    gradients = engine.array(parameter.grad).reshape(len(weight), -1)
    if (rows == rows[0]).all() and np.allclose(gradients, gradients[0], rtol=1e-5, atol=0):
        found.problems.append(
            f"the {len(rows)} units of {name} have the same weights and the same gradients: they "
            "will stay copies of one another"
        )


def _rms(engine: Engine, value: Any) -> float:
    if not isinstance(value, engine.tensor) or not value.is_floating_point():  # type: ignore[attr-defined]
        return 1.0
    return look("input", engine.array(value)).rms
