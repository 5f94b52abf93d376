"""The progress bar in a terminal, drawn by rich.

A terminal has one live area, so bars of nested loops share one display: the outermost loop opens
and closes it.  An inner bar goes away when its loop ends; the outermost one stays on the screen.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from whygrad.training.progress import Track
from whygrad.training.wording import logged, throughput

__all__ = ["TerminalBar"]


class _Rate(ProgressColumn):
    """Samples (or steps) per second over the last seconds, not since the beginning."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        per_step = task.fields["samples_per_step"]
        return Text("" if speed is None else throughput(speed * per_step, task.fields["unit"]))


class _Steps(ProgressColumn):
    def render(self, task: Task) -> Text:
        of = "" if task.total is None else f"/{task.total:,.0f}"
        return Text(f"{task.completed:,.0f}{of}")


class _Display:
    """The live area and the bars in it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may draw while it is held
        self._progress: Progress | None = None
        self._bars = 0

    def add(self, state: Track[Any]) -> tuple[Progress, Any, bool]:
        """A line for a new bar, and whether it is the outermost one."""
        with self._lock:
            outermost = self._progress is None
            if self._progress is None:
                self._progress = _new_progress()
                self._progress.start()
            self._bars += 1
            task = self._progress.add_task(
                state.description or "steps", total=state.total, **_fields(state)
            )
            return self._progress, task, outermost

    def release(self) -> None:
        with self._lock:
            self._bars -= 1
            if self._bars == 0 and self._progress is not None:
                self._progress.stop()
                self._progress = None


_display = _Display()


def _new_progress() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        _Steps(),
        _Rate(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        TextColumn("{task.fields[values]}", markup=False, style="bold"),
        console=Console(file=sys.stderr),
        # What the loop prints goes above the bar; not if it goes to a file: rich would take it away
        redirect_stdout=sys.stdout.isatty(),
    )


class TerminalBar:
    """One line of the display."""

    def __init__(self, state: Track[Any]) -> None:
        self._progress, self._task, self._outermost = _display.add(state)

    def update(self, state: Track[Any]) -> None:
        self._progress.update(self._task, completed=state.steps, **_fields(state))

    def close(self, state: Track[Any]) -> None:
        self.update(state)
        if not self._outermost:
            self._progress.remove_task(self._task)
        _display.release()


def _fields(state: Track[Any]) -> dict[str, Any]:
    samples = state.unit == "samples"
    return {
        "unit": state.unit,
        "samples_per_step": state.samples / state.steps if samples and state.steps else 1,
        "values": logged(state.values),
    }
