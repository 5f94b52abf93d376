"""A diagnosis with everything that a report tells about it, worked out once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from whygrad.doctor.report.history import History, Row, ramp
from whygrad.doctor.report.timeline import Event, timeline
from whygrad.doctor.rules.rule import Finding

if TYPE_CHECKING:
    from whygrad.doctor.verdict import Diagnosis

__all__ = ["Postmortem"]


class Postmortem:
    """What there is to tell."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        self.diagnosis = diagnosis
        self.case = diagnosis.case
        self.run = diagnosis.case.run

    @cached_property
    def history(self) -> History:
        return History(self.case)

    @cached_property
    def events(self) -> list[Event]:
        return timeline(self.diagnosis, self.history)

    @cached_property
    def ramp(self) -> list[Row]:
        return ramp(self.history)

    @property
    def unclear(self) -> bool:
        """Whether a value was invalid, or an exception ended it, and no rule has spoken."""
        ill = self.history.bad is not None or self.run.crash is not None
        return ill and not self.diagnosis.findings

    @property
    def further(self) -> list[Finding]:
        """Causes besides the verdict."""
        return self.diagnosis.causes[1:]

    def symptoms(self, cause: Finding) -> list[Finding]:
        return [each for each in self.diagnosis.findings if each.caused_by is cause]
