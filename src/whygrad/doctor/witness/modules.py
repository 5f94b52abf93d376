"""Modules as the program calls them: names for the calls inside, inputs, outputs, modes."""

from __future__ import annotations

import traceback
from types import FrameType
from typing import Any

from whygrad.doctor.engines import Engine
from whygrad.doctor.ranges import glance, rms, row_marks
from whygrad.doctor.recording.record import (
    Failure,
    Mark,
    ModeChange,
)
from whygrad.doctor.source.frames import user_frame
from whygrad.doctor.witness.calls import Calls
from whygrad.source import Where

__all__ = ["Modules"]


class Modules(Calls):
    """The part of the witness that hears of modules."""

    def glimpse(self, engine: Engine, args: Any, frame: FrameType) -> None:
        """While dozing, a model is called: note its inputs, unless this is not a training step."""
        if not engine.is_recording():
            return
        if (id(frame.f_code), frame.f_lasti) in self._familiar:
            self.note_inputs(engine, args, True)
        else:
            self.stir()

    def failed_unseen(self, error: Exception) -> None:
        """A call failed inside a model while dozing: the traceback tells which, and on what."""
        if self.run.failure is not None and self.run.failure.error is error:
            return  # a module within a module
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        user = [user_frame(frames[0]), *(each for each in frames if user_frame(each) is each)][-1]
        inside = [each for each in frames if _is_op(each)]
        held = [self.registry.known_path(each.f_locals.get("self")) for each in frames]
        path = next((each for each in reversed(held) if each is not None), None)
        if inside:
            code, values = inside[-1].f_code, inside[-1].f_locals
            given = tuple(values.get(name) for name in code.co_varnames[: code.co_argcount])
            where = Where(user.f_code, user.f_lasti)
            self.run.failure = Failure(code.co_name, given, {}, where, path, error)

    def note_inputs(self, engine: Engine, args: Any, recorded: bool) -> None:
        if recorded and self.resting:
            self._given.models.append(args)
        for each in args:
            if not isinstance(each, engine.tensor):
                continue
            array = engine.array(each)
            if array.dtype.kind == "f":
                if recorded:
                    self._inputs.append(rms(array))
                if self._sample is not None and len(self._sample.inputs) < 4:
                    if recorded and not self._sample.inputs:
                        self._sample.rows = row_marks(array)
                    self._sample.inputs.append(glance(array))

    def enter(self, engine: Engine, module: Any, args: Any) -> None:
        if not self._stack:
            self._in_model = self.registry.root(engine, module)
            if len(self.run.passes) - self._began >= 2:
                engine.first_passes_over()
        if not self._stack and self._in_model:
            self._training = bool(module.training)
            recorded = engine.is_recording()
            self._evaluated = () if recorded else tuple(args)
            self.note_inputs(engine, args, recorded)
        path = self.registry.path(module)
        self._stack.append((module, path, self.tape(engine).end))
        self._path = path

    def leave(self, engine: Engine, module: Any, args: Any, result: Any, frame: FrameType) -> None:
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
                    self._keeping.note(each, len(self.run.passes), output=True)
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


def _is_op(frame: FrameType) -> bool:
    """Whether a frame is that of an op of PyTorch's or whygrad's."""
    home = frame.f_globals.get("__name__", "")
    known = home == "torch.nn.functional" or home.startswith("whygrad.ops.")
    return known and not frame.f_code.co_name.startswith("_")
