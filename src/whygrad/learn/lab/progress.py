"""What a learner has done in the labs, from the journal: started, graded, given hints."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as attribute
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from whygrad.learn.home import data_folder
from whygrad.learn.journal import Journal, field
from whygrad.learn.lab.catalogue import Lab

__all__ = ["LabStanding", "folders", "journal", "note", "of"]

State = Literal["new", "started", "passed"]


@dataclass
class LabStanding:
    """Where a learner stands in one lab."""

    started: bool = False
    passed: bool = False
    graded: bool = False
    first_failing: str | None = None  # when it was last graded
    hints: dict[str, int] = attribute(default_factory=dict)  # given so far, by check
    blocked: bool = False  # its program could not even be read when it was last graded
    folders: list[Path] = attribute(default_factory=list)  # started or graded here, latest first

    @property
    def state(self) -> State:
        return "passed" if self.passed else "started" if self.started else "new"


@dataclass(frozen=True)
class _Event:
    """One line; what a kind of event does not have is empty."""

    event: str
    lab: str
    folder: str = ""
    failing: tuple[str, ...] = ()
    blocked: bool = False
    check: str = ""
    given: int = 0  # hints


def journal() -> Journal[_Event]:
    """The events of all labs."""
    return Journal(data_folder() / "labs.jsonl", _entry, "a lab event")


def note(event: str, lab: Lab, **facts: Any) -> None:
    """Add an event: ``start``, ``check``, ``hint``, ``reset`` or ``solution``."""
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    journal().append({"time": moment, "event": event, "lab": lab.name, **facts})


def of(lab: Lab) -> LabStanding:
    """The events of one lab, summed up."""
    standing = LabStanding()
    for each in journal().read().entries:
        if each.lab != lab.name:
            continue
        standing.started = True
        _to_the_front(standing.folders, each)
        if each.event == "check":
            standing.graded = True
            standing.passed = standing.passed or not each.failing
            standing.first_failing = each.failing[0] if each.failing else None
            standing.blocked = each.blocked
        elif each.event == "hint":
            standing.hints[each.check] = max(standing.hints.get(each.check, 0), each.given)
    return standing


def folders() -> list[Path]:
    """Where labs were started or graded, of all labs, latest first."""
    found: list[Path] = []
    for each in journal().read().entries:
        _to_the_front(found, each)
    return found


def _to_the_front(places: list[Path], event: _Event) -> None:
    if event.folder:
        place = Path(event.folder)
        if place in places:
            places.remove(place)
        places.insert(0, place)


def _entry(raw: dict[str, Any]) -> _Event:
    kinds = {"folder": str, "failing": list, "blocked": bool, "check": str, "given": int}
    facts = {name: field(raw, name, kind) for name, kind in kinds.items() if name in raw}
    facts["failing"] = tuple(map(str, facts.get("failing", ())))
    return _Event(field(raw, "event", str), field(raw, "lab", str), **facts)
