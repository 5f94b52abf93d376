"""What random functions do inside ``vmap``: refuse, draw once for all samples, or once for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from whygrad.autograd.transforms.batching import add_batch, level_of, remembered_levels
from whygrad.errors import fail
from whygrad.ops.namespace import recorded
from whygrad.random import drawing
from whygrad.threads import PerThread

__all__ = ["mode_of", "randomness_of", "surroundings"]


class _Modes(PerThread):
    def __init__(self) -> None:
        self.of_level: dict[int, str] = {}


_modes = _Modes()


def mode_of(level: int) -> str:
    """What ``vmap`` was told about random functions, for an open level."""
    return _modes.of_level.get(level, "error")


@contextmanager
def randomness_of(mode: str, level: int, size: int) -> Iterator[None]:
    """Let the random functions of this thread behave as ``vmap(…, randomness=mode)`` says."""
    outer = drawing.around

    def around(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if mode == "error":
            raise _refused(draw)
        if mode == "same":
            _check_shared(draw, level, args, kwargs)
            return outwards(draw, *args, **kwargs)
        drawn = []
        for number in range(size or 1):  # of an empty batch, a sample that only tells the shape
            sample = [_sample(each, level, number) for each in args]
            named = {name: _sample(each, level, number) for name, each in kwargs.items()}
            drawn.append(outwards(draw, *sample, **named))
        batch = recorded.stack(drawn, 0)
        return add_batch(batch if size else recorded.slice(batch, (slice(0, 0),)), level)

    def outwards(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The enclosing ``vmap``, if any, has its own say."""
        return draw(*args, **kwargs) if outer is None else outer(draw, *args, **kwargs)

    drawing.around = around
    _modes.of_level[level] = mode
    try:
        yield
    finally:
        drawing.around = outer
        del _modes.of_level[level]


def surroundings() -> Callable[[], AbstractContextManager[None]]:
    """The ``vmap`` around this moment, to be put around a later one.

    What was computed for samples is computed again for samples: although their ``vmap`` has ended,
    and although others, which have nothing to do with it, have begun.
    """
    levels, drawn, of_level = remembered_levels(), drawing.around, dict(_modes.of_level)

    @contextmanager
    def as_they_were() -> Iterator[None]:
        around, now = drawing.around, _modes.of_level
        drawing.around, _modes.of_level = drawn, of_level
        try:
            with levels():
                yield
        finally:
            drawing.around, _modes.of_level = around, now

    return as_they_were


def _sample(value: Any, level: int, number: int) -> Any:
    if level_of(value) != level:
        return value
    batch = value._array.tensor
    if not batch.shape[0]:
        return recorded.new_full(batch, tuple(batch.shape[1:]), 1)
    return recorded.slice(batch, (number,))


def _refused(draw: Callable[..., Any]) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"{draw.__name__}(…) inside vmap",
        cause="vmap: called random operation while in randomness error mode",
        fix="say what you mean: vmap(…, randomness='different') or 'same'; or draw outside vmap",
    )


def _check_shared(
    draw: Callable[..., Any], level: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Numbers can only be the same for all samples if what they depend on is."""
    given = (*args, *kwargs.values())
    if getattr(draw, "shaped_by_first", False):
        given = given[1:]
    if any(level_of(each) == level for each in given):
        raise fail(
            RuntimeError,
            call=f"{draw.__name__}(…) inside vmap(…, randomness='same')",
            cause="Vmap does not support same randomness with a batched tensor input: every "
            "sample has its own probabilities",
            fix="use randomness='different'",
        )
