"""``attach_nan_hooks``: which module is the first to make a value that is not finite?

Hooks look at what every module gets and gives, forward and backward.  A module with finite inputs
and an output that is not has *produced* the bad value; one that was given it only *passes it on*.
The table is that of Hugging Face's overflow debugger: smallest and largest magnitude per module.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any

from whygrad.doctor.checks.batch import require_module, tensors_in
from whygrad.doctor.checks.result import Result, figure
from whygrad.errors import fail
from whygrad.recording.engines import Engine
from whygrad.recording.ranges import magnitudes

__all__ = ["Magnitudes", "NanHooks", "attach_nan_hooks"]


_FRAMES = 4096  # that are kept, if the model as a whole is never called


@dataclass(frozen=True)
class Magnitudes:
    """One look at a tensor: who it belongs to, and how small and large its values are."""

    phase: str  # "forward" or "backward"
    module: str
    kind: str  # the class of the module
    what: str  # "input", "output", "weight", …; in backward, whose gradient it is
    low: float  # smallest magnitude
    high: float
    bad: int  # how many values are not finite

    @property
    def finite(self) -> bool:
        return self.bad == 0

    def __str__(self) -> str:
        gradient = "gradient of " if self.phase == "backward" else ""
        return f"{gradient}{self.what} of {self.module or 'the model'} ({self.kind})"


@dataclass(repr=False)
class NanHooks(Result):
    """A handle: ``remove()`` it, or use it in a ``with`` statement; ask it what it saw.

    ``first`` is the first value that was not finite, ``producer`` the module that made it if that
    can be told, and ``parameter`` the first parameter with such a gradient.
    """

    first: Magnitudes | None = None
    producer: str | None = None
    parameter: str | None = None

    check = "doctor.attach_nan_hooks"
    fix = "look at the module above: its inputs are in the table, in the rows before the bad one"

    def __post_init__(self) -> None:
        self.latest: list[Magnitudes] = []  # of the pass that runs, or of the first bad one
        self._handles: list[Any] = []

    def remove(self) -> None:
        """Take the hooks off; what was seen stays."""
        while self._handles:
            self._handles.pop().remove()

    def __enter__(self) -> NanHooks:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()

    def rows(self) -> tuple[list[list[str]], str]:
        head = ["", "abs min", "abs max", "module", "class", "what", "not finite"]
        body = [
            [each.phase, figure(each.low), figure(each.high), each.module or "(model)", each.kind,
             each.what, str(each.bad or "")]
            for each in self.latest
        ]  # fmt: skip
        return [head, *body], "<>><<<>"


def attach_nan_hooks(model: Any, *, stop: bool = False) -> NanHooks:
    """Watch every module of ``model`` for values that are not finite until ``remove()`` is called.

    The first one is announced by a RuntimeWarning; with ``stop``, by a FloatingPointError at the
    place where it happens.
    """
    engine = require_module(model, "attach_nan_hooks")
    seen = NanHooks()
    recorder = _Recorder(engine, seen, stop, model)
    for name, module in model.named_modules():
        seen._handles.append(module.register_forward_hook(partial(recorder.forward, name)))
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            seen._handles.append(parameter.register_hook(partial(recorder.parameter, name)))
    return seen


class _Recorder:
    """Looks at values as they come and finds out who made the first bad one."""

    def __init__(self, engine: Engine, seen: NanHooks, stop: bool, model: Any) -> None:
        self._engine = engine
        self._seen = seen
        self._stop = stop
        self._model = model
        self._kinds = {name: type(each).__name__ for name, each in model.named_modules()}
        self._arrived: dict[str, Magnitudes] = {}  # gradients of outputs, by module
        self._over = False  # whether the model has given its output: what comes next is a new pass

    def forward(self, name: str, module: Any, args: Any, output: Any) -> None:
        if self._seen.first is not None:
            return
        kind = self._engine.tensor
        inputs = [self._look("forward", name, *each) for each in tensors_in(args, kind, "input")]
        leaf = next(module.children(), None) is None
        weights = [
            self._look("forward", name, own, each)
            for own, each in module.named_parameters(recurse=False)
        ]
        outputs = [
            self._look("forward", name, *each) for each in tensors_in(output, kind, "output")
        ]
        if self._over:
            self._seen.latest, self._arrived, self._over = [], {}, False
        self._seen.latest += [*inputs, *weights, *outputs] if leaf else outputs
        del self._seen.latest[:-_FRAMES]
        self._over = module is self._model
        bad = next((each for each in (*inputs, *weights, *outputs) if not each.finite), None)
        if bad is not None:
            given = next((each for each in (*inputs, *weights) if not each.finite), None)
            self._announce(bad, None if given is not None else name, given)
            return
        for what, each in tensors_in(output, kind, "output"):
            if each.requires_grad and leaf:
                _ = each.grad_fn  # of a view that was written to, PyTorch makes it anew only here
                each.register_hook(partial(self._backward, name, what))

    def _backward(self, name: str, what: str, gradient: Any) -> None:
        if self._seen.first is not None:
            return
        found = self._look("backward", name, what, gradient)
        self._seen.latest.append(found)
        if found.finite:
            self._arrived[name] = found
        else:
            self._announce(found, self._latest_sound(), None)

    def parameter(self, name: str, gradient: Any) -> None:
        seen = self._seen
        if seen.parameter is not None:
            return
        path, _, own = name.rpartition(".")
        found = self._look("backward", path, own, gradient)
        if seen.first is None:
            seen.latest.append(found)
        if found.finite:
            return
        seen.parameter = name
        if seen.first is None:
            self._announce(found, path if path in self._arrived else self._latest_sound(), None)
        else:
            seen.problems.append(f"then the gradient of the parameter {name} is not finite")

    def _latest_sound(self) -> str | None:
        """The module that a finite gradient reached last: the bad one came out of it."""
        return next(reversed(self._arrived), None)

    def _look(self, phase: str, module: str, what: str, tensor: Any) -> Magnitudes:
        kind = self._kinds.get(module, "")
        return Magnitudes(phase, module, kind, what, *magnitudes(self._engine.array(tensor)))

    def _announce(self, bad: Magnitudes, producer: str | None, given: Magnitudes | None) -> None:
        seen = self._seen
        seen.first, seen.producer = bad, producer
        text = f"{bad} is not finite: {bad.bad} of its values"
        if given is not None and given.what.startswith("input"):
            text += "; it was given them, so they come from the data or from code between modules"
        elif given is not None:
            text += "; the parameter itself is bad, so an earlier update made it so"
        elif producer is not None:
            name = producer or "the model"
            text += f"; {name} ({self._kinds.get(producer, '')}) produced them from finite values"
        elif bad.phase == "backward":
            text += "; they come from the loss, behind the last module"
        seen.problems.append(text)
        if self._stop:
            raise fail(
                FloatingPointError,
                call=seen.check,
                cause=text,
                fix="print(hooks) shows the way there",
            )
        warnings.warn(f"whygrad: {text}", RuntimeWarning, stacklevel=2)
