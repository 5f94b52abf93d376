"""What a fix does to a call of a recorded step: wrappers for its function.

A remedy (:mod:`.remedies`) is a step with a few of its calls changed: one left out, one that runs
along another axis, one that is given something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from whygrad.doctor.experiments.remedies import Remedy
from whygrad.recording.record import Snapshot
from whygrad.recording.replay.recipes import Wrapper, differentiable, passed_on, swapped

__all__ = ["along", "given", "instead", "left_out", "mended", "negated", "reshaped"]

Function = Callable[..., Any]


def mended(snapshot: Snapshot, changes: Mapping[int, Wrapper], **how: Any) -> Remedy:
    """The remedy that changes these calls, by their numbers."""
    return Remedy(snapshot, swapped(differentiable(snapshot), changes), **how)


def left_out(snapshot: Snapshot, *numbers: int) -> Remedy:
    """The remedy that removes calls: what goes in comes out."""
    return mended(snapshot, dict.fromkeys(numbers, passed_on))


def along(dim: int) -> Wrapper:
    """The call, along another axis."""

    def wrapper(inner: Function) -> Function:
        def turned(tensor: Any, *rest: Any, **named: Any) -> Any:
            if "dim" in named or not rest:
                return inner(tensor, *rest, **{**named, "dim": dim})
            return inner(tensor, dim, *rest[1:], **named)

        return turned

    return wrapper


def instead(function: Function) -> Wrapper:
    """Another function of the same first argument."""
    return lambda inner: lambda tensor, *rest, **named: function(tensor)


def given(function: Function) -> Wrapper:
    """The call, with a function of its first argument in the place of that."""

    def wrapper(inner: Function) -> Function:
        return lambda tensor, *rest, **named: inner(function(tensor), *rest, **named)

    return wrapper


def negated(inner: Function) -> Function:
    """A wrapper: the result with the other sign."""
    return lambda *args, **named: -inner(*args, **named)


def reshaped(inner: Function) -> Function:
    """A wrapper: two tensors of one size, the one with more axes in the shape of the other."""

    def fitted(one: Any, other: Any, *rest: Any, **named: Any) -> Any:
        if one.ndim > other.ndim:
            one = one.reshape(other.shape)
        else:
            other = other.reshape(one.shape)
        return inner(one, other, *rest, **named)

    return fitted
