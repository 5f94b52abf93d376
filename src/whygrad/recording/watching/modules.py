"""Modules as the program calls them: names for the calls inside, inputs, outputs, modes."""

from __future__ import annotations

import sys
import traceback
from functools import partial
from types import FrameType
from typing import Any

from whygrad.recording.calls import Origin
from whygrad.recording.engines import Engine
from whygrad.recording.judging.lookout import Lookout
from whygrad.recording.ranges import glance, rms, row_marks
from whygrad.recording.record import Failure, Mark, ModeChange, Run
from whygrad.recording.watching.feeding import Feeding
from whygrad.recording.watching.parameters import Registry
from whygrad.recording.watching.retention import Retention
from whygrad.recording.watching.sampler import Sampler
from whygrad.recording.watching.snapshots import Snapshots
from whygrad.source import Where, call_key, program_frame

__all__ = ["Modules"]

_VALUES = 64  # of what a model is given that tell it from others
_RANGES = 4  # inputs, and outputs, of a sampled step that are summarized
_BESIDE = 64  # calls with gradients that are not for training, that are followed
_GAME = 200  # calls with gradients between two passes that are not for training …
_GAMES = 4  # … of the first such phases …
_MOVES = 50  # … and of those that follow: enough is seen of them until the program trains again
_IN_ALL, _LITTLE = 1000, 4  # … and so few of a phase, once there have been so many in all
_MARKS = 1000  # calls without gradients, and changes of mode, that are kept


class Modules:
    """Which modules are running."""

    def __init__(
        self,
        run: Run,
        registry: Registry,
        sampler: Sampler,
        snapshots: Snapshots,
        retention: Retention,
    ) -> None:
        self._run = run
        self._registry = registry
        self._sampler = sampler
        self._snapshots = snapshots
        self._retention = retention
        self._stack: list[tuple[Any, str, int]] = []  # modules, their paths and first calls
        self.path = ""  # of the innermost
        self.in_model = False  # whether the outermost has parameters: a loss module has none
        self.training: bool | None = None  # the mode of the model that was called last
        self.evaluated: tuple[Any, ...] = ()  # what a model was given last, without gradients
        self.beside = False  # whether the latest call with gradients was at no training line
        self._moves, self._passes = 0, 0  # calls beside training since that pass
        self._games = 0  # phases with many of them
        self._played = 0  # such calls in all
        self._learning = False  # whether gradients were recorded when the outermost was called
        self._feeding = Feeding(run)
        self.lookout = Lookout(run)

    @property
    def running(self) -> bool:
        return bool(self._stack)

    def note_inputs(self, engine: Engine, args: Any, recorded: bool) -> None:
        """A model is called by the program: look at what it is given."""
        if recorded and self._sampler.skipping:
            self._snapshots.given.models.append(args)
        sample = self._sampler.sample
        for each in args:
            if not isinstance(each, engine.tensor):
                continue
            array = engine.array(each)
            if array.dtype.kind == "f":
                if recorded:
                    self._snapshots.given.inputs.append(rms(array))
                if sample is not None and len(sample.inputs) < _RANGES:
                    if recorded and not sample.inputs:
                        sample.rows = row_marks(array)
                    sample.inputs.append(glance(array))

    def enter(self, engine: Engine, module: Any, args: Any) -> None:
        if not self._stack:
            self.in_model = self._registry.root(engine, module)
            if self.in_model:
                engine.hush(None)
                self.training = bool(module.training)
                self._learning = recorded = engine.is_recording()
                self.evaluated = () if recorded else tuple(args)
                self.note_inputs(engine, args, recorded)
                sampled, frame = self._sampler.sample is not None, program_frame(sys._getframe(1))
                with engine.unwatched():
                    self._feeding.note(engine, module, args, recorded, sampled, frame)
                if not (recorded and self.training):
                    self.lookout.evaluated(engine, frame)
        self.path = self._registry.path(module)
        self._stack.append((module, self.path, self._snapshots.log(engine).end))

    def leave(self, engine: Engine, module: Any, args: Any, result: Any, frame: FrameType) -> None:
        while self._stack:
            entered, path, before = self._stack.pop()
            if entered is module:
                break
        else:
            return
        self.path = self._stack[-1][1] if self._stack else ""
        depth, sample = len(self._stack), self._sampler.sample
        is_model = self.in_model and not depth
        self.in_model = self.in_model and depth > 0
        if depth and sample is None:
            return
        log = self._snapshots.log(engine)
        recorded = engine.is_recording()
        frame = program_frame(frame)
        mark = Mark(
            path,
            module,
            type(module).__name__,
            bool(module.training),
            depth,
            log.encode(args) if recorded else None,
            log.encode(result) if recorded else None,
            Where(frame.f_code, frame.f_lasti),
            recorded,
            before,
            log.end,
            len(self._run.passes),
            0 if depth else _first_values(engine, args),
            key=() if depth else call_key(frame),
        )
        if recorded:
            self._snapshots.marks.append(mark)
            if is_model:
                self._look_beside(engine, mark, result, frame)
            for each in result if isinstance(result, (tuple, list)) else (result,):
                if is_model and isinstance(each, engine.tensor):
                    self._retention.note(each, len(self._run.passes), output=True)
                    if sample is not None and len(sample.outputs) < _RANGES:
                        sample.outputs.append(glance(engine.array(each)))
        elif depth and self._learning and len(self._run.inside_marks) < _BESIDE:
            self._run.inside_marks.append(mark)
        elif is_model:
            kept = self._run.inference_marks
            mark.fed_by = log.evaluation(args)
            if len(kept) >= _MARKS:  # the first, the latest and those for training tell most
                old = range(_MARKS // 2, _MARKS)
                del kept[next((at for at in old if not kept[at].trains), old[0])]
            kept.append(mark)
            log.set_evaluation(result, mark)

    def called_in_training(
        self, engine: Engine, module: Any, args: Any, result: Any, frame: FrameType
    ) -> None:
        """A model was called while training goes by unrecorded: note it, at no training line."""
        frame = program_frame(frame)
        if call_key(frame) in self._snapshots.training_lines:
            return
        end = self._snapshots.log(engine).end
        with engine.unwatched():
            self._feeding.note(engine, module, args, True, False, frame)
        self.lookout.evaluated(engine, frame)
        where, kind = Where(frame.f_code, frame.f_lasti), type(module).__name__
        path, mode = self._registry.path(module), bool(module.training)
        passes, given, key = len(self._run.passes), _first_values(engine, args), call_key(frame)
        mark = Mark(path, module, kind, mode, 0, None, None, where, True, end, end,
                    passes, given, key=key)  # fmt: skip
        self._look_beside(engine, mark, result, frame)

    def _look_beside(self, engine: Engine, mark: Mark, result: Any, frame: FrameType) -> None:
        """See whether a backward() comes through what a model returned: if none does, the program
        evaluates it and records gradients all the same."""
        self.beside = mark.key not in self._snapshots.training_lines
        if self.beside:
            self._plays()
        if not self.beside or len(self._run.beside) >= _BESIDE:
            return
        self._run.beside.append(mark)
        log = self._snapshots.log(engine)
        origin = Origin(mark.kind, frame.f_code, frame.f_lasti, mark)
        for each in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(each, engine.tensor):
                log.set_origin(each, origin)
                if each.grad_fn is not None:  # type: ignore[attr-defined]
                    each.grad_fn.register_prehook(partial(_trains, mark))  # type: ignore[attr-defined]

    def _plays(self) -> None:
        """A model is called with gradients that nobody uses, as where a policy makes its moves."""
        if self._passes != len(self._run.passes):
            self._passes, self._moves = len(self._run.passes), 0
        self._moves += 1
        self._games += self._moves == _MOVES
        self._played += 1
        most = _GAME if self._games <= _GAMES else _MOVES
        enough = self._moves > (most if self._played <= _IN_ALL else _LITTLE)
        if enough and self._snapshots.training_lines:
            self._sampler.rest(until_training=True)

    def mode(self, module: Any, training: bool, where: Where) -> None:
        """Keep what is new: a line that was not seen, or a mode that is not the last one."""
        if self._stack:
            return
        modes = self._run.modes
        last = next((each for each in reversed(modes) if each.module is module), None)
        new_line = all(each.where != where for each in modes)
        if new_line or last is None or (last.training != training and len(modes) < _MARKS):
            modes.append(ModeChange(module, training, where, len(self._run.passes)))

    def failed(self, error: Exception) -> None:
        """A call failed that was not recorded: the traceback tells which, and on what."""
        if self._run.failure is not None and self._run.failure.error is error:
            return  # a module within a module
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        user = [
            program_frame(frames[0]),
            *(each for each in frames if program_frame(each) is each),
        ][-1]
        inside = [each for each in frames if _is_op(each)]
        held = [self._registry.known_path(each.f_locals.get("self")) for each in frames]
        path = next((each for each in reversed(held) if each is not None), None)
        if inside:
            code, values = inside[-1].f_code, inside[-1].f_locals
            given = tuple(values.get(name) for name in code.co_varnames[: code.co_argcount])
            where = Where(user.f_code, user.f_lasti)
            self._run.failure = Failure(code.co_name, given, {}, where, path, error)


def _first_values(engine: Engine, args: Any) -> int:
    """The same number for what begins with the same values."""
    given = args[0] if args else None
    with engine.unrecorded():
        if not isinstance(given, engine.tensor) or not given.ndim or not given.numel():  # type: ignore[attr-defined]
            return id(given)
        if given.layout is not engine.namespace.strided:  # type: ignore[attr-defined]
            return id(given)
        return hash(engine.array(given[:1]).ravel()[:_VALUES].tobytes())  # type: ignore[index]


def _trains(mark: Mark, _: Any) -> None:
    """A backward() comes through the result of a call."""
    mark.trains = True


def _is_op(frame: FrameType) -> bool:
    """Whether a frame is that of an op of PyTorch's or whygrad's."""
    home = frame.f_globals.get("__name__", "")
    known = home == "torch.nn.functional" or home.startswith("whygrad.ops.")
    return known and not frame.f_code.co_name.startswith("_")
