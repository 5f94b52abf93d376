"""Random numbers drawn a second time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from whygrad.random import Generator, default_generator, drawing
from whygrad.tensor import Tensor

__all__ = ["Streams"]


class Streams:
    """Where each generator stood before a function drew from it.

    The default generator is always noted; another one when it is first passed as ``generator=``.
    """

    def __init__(self, preserve: bool) -> None:
        self._preserve = preserve
        self._states: dict[Generator, Tensor] = {}
        if preserve:
            self._states[default_generator] = default_generator.get_state()

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Watch what is drawn inside."""
        if not self._preserve:
            yield
            return
        outer, states = drawing.around, self._states

        def around(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            generator = kwargs.get("generator")
            if generator is not None and generator not in states:
                states[generator] = generator.get_state()
            return draw(*args, **kwargs) if outer is None else outer(draw, *args, **kwargs)

        drawing.around = around
        try:
            yield
        finally:
            drawing.around = outer

    @contextmanager
    def rewound(self) -> Iterator[None]:
        """Inside, the same numbers come again; afterwards nobody can tell."""
        now = {generator: generator.get_state() for generator in self._states}
        try:
            for generator, state in self._states.items():
                generator.set_state(state)
            yield
        finally:
            for generator, state in now.items():
                generator.set_state(state)
