"""whygrad itself, seen through the dispatcher's interception.

Ops are intercepted one by one.  What is no op of the table (writing in place, ``detach``, a
loss with its reduction) is wrapped as a whole while the doctor watches.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache, partial
from types import ModuleType
from typing import Any

import numpy as np

import whygrad
from whygrad.dispatch.interception import Interceptor, intercepting, not_intercepting, pause, resume
from whygrad.nn import functional
from whygrad.ops.define import table
from whygrad.ops.families import LOSSES, MAKERS
from whygrad.recording.engines.engine import Handler
from whygrad.recording.patching import Patch, patched, wrapped
from whygrad.recording.ranges import hint, thinned
from whygrad.recording.scope import Scope
from whygrad.source import program_frame

__all__ = ["OwnEngine"]

_IN_PLACE = {
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_",
    "__ipow__": "pow_", "__setitem__": "setitem", "__getitem__": "getitem", "detach": "detach",
    "item": "item", "__float__": "float", "numpy": "numpy", "tolist": "tolist",
}  # fmt: skip
_NOTHING = nullcontext()
_QUIET = ("retain_grad_", "share_memory_", "detach_")


class OwnEngine:
    """The one instance is :meth:`get`."""

    name = "whygrad"
    namespace: ModuleType = whygrad
    tensor: type = whygrad.Tensor

    @staticmethod
    @cache
    def get() -> OwnEngine:
        return OwnEngine()

    def __init__(self) -> None:
        self.is_idle = False
        self._see: Interceptor | None = None
        self._functions: list[Patch] = []  # of modules: out of the way while idle

    @contextmanager
    def watching(self, handler: Handler, scope: Scope) -> Iterator[None]:
        def see(op: Any, below: Callable[..., Any], args: tuple[Any, ...]) -> Any:
            frame = program_frame(sys._getframe(1))
            return handler(self, op.name, below, args, {}, frame)

        self.record()  # what is watched already is idle no more
        outer = self._see, self._functions
        with ExitStack() as stack:
            for name, method in _written_in_place():
                wrapper = partial(_whole, self, handler, _IN_PLACE.get(name, name))
                stack.enter_context(patched(whygrad.Tensor, name, wrapper, method, scope))
            self._functions = [
                Patch(owner, name, wrapped(owner, name, wrapper, scope=scope), getattr(owner, name))
                for owner, names in ((functional, LOSSES), (whygrad, MAKERS))
                for name in owner.__all__
                if name in names and (wrapper := partial(_whole, self, handler, name))
            ]
            for each in self._functions:
                each.put()
                stack.callback(each.remove)
            transform = importlib.import_module("whygrad.autograd.transforms.vmap")
            level = partial(_unwatched_level, scope)
            stack.enter_context(patched(transform, "batch_level", level, scope=scope))
            self._see = see
            stack.enter_context(intercepting(see))
            try:
                yield
            finally:
                self.record()
                self._see, self._functions = outer

    def idle(self) -> None:
        if not self.is_idle and self._see is not None:
            self.is_idle = True
            pause(self._see)
            for each in self._functions:
                each.idle()

    def record(self) -> None:
        if self.is_idle and self._see is not None:
            self.is_idle = False
            resume(self._see)
            for each in self._functions:
                each.record()

    def hush(self, is_dull: Callable[[str], bool] | None, data: bool = False) -> None:
        """Handing a call over is cheap here."""

    def compiles(self) -> bool:
        return False  # what is compiled here does not look at names

    def first_passes_over(self) -> None:
        """Nothing to stop: lines and cuts are always known here."""

    def first_passes_again(self) -> None:
        """Nor to begin again."""

    def is_recording(self) -> bool:
        return whygrad.is_grad_enabled()

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        with not_intercepting(), whygrad.no_grad():
            yield

    def unwatched(self) -> Any:
        return _NOTHING if self.is_idle else not_intercepting()

    def array(self, tensor: Any) -> np.ndarray[Any, Any]:
        return self.view(tensor).copy()

    def view(self, tensor: Any) -> np.ndarray[Any, Any]:
        held = tensor._array
        if type(held) is np.ndarray and held.dtype.kind in "fiub":
            return held
        with self.unrecorded():
            plain = tensor.detach()
            if plain.layout is not whygrad.strided:
                plain = plain.to_dense()
            if plain.dtype is whygrad.bfloat16:
                plain = plain.float()
            return plain.numpy()

    def scalar(self, tensor: Any) -> float | None:
        held = tensor._array
        return float(held) if type(held) is np.ndarray and held.ndim == 0 else None

    def hint(self, tensor: Any) -> float:
        return hint(self.view(tensor))

    def few(self, tensor: Any, most: int = 4096) -> np.ndarray[Any, Any]:
        return thinned(self.view(tensor), most).copy()

    def address(self, tensor: Any) -> int:
        return int(self.view(tensor).__array_interface__["data"][0])

    def unbound(self, op: str, function: Callable[..., Any]) -> Callable[..., Any]:
        generic = table.get(op)  # what was intercepted is the op's path for its dtypes
        return function if generic is None or isinstance(function, partial) else generic.call

    def repeatable(
        self, op: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[..., Any] | None:
        return None if hasattr(function, "runs_program") else partial(_alone, function)

    def copy(self, tensor: Any, *, leaf: bool = False) -> Any:
        with self.unrecorded():
            copied = tensor.detach().clone()
        if leaf and tensor.requires_grad:
            copied.requires_grad_()
        return copied

    def random_state(self) -> Any:
        return None  # the dispatcher shows random ops as draws that are values of their own

    def set_random_state(self, state: Any) -> None:
        pass

    def written_at(self, tensor: Any) -> Any:
        writer = tensor._storage.last_writer
        return None if writer is None else writer[1]

    def why_none(self, parameters: Sequence[Any], loss: Any) -> Iterator[Any]:
        for each in parameters:
            answer = None
            with not_intercepting(), suppress(Exception):
                answer = whygrad.why_none(each, loss)
            yield answer


@contextmanager
def _unwatched_level(scope: Scope, inner: Callable[..., Any], /, *args: Any) -> Iterator[Any]:
    """Inside ``vmap`` tensors have no values of their own to look at."""
    with scope.paused(), inner(*args) as level:
        yield level


def _written_in_place() -> list[tuple[str, Any]]:
    """The methods of a tensor that change it, ``detach``, and those that hand out a number."""
    found = []
    for name in dir(whygrad.Tensor):
        in_place = name.endswith("_") and not name.startswith("_") and name not in _QUIET
        if in_place or name in _IN_PLACE:
            found.append((name, getattr(whygrad.Tensor, name)))
    return found


def _whole(
    engine: OwnEngine,
    handler: Handler,
    op: str,
    method: Callable[..., Any],
    /,
    *args: Any,
    **kw: Any,
) -> Any:
    """Carry out a method as one call; the ops it is made of are its own affair."""
    if engine.is_idle:
        return method(*args, **kw)
    frame = program_frame(sys._getframe(1))
    return handler(engine, op, partial(_alone, method), args, kw, frame)


def _alone(method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    with not_intercepting():
        return method(*args, **kwargs)
