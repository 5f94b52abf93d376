"""The parts that watch one run, put together.

:mod:`..wrapping` stands between the program and an engine and tells of everything that happens:
calls go to the :class:`~.recorder.Recorder`, modules to :class:`~.modules.Modules`, passes and
updates to the :class:`~.loop.Loop`.  The :class:`~.sampler.Sampler` says how closely to look.  All
of them write into the :class:`~..record.Run`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.recording.record import Run
from whygrad.recording.scope import Scope
from whygrad.recording.watching.idle import Idle
from whygrad.recording.watching.loop import Loop
from whygrad.recording.watching.modules import Modules
from whygrad.recording.watching.parameters import Registry
from whygrad.recording.watching.recorder import Recorder
from whygrad.recording.watching.retention import Retention
from whygrad.recording.watching.sampler import Sampler
from whygrad.recording.watching.snapshots import Snapshots

__all__ = ["Observer"]


class Observer:
    """Watches one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.scope = Scope()
        self.registry = Registry(run)
        self.sampler = Sampler(run)
        self.snapshots = Snapshots(run, self.scope)
        retention = Retention(run)
        self.modules = Modules(run, self.registry, self.sampler, self.snapshots, retention)
        self.loop = Loop(run, self.registry, self.sampler, self.snapshots, retention)
        self.recorder = Recorder(self.scope, self.loop, self.modules, retention)
        self.idle = Idle(self.loop)

    def tell(self, event: Callable[..., Any], *facts: Any) -> bool:
        """Let a part know of an event, and say whether it could; the program goes on either way."""
        try:
            event(*facts)
        except Exception as error:
            self.run.trouble(error)
            return False
        return True

    def agrees(self, question: Callable[..., bool], *facts: Any) -> bool:
        """What a part answers; no, if it could not."""
        try:
            return question(*facts)
        except Exception as error:
            self.run.trouble(error)
            return False

    def failed(self, error: BaseException) -> None:
        """The program ended with an exception."""
        self.run.error = error
        if self.run.stopped is not None:
            return
        if isinstance(error, Exception):
            self.modules.failed(error)
        self.loop.failed()

    def finish(self) -> None:
        """The program is over."""
        self.modules.lookout.rest()
        if self.run.stopped is None:
            self.loop.finish()
        self.registry.finish()
