"""What is in the program's way while the eyes are closed: next to nothing.

Thin wrappers take the place of the thick ones (:mod:`.instruments`) until the eyes open.  Of the
modules only the models that the program calls itself are seen, and of the functions only losses.
Where there is something to look at, a thin wrapper hands its call on to the thick one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any, Protocol

from whygrad.doctor.engines import Engine
from whygrad.doctor.observer import Observer
from whygrad.doctor.patching import Swap

__all__ = ["Dozing"]

Function = Callable[..., Any]


class Steps(Protocol):
    """Who hears of updates."""

    def hook(self) -> None: ...

    def unhook(self) -> None: ...


class Dozing:
    """The thin wrappers for one engine; to be made when all thick ones are in place."""

    def __init__(self, engine: Engine, observer: Observer, steps: Steps) -> None:
        self._engine = engine
        self._observer = observer
        self._steps = steps
        self._module = engine.namespace.nn.Module
        self._modules = Swap(self._module, "__call__", _plain(self._module.__call__))
        self._always = list(self._swaps())
        self._models: dict[type, Swap] = {}
        self._losses: dict[str, Swap] = {}
        self._there: list[Swap] = []

    def begin(self) -> None:
        if not self._there and not self._engine.compiles() and self._modules.put():
            kinds = self._observer.registry.kinds_of_models
            models = [self._model(kind) for kind in kinds if issubclass(kind, self._module)]
            losses = map(self._loss, self._observer.losses)
            wanted = (*self._always, *models, *losses)
            self._there = [self._modules, *(each for each in wanted if each.put())]
        self._steps.unhook()
        self._engine.look_away()

    def end(self) -> None:
        self._engine.look_again()
        for each in reversed(self._there):
            each.take()
        self._there = []
        self._steps.hook()

    def _model(self, kind: type) -> Swap:
        known = self._models.get(kind)
        if known is None:
            thin = _model(self._engine, self._observer, kind.__call__)
            known = self._models[kind] = Swap(kind, "__call__", thin)
        return known

    def _loss(self, name: str) -> Swap:
        known = self._losses.get(name)
        if known is None:
            functional: Any = self._engine.namespace.nn.functional
            thin = _loss(self._engine, self._observer, name, getattr(functional, name))
            known = self._losses[name] = Swap(functional, name, thin)
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
        for owner, name, make in places:
            yield Swap(owner, name, make(self._engine, self._observer, getattr(owner, name)))


def _plain(function: Function) -> Function:
    """What is behind a thick wrapper, if there is one."""
    inner: Function = getattr(function, "__wrapped__", function)
    return inner


def _model(engine: Engine, observer: Observer, plain: Function) -> Function:
    """A model is called: whatever it is given is kept until the next pass."""
    attention, is_model = observer.attention, observer.registry.is_model

    @functools.wraps(plain)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if get_ident() != attention.thread or not is_model(self):
            return plain(self, *args, **kwargs)
        observer.model_unseen(engine, args, sys._getframe(1))
        if not observer.dozing:  # any more
            return self(*args, **kwargs)
        try:
            return plain(self, *args, **kwargs)
        except Exception as error:
            observer.model_failed_unseen(error)
            raise

    return call


def _loss(engine: Engine, observer: Observer, name: str, thick: Function) -> Function:
    attention = observer.attention
    plain = _plain(thick) if engine.name == "whygrad" else thick

    @functools.wraps(plain)
    def call(*args: Any, **kwargs: Any) -> Any:
        if get_ident() != attention.thread:
            return plain(*args, **kwargs)
        try:
            result = plain(*args, **kwargs)
        except Exception as error:
            observer.loss_failed_unseen(name, args, kwargs, sys._getframe(1), error)
            raise
        observer.loss_unseen(engine, args, kwargs)
        return result

    return call


def _zero_grad(engine: Engine, observer: Observer, thick: Function) -> Function:
    attention, plain = observer.attention, _plain(thick)

    @functools.wraps(plain)
    def zero_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
        if get_ident() == attention.thread and observer.zeroed_unseen():
            return plain(self, *args, **kwargs)
        return thick(self, *args, **kwargs)

    return zero_grad


def _backward(engine: Engine, observer: Observer, thick: Function) -> Function:
    attention, plain, kind = observer.attention, _plain(thick), engine.tensor

    @functools.wraps(plain)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        thread = attention.thread
        if get_ident() != thread:
            return plain(tensors, *args, **kwargs)
        if not isinstance(tensors, kind) or not observer.pass_unseen(engine, tensors):
            return thick(tensors, *args, **kwargs)
        attention.thread = 0  # what runs inside (hooks, recomputed layers) is part of this pass
        try:
            return plain(tensors, *args, **kwargs)
        except Exception as error:
            observer.pass_failed_unseen(engine, tensors, error)
            raise
        finally:
            attention.thread = thread

    return backward


def _no_grad(engine: Engine, observer: Observer, plain: Function) -> Function:
    """Where gradients are off something else than training goes on, so the eyes may open."""
    attention = observer.attention

    @functools.wraps(plain)
    def enter(self: Any) -> Any:
        if not observer.updating_unseen and get_ident() == attention.thread:
            observer.pause_unseen(sys._getframe(1))
        return plain(self)

    return enter


def _set_grad_enabled(engine: Engine, observer: Observer, plain: Function) -> Function:
    attention = observer.attention

    @functools.wraps(plain)
    def init(self: Any, mode: bool) -> None:
        if not mode and not observer.updating_unseen and get_ident() == attention.thread:
            observer.pause_unseen(sys._getframe(1))
        plain(self, mode)

    return init
