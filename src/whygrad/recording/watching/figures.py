"""Results that no gradient flows through: evaluations, accuracies, and values that are not finite.

They are in no log of calls.  What is kept is where they come from, and the number if it may tell
how good the model is.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np

from whygrad.ops.families import ADD, CLASS_LOSSES, COMPARISONS, LEAVING, LOSSES, SUB, SUM
from whygrad.recording.calls import CallLog, Origin
from whygrad.recording.engines import Engine
from whygrad.recording.ranges import rms, row_marks, summarize
from whygrad.recording.record import Evaluation, Run, Stray
from whygrad.recording.watching.modules import Modules
from whygrad.recording.watching.parameters import Registry
from whygrad.recording.watching.sampler import Sampler
from whygrad.recording.watching.snapshots import Snapshots
from whygrad.source import Where

__all__ = ["Figures"]

_CHANGES = ADD | SUB
_FIGURES = 100_000  # that are kept at most
_STRAYS = 16
_LABELS = 1024  # that are looked at in a batch
_STEPS = 12  # ops between an output and what is measured, that are remembered


class Figures:
    """Notes what the program measures."""

    def __init__(
        self, run: Run, registry: Registry, sampler: Sampler, snapshots: Snapshots, modules: Modules
    ) -> None:
        self._run = run
        self._registry = registry
        self._sampler = sampler
        self._snapshots = snapshots
        self._modules = modules

    def outside(
        self,
        log: CallLog,
        op: str,
        args: tuple[Any, ...],
        result: Any,
        frame: FrameType,
        recorded: bool,
    ) -> None:
        """Note where a result comes from, and its value if it is a loss without gradients."""
        tensors = [result] if hasattr(result, "requires_grad") else result
        found, measures = None, not recorded and not self._modules.in_model
        if measures:
            found = log.evaluated(args)
            if found is not None:
                found.evaluation.used = True
            if op in _CHANGES and not op.endswith("_"):
                self._registry.computed_from(args, frame)
        if isinstance(tensors, (list, tuple)):
            update = id(result) in self._run.parameters  # by hand, or an average of others
            learned = () if recorded or update else log.learned(args)
            origin = Origin(op, frame.f_code, frame.f_lasti, learned=learned)
            if found is not None:
                steps = (*found.steps, op)[-_STEPS:]
                origin = origin._replace(evaluation=found.evaluation, steps=steps)
            for each in tensors:
                if hasattr(each, "requires_grad") and _is_leaf(each):
                    log.set_origin(each, origin)
        if measures and op in LOSSES and getattr(result, "ndim", 1) == 0:
            self._run.evaluations.append(self._figure(op, float(result.detach()), frame))

    def beside(
        self, log: CallLog, op: str, args: tuple[Any, ...], result: Any, frame: FrameType
    ) -> None:
        """Follow what is computed from a model's answers that are perhaps not for training."""
        found = log.evaluated(args)
        if found is None or self._modules.in_model:
            return
        found.evaluation.used = True
        if op in LEAVING:
            found.evaluation.read = True
        steps = (*found.steps, op)[-_STEPS:]
        origin = Origin(op, frame.f_code, frame.f_lasti, found.evaluation, steps)
        for each in result if isinstance(result, (tuple, list)) else (result,):
            if hasattr(each, "requires_grad"):
                log.set_origin(each, origin)

    def look(
        self, engine: Engine, op: str, args: tuple[Any, ...], result: Any, frame: FrameType
    ) -> None:
        """Keep a result that is not finite: nothing will show it again."""
        full = len(self._run.strays) >= _STRAYS or not isinstance(result, engine.tensor)
        if full or np.isfinite(engine.array(result)).all():
            return
        given = [each for each in args if isinstance(each, engine.tensor)]
        before = [summarize(engine.array(each)) for each in given]
        where, passes = Where(frame.f_code, frame.f_lasti), len(self._run.passes)
        stray = Stray(op, where, before, summarize(engine.array(result)), passes)
        for each in (*self._modules.evaluated, *given):
            if isinstance(each, engine.tensor) and not summarize(engine.array(each)).finite:
                origin = self._snapshots.log(engine).origin(each)
                stray.given, stray.given_at = (
                    ("input", where) if origin is None else (origin.op, origin.where)
                )
                break
        self._run.strays.append(stray)

    def note(
        self,
        engine: Engine,
        op: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        frame: FrameType,
        recorded: bool,
    ) -> None:
        """A number that may tell how good the model is: a loss, or a mean that is taken by hand."""
        given = args[0] if args else None
        if not isinstance(given, engine.tensor) or getattr(result, "ndim", 1) != 0:
            return
        correct = False
        if op in LOSSES:
            target = args[1] if len(args) > 1 else kwargs.get("target")
            if not recorded:
                return
            if isinstance(target, engine.tensor) and target.requires_grad:  # type: ignore[attr-defined]
                target = given  # some write the target first
            if isinstance(target, engine.tensor) and not target.requires_grad:  # type: ignore[attr-defined]
                self._note_targets(op, engine.array(target))
        else:
            if given.requires_grad or self._modules.training is None:  # type: ignore[attr-defined]
                return
            values = engine.array(given)
            correct = values.dtype.kind == "b" or bool(((values == 0) | (values == 1)).all())
            if not correct and (recorded or values.dtype.kind != "f"):
                return
            if not correct and not self._is_error(engine, given):
                return
        if len(self._run.figures) < _FIGURES:
            value = float(engine.array(result).item())
            value /= max(1, given.numel()) if op in SUM else 1  # type: ignore[attr-defined]
            self._run.figures.append(self._figure(op, value, frame, correct))

    def _is_error(self, engine: Engine, given: Any) -> bool:
        """Whether numbers may be errors of answers: not the sizes of weights, nor a share of right
        ones.
        """
        found = self._snapshots.log(engine).evaluated([given])
        return found is not None and not COMPARISONS.any_of(found.steps or ())

    def _figure(self, op: str, value: float, frame: FrameType, correct: bool = False) -> Evaluation:
        where, passes = Where(frame.f_code, frame.f_lasti), len(self._run.passes)
        return Evaluation(value, op, where, passes, self._modules.training, correct)

    def _note_targets(self, op: str, target: np.ndarray[Any, Any]) -> None:
        sample = self._sampler.sample
        if sample is not None and not sample.answers:
            sample.answers = row_marks(target)
        if target.dtype.kind == "f":
            self._snapshots.given.targets.append(rms(target))
        elif sample is not None and op in CLASS_LOSSES and target.dtype.kind in "iu":
            some = target.ravel()[:_LABELS].tolist()
            sample.labels.append((len(some), frozenset(some)))


def _is_leaf(tensor: Any) -> bool:
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:  # PyTorch refuses to say it of a view without grad of a written parameter
        return True
