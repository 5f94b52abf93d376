"""Modules as the program calls them: names for the calls inside, inputs, outputs, modes."""

from __future__ import annotations

import traceback
from types import FrameType
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.ranges import glance, rms, row_marks
from whygrad.recording.record import Failure, Mark, ModeChange, Run
from whygrad.recording.watching.parameters import Registry
from whygrad.recording.watching.retention import Retention
from whygrad.recording.watching.sampler import Sampler
from whygrad.recording.watching.snapshots import Snapshots
from whygrad.source import Where, program_frame

__all__ = ["Modules"]

_RANGES = 4  # inputs, and outputs, of a sampled step that are summarized
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
            if len(self._run.passes) - self._sampler.began >= 2:
                engine.first_passes_over()
            if self.in_model:
                self.training = bool(module.training)
                recorded = engine.is_recording()
                self.evaluated = () if recorded else tuple(args)
                self.note_inputs(engine, args, recorded)
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
            id(args[0]) if args else 0,
        )
        if recorded:
            self._snapshots.marks.append(mark)
            for each in result if isinstance(result, (tuple, list)) else (result,):
                if is_model and isinstance(each, engine.tensor):
                    self._retention.note(each, len(self._run.passes), output=True)
                    if sample is not None and len(sample.outputs) < _RANGES:
                        sample.outputs.append(glance(engine.array(each)))
        elif is_model and len(self._run.inference_marks) < _MARKS:
            mark.fed_by = log.evaluation(args)
            self._run.inference_marks.append(mark)
            log.set_evaluation(result, mark)

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


def _is_op(frame: FrameType) -> bool:
    """Whether a frame is that of an op of PyTorch's or whygrad's."""
    home = frame.f_globals.get("__name__", "")
    known = home == "torch.nn.functional" or home.startswith("whygrad.ops.")
    return known and not frame.f_code.co_name.startswith("_")
