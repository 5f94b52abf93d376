"""Modules as the program calls them: names for the calls inside, inputs, outputs, modes."""

from __future__ import annotations

from types import FrameType
from typing import Any

from whygrad.autograd.source import Where
from whygrad.doctor.engines import Engine
from whygrad.doctor.places import user_frame
from whygrad.doctor.ranges import glance, rms
from whygrad.doctor.record import (
    Mark,
    ModeChange,
)
from whygrad.doctor.witness.calls import Calls

__all__ = ["Modules"]


class Modules(Calls):
    """The part of the witness that hears of modules."""

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
