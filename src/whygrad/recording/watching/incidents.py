"""What goes wrong for sure: a loss or a gradient that is not finite, an exception.

The first of them is kept, with the step that led there; that of a skipped one is put together.
"""

from __future__ import annotations

import math

from whygrad.recording.engines import Engine
from whygrad.recording.record import Incident, Pass, Run, Snapshot
from whygrad.recording.replay import goes_bad
from whygrad.recording.variables import losses_left
from whygrad.recording.watching.sampler import Sampler
from whygrad.recording.watching.snapshots import Snapshots
from whygrad.source import Where

__all__ = ["Incidents"]


class Incidents:
    """Those of one run."""

    def __init__(self, run: Run, sampler: Sampler, snapshots: Snapshots) -> None:
        self._run = run
        self._sampler = sampler
        self._snapshots = snapshots

    def note(
        self,
        kind: str,
        snapshot: Snapshot | None,
        where: Where,
        error: BaseException | None = None,
        step: int | None = None,
    ) -> None:
        if kind == "exception" or not self._run.incidents:
            index = len(self._run.passes) - 1 if step is None else step
            self._run.incidents.append(Incident(kind, index, snapshot, where, error))

    def bad_gradient(self, engine: Engine, pending: list[Pass]) -> None:
        """The gradients of the latest of these passes are not finite."""
        if self._run.incidents or not pending:
            return
        latest, snapshots = pending[-1], self._snapshots
        for each in pending:  # any of them may have made what is in the sum
            if each.snapshot is None and each.root is not None:
                each.snapshot = snapshots.of_source(engine, each.root, each.value)
            elif each.snapshot is None and self._sampler.skipping:
                each.snapshot = snapshots.reconstruct(each.number, each.value, each is latest)
            if each.snapshot is not None:
                each.snapshot.step = each.number
        self.note("gradient", latest.snapshot, latest.where)

    def look_at_what_was_left(self) -> None:
        """The program ended within a step that was skipped: perhaps because its loss is bad."""
        engine, snapshots = self._run.engine, self._snapshots
        left = self._sampler.skipping and bool(snapshots.given.models)
        if engine is None or not left or self._run.incidents:
            return
        number = len(self._run.passes)
        snapshots.hold_given(number)
        bad = any(not math.isfinite(each) for each in losses_left(engine, self._run.error))
        snapshot = snapshots.reconstruct(number, math.nan)
        if snapshot is not None and not goes_bad(snapshot):
            snapshot = None
        if snapshot is not None or bad:
            self.note("loss", snapshot, self._run.passes[-1].where, step=number)
