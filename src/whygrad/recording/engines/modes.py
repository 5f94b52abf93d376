"""What PyTorch does differently while a function mode is on, undone.

A mode closes the fast paths of attention layers, and the compiler traces into it.  Neither may
happen because somebody watches: the same program computes the same numbers, by the same kernels.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch._functorch import eager_transforms, vmap
from torch.overrides import _pop_mode, _push_mode

from whygrad.recording.patching import patched
from whygrad.recording.scope import Scope
from whygrad.source import program_frame

if TYPE_CHECKING:
    from whygrad.recording.engines.engine import Engine, Handler

__all__ = [
    "compiled_whole",
    "compiler_in_use",
    "fast_paths_open",
    "put_in",
    "taken_out",
    "transforms_unwatched",
]

_COMPILER = "torch._dynamo.eval_frame"


@contextmanager
def _without_ours() -> Iterator[None]:
    """The modes of this package are off, unless a mode of the program's lies on top of them."""
    ours = []
    for mode in reversed(torch.overrides._get_current_function_mode_stack()):
        if not type(mode).__module__.startswith("whygrad."):
            break
        ours.append(_pop_mode())
    try:
        yield
    finally:
        for mode in reversed(ours):
            _push_mode(mode)


def taken_out(mode: Any) -> int | None:
    """Take a mode from among those of this thread: its place, or None if it is not there."""
    place, above = None, []
    while torch.overrides._get_current_function_mode_stack():
        latest = _pop_mode()
        if latest is mode:
            place = len(torch.overrides._get_current_function_mode_stack())
            break
        above.append(latest)
    for each in reversed(above):
        _push_mode(each)
    return place


def put_in(mode: Any, place: int) -> None:
    """Put a mode back where it was, so that each of the others ends its own block."""
    above = []
    while len(torch.overrides._get_current_function_mode_stack()) > place:
        above.append(_pop_mode())
    for each in (mode, *reversed(above)):
        _push_mode(each)


_compiling: list[bool] = []


def compiler_in_use() -> bool:
    """Whether the program has compiled something."""
    return bool(_compiling)


@contextmanager
def fast_paths_open() -> Iterator[None]:
    """Attention layers ask whether anybody overrides functions; watching does not count."""

    def asked(inner: Callable[..., bool], tensors: Any, /) -> bool:
        with _without_ours():
            return inner(tensors)

    with patched(torch.overrides, "has_torch_function", asked):
        yield


@contextmanager
def transforms_unwatched(scope: Scope) -> Iterator[None]:
    """Inside ``vmap``, ``grad`` and ``jvp`` tensors have no values of their own to look at.

    And ``jit.trace`` would write down whoever looks.
    """

    def trace(inner: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with scope.paused(), _without_ours():
            return inner(*args, **kwargs)

    @contextmanager
    def level(inner: Callable[..., Any], /, *args: Any) -> Iterator[Any]:
        with scope.paused(), inner(*args) as opened:
            yield opened

    with (
        patched(eager_transforms, "grad_increment_nesting", level, scope=scope),
        patched(eager_transforms, "jvp_increment_nesting", level, scope=scope),
        patched(vmap, "vmap_increment_nesting", level, scope=scope),
        patched(torch.jit, "trace", trace, scope=scope),
    ):
        yield


@contextmanager
def compiled_whole(engine: Engine, handler: Handler, scope: Scope) -> Iterator[None]:
    """A function that was compiled is one call; the compiler does not see the doctor."""
    with ExitStack() as stack:

        def watch_compiler() -> None:
            compiler: Any = importlib.import_module(_COMPILER)
            context, module = compiler._TorchDynamoContext, compiler.OptimizedModule
            stack.enter_context(patched(context, "__call__", made, scope=scope))
            stack.enter_context(patched(module, "__call__", called, scope=scope))
            started.append(True)

        def compile(inner: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            _compiling.append(True)
            if not started:
                watch_compiler()
            return inner(*args, **kwargs)

        def made(inner: Callable[..., Any], context: Any, /, fn: Any) -> Any:
            compiled = inner(context, fn)
            if isinstance(compiled, (torch.nn.Module, type)):
                return compiled

            @functools.wraps(compiled)
            def whole(*args: Any, **kwargs: Any) -> Any:
                if not scope.here:
                    return compiled(*args, **kwargs)
                return call(compiled, fn, args, kwargs)

            whole._torchdynamo_wrapper_id = id(whole)  # type: ignore[attr-defined]
            return whole

        def called(inner: Callable[..., Any], module: Any, /, *args: Any, **kwargs: Any) -> Any:
            compiled = functools.partial(inner, module)
            return call(compiled, module._orig_mod, args, kwargs)

        def call(compiled: Any, plain: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            def once(*args: Any, **kwargs: Any) -> Any:
                if not scope.here:  # a replay: not worth compiling for
                    return plain(*args, **kwargs)
                with scope.paused(), _without_ours():
                    return compiled(*args, **kwargs)

            once.runs_program = True  # type: ignore[attr-defined]
            frame = program_frame(sys._getframe(2))
            return handler(engine, "compiled", once, args, kwargs, frame)

        started: list[bool] = []
        if _COMPILER in sys.modules:
            watch_compiler()
        stack.enter_context(patched(torch, "compile", compile, scope=scope))
        yield
