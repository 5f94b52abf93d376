"""What stands between the program and an engine, and tells the parts of the observer.

One layer with two states.  While it *records*, wrappers tell of every call of a module, of passes,
of updates, and the engine hands over its calls.  While it is *idle* next to nothing is in the way:
of the modules only the models that the program calls itself are noticed, and of the functions none.
Where there is something to look at, an idle wrapper hands its call on to the one that records.

The same for both engines: whygrad has PyTorch's names.  Nothing of the program's code is changed;
everything is put back when the ``with`` block ends.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import get_ident
from types import FrameType
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.patching import Patch, wrapped
from whygrad.recording.watching.derivatives import differentiated, may_train
from whygrad.recording.watching.observer import Observer
from whygrad.recording.wrapping.optimizers import Steps
from whygrad.recording.wrapping.states import States
from whygrad.source import Where, program_frame, program_line, where_made
from whygrad.tensor.above import above

__all__ = ["attached"]

Function = Callable[..., Any]
Idle = Callable[[Function, Function], Function]  # of the original and of what records


@contextmanager
def attached(engine: Engine, observer: Observer) -> Iterator[None]:
    """Let ``observer`` hear of everything that happens in ``engine``."""
    with ExitStack() as stack:
        layer = _Layer(engine, observer, stack)
        stack.enter_context(engine.watching(observer.recorder.call, observer.scope))
        layer.steps.hook(stack)
        observer.sampler.layers.append(layer)
        stack.callback(layer.record)
        yield


class _Layer:
    """The wrappers of one engine; ``stack`` removes them."""

    def __init__(self, engine: Engine, observer: Observer, stack: ExitStack) -> None:
        self._engine = engine
        self._observer = observer
        self._stack = stack
        self._module: type = engine.namespace.nn.Module
        self._models: dict[type, Patch] = {}
        self._backwards = 0  # calls of Tensor.backward under way
        self.steps = Steps(engine, observer, self._wrap)
        self._calls = self._wrap(self._module, "__call__", self._call_module, _original)
        self._switched = list(self._place())  # those with an idle state

    def _wrap(
        self, owner: Any, name: str, wrapper: Function | None, idle: Idle | None = None
    ) -> Patch:
        original = getattr(owner, name)
        states = {}
        if wrapper is not None:
            states["recording"] = wrapped(owner, name, wrapper, scope=self._observer.scope)
        if idle is not None:
            states["idle"] = idle(original, states.get("recording", original))
        patch = Patch(owner, name, **states)
        if wrapper is not None:
            patch.put()
            self._stack.callback(patch.remove)
        return patch

    def idle(self) -> None:
        if not self._observer.snapshots.has_met(self._engine):
            return  # nobody calls what would be replaced, and that takes a while in large classes
        for each in self._switched:
            each.idle()
        if not self._engine.compiles() and self._calls.idle():
            for kind in self._observer.registry.kinds_of_models:
                if issubclass(kind, self._module):
                    self._model(kind).idle()
        self._engine.idle()

    def record(self) -> None:
        self._engine.record()
        # All of them: one may have been put back by somebody who had borrowed the place.
        for each in (*self._models.values(), *self._switched, self._calls):
            each.record()

    def _place(self) -> Iterator[Patch]:
        space: Any = self._engine.namespace
        module, optimizer = self._module, space.optim.Optimizer
        schedulers: Any = importlib.import_module(f"{self._engine.name}.optim.lr_scheduler")
        for owner, name, wrapper in (
            (module, "__init__", self._made_module),
            (space.nn.Parameter, "__new__", self._made_parameter),
            (module, "train", self._train),
            (module, "half", self._convert),
            (module, "to", self._convert),
            (optimizer, "__init__", self._made_optimizer),
            (schedulers.LRScheduler, "__init__", self._made_scheduler),
            (schedulers.ReduceLROnPlateau, "__init__", self._made_scheduler),
            (space.autograd.Function, "apply", self._apply),
            (space.autograd, "grad", self._grad),
            (space.nn.utils, "clip_grad_norm_", functools.partial(self._clip, "max_norm")),
            (space.nn.utils, "clip_grad_value_", functools.partial(self._clip, "clip_value")),
        ):
            self._wrap(owner, name, wrapper)
        States(self._engine, self._observer).place(self._wrap)
        for owner in (module, optimizer):
            yield self._wrap(owner, "zero_grad", self._zero_grad, self._zero_grad_idle)
        yield self._wrap(space.Tensor, "backward", self._tensor_backward, _original)
        yield self._wrap(space.autograd, "backward", self._backward, self._backward_idle)
        if self._engine.name == "whygrad":
            # what Tensor.backward calls: looked up once, so a patch of its module is not seen
            yield self._wrap(above, "backward", self._backward, self._backward_idle)
        for owner in (space.no_grad, space.inference_mode):
            yield self._wrap(owner, "__enter__", self._no_grad, self._no_grad_idle)
        yield self._wrap(space.set_grad_enabled, "__init__", self._no_grad, self._no_grad_idle)

    # --- modules ----------------------------------------------------------------------------------

    def _made_module(self, inner: Function, module: Any, /, *args: Any, **kwargs: Any) -> None:
        inner(module, *args, **kwargs)
        if self._observer.sampler.idle:
            self._observer.tell(self._observer.idle.module_made, sys._getframe(1))
        self._observer.tell(self._observer.registry.made, module, where_made(module))

    def _made_parameter(self, inner: Function, /, *args: Any, **kwargs: Any) -> Any:
        made = inner(*args, **kwargs)
        observer = self._observer
        observer.tell(observer.registry.parameter_made, self._engine, made, program_line())
        return made

    def _call_module(self, inner: Function, module: Any, /, *args: Any, **kwargs: Any) -> Any:
        observer, engine = self._observer, self._engine
        is_model, sampler = observer.registry.is_model, observer.sampler
        if sampler.idle and is_model(module):  # where functions are compiled this one stays
            observer.tell(observer.idle.model_called, engine, args, sys._getframe(1))
        if sampler.idle:
            try:
                return inner(module, *args, **kwargs)
            except Exception as error:
                observer.tell(observer.modules.failed, error)
                raise
        if sampler.skipping and engine.is_recording():
            if not is_model(module):
                return inner(module, *args, **kwargs)
            observer.tell(observer.modules.note_inputs, engine, args, True)
            result = inner(module, *args, **kwargs)
            facts = engine, module, args, result, sys._getframe(1)
            observer.tell(observer.modules.called_in_training, *facts)
            return result
        if observer.modules.running and observer.recorder.quiet(engine):
            return inner(module, *args, **kwargs)
        recorder = observer.recorder
        if recorder.loading and observer.agrees(recorder.loads, engine, module, args):
            return inner(module, *args, **kwargs)
        observer.tell(observer.modules.enter, engine, module, args)
        result = None
        try:
            result = inner(module, *args, **kwargs)
            return result
        finally:
            frame = sys._getframe(1)
            observer.tell(observer.modules.leave, engine, module, args, result, frame)

    def _model(self, kind: Any) -> Patch:
        """A class of models is noticed while idle: what one is given is kept until the next pass.

        What comes after is looked up at every call, like everything that a program may replace.
        """
        known = self._models.get(kind)
        if known is not None:
            return known
        own = vars(kind).get("__call__")
        observer, engine = self._observer, self._engine
        scope, sampler, noted = observer.scope, observer.sampler, observer.idle
        is_model = observer.registry.is_model

        @functools.wraps(kind.__call__)
        def call(module: Any, /, *args: Any, **kwargs: Any) -> Any:
            watched = sampler.idle and type(module) is kind and get_ident() == scope.thread
            watched = watched and is_model(module)
            if watched:
                observer.tell(noted.model_called, engine, args, sys._getframe(1))
            inherited: Any = super(kind, module)  # looked up now: it may have begun to record
            inner = inherited.__call__ if own is None else functools.partial(own, module)
            if not watched or not sampler.idle:
                return inner(*args, **kwargs)
            noted.inside_models += 1
            try:
                return inner(*args, **kwargs)
            finally:
                noted.inside_models -= 1

        known = self._models[kind] = Patch(kind, "__call__", idle=call)
        return known

    def _train(self, inner: Function, module: Any, /, mode: bool = True) -> Any:
        where, observer = program_line(), self._observer
        result = inner(module, mode)
        caller = sys._getframe(2)
        if program_frame(caller) in (caller, caller.f_back):
            if observer.sampler.idle:
                observer.tell(observer.idle.pause, caller)
            observer.tell(observer.modules.mode, module, mode, where)
        return result

    def _convert(self, inner: Function, module: Any, /, *args: Any, **kwargs: Any) -> Any:
        result = inner(module, *args, **kwargs)
        self._observer.tell(self._halved, module, program_line())
        return result

    def _halved(self, module: Any, where: Where) -> None:
        run, half = self._observer.run, self._engine.namespace.float16
        if run.halved_at is None and any(each.dtype is half for each in module.parameters()):
            run.halved_at = where

    def _apply(self, inner: Function, /, *args: Any, **kwargs: Any) -> Any:
        """The ops inside a Function are its own affair: here and in a replay it is one call."""

        def whole(*args: Any, **kwargs: Any) -> Any:
            with self._engine.unwatched():
                return inner(*args, **kwargs)

        whole.runs_program = True  # type: ignore[attr-defined]
        kind = whole.function = getattr(inner, "args", (None,))[0]  # type: ignore[attr-defined]
        name = "apply" if kind is None else f"{kind.__name__}.apply"
        frame = program_frame(sys._getframe(1))
        return self._observer.recorder.call(self._engine, name, whole, args, kwargs, frame)

    # --- passes -----------------------------------------------------------------------------------

    def _tensor_backward(self, inner: Function, tensor: Any, /, *args: Any, **kwargs: Any) -> Any:
        """In PyTorch it is one of the calls that are handed over: idle begins when it is over."""
        self._backwards += 1
        try:
            return inner(tensor, *args, **kwargs)
        finally:
            self._backwards -= 1
            self._settle()

    def _settle(self) -> None:
        if not self._backwards:
            self._observer.tell(self._observer.sampler.settle)

    def _backward(self, inner: Function, /, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        observer, engine, loop = self._observer, self._engine, self._observer.loop
        first = tensors[0] if isinstance(tensors, (list, tuple)) and tensors else tensors
        if not isinstance(first, engine.tensor):
            return inner(tensors, *args, **kwargs)
        with engine.unwatched():
            begun = observer.tell(loop.backward_begins, engine, first, program_line())
            try:
                # what runs inside (hooks, recomputed layers) is part of this pass
                with observer.scope.paused():
                    result = inner(tensors, *args, **kwargs)
            except Exception as error:  # Ctrl-C is no failure of the pass
                if begun:
                    observer.tell(loop.backward_ends, engine, first, error)
                raise
            if begun:
                observer.tell(loop.backward_ends, engine, first, None)
        self._settle()
        return result

    def _backward_idle(self, plain: Function, recording: Function) -> Function:
        observer, engine, kind = self._observer, self._engine, self._engine.tensor
        scope, sampler, usual = observer.scope, observer.sampler, observer.idle.backward_begins

        @functools.wraps(plain)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            thread = scope.thread
            if get_ident() != thread:
                return plain(tensors, *args, **kwargs)
            if sampler.idle and isinstance(tensors, kind):
                scope.thread = 0  # what runs inside (hooks, recomputed layers) is part of this pass
                try:
                    if observer.agrees(usual, engine, tensors):
                        result = plain(tensors, *args, **kwargs)
                        observer.tell(observer.idle.backward_ends, engine)
                        return result
                except Exception as error:
                    observer.tell(observer.loop.backward_ends, engine, tensors, error)
                    raise
                finally:
                    scope.thread = thread
            return recording(tensors, *args, **kwargs)

        return backward

    def _grad(
        self, inner: Function, /, outputs: Any, inputs: Any, *args: Any, **kwargs: Any
    ) -> Any:
        observer, engine, loop = self._observer, self._engine, self._observer.loop
        loss = outputs[0] if isinstance(outputs, (list, tuple)) and outputs else outputs
        leaves = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        if args or kwargs.get("create_graph") or not may_train(observer.run, engine, loss, leaves):
            results = inner(outputs, inputs, *args, **kwargs)
            if not observer.sampler.idle:
                run, snapshots, where = observer.run, observer.snapshots, program_line()
                observer.tell(differentiated, run, snapshots, engine, loss, results, where)
            return results
        with engine.unwatched():
            usual = observer.sampler.idle
            usual = usual and observer.agrees(observer.idle.backward_begins, engine, loss)
            begun = usual or observer.tell(loop.backward_begins, engine, loss, program_line())
            with observer.scope.paused():
                gradients = inner(outputs, inputs, *args, **kwargs)
            if begun:
                taken = observer.idle.gradients_taken if usual else loop.gradients_taken
                observer.tell(taken, engine, leaves, gradients)
        self._settle()
        return gradients

    def _no_grad(self, inner: Function, context: Any, /, *mode: bool) -> Any:
        observer = self._observer
        if not any(mode) and not observer.sampler.optimizing:
            observer.tell(observer.idle.seen, sys._getframe(2))
        return inner(context, *mode)

    def _no_grad_idle(self, plain: Function, _: Function) -> Function:
        """Where gradients are off something else than training goes on."""
        pauses, updating = self._pauses, self._observer.loop.updating

        @functools.wraps(plain)
        def off(context: Any, mode: bool = False) -> Any:
            if not mode and not updating:
                pauses(sys._getframe(1))
            return plain(context, mode) if switches else plain(context)

        switches = plain.__name__ == "__init__"
        return off

    def _pauses(self, frame: FrameType) -> None:
        observer = self._observer
        if observer.sampler.idle and observer.scope.here:
            observer.tell(observer.idle.pause, frame)

    # --- updates ----------------------------------------------------------------------------------

    def _made_optimizer(
        self, inner: Function, optimizer: Any, /, *args: Any, **kwargs: Any
    ) -> None:
        inner(optimizer, *args, **kwargs)
        observer = self._observer
        observer.tell(observer.loop.optimizer_made, optimizer, where_made(optimizer))
        self.steps.meet(optimizer)

    def _made_scheduler(
        self, inner: Function, scheduler: Any, /, optimizer: Any, *args: Any, **kwargs: Any
    ) -> None:
        inner(scheduler, optimizer, *args, **kwargs)
        observer, kind = self._observer, type(scheduler).__name__
        observer.tell(observer.loop.scheduler_made, optimizer, kind, where_made(scheduler))

    def _zero_grad(self, inner: Function, thing: Any, /, *args: Any, **kwargs: Any) -> Any:
        self._observer.tell(self._observer.loop.zeroed, program_line())
        with self._engine.unwatched(), self._observer.scope.paused():
            return inner(thing, *args, **kwargs)

    def _zero_grad_idle(self, plain: Function, recording: Function) -> Function:
        observer, cleared = self._observer, self._observer.loop.zeroed_idle
        scope, sampler = observer.scope, observer.sampler

        @functools.wraps(plain)
        def zero_grad(thing: Any, /, *args: Any, **kwargs: Any) -> Any:
            if get_ident() == scope.thread and sampler.idle and observer.agrees(cleared):
                return plain(thing, *args, **kwargs)
            return recording(thing, *args, **kwargs)

        return zero_grad

    def _clip(self, option: str, inner: Function, /, *args: Any, **kwargs: Any) -> Any:
        where, observer = program_line(), self._observer
        with self._engine.unwatched():
            with observer.scope.paused():
                total = inner(*args, **kwargs)  # the norm; None if single values are clipped
            limit = args[1] if len(args) > 1 else kwargs.get(option)
            observer.tell(observer.loop.clipped, limit, total, where)
        return total


def _original(plain: Function, _: Function) -> Function:
    return plain
