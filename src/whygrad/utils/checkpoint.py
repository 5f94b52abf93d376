"""Memory for time: a function's saved values are thrown away and computed again in backward.

Names, arguments and semantics are those of ``torch.utils.checkpoint`` with ``use_reentrant=False``;
see :mod:`whygrad.autograd.recompute.regions` for how it works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise
from typing import Any

from whygrad.autograd.recompute.regions import Region, Settings
from whygrad.autograd.recompute.reports import CheckpointError
from whygrad.autograd.recompute.selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from whygrad.autograd.recompute.streams import Streams
from whygrad.errors import fail
from whygrad.tensor import modes
from whygrad.threads import PerThread

__all__ = [
    "CheckpointError",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
_CHECKS = ("default", "none")


class _Overrides(PerThread):
    """What the context managers below say; None leaves it to the arguments of the call."""

    early_stop: bool | None = None
    debug: bool | None = None


_overrides = _Overrides()


def noop_context_fn() -> Contexts:
    """No context around either run."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, but backward computes again what it saves.

    ``use_reentrant``
        for PyTorch's sake: there is one way here, PyTorch's ``use_reentrant=False``, which can do
        all that the other one can.
    ``context_fn``
        returns two contexts: one around the first run, one around every further run; see
        :func:`create_selective_checkpoint_contexts`.
    ``determinism_check``
        ``"default"`` compares the shape, dtype and a few elements of each recomputed value with
        what was saved first; ``"none"`` only makes sure that the same ops ran.
    ``debug``
        list the ops of both runs if they differ.
    ``early_stop``
        end a further run as soon as it has made what backward asks for.
    ``preserve_rng_state``
        draw the same random numbers again, from the default generator and from any other one that
        is passed to an op.
    """
    if determinism_check not in _CHECKS:
        raise fail(
            ValueError,
            call=f"checkpoint(…, determinism_check={determinism_check!r})",
            cause=f"determinism_check should be one of {list(_CHECKS)}, but got "
            f"{determinism_check}",
            fix="leave it out, or pass 'none' to compare nothing but the ops",
        )
    if not modes.state.recording:
        return function(*args, **kwargs)
    first, further = context_fn()
    settings = Settings(
        streams=Streams(preserve_rng_state),
        around=further,
        early_stop=early_stop if _overrides.early_stop is None else _overrides.early_stop,
        compare=determinism_check == "default",
        debug=debug if _overrides.debug is None else _overrides.debug,
    )
    return Region(function, args, kwargs, settings).run(first, args, kwargs)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    *,
    preserve_rng_state: bool = True,
) -> Any:
    """Apply the functions in turn, checkpointed in ``segments`` parts that are as equal as can be.

    Backward runs one part at a time again, so the memory is that of one part and of the values
    between the parts; about √n parts for n functions take the least.  The last part is not
    checkpointed: backward starts with it and would compute it again at once.
    """
    steps = list(functions.children() if hasattr(functions, "children") else functions)
    if not 1 <= segments <= max(1, len(steps)):
        raise fail(
            ValueError,
            call=f"checkpoint_sequential({len(steps)} functions, segments={segments}, …)",
            cause="there must be at least one segment and no more of them than functions",
            fix=f"pass a number from 1 to {max(1, len(steps))}, such as the square root of it",
        )
    bounds = [len(steps) * part // segments for part in range(segments + 1)]
    for start, end in pairwise(bounds[:-1]):
        input = checkpoint(
            _in_turn,
            steps[start:end],
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return _in_turn(steps[bounds[-2] :], input)


def _in_turn(functions: list[Callable[[Any], Any]], value: Any) -> Any:
    for function in functions:
        value = function(value)
    return value


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether checkpoints whose first run is inside stop their further runs early."""
    outer, _overrides.early_stop = _overrides.early_stop, enable
    try:
        yield
    finally:
        _overrides.early_stop = outer


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Whether checkpoints called inside keep a list of their ops; None: as each call says."""
    outer, _overrides.debug = _overrides.debug, enabled
    try:
        yield
    finally:
        _overrides.debug = outer
