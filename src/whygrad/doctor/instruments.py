"""Hooks and wrappers that tell the observer what the program does.

The same for both engines: whygrad has PyTorch's names.  Nothing of the program's code is changed;
everything is put back when the ``with`` block ends.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from whygrad.doctor.engines import Engine
from whygrad.doctor.observer import Observer
from whygrad.doctor.patching import patched
from whygrad.doctor.places import here, user_frame, where_made
from whygrad.doctor.rehearsal import is_rehearsal

__all__ = ["instruments"]


@contextmanager
def instruments(engine: Engine, observer: Observer) -> Iterator[None]:
    """Let ``observer`` hear of everything that happens in ``engine``."""
    with ExitStack() as stack:
        for owner, name, wrapper in _wrappers(engine, observer):
            stack.enter_context(patched(owner, name, wrapper))
        for handle in _hooks(engine, observer):
            stack.callback(handle.remove)
        stack.enter_context(engine.watching(observer.call))
        yield


def _wrappers(engine: Engine, observer: Observer) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    space: Any = engine.namespace
    module, optimizer = space.nn.Module, space.optim.Optimizer
    schedulers: Any = importlib.import_module(f"{engine.name}.optim.lr_scheduler")

    def made_module(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
        inner(self, *args, **kwargs)
        observer.registry.made(self, where_made(self))

    def call_module(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
        observer.enter(engine, self, args)
        try:
            result = inner(self, *args, **kwargs)
        except BaseException:
            observer.leave(engine, self, args, None, sys._getframe(1))
            raise
        observer.leave(engine, self, args, result, sys._getframe(1))
        return result

    def made_optimizer(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
        inner(self, *args, **kwargs)
        observer.optimizer_made(self, where_made(self))

    def made_scheduler(
        inner: Callable[..., Any], self: Any, optimizer: Any, *args: Any, **kwargs: Any
    ) -> None:
        inner(self, optimizer, *args, **kwargs)
        observer.scheduler_made(optimizer, type(self).__name__, where_made(self))

    def made_parameter(inner: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        made = inner(*args, **kwargs)
        observer.registry.parameter_made(made, here())
        return made

    def train(inner: Callable[..., Any], self: Any, mode: bool = True) -> Any:
        where = here()
        result = inner(self, mode)
        if user_frame(sys._getframe(2)) in (sys._getframe(2), sys._getframe(3)):
            observer.mode(self, mode, where)
        return result

    def zero_grad(inner: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
        observer.zeroed(here())
        with engine.unwatched():
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
        first = tensors if isinstance(tensors, engine.tensor) else next(iter(tensors))
        with engine.unwatched():
            observer.backward_begins(engine, first, here())
            try:
                result = inner(tensors, *args, **kwargs)
            except BaseException as error:
                observer.backward_ends(engine, first, error)
                raise
            observer.backward_ends(engine, first, None)
            return result

    space: Any = engine.namespace
    yield space.autograd, "backward", backward
    if engine.name == "whygrad":
        yield sys.modules["whygrad.autograd.api"], "backward", backward


def _clipping(engine: Engine, observer: Observer) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    def by_norm(
        inner: Callable[..., Any], parameters: Any, max_norm: float, *args: Any, **kwargs: Any
    ) -> Any:
        where = here()
        with engine.unwatched():
            total = inner(parameters, max_norm, *args, **kwargs)
            observer.clipped("norm", float(max_norm), float(total), where)
        return total

    def by_value(
        inner: Callable[..., Any], parameters: Any, clip_value: float, *args: Any, **kwargs: Any
    ) -> Any:
        where = here()
        with engine.unwatched():
            result = inner(parameters, clip_value, *args, **kwargs)
        observer.clipped("value", float(clip_value), None, where)
        return result

    utils: Any = engine.namespace.nn.utils
    yield utils, "clip_grad_norm_", by_norm
    yield utils, "clip_grad_value_", by_value


def _hooks(engine: Engine, observer: Observer) -> Iterator[Any]:
    optimizers: Any = importlib.import_module(f"{engine.name}.optim.optimizer")
    quiet: list[Any] = []  # guards that keep the optimizer's own arithmetic out of sight

    def before(optimizer: Any, args: Any, kwargs: Any) -> None:
        if is_rehearsal(optimizer):
            return
        guard = engine.unwatched()
        guard.__enter__()
        quiet.append(guard)
        observer.step_begins(engine, optimizer, here())
        if len(args) > 1 or kwargs.get("closure") is not None:
            observer.closure_begins()
            quiet.pop().__exit__(None, None, None)

    def after(optimizer: Any, args: Any, kwargs: Any) -> None:
        if is_rehearsal(optimizer):
            return
        while quiet:
            quiet.pop().__exit__(None, None, None)
        with engine.unwatched():
            observer.step_ends(engine, optimizer)

    yield optimizers.register_optimizer_step_pre_hook(before)
    yield optimizers.register_optimizer_step_post_hook(after)

