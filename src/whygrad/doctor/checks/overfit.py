"""``overfit_one_batch``: a model that cannot learn 16 samples by heart will not learn a million.

The test runs on a copy without dropout and without weight decay: memorising is the point.  If it
fails, the same attempt at other learning rates and the doctor's own rules say what is in the way.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.doctor.checks.batch import Batch, LossFunction, require_module
from whygrad.doctor.checks.preserving import preserving
from whygrad.doctor.checks.result import Result
from whygrad.doctor.session import watch
from whygrad.errors import fail
from whygrad.recording.engines import Engine
from whygrad.recording.scope import unrecorded

__all__ = ["Overfit", "overfit_one_batch"]

_ERROR = 0.05  # of a classifier: the share of samples that may still be wrong
_LEFT = 0.1  # of a regression: the share of the loss that may still be there
_RATE = 1e-3
_OTHER_RATES = (10.0, 0.1)  # times the one that was tried first
# Rules about long runs: memorising a batch is neither.
_BESIDE_THE_POINT = ("overfitting", "under-trained", "class-imbalance", "loss-plateau")


@dataclass(repr=False)
class Overfit(Result):
    """How well the batch was learned."""

    losses: list[float] = field(default_factory=list)
    error: float | None = None  # share of wrong answers in the end; None for a regression
    samples: int = 0

    check = "doctor.overfit_one_batch"
    fix = "remove what stands in the way before training on more data"

    def rows(self) -> tuple[list[list[str]], str]:
        last = len(self.losses) - 1
        places = sorted({round(last * part / 5) for part in range(6)}) if last >= 0 else []
        body = [[str(place), f"{self.losses[place]:.4g}"] for place in places]
        return [["step", "loss"], *body], ">>"


def overfit_one_batch(
    model: Any,
    batch: Any,
    loss_fn: LossFunction | None = None,
    optimizer: Any = None,
    steps: int = 300,
    samples: int = 16,
) -> Overfit:
    """Train a copy of ``model`` on the first samples of one batch, and see whether it learns them.

    ``optimizer`` is one of the model's (its kind and options are used), a function from parameters
    to an optimizer, or None for Adam at whichever of three rates works.  A classifier passes with
    at most 5 % wrong answers, anything else when a tenth of the loss is left.
    """
    engine = require_module(model, "overfit_one_batch")
    if steps < 1 or samples < 1:
        raise fail(
            ValueError,
            call=f"doctor.overfit_one_batch(steps={steps}, samples={samples})",
            cause="there is nothing to do",
            fix="steps and samples are 1 or more",
        )
    attempt = _Attempt(engine, model, Batch.of(batch).first(samples), loss_fn, optimizer, steps)
    with preserving(model):
        found = attempt.run()
        for factor in _OTHER_RATES if optimizer is None else ():
            found = found if found.ok else min(found, attempt.run(factor), key=_badness)
        if not found.ok:
            found.problems += attempt.obstacles()
    return found


def _badness(found: Overfit) -> tuple[bool, float]:
    last = found.losses[-1]
    return not found.ok, last if math.isfinite(last) else math.inf


class _Attempt:
    """One model, one batch, and the ways to try it."""

    def __init__(
        self,
        engine: Engine,
        model: Any,
        batch: Batch,
        loss_fn: LossFunction | None,
        optimizer: Any,
        steps: int,
    ) -> None:
        self._engine = engine
        self._model = model
        self._batch = batch
        self._loss_fn = loss_fn
        self._make = _maker(engine, optimizer)
        self._given = optimizer is not None
        self._steps = steps

    def run(self, factor: float = 1.0) -> Overfit:
        """Train at ``factor`` times the learning rate."""
        found = Overfit(samples=self._batch.size)
        with unrecorded():
            trained = self._trained(found, factor)
        self._judge(found, trained)
        return found

    def _trained(self, found: Overfit, factor: float) -> Any:
        model = _without_dropout(copy.deepcopy(self._model))
        parameters = [each for each in model.parameters() if each.requires_grad]
        optimizer = self._make(parameters)
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * factor
            if "weight_decay" in group:
                group["weight_decay"] = 0.0
        for _ in range(self._steps):
            optimizer.zero_grad()
            loss = self._batch.loss(self._batch.output(model), self._loss_fn)
            loss.backward()
            found.losses.append(float(self._engine.array(loss)))
            if not math.isfinite(found.losses[-1]):
                break
            optimizer.step()
        return model

    def _judge(self, found: Overfit, model: Any) -> None:
        first, last = found.losses[0], found.losses[-1]
        if not math.isfinite(last):
            at = len(found.losses) - 1
            found.problems.append(f"the loss is {last} at step {at}")
            return
        with self._engine.unrecorded():
            output = self._batch.output(model)
        classes = self._batch.classes(self._engine, output)
        if classes is not None:
            found.error = self._wrong(output, classes)
            if found.error > _ERROR:
                found.problems.append(
                    f"{found.error:.0%} of {found.samples} samples are still wrong after "
                    f"{len(found.losses)} steps, loss {first:.4g} → {last:.4g}"
                )
        elif last > _LEFT * abs(first) and last > 1e-6:
            found.problems.append(
                f"the loss of {found.samples} samples fell only from {first:.4g} to {last:.4g} "
                f"in {len(found.losses)} steps"
            )

    def _wrong(self, output: Any, classes: int) -> float:
        scores, target = self._engine.array(output), self._engine.array(self._batch.target)
        if target.shape == scores.shape:  # one score for yes or no
            limit = 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0.0
            return float(((scores > limit) != (target > 0.5)).mean())
        return float((scores.argmax(1) != target).mean())

    # --- what stands in the way -------------------------------------------------------------------

    def obstacles(self) -> list[str]:
        """Reasons, as far as they can be found."""
        reasons = [*self._contradictions(), *self._rules()]
        for factor in _OTHER_RATES if self._given and not reasons else ():
            again = self.run(factor)
            if again.ok:
                word = "low" if factor > 1 else "high"
                reasons.append(f"the learning rate is too {word}: at {factor:g} times it, it works")
                break
        return reasons or [
            "no rule of the doctor's speaks: the model may be too small for these samples, or the "
            "loss may not measure what the output is"
        ]

    def _contradictions(self) -> list[str]:
        """Samples that are the same and are to be answered differently."""
        inputs = [each for each in self._batch.inputs if isinstance(each, self._engine.tensor)]
        if len(inputs) != 1 or not isinstance(self._batch.target, self._engine.tensor):
            return []
        samples, targets = map(self._engine.array, (inputs[0], self._batch.target))
        seen: dict[bytes, Any] = {}
        for place, (sample, target) in enumerate(zip(samples, targets)):
            known = seen.setdefault(np.ascontiguousarray(sample).tobytes(), (place, target))
            if not np.array_equal(known[1], target):
                return [f"samples {known[0]} and {place} are equal and have different targets"]
        return []

    def _rules(self) -> list[str]:
        """What the doctor says to the same attempt."""
        with watch(self._model, ignore=_BESIDE_THE_POINT) as session:
            self._trained(Overfit(), 1.0)
        return [f"{each.rule}: {each.title}" for each in session.diagnosis.causes]


def _without_dropout(model: Any) -> Any:
    model.train()
    for each in model.modules():
        if "Dropout" in type(each).__name__:
            each.eval()
        elif isinstance(getattr(each, "dropout", None), float):  # attention, recurrent layers
            each.dropout = 0.0
    return model


def _maker(engine: Engine, optimizer: Any) -> Callable[[list[Any]], Any]:
    """How to make an optimizer like the given one for other parameters."""
    space: Any = engine.namespace
    if optimizer is None:
        return lambda parameters: space.optim.Adam(parameters, lr=_RATE)
    if hasattr(optimizer, "param_groups"):
        kind = type(optimizer)
        first = optimizer.param_groups[0]
        options = {name: first.get(name, value) for name, value in optimizer.defaults.items()}
        return lambda parameters: kind(parameters, **options)
    if callable(optimizer):
        make: Callable[[list[Any]], Any] = optimizer
        return make
    raise fail(
        TypeError,
        call=f"doctor.overfit_one_batch(optimizer={type(optimizer).__name__})",
        cause="this is neither an optimizer nor a function that makes one",
        fix="optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1)",
    )
