"""What is in the program's way while the eyes are closed: next to nothing.

Thin wrappers take the place of the thick ones (:mod:`.instruments`) until the eyes open.  Of the
modules only the models that the program calls itself are seen, and of the functions none.  Where
there is something to look at, a thin wrapper hands its call on to the thick one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any

from whygrad.doctor.engines import Engine
from whygrad.doctor.observer import Observer
from whygrad.doctor.recording.patching import Swap
from whygrad.ops.families import LOSSES

__all__ = ["Dozing"]

Function = Callable[..., Any]


class Dozing:
    """The thin wrappers for one engine; to be made when all thick ones are in place."""

    def __init__(self, engine: Engine, observer: Observer) -> None:
        self._engine = engine
        self._observer = observer
        self._module = engine.namespace.nn.Module
        self._modules = Swap(self._module, "__call__", _plain(self._module.__call__))
        self._always = list(self._swaps())
        self._models: dict[type, Swap] = {}

    def begin(self) -> None:
        if not self._observer.has_met(self._engine):
            return  # nobody calls what would be replaced, and that takes a while in large classes
        for each in self._always:
            each.put()
        if not self._engine.compiles() and self._modules.put():
            for kind in self._observer.registry.kinds_of_models:
                if issubclass(kind, self._module):
                    self._model(kind).put()
        self._engine.look_away()

    def end(self) -> None:
        self._engine.look_again()
        # All of them: one may have been put back by somebody who had borrowed the place.
        for each in (*self._models.values(), *self._always, self._modules):
            each.take()

    def _model(self, kind: type) -> Swap:
        known = self._models.get(kind)
        if known is None:
            own = vars(kind).get("__call__")
            thin = _model(self._engine, self._observer, kind, own)
            known = self._models[kind] = Swap(kind, "__call__", thin)
        return known

    def _swaps(self) -> Iterator[Swap]:
        space: Any = self._engine.namespace
        places = [
            (self._module, "zero_grad", _zero_grad),
            (space.optim.Optimizer, "zero_grad", _zero_grad),
            (space.autograd, "backward", _backward),
            (space.no_grad, "__enter__", _no_grad),
            (space.inference_mode, "__enter__", _no_grad),
            (space.set_grad_enabled, "__init__", _set_grad_enabled),
        ]
        if self._engine.name == "whygrad":
            places.append((sys.modules["whygrad.autograd.api"], "backward", _backward))
            for name in sorted(each for each in vars(space.nn.functional) if each in LOSSES):
                loss = getattr(space.nn.functional, name)
                yield Swap(space.nn.functional, name, _plain(loss))
        for owner, name, make in places:
            yield Swap(owner, name, make(self._engine, self._observer, getattr(owner, name)))


def _plain(function: Function) -> Function:
    """What is behind a thick wrapper, if there is one."""
    inner: Function = getattr(function, "__wrapped__", function)
    return inner


def _model(engine: Engine, observer: Observer, kind: Any, own: Function | None) -> Function:
    """A model is called: whatever it is given is kept until the next pass.

    What comes after is looked up at every call, like everything that a program may replace.
    """
    scope, is_model = observer.scope, observer.registry.is_model

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        inner = super(kind, self).__call__ if own is None else functools.partial(own, self)
        watched = observer.dozing and type(self) is kind and get_ident() == scope.thread
        if not watched or not is_model(self):
            return inner(*args, **kwargs)
        observer.model_unseen(engine, args, sys._getframe(1))
        observer.inside_models += 1
        try:
            return inner(*args, **kwargs)
        finally:
            observer.inside_models -= 1

    return functools.wraps(kind.__call__)(call)


def _zero_grad(engine: Engine, observer: Observer, thick: Function) -> Function:
    scope, plain = observer.scope, _plain(thick)

    @functools.wraps(plain)
    def zero_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
        if get_ident() == scope.thread and observer.dozing and observer.zeroed_unseen():
            return plain(self, *args, **kwargs)
        return thick(self, *args, **kwargs)

    return zero_grad


def _backward(engine: Engine, observer: Observer, thick: Function) -> Function:
    scope, plain, kind = observer.scope, _plain(thick), engine.tensor

    @functools.wraps(plain)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        thread = scope.thread
        if get_ident() != thread:
            return plain(tensors, *args, **kwargs)
        unseen = observer.dozing and isinstance(tensors, kind)
        if not unseen or not observer.pass_unseen(engine, tensors):
            return thick(tensors, *args, **kwargs)
        scope.thread = 0  # what runs inside (hooks, recomputed layers) is part of this pass
        try:
            return plain(tensors, *args, **kwargs)
        except Exception as error:
            observer.pass_failed_unseen(engine, tensors, error)
            raise
        finally:
            scope.thread = thread

    return backward


def _no_grad(engine: Engine, observer: Observer, plain: Function) -> Function:
    """Where gradients are off something else than training goes on, so the eyes may open."""
    scope = observer.scope

    @functools.wraps(plain)
    def enter(self: Any) -> Any:
        if observer.dozing and not observer.updating and get_ident() == scope.thread:
            observer.pause_unseen(sys._getframe(1))
        return plain(self)

    return enter


def _set_grad_enabled(engine: Engine, observer: Observer, plain: Function) -> Function:
    scope = observer.scope

    @functools.wraps(plain)
    def init(self: Any, mode: bool) -> None:
        away = observer.dozing and not observer.updating
        if not mode and away and get_ident() == scope.thread:
            observer.pause_unseen(sys._getframe(1))
        plain(self, mode)

    return init
