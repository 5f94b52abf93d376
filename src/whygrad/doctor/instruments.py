"""Hooks and wrappers that tell the observer what the program does.

The same for both engines: whygrad has PyTorch's names.  Nothing of the program's code is changed;
everything is put back when the ``with`` block ends.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from whygrad.doctor.dozing import Dozing
from whygrad.doctor.engines import Engine
from whygrad.doctor.observer import Observer
from whygrad.doctor.recording.patching import patched
from whygrad.doctor.replay.optimizers import is_copy
from whygrad.doctor.source.frames import here, user_frame, where_made

__all__ = ["instruments"]


@contextmanager
def instruments(engine: Engine, observer: Observer) -> Iterator[None]:
    """Let ``observer`` hear of everything that happens in ``engine``."""
    with ExitStack() as stack:

        def place(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
            stack.enter_context(patched(owner, name, wrapper, scope=observer.scope))

        steps = _Steps(engine, observer, place)
        for owner, name, wrapper in _wrappers(engine, observer, steps):
            place(owner, name, wrapper)
        stack.enter_context(engine.watching(observer.call, observer.scope))
        for handle in steps.hooks():
            stack.callback(handle.remove)
        dozing = Dozing(engine, observer)
        observer.dozers.append(dozing)
        stack.callback(dozing.end)
        yield


class _Steps:
    """Hears of updates, and keeps their arithmetic out of sight: wraps ``step`` of every class."""

    def __init__(self, engine: Engine, observer: Observer, place: Callable[..., None]) -> None:
        self._engine = engine
        self._observer = observer
        self._place = place
        self._inside = 0  # calls of step() that are wrapped
        self._open: list[Any] = []  # optimizers whose update has begun
        self._met: set[type] = set()

    def meet(self, optimizer: Any) -> None:
        kind = type(optimizer)
        if kind not in self._met:
            self._met.add(kind)
            self._place(kind, "step", self._step)

    def hooks(self) -> Iterator[Any]:
        """Hear of every update, also of those that come by another way than ``step`` of a class."""
        home: Any = importlib.import_module(f"{self._engine.name}.optim.optimizer")
        yield home.register_optimizer_step_pre_hook(self._before)
        yield home.register_optimizer_step_post_hook(self._after)

    def _step(self, inner: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        observer = self._observer
        if optimizer in observer.updating:  # by way of super().step()
            return inner(optimizer, *args, **kwargs)
        if not self._inside:
            self._open.clear()
        if observer.dozing and not args and not kwargs:
            if observer.update_begins_unseen(self._engine, optimizer):
                return self._unseen(inner, optimizer)
            observer.stir()
        if is_copy(optimizer):
            return inner(optimizer, *args, **kwargs)
        self._inside += 1
        try:
            if _closure(args, kwargs) is not None:
                result = inner(optimizer, *args, **kwargs)
            else:
                with self._engine.unwatched():
                    result = inner(optimizer, *args, **kwargs)
        except BaseException:
            observer.step_failed()
            raise
        finally:
            self._inside -= 1
        _tell(observer, observer.settle)
        return result

    def _unseen(self, inner: Callable[..., Any], optimizer: Any) -> Any:
        try:
            result = inner(optimizer)
        except BaseException:
            self._observer.step_failed()
            raise
        self._observer.update_ends_unseen(self._engine, optimizer)
        return result

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        observer = self._observer
        if optimizer in observer.updating or not observer.scope.here:
            return
        if is_copy(optimizer):
            return
        nested = self._inside > 0 and optimizer in self._open
        self._open.append(optimizer)
        if nested:
            return
        self.meet(optimizer)  # from its next step on
        if observer.dozing and not observer.updating:
            observer.stir()
        with self._engine.unwatched():
            _tell(observer, observer.step_begins, self._engine, optimizer, here())
        if _closure(args[1:], kwargs) is not None:
            observer.closure_begins()

    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        observer = self._observer
        if optimizer in observer.updating or not observer.scope.here:
            return
        if not is_copy(optimizer):
            if self._open:
                self._open.pop()
            if optimizer in self._open:
                return
            with self._engine.unwatched():
                _tell(observer, observer.step_ends, self._engine, optimizer)
            if not self._inside:
                _tell(observer, observer.settle)


def _closure(args: Any, kwargs: Any) -> Any:
    return args[0] if args else kwargs.get("closure")


def _tell(observer: Observer, event: Callable[..., Any], *facts: Any) -> bool:
    """Let the observer hear of an event and say whether it did; the program goes on either way."""
    try:
        event(*facts)
    except Exception as error:
        observer.trouble(error)
        return False
    return True


def _wrappers(
    engine: Engine, observer: Observer, steps: _Steps
) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    space: Any = engine.namespace
    tell = partial(_tell, observer)
    module, optimizer = space.nn.Module, space.optim.Optimizer
    schedulers: Any = importlib.import_module(f"{engine.name}.optim.lr_scheduler")

    def made_module(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
        inner(self, *args, **kwargs)
        if observer.dozing:
            observer.stir()
        tell(observer.registry.made, self, where_made(self))

    def call_module(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
        if observer.dozing and observer.registry.is_model(self):
            tell(observer.glimpse, engine, args, user_frame(sys._getframe(1)))
        if observer.dozing:
            try:
                return inner(self, *args, **kwargs)
            except Exception as error:
                tell(observer.failed_unseen, error)
                raise
        if observer.resting and engine.is_recording():
            if observer.registry.is_model(self):
                tell(observer.note_inputs, engine, args, True)
            return inner(self, *args, **kwargs)
        tell(observer.enter, engine, self, args)
        result = None
        try:
            result = inner(self, *args, **kwargs)
            return result
        finally:
            tell(observer.leave, engine, self, args, result, sys._getframe(1))

    def made_optimizer(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
        inner(self, *args, **kwargs)
        tell(observer.optimizer_made, self, where_made(self))
        steps.meet(self)

    def made_scheduler(
        inner: Callable[..., Any], self: Any, optimizer: Any, *args: Any, **kwargs: Any
    ) -> None:
        inner(self, optimizer, *args, **kwargs)
        tell(observer.scheduler_made, optimizer, type(self).__name__, where_made(self))

    def made_parameter(inner: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        made = inner(*args, **kwargs)
        tell(observer.registry.parameter_made, engine, made, here())
        return made

    def train(inner: Callable[..., Any], self: Any, mode: bool = True) -> Any:
        where = here()
        result = inner(self, mode)
        if user_frame(sys._getframe(2)) in (sys._getframe(2), sys._getframe(3)):
            if observer.dozing:
                observer.pause_unseen(sys._getframe(2))
            tell(observer.mode, self, mode, where)
        return result

    def convert(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
        result = inner(self, *args, **kwargs)
        if any(each.dtype is space.float16 for each in self.parameters()):
            tell(observer.halved, here())
        return result

    def zero_grad(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
        tell(observer.zeroed, here())
        with engine.unwatched(), observer.scope.paused():
            return inner(self, *args, **kwargs)

    def apply(inner: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        function = _unseen(engine, inner)
        kind = inner.args[0].__name__ if hasattr(inner, "args") else "apply"
        frame = user_frame(sys._getframe(1))
        return observer.call(engine, f"{kind}.apply", function, args, kwargs, frame)

    yield module, "__init__", made_module
    yield module, "__call__", call_module
    yield space.nn.Parameter, "__new__", made_parameter
    yield module, "train", train
    yield module, "zero_grad", zero_grad
    yield module, "half", convert
    yield module, "to", convert
    yield optimizer, "__init__", made_optimizer
    yield schedulers.LRScheduler, "__init__", made_scheduler
    yield schedulers.ReduceLROnPlateau, "__init__", made_scheduler
    yield optimizer, "zero_grad", zero_grad
    yield space.autograd.Function, "apply", apply
    yield from _passes(engine, observer)
    yield from _clipping(engine, observer)


def _unseen(engine: Engine, inner: Callable[..., Any]) -> Callable[..., Any]:
    """The ops inside a Function are its own affair: the whole is one call, here and in a replay."""

    def whole(*args: Any, **kwargs: Any) -> Any:
        with engine.unwatched():
            return inner(*args, **kwargs)

    whole.function = getattr(inner, "args", (None,))[0]  # type: ignore[attr-defined]
    return whole


def _passes(engine: Engine, observer: Observer) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    def backward(inner: Callable[..., Any], tensors: Any, *args: Any, **kwargs: Any) -> Any:
        first = tensors[0] if isinstance(tensors, (list, tuple)) and tensors else tensors
        if not isinstance(first, engine.tensor):
            return inner(tensors, *args, **kwargs)
        with engine.unwatched():
            begun = _tell(observer, observer.backward_begins, engine, first, here())
            try:
                # what runs inside (hooks, recomputed layers) is part of this pass
                with observer.scope.paused():
                    result = inner(tensors, *args, **kwargs)
            except Exception as error:  # Ctrl-C is no failure of the pass
                if begun:
                    _tell(observer, observer.backward_ends, engine, first, error)
                raise
            if begun:
                _tell(observer, observer.backward_ends, engine, first, None)
            return result

    def grad(
        inner: Callable[..., Any], outputs: Any, inputs: Any, *args: Any, **kwargs: Any
    ) -> Any:
        loss = outputs[0] if isinstance(outputs, (list, tuple)) and outputs else outputs
        leaves = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        if args or kwargs.get("create_graph") or not observer.may_train(engine, loss, leaves):
            results = inner(outputs, inputs, *args, **kwargs)
            if not observer.dozing:
                _tell(observer, observer.differentiated, engine, loss, results, here())
            return results
        with engine.unwatched():
            begun = _tell(observer, observer.backward_begins, engine, loss, here())
            with observer.scope.paused():
                gradients = inner(outputs, inputs, *args, **kwargs)
            if begun:
                _tell(observer, observer.gradients_taken, engine, leaves, gradients)
            return gradients

    space: Any = engine.namespace
    yield space.autograd, "backward", backward
    yield space.autograd, "grad", grad
    if engine.name == "whygrad":
        yield sys.modules["whygrad.autograd.api"], "backward", backward


def _clipping(engine: Engine, observer: Observer) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    def by_norm(
        inner: Callable[..., Any], parameters: Any, max_norm: float, *args: Any, **kwargs: Any
    ) -> Any:
        where = here()
        with engine.unwatched():
            with observer.scope.paused():
                total = inner(parameters, max_norm, *args, **kwargs)
            _tell(observer, lambda: observer.clipped("norm", float(max_norm), float(total), where))
        return total

    def by_value(
        inner: Callable[..., Any], parameters: Any, clip_value: float, *args: Any, **kwargs: Any
    ) -> Any:
        where = here()
        with engine.unwatched(), observer.scope.paused():
            result = inner(parameters, clip_value, *args, **kwargs)
        _tell(observer, lambda: observer.clipped("value", float(clip_value), None, where))
        return result

    utils: Any = engine.namespace.nn.utils
    yield utils, "clip_grad_norm_", by_norm
    yield utils, "clip_grad_value_", by_value
