"""The progress bar in a notebook: one line of HTML that replaces itself.

rich would need ipywidgets there; IPython's own display needs nothing.
"""

from __future__ import annotations

import importlib
import time
from html import escape
from typing import Any

from whygrad.training.progress import Track
from whygrad.training.wording import duration, logged, throughput

__all__ = ["NotebookBar", "line"]

_PAUSE = 0.1  # seconds between two messages to the front end


class NotebookBar:
    """Shows a loop in the cell that runs it."""

    def __init__(self, state: Track[Any]) -> None:
        self._html: Any = importlib.import_module("IPython.display")
        self._handle: Any = self._html.display(self._html.HTML(line(state)), display_id=True)
        self._shown = time.monotonic()

    def update(self, state: Track[Any]) -> None:
        if time.monotonic() - self._shown >= _PAUSE:
            self._draw(state)

    def close(self, state: Track[Any]) -> None:
        self._draw(state)

    def _draw(self, state: Track[Any]) -> None:
        self._handle.update(self._html.HTML(line(state)))
        self._shown = time.monotonic()


def line(state: Track[Any]) -> str:
    """The bar and the facts beside it."""
    if state.total is None:
        bar, steps = "<progress></progress>", f"{state.steps:,}"
    else:
        bar = f'<progress value="{state.steps}" max="{max(state.total, 1)}"></progress>'
        steps = f"{state.steps:,}/{state.total:,}"
    facts = [
        state.description,
        steps,
        throughput(state.rate, state.unit) if state.steps else "",
        _time(state),
        logged(state.values),
    ]
    return f"{bar} <code>{escape('  '.join(fact for fact in facts if fact))}</code>"


def _time(state: Track[Any]) -> str:
    if state.total is None or not state.running:
        return duration(state.seconds)
    if not state.steps:
        return ""
    return f"{duration(state.seconds / state.steps * (state.total - state.steps))} left"
