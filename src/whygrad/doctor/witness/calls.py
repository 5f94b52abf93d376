"""Every call of the program into an engine: carried out once, whatever happens, and noted."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from threading import get_ident
from types import FrameType
from typing import Any

import numpy as np

from whygrad.doctor.engines import Engine
from whygrad.doctor.ranges import rms, row_marks, summarize
from whygrad.doctor.recording.calls import CallLog, Origin, Produced, RecordedCall
from whygrad.doctor.recording.layers import LOOKED_AT, look
from whygrad.doctor.recording.record import (
    Evaluation,
    Failure,
    Sample,
    Stray,
)
from whygrad.doctor.witness.snapshots import Snapshots
from whygrad.ops.families import (
    ACTIVATIONS,
    ADD,
    CLASS_LOSSES,
    DETACHES,
    LEAVING,
    LINEAR,
    LOSSES,
    RANDOM,
    RISKY,
    SETITEM,
    SOUNDNESS,
    SUB,
    SUM,
    TOTALS,
    VIEWS,
)
from whygrad.source import Where

__all__ = ["Calls"]


# Calls whose result may say how good the model is.
_FIGURES = LOSSES | TOTALS

# Traits of ops.
_LEAVES, _DRAWS, _WRITES, _FIGURE, _LOOKED, _RISKY, _ASKS, _SWITCHES = 1, 2, 4, 8, 16, 32, 64, 128


class Calls(Snapshots):
    """The part of the witness that carries out the program's calls and writes them down."""

    def call(
        self,
        engine: Engine,
        op: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
    ) -> Any:
        """Carry out a call of the program and write it down.

        Whatever goes wrong with the notes, the call is carried out, and once.
        """
        if get_ident() != self.scope.thread:
            return function(*args, **kwargs)
        traits = _traits(op)
        if self.resting and engine.is_recording():
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                self._failed_call(op, args, kwargs, frame, error)
                raise
            if traits & _FIGURE and not self.dozing:
                try:
                    self._figure(engine, op, args, kwargs, result, frame, True)
                except Exception as error:
                    self.trouble(error)
            return result
        if self._optimizing or traits & _LEAVES:
            number = function(*args, **kwargs)
            if self._optimizing:
                return number
            try:
                if type(number) is float and not math.isfinite(number):
                    self._bad_value_read(engine, args[0], frame)
                if args:
                    self._departs(engine, op, function, args[0], frame)
            except Exception as error:
                self.trouble(error)
            return number
        if traits & _SWITCHES:
            self._switches(engine, args, kwargs, frame)
            return function(*args, **kwargs)
        try:
            if traits & _ASKS and args:
                self._bad_value_read(engine, args[0], frame, masks=op.startswith("nan_to_num"))
            tape = self.tape(engine)
            random = engine.random_state() if traits & _DRAWS else None
            if traits & _WRITES and not args and "tensor" in kwargs:  # nn.init hands it on by name
                kwargs = dict(kwargs)
                args = (kwargs.pop("tensor"),)
            given, tensors = tape.take(args)
            named = kwargs
            if kwargs:
                named, more = tape.take_named(kwargs)
                tensors += more
            initializes = False
            written = args[0] if traits & _WRITES and args else None
            if written is not None and given[0] is written and isinstance(written, engine.tensor):
                initializes = written.requires_grad and written.is_leaf  # type: ignore[attr-defined]
                given = (self._before_write(engine, written, frame), *given[1:])
            elif written is not None and type(given[0]) is Produced:
                self._written_through(engine, tape.call(given[0].call), written, frame)
        except Exception as error:
            self.trouble(error)
            return function(*args, **kwargs)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            self._failed_call(op, args, kwargs, frame, error)
            raise
        try:
            if args and result is args[0] and not traits & _WRITES:
                return result  # float(), to(), contiguous() of what is so already: nothing was made
            written = args[0] if op in SETITEM else result
            recorded = engine.is_recording() and not initializes
            if traits & _FIGURE and not self._in_model:
                self._figure(engine, op, args, kwargs, result, frame, recorded)
            if traits & _RISKY and not getattr(written, "requires_grad", True):
                self._look_outside(engine, op, args, written, frame)
            if not recorded or not tensors:
                self._outside(tape, op, args, written, frame, recorded)
                return result
            if op in SUB and not traits & _WRITES and self.run.passes:
                self.registry.computed_from(args, frame)
            if self._boundaries:
                self._keeping.follow(given, written, tape.end, self._boundaries[-1], frame)
            tape.add(
                RecordedCall(op, function, given, named, frame, self._path, random, recorded),
                written,
            )
            if traits & _LOOKED and not self._stack and op in LINEAR:
                self._layer_by_hand(engine, args)
            if self._sample is not None and traits & _LOOKED and isinstance(result, engine.tensor):
                self._look(self._sample, op, engine.array(result))
        except Exception as error:
            self.trouble(error)
        return result

    def _layer_by_hand(self, engine: Engine, args: tuple[Any, ...]) -> None:
        """``x @ w`` outside of any module: if ``x`` is data, note its size as that of an input."""
        pair = [each for each in args[:2] if isinstance(each, engine.tensor)]
        given = [each for each in pair if not each.requires_grad]  # type: ignore[attr-defined]
        if len(pair) == 2 and len(given) == 1 and given[0].is_floating_point():  # type: ignore[attr-defined]
            self._inputs.append(rms(engine.array(given[0])))

    def _switches(
        self, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> None:
        try:
            wanted = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
            source = self.tape(engine).source(args[0])
            if source is not None and wanted:
                self.tape(engine).switched.add(source)
            self.registry.switches(args[0], bool(wanted), Where(frame.f_code, frame.f_lasti))
        except Exception as error:
            self.trouble(error)

    def _failed_call(
        self, op: str, args: Any, kwargs: Any, frame: FrameType, error: Exception
    ) -> None:
        where = Where(frame.f_code, frame.f_lasti)
        self.run.failure = Failure(op, args, kwargs, where, self._path or None, error)

    def _departs(
        self, engine: Engine, op: str, function: Callable[..., Any], tensor: Any, frame: FrameType
    ) -> None:
        """A value of this step was handed to Python or NumPy: enter that it was."""
        tape = self.tape(engine)
        source = tape.source(tensor)
        if source is not None and engine.is_recording():
            tape.add(RecordedCall(op, function, (source,), {}, frame, self._path, None, True), None)

    def _look(self, sample: Sample, op: str, array: Any) -> None:
        """Keep what one output looks like, under the name of its layer."""
        name = f"{self._path}:{op}" if op in ACTIVATIONS or not self._path else self._path
        while name in sample.layers:
            name += "'"
        sample.layers[name] = look(op, array)

    def _written_through(
        self, engine: Engine, maker: RecordedCall | None, tensor: Any, frame: FrameType
    ) -> None:
        """A write to what another call made: through a view, or through ``p.data``.

        The latter is the program's own update of a parameter, or its initial value.
        """
        if maker is not None and maker.op in DETACHES:
            where = Where(frame.f_code, frame.f_lasti)
            parameter = self.registry.written(tensor, where, engine)
            if parameter is not None and self.run.passes:
                self._by_hand.setdefault(id(parameter.tensor), where)
        elif maker is not None and maker.op in VIEWS and maker.args:
            base = maker.args[0]  # x[3:5] += 1 changes x: a replay needs it as it was
            if isinstance(base, engine.tensor) and base.is_leaf and not base.requires_grad:  # type: ignore[attr-defined]
                self.tape(engine).replace(base, engine.copy(base))

    def _before_write(self, engine: Engine, tensor: Any, frame: FrameType) -> Any:
        """A tensor from elsewhere is about to be overwritten: what the tape keeps of it."""
        where = Where(frame.f_code, frame.f_lasti)
        parameter = self.registry.written(tensor, where, engine)
        if parameter is not None:
            if self.run.passes:
                self._by_hand.setdefault(id(parameter.tensor), where)
            return tensor
        if not tensor.is_leaf:
            return tensor
        copied = engine.copy(tensor)
        if not tensor.requires_grad:
            self.tape(engine).replace(tensor, copied)
        return copied

    def _outside(
        self,
        tape: CallLog,
        op: str,
        args: tuple[Any, ...],
        result: Any,
        frame: FrameType,
        recorded: bool,
    ) -> None:
        """A result that no gradient flows through: only where it comes from is of interest."""
        tensors = [result] if hasattr(result, "requires_grad") else result
        evaluation = None
        if not recorded and not self._in_model:
            evaluation = tape.evaluation(args)
            if evaluation is not None:
                evaluation.used = True
            if op in ADD | SUB and not _traits(op) & _WRITES:
                self.registry.computed_from(args, frame)
        if isinstance(tensors, (list, tuple)):
            origin = Origin(op, frame.f_code, frame.f_lasti, evaluation)
            for each in tensors:
                if hasattr(each, "requires_grad") and _is_leaf(each):
                    tape.set_origin(each, origin)
        if op in LOSSES and not recorded and not self._in_model and getattr(result, "ndim", 1) == 0:
            where = Where(frame.f_code, frame.f_lasti)
            passes = len(self.run.passes)
            value = float(result.detach())
            self.run.evaluations.append(Evaluation(value, op, where, passes, self._training))

    def _look_outside(
        self, engine: Engine, op: str, args: tuple[Any, ...], result: Any, frame: FrameType
    ) -> None:
        """Keep a result that is not finite: it is on no tape, and nothing will show it again."""
        full = len(self.run.strays) >= 16 or not isinstance(result, engine.tensor)
        if full or np.isfinite(engine.array(result)).all():
            return
        given = [each for each in args if isinstance(each, engine.tensor)]
        before = [summarize(engine.array(each)) for each in given]
        where, passes = Where(frame.f_code, frame.f_lasti), len(self.run.passes)
        stray = Stray(op, where, before, summarize(engine.array(result)), passes)
        for each in (*self._evaluated, *given):
            if isinstance(each, engine.tensor) and not summarize(engine.array(each)).finite:
                origin = self.tape(engine).origin(each)
                stray.given, stray.given_at = (
                    ("input", where) if origin is None else (origin.op, origin.where)
                )
                break
        self.run.strays.append(stray)

    def _bad_value_read(
        self, engine: Engine, tensor: Any, frame: FrameType, masks: bool = False
    ) -> None:
        """The program looks at a value that may not be finite, perhaps to leave because of it.

        ``masks``: it replaces such values, which is right in the data and wrong in a gradient.
        """
        if self.run.incidents or not isinstance(tensor, engine.tensor):
            return
        values = engine.array(tensor)
        unsound = np.isnan if values.size > 1 else lambda value: ~np.isfinite(value)
        if values.dtype.kind != "f" or not unsound(values).any():
            return
        tape = self.tape(engine)
        source = tape.source(tensor)
        call = None if source is None else tape.call(source.call)
        if call is not None and call.op in DETACHES and type(call.args[0]) is Produced:
            source = call.args[0]
        elif source is not None and not tensor.requires_grad:  # type: ignore[attr-defined]
            return
        if source is not None and masks:
            return
        if source is not None:
            snapshot = self._snapshot(engine, None, float(np.mean(values)), root=source)
            where = Where(frame.f_code, frame.f_lasti)
            self._incident("loss", snapshot, where, step=len(self.run.passes))
        elif any(each.tensor.grad is tensor for each in self.registry.parameters()):
            self._bad_gradient(engine)

    def _figure(
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
            if recorded and isinstance(target, engine.tensor):
                self._note_targets(op, engine.array(target))
        else:
            if given.requires_grad or self._training is None:  # type: ignore[attr-defined]
                return
            values = engine.array(given)
            correct = values.dtype.kind == "b" or bool(((values == 0) | (values == 1)).all())
            if not correct and (recorded or values.dtype.kind != "f"):
                return
        if (recorded or op not in LOSSES) and len(self.run.figures) < 100_000:
            value = float(engine.array(result).item())
            value /= max(1, given.numel()) if op in SUM else 1  # type: ignore[attr-defined]
            where, passes = Where(frame.f_code, frame.f_lasti), len(self.run.passes)
            figure = Evaluation(value, op, where, passes, self._training, correct)
            self.run.figures.append(figure)

    def _note_targets(self, op: str, target: np.ndarray[Any, Any]) -> None:
        if self._sample is not None and not self._sample.answers:
            self._sample.answers = row_marks(target)
        if target.dtype.kind == "f":
            self._targets.append(rms(target))
        elif self._sample is not None and op in CLASS_LOSSES and target.dtype.kind in "iu":
            some = target.ravel()[:1024].tolist()
            self._sample.labels.append((len(some), frozenset(some)))


@cache
def _traits(op: str) -> int:
    """What is special about calls of an op."""
    traits = _LEAVES if op in LEAVING else 0
    traits |= _DRAWS if op in RANDOM else 0
    traits |= _WRITES if op[-1] == "_" or op in SETITEM else 0
    traits |= _FIGURE if op in _FIGURES else 0
    traits |= _RISKY if op in RISKY or op in LOSSES else 0
    traits |= _ASKS if op in SOUNDNESS else 0
    traits |= _SWITCHES if op == "requires_grad_" else 0
    return traits | (_LOOKED if op in LOOKED_AT else 0)


def _is_leaf(tensor: Any) -> bool:
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:  # PyTorch refuses to say it of a view without grad of a written parameter
        return True
