"""``track``: a loop with a progress bar that shows loss, throughput and the time that is left.

Whoever trains in the background or in a test wants no bar, so it appears in a terminal and in a
notebook and nowhere else.  The loop itself is the same in all cases.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor
from whygrad.trees import flatten

__all__ = ["Bar", "Track", "track"]

T = TypeVar("T")


class Bar(Protocol):
    """Something that shows how far a loop is."""

    def update(self, state: Track[Any]) -> None:
        """Show the state, now or a moment later."""

    def close(self, state: Track[Any]) -> None:
        """Show the state for the last time."""


class Track(Generic[T]):
    """An iterable that knows how far it is; :func:`track` makes it.

    ``values`` holds what was logged last, ``mean(name)`` the mean of a value over the loop,
    ``steps``, ``samples``, ``seconds`` and ``rate`` tell how far and how fast it went.
    """

    def __init__(
        self, iterable: Iterable[T], description: str, total: int | None, show: bool | None
    ) -> None:
        self.iterable = iterable
        self.description = description
        self.total = _length(iterable) if total is None else total
        self.unit = "steps" if getattr(iterable, "batch_size", None) is None else "samples"
        self.values: dict[str, Any] = {}
        self.steps = 0
        self.samples = 0
        self._show = show
        self._sums: dict[str, tuple[float, int]] = {}
        self._started: float | None = None
        self._ended: float | None = None
        self._bar: Bar | None = None

    def __iter__(self) -> Iterator[T]:
        self.steps = self.samples = 0
        self.values, self._sums = {}, {}
        self._started, self._ended = time.perf_counter(), None
        self._bar = _open_bar(self)
        try:
            for item in self.iterable:
                yield item
                self.steps += 1
                if self.unit == "samples":
                    self.samples += _samples(item)
                if self._bar is not None:
                    self._bar.update(self)
        finally:  # also after break and after an error: then the loop lets go of this generator
            self._ended = time.perf_counter()
            bar, self._bar = self._bar, None
            if bar is not None:
                bar.close(self)

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError(f"{type(self.iterable).__name__} does not know its length")
        return self.total

    def log(self, **values: Any) -> None:
        """Show numbers beside the bar: ``bar.log(loss=loss, lr=0.1)``.  Text goes, too."""
        for name, value in values.items():
            shown = _plain(name, value)
            self.values[name] = shown
            if not isinstance(shown, str):
                total, count = self._sums.get(name, (0.0, 0))
                self._sums[name] = total + shown, count + 1
        if self._bar is not None:
            self._bar.update(self)

    def mean(self, name: str) -> float:
        """The mean of everything that was logged under ``name`` in this loop."""
        if name not in self._sums:
            raise fail(
                KeyError,
                call=f"mean({name!r})",
                cause=f"no number was logged under this name; known: {sorted(self._sums)}",
                fix=f"call log({name}=…) in the loop",
            )
        total, count = self._sums[name]
        return total / count

    @property
    def running(self) -> bool:
        """Whether the loop has begun and not ended."""
        return self._started is not None and self._ended is None

    @property
    def seconds(self) -> float:
        """How long the loop has been running, or ran."""
        if self._started is None:
            return 0.0
        return (self._ended or time.perf_counter()) - self._started

    @property
    def rate(self) -> float:
        """Samples per second for a DataLoader, else steps per second."""
        done = self.samples if self.unit == "samples" else self.steps
        return done / self.seconds if self.seconds else 0.0

    def __repr__(self) -> str:
        of = "" if self.total is None else f" of {self.total}"
        name = f" {self.description!r}" if self.description else ""
        return f"<track{name}: {self.steps}{of} steps in {self.seconds:.1f} s>"


def track(
    iterable: Iterable[T],
    description: str = "",
    *,
    total: int | None = None,
    show: bool | None = None,
) -> Track[T]:
    """Go through ``iterable`` with a progress bar::

        for x, y in (bar := whygrad.track(loader, "epoch 1")):
            ...
            bar.log(loss=loss)
        print(bar.mean("loss"))

    ``total`` is the number of steps where ``len(iterable)`` does not tell.  ``show=False`` draws
    nothing, ``show=True`` draws even where output is not a terminal.  Loops may be nested.
    """
    return Track(iterable, description, total, show)


def _length(iterable: Any) -> int | None:
    try:
        return len(iterable)
    except TypeError:
        return None


def _samples(item: Any) -> int:
    """How many samples a batch has: the length of the first tensor in it."""
    leaves, _ = flatten(item)
    first = next((leaf for leaf in leaves if getattr(leaf, "ndim", 0)), None)
    return 1 if first is None else len(first)


def _plain(name: str, value: Any) -> float | str:
    if isinstance(value, (str, int, float)):
        return value
    try:
        return float(value.item() if isinstance(value, Tensor) else value)
    except (RuntimeError, TypeError, ValueError):
        raise fail(
            TypeError,
            call=f"log({name}={describe(value)})",
            cause="only single numbers and text fit beside a bar",
            fix=f"log one number, such as {name}.mean()",
        ) from None


def _open_bar(state: Track[Any]) -> Bar | None:
    if state._show is False:
        return None
    if _in_notebook():
        from whygrad.training.notebook_bar import NotebookBar

        return NotebookBar(state)
    if state._show is None and not sys.stderr.isatty():
        return None
    from whygrad.training.terminal_bar import TerminalBar

    return TerminalBar(state)


def _in_notebook() -> bool:
    """Whether IPython runs a kernel whose front end can show HTML, so not in its terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")
