"""The witness: hears of every event of a run and writes the :class:`~.record.Run`.

It is told by :mod:`.instruments` about calls, modules, ``backward``, ``zero_grad`` and ``step``.
What it does at every step is cheap: a line in the tape a call, the loss, one norm a gradient.  The
closer look (layer statistics, a snapshot, update sizes) is for sampled steps: all of the first 16,
then 4 in every doubling, and the first one that goes bad.  Between them a run that goes well is
left alone (:mod:`.vigilance`).  The schedule counts steps and not time,
so the same program gets the same report.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from threading import get_ident
from types import FrameType
from typing import Any

import numpy as np

from whygrad.autograd.source import Where
from whygrad.doctor.attention import Attention
from whygrad.doctor.engines import Engine
from whygrad.doctor.keeping import Keeping
from whygrad.doctor.layers import look
from whygrad.doctor.parameters import Registry
from whygrad.doctor.places import user_frame
from whygrad.doctor.ranges import glance, rms, summarize, thinned
from whygrad.doctor.record import (
    Clip,
    Course,
    Evaluation,
    Failure,
    Incident,
    Mark,
    ModeChange,
    Optimizer,
    Parameter,
    Pass,
    Run,
    Sample,
    Snapshot,
    Step,
    Stray,
)
from whygrad.doctor.sizes import Sizes
from whygrad.doctor.tape import Call, Origin, Produced, Tape
from whygrad.doctor.vigilance import Vigilance
from whygrad.doctor.vocabulary import (
    ACTIVATIONS,
    DOMAIN,
    LEAVING,
    LINEAR,
    LOOKED_AT,
    LOSSES,
    RANDOM,
)

__all__ = ["Observer", "is_sampled"]

# Calls that return a part of their argument, in the same memory.
_VIEWS = frozenset(("getitem", "view", "select", "narrow", "squeeze", "unsqueeze", "T", "t"))
# Calls whose result may say how good the model is.
_FIGURES = LOSSES | frozenset(("mean", "sum"))
# Calls by which a program asks whether its values are sound.
_QUESTIONS = frozenset(("isfinite", "isinf", "isnan", "nan_to_num", "nan_to_num_"))
# Traits of ops.
_LEAVES, _DRAWS, _WRITES, _FIGURE, _LOOKED, _RISKY, _ASKS, _SWITCHES = 1, 2, 4, 8, 16, 32, 64, 128


def is_sampled(number: int) -> bool:
    """Whether the pass with this number gets the closer look."""
    return number < 16 or number % (1 << (number.bit_length() - 3)) == 0


class Observer:
    """Writes down one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.attention = Attention()
        self.registry = Registry(run)
        self._tapes: dict[str, Tape] = {}
        self._stack: list[tuple[Any, str, int]] = []  # modules that are running
        self._path = ""  # of the innermost
        self._in_model = False  # whether the outermost has parameters: a loss module has none
        self._marks: list[Mark] = []
        self._inputs: list[float] = []
        self._targets: list[float] = []
        self._training: bool | None = None
        self._sample: Sample | None = Sample()
        self._pending: list[Pass] = []
        self._stepped = False  # whether an update came after the last pass
        self._zeroed = False
        self._clips: list[Clip] = []
        self._consumed: dict[int, bool] = {}  # courses whose gradients an update has used
        self._contaminated: set[int] = set()
        self._used: dict[int, int] = {}  # course -> number of the last pass it has used
        self._boundaries: list[int] = []  # ends of the tape at the latest updates
        self._keeping = Keeping(run)
        self._vigilance = Vigilance()
        self.resting = False  # whether recorded calls go by unseen
        self._rested = False  # whether any did
        self._recipe: Snapshot | None = None  # the latest one: what a step is like
        self._by_hand: dict[int, Where] = {}  # parameters the program wrote to since the last pass
        self._hand_course: Course | None = None
        self._hand_norms = Sizes({})
        self._optimizing = 0
        self._in_closure = False
        self._evaluated: tuple[Any, ...] = ()  # what a model was given last, without gradients

    # --- calls ------------------------------------------------------------------------------------

    def tape(self, engine: Engine) -> Tape:
        tape = self._tapes.get(engine.name)
        if tape is None:
            tape = self._tapes[engine.name] = Tape(engine.tensor)
        return tape

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
        if get_ident() != self.attention.thread:
            return function(*args, **kwargs)
        traits = _traits(op)
        if self.resting and engine.is_recording():
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                self._failed_call(op, args, kwargs, frame, error)
                raise
            if traits & _FIGURE:
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
            written = args[0] if op == "setitem" else result
            recorded = engine.is_recording() and not initializes
            if traits & _FIGURE and not self._in_model:
                self._figure(engine, op, args, kwargs, result, frame, recorded)
            if traits & _RISKY and not getattr(written, "requires_grad", True):
                self._look_outside(engine, op, args, written, frame)
            if not recorded or not tensors:
                self._outside(tape, op, args, written, frame, recorded)
                return result
            if op == "sub" and self.run.passes:
                self.registry.computed_from(args, frame)
            if self._boundaries:
                self._keeping.follow(given, written, tape.end, self._boundaries[-1], frame)
            tape.add(Call(op, function, given, named, frame, self._path, random, recorded), written)
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

    def trouble(self, error: Exception) -> None:
        """The doctor itself went wrong: the program must not notice, the report says so."""
        text = f"{type(error).__name__}: {error}"
        if text not in self.run.troubles and len(self.run.troubles) < 8:
            self.run.troubles.append(text)

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
            tape.add(Call(op, function, (source,), {}, frame, self._path, None, True), None)

    def _look(self, sample: Sample, op: str, array: Any) -> None:
        """Keep what one output looks like, under the name of its layer."""
        name = f"{self._path}:{op}" if op in ACTIVATIONS or not self._path else self._path
        while name in sample.layers:
            name += "'"
        sample.layers[name] = look(op, array)

    def _written_through(
        self, engine: Engine, maker: Call | None, tensor: Any, frame: FrameType
    ) -> None:
        """A write to what another call made: through a view, or through ``p.data``.

        The latter is the program's own update of a parameter, or its initial value.
        """
        if maker is not None and maker.op in ("data", "detach"):
            where = Where(frame.f_code, frame.f_lasti)
            parameter = self.registry.written(tensor, where, engine)
            if parameter is not None and self.run.passes:
                self._by_hand.setdefault(id(parameter.tensor), where)
        elif maker is not None and maker.op in _VIEWS and maker.args:
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
        tape: Tape,
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
            if op in ("sub", "add"):
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
        if call is not None and call.op == "detach" and type(call.args[0]) is Produced:
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

    def _bad_gradient(self, engine: Engine) -> None:
        """The gradients of the latest pass are not finite."""
        if self.run.incidents or not self._pending or self._stepped:
            return
        latest = self._pending[-1]
        if self.resting and latest.snapshot is None:
            latest.snapshot = self._recalled(engine, latest.value)
        for each in self._pending:  # any of them may have made what is in the sum
            if each.snapshot is None and each.root is not None:
                each.snapshot = self._snapshot(engine, None, each.value, root=each.root)
            if each.snapshot is not None:
                each.snapshot.step = each.number
        self._incident("gradient", latest.snapshot, latest.where)

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
            if recorded and isinstance(target, engine.tensor) and target.is_floating_point():  # type: ignore[attr-defined]
                self._targets.append(rms(engine.array(target)))
        else:
            if given.requires_grad or self._training is None:  # type: ignore[attr-defined]
                return
            values = engine.array(given)
            correct = values.dtype.kind == "b" or bool(((values == 0) | (values == 1)).all())
            if not correct and (recorded or values.dtype.kind != "f"):
                return
        if (recorded or op not in LOSSES) and len(self.run.figures) < 100_000:
            value = float(engine.array(result))
            value /= max(1, given.numel()) if op == "sum" else 1  # type: ignore[attr-defined]
            where, passes = Where(frame.f_code, frame.f_lasti), len(self.run.passes)
            figure = Evaluation(value, op, where, passes, self._training, correct)
            self.run.figures.append(figure)

    @property
    def carried(self) -> list[tuple[Where, int]]:
        """Lines that use results of earlier updates with their graph, and how often they did."""
        return [(Where(*place), count) for place, count in self._keeping.carried.items()]

    # --- modules ----------------------------------------------------------------------------------

    def glimpse(self, engine: Engine, module: Any, args: Any) -> None:
        """While resting: of a call of a model, only how large its inputs are."""
        if self.registry.is_model(module):
            self._note_inputs(engine, args, engine.is_recording())

    def _note_inputs(self, engine: Engine, args: Any, recorded: bool) -> None:
        for each in args:
            if not isinstance(each, engine.tensor):
                continue
            array = engine.array(each)
            if array.dtype.kind == "f":
                if recorded:
                    self._inputs.append(rms(array))
                if self._sample is not None and len(self._sample.inputs) < 4:
                    self._sample.inputs.append(glance(array))

    def enter(self, engine: Engine, module: Any, args: Any) -> None:
        if not self._stack:
            self._in_model = self.registry.root(engine, module)
            if len(self.run.passes) >= 2:
                engine.first_passes_over()
        if not self._stack and self._in_model:
            self._training = bool(module.training)
            recorded = engine.is_recording()
            self._evaluated = () if recorded else tuple(args)
            self._note_inputs(engine, args, recorded)
        path = self.registry.path(module)
        self._stack.append((module, path, self.tape(engine).end))
        self._path = path

    def leave(
        self, engine: Engine, module: Any, args: Any, result: Any, frame: FrameType
    ) -> None:
        while self._stack:
            entered, path, before = self._stack.pop()
            if entered is module:
                break
        else:
            return
        self._path = self._stack[-1][1] if self._stack else ""
        model = self._in_model
        self._in_model = model and bool(self._stack)
        if self._stack and self._sample is None:
            return
        tape = self.tape(engine)
        recorded = engine.is_recording()
        frame = user_frame(frame)
        where = Where(frame.f_code, frame.f_lasti)
        mark = Mark(
            path,
            module,
            type(module).__name__,
            bool(module.training),
            len(self._stack),
            tape.encode(args) if recorded else None,
            tape.encode(result) if recorded else None,
            where,
            recorded,
            before,
            tape.end,
            len(self.run.passes),
            id(args[0]) if args else 0,
        )
        if not recorded:
            if model and not self._stack and len(self.run.inference_marks) < 1000:
                mark.fed_by = tape.evaluation(args)
                self.run.inference_marks.append(mark)
                tape.set_evaluation(result, mark)
            return
        if model and not self._stack:
            for each in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(each, engine.tensor):
                    self._keeping.note(each, len(self.run.passes))
        self._marks.append(mark)
        wanted = model and not self._stack and self._sample is not None
        if wanted and self._sample is not None and len(self._sample.outputs) < 4:
            for each in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(each, engine.tensor):
                    self._sample.outputs.append(glance(engine.array(each)))

    def mode(self, module: Any, training: bool, where: Where) -> None:
        """Keep what is new: a line that was not seen, or a mode that is not the last one."""
        if self._stack:
            return
        last = next((each for each in reversed(self.run.modes) if each.module is module), None)
        new_line = all(each.where != where for each in self.run.modes)
        if new_line or last is None or (last.training != training and len(self.run.modes) < 1000):
            self.run.modes.append(ModeChange(module, training, where, len(self.run.passes)))

    # --- the loop ---------------------------------------------------------------------------------

    def optimizer_made(self, optimizer: Any, where: Where | None) -> Course:
        for course in self.run.courses:
            if course.optimizer.thing is optimizer:
                return course
        groups = optimizer.param_groups
        options = {name: value for name, value in groups[0].items() if name != "params"}
        kind = type(optimizer).__name__
        number = len(self.run.courses)
        course = Course(Optimizer(number, optimizer, kind, where, options))
        self.run.courses.append(course)
        for group in groups:
            for tensor in group["params"]:
                parameter = self.registry.parameter(tensor)
                if parameter.made_at is None:
                    origins = (tape.origin(tensor) for tape in self._tapes.values())
                    parameter.made_at = next((each.where for each in origins if each), None)
                parameter.optimizers.append(number)
                course.parameters.append(parameter)
        return course

    def halved(self, where: Where) -> None:
        """A module was converted to float16."""
        self.run.halved_at = self.run.halved_at or where

    def scheduler_made(self, optimizer: Any, kind: str, where: Where) -> None:
        self.optimizer_made(optimizer, None).optimizer.schedulers.append((kind, where))

    def backward_begins(self, engine: Engine, loss: Any, where: Where) -> None:
        self.run.engine = engine
        self._finish_by_hand()
        if self._stepped:
            self._pending, self._stepped = [], False
        number = len(self.run.passes)
        if number == 0:
            self.run.seed = int(engine.namespace.initial_seed())
        if is_sampled(number):
            self.registry.find_leaves(engine, self.tape(engine))
        array = engine.array(loss)
        value = float(array) if array.size == 1 else float(np.mean(array))
        for course in self.run.courses:
            self._look_for_old_gradients(course)
        this = Pass(number, value, where, tuple(array.shape), bool(self._contaminated))
        this.input_rms, self._inputs = tuple(self._inputs), []
        this.target_rms, self._targets = tuple(self._targets), []
        bad = not math.isfinite(value)
        this.root = self.tape(engine).source(loss)
        self._vigilance.loss(number, value)
        if self.resting:
            this.snapshot = self._recalled(engine, value) if bad else None
        elif is_sampled(number) or (bad and not self.run.incidents):
            this.snapshot = self._recipe = self._snapshot(engine, loss, value)
        self.run.passes.append(this)
        self._pending.append(this)
        if bad:
            self._incident("loss", this.snapshot, where)
        self._keeping.note(loss, number)
        if is_sampled(number):
            self._keeping.count(number)

    def backward_ends(self, engine: Engine, loss: Any, error: BaseException | None) -> None:
        this = self.run.passes[-1]
        this.error = error
        if error is not None:
            this.snapshot = this.snapshot or self._snapshot(engine, loss, this.value)
            self._incident("exception", this.snapshot, this.where, error)
            if not loss.requires_grad:
                self.registry.reached(engine, loss, first=True)
            return
        self.registry.reached(engine, loss, first=this.number < 2)
        if not any(course.optimizer.thing is not None for course in self.run.courses):
            self._hand_norms = self._gradients(engine, self.registry.parameters())
            if _not_finite(self._hand_norms):
                self._bad_gradient(engine)

    def zeroed(self, where: Where) -> None:
        self._zeroed = True
        if not self._stepped and not self._in_closure:
            for each in reversed(self._pending):
                if each.cleared_at is not None:
                    break
                each.cleared_at = where
        if where not in self.run.zeroings:
            self.run.zeroings.append(where)

    def clipped(self, kind: str, limit: float, total: float | None, where: Where) -> None:
        self._clips.append(Clip(kind, limit, total, where))

    def step_begins(self, engine: Engine, optimizer: Any, where: Where) -> None:
        self._optimizing += 1
        course = self.optimizer_made(optimizer, None)
        number = course.optimizer.number
        gradients = self._step_gradients(engine, course)
        rates = [float(group.get("lr", math.nan)) for group in optimizer.param_groups]
        step = Step(len(course.steps), [], gradients, rates, where)
        step.zeroed, step.contaminated = self._zeroed, number in self._contaminated
        step.clips, self._clips = self._clips, []
        course.steps.append(step)
        sizes = [each for each in gradients.values() if each is not None]
        self._vigilance.gradient(len(self.run.passes), max(sizes, default=0.0))
        if _not_finite(gradients):
            self._bad_gradient(engine)

    def step_ends(self, engine: Engine, optimizer: Any) -> None:
        self._in_closure = False
        self._optimizing = max(0, self._optimizing - 1)
        course = self.optimizer_made(optimizer, None)
        if course.steps:
            self._finish(engine, course, course.steps[-1])

    def step_failed(self) -> None:
        """A step ended by an exception, and the program went on."""
        self._optimizing = 0

    def closure_begins(self) -> None:
        """A step runs the program's closure: its calls are the program's."""
        self._optimizing = max(0, self._optimizing - 1)
        self._in_closure = True

    def failed(self, error: BaseException) -> None:
        """The program ended with an exception."""
        self.run.error = error
        engine = self.run.engine or next(iter(self._engines()), None)
        if engine is not None and len(self.tape(engine)):
            if _not_finite(self._gradients(engine, self.registry.parameters())):
                self._bad_gradient(engine)
            with contextlib.suppress(Exception):
                self.run.last_snapshot = self._snapshot(engine, None, math.nan, whole=True)

    def finish(self) -> Run:
        """The program is over."""
        self._finish_by_hand()
        if not self._stepped:
            self.run.unfinished = self._pending
        for parameter in self.registry.parameters():
            self.registry.compare(parameter)
        return self.run

    # --- inside -----------------------------------------------------------------------------------

    def _engines(self) -> Iterable[Engine]:
        from whygrad.doctor.engines import engines

        return [each for each in engines().values() if each.name in self._tapes]

    def _look_for_old_gradients(self, course: Course) -> None:
        """Whether gradients that an update has used are still there to be added to."""
        number = course.optimizer.number
        there = [each.tensor for each in course.parameters if each.tensor.grad is not None]
        engine = self.run.engine
        assert engine is not None
        old = any(engine.array(each.grad).any() for each in (*there[:1], *there[1:][-1:]))
        if old and self._consumed.get(number):
            self._contaminated.add(number)
        if not old:
            self._contaminated.discard(number)
            self._consumed[number] = False

    def _step_gradients(self, engine: Engine, course: Course) -> Mapping[str, float | None]:
        """The sizes of an update's gradients; while resting, those of a few passes ago."""
        latest = course.steps[-1].gradients if course.steps else None
        if self.resting and latest and len(self.run.passes) % 4:
            ends = self._gradients(engine, [*course.parameters[:1], *course.parameters[1:][-1:]])
            if not _not_finite(ends):
                return latest
        return self._gradients(engine, course.parameters)

    def _gradients(self, engine: Engine, parameters: list[Parameter]) -> Sizes:
        found: dict[str, float | None] = {each.name: None for each in parameters}
        there = [each for each in parameters if each.tensor.grad is not None]
        sizes = engine.sizes([each.tensor.grad for each in there])
        found.update(zip([each.name for each in there], sizes))
        return Sizes(found)

    def _snapshot(
        self,
        engine: Engine,
        loss: Any,
        value: float,
        whole: bool = False,
        root: Produced | None = None,
    ) -> Snapshot | None:
        tape = self.tape(engine)
        if whole:
            source, calls = None, {tape.first + place: call for place, call in enumerate(tape.calls)}
        else:
            source = root or tape.source(loss)
            if source is None:
                return None
            calls = tape.slice([source])
        tape.note_training(calls.values())
        leaves = _leaves(calls.values(), engine.tensor)
        values = {name: engine.copy(leaf) for name, leaf in leaves.items()}
        since = self._boundaries[-1] if self._boundaries else 0
        loose = [
            call
            for place, call in enumerate(tape.calls, tape.first)
            if place >= since and place not in calls
        ]
        marks = [mark for mark in self._marks if mark.after > since]
        step = len(self.run.passes)
        parts = calls, source, value, marks, values, leaves, loose, tape, frozenset(tape.switched)
        return Snapshot(engine, step, *parts)

    def _recalled(self, engine: Engine, value: float) -> Snapshot | None:
        """For a bad step that was not on the tape: the latest recipe with today's parameters.

        Its replay tells whether the parameters alone make the value; if a batch is to blame, the
        loss comes out finite, and the replay knows that it is not exact.
        """
        if self._recipe is None:
            return None
        today = {name: engine.copy(leaf) for name, leaf in self._recipe.leaves.items()}
        return replace(self._recipe, step=len(self.run.passes), value=value, values=today)

    def _incident(
        self,
        kind: str,
        snapshot: Snapshot | None,
        where: Where,
        error: BaseException | None = None,
        step: int | None = None,
    ) -> None:
        if kind == "exception" or not self.run.incidents:
            index = len(self.run.passes) - 1 if step is None else step
            self.run.incidents.append(Incident(kind, index, None, snapshot, where, error))

    def _finish(self, engine: Engine, course: Course, step: Step) -> None:
        """An update is done: put the step together and make room for the next one."""
        number = course.optimizer.number
        last = self._used.get(number, -1)
        step.passes = [each for each in self._pending if each.number > last]
        for each in step.passes:
            each.optimizer = number
            self._used[number] = each.number
        snapshot = next((each.snapshot for each in reversed(step.passes) if each.snapshot), None)
        if self._sample is not None and snapshot is not None:
            self._measure_update(engine, course, snapshot)
            step.sample = self._sample
        step.snapshot = snapshot
        self._keep(course, step)
        step.contaminated = step.contaminated or number in self._contaminated
        self._consumed[number] = True
        self._contaminated.discard(number)
        self._zeroed, self._stepped = False, True
        if not self._optimizing:
            self._new_step(engine)

    def _new_step(self, engine: Engine) -> None:
        tape = self.tape(engine)
        self._boundaries.append(tape.end)
        kept = len(self.run.courses) + 1
        if len(self._boundaries) > kept + 3:  # now and then, not every time
            before = self._boundaries[-kept - 1]
            del self._boundaries[:-kept]
            tape.forget(before)
            self._marks = [mark for mark in self._marks if mark.after > before]
        number = len(self.run.passes)
        sampled = is_sampled(number)
        self._sample = Sample() if sampled and not self.run.incidents else None
        self._rested = self._rested or self.resting
        self.run.watched += not self._rested
        by_hand = self._hand_course is not None
        self.resting = not (sampled or by_hand) and self._vigilance.may_rest(number)

    def _measure_update(self, engine: Engine, course: Course, snapshot: Snapshot) -> None:
        assert self._sample is not None
        for each in course.parameters:
            before = snapshot.values.get(id(each.tensor))
            if before is None:
                continue
            old, new = thinned(engine.array(before)), thinned(engine.array(each.tensor))
            self._sample.weights[each.name] = rms(old)
            self._sample.updates[each.name] = change = rms(new - old)
            each.changed = each.changed or change > 0

    def _keep(self, course: Course, step: Step) -> None:
        """Of all snapshots, keep the first, the two latest that were well, and the first bad one."""
        snapshot = step.snapshot
        if snapshot is None:
            return
        bad = not math.isfinite(snapshot.value) or _not_finite(step.gradients)
        if course.first is None:
            course.first = snapshot
            tensors = [each.tensor for each in course.parameters]
            course.after = {id(each): snapshot.engine.copy(each) for each in tensors}
        if bad:
            course.bad = course.bad or snapshot
        else:
            if course.earlier not in (None, course.first):
                self._drop(course, course.earlier)
            course.earlier, course.last = course.last, snapshot

    def _drop(self, course: Course, snapshot: Snapshot | None) -> None:
        for step in reversed(course.steps):
            if step.snapshot is snapshot:
                step.snapshot = None
                for each in step.passes:
                    each.snapshot = None
                return

    def _finish_by_hand(self) -> None:
        """The program changed parameters itself since the last pass: that was an update."""
        optimized = {id(each.tensor) for course in self.run.courses for each in course.parameters
                     if course.optimizer.thing is not None}  # fmt: skip
        for name in optimized & set(self._by_hand):  # clamped, averaged: not a course of its own
            del self._by_hand[name]
        if not self._by_hand or not self._pending or self.run.engine is None:
            return
        if self._hand_course is None:
            number = len(self.run.courses)
            where = next(iter(self._by_hand.values()))
            self._hand_course = Course(Optimizer(number, None, "by hand", where))
            self.run.courses.append(self._hand_course)
        course = self._hand_course
        for name in self._by_hand:
            parameter = self.run.parameters[name]
            if parameter not in course.parameters:
                course.parameters.append(parameter)
                parameter.optimizers.append(course.optimizer.number)
        where = next(iter(self._by_hand.values()))
        self._by_hand = {}
        step = Step(len(course.steps), [], self._hand_norms, [], where)
        step.zeroed = self._zeroed
        step.contaminated = course.optimizer.number in self._contaminated
        course.steps.append(step)
        self._finish(self.run.engine, course, step)


@cache
def _traits(op: str) -> int:
    """What is special about calls of an op."""
    traits = _LEAVES if op in LEAVING else 0
    traits |= _DRAWS if op in RANDOM else 0
    traits |= _WRITES if op[-1] == "_" or op == "setitem" else 0
    traits |= _FIGURE if op in _FIGURES else 0
    traits |= _RISKY if op in DOMAIN or op in LOSSES else 0
    traits |= _ASKS if op in _QUESTIONS else 0
    traits |= _SWITCHES if op == "requires_grad_" else 0
    return traits | (_LOOKED if op in LOOKED_AT else 0)


def _leaves(calls: Iterable[Call], kind: type) -> dict[int, Any]:
    """The tensors from elsewhere among the arguments that require grad."""
    found: dict[int, Any] = {}
    waiting: list[Any] = [(call.args, call.kwargs) for call in calls]
    while waiting:
        each = waiting.pop()
        if isinstance(each, kind):
            if each.requires_grad and each.is_leaf:  # type: ignore[attr-defined]
                found[id(each)] = each
        elif isinstance(each, (list, tuple)):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
    return found


def _not_finite(gradients: Mapping[str, float | None]) -> bool:
    return any(each is not None and not math.isfinite(each) for each in gradients.values())


def _is_leaf(tensor: Any) -> bool:
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:  # PyTorch refuses to say it of a view without grad of a written parameter
        return True
