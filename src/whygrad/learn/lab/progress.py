"""What a learner has done in the labs: an append-only log, one JSON object per line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from whygrad.learn.home import data_folder
from whygrad.learn.lab.catalogue import Lab

__all__ = ["Progress", "folders", "note", "of"]

State = Literal["new", "started", "passed"]


@dataclass
class Progress:
    """Where a learner stands in one lab."""

    started: bool = False
    passed: bool = False
    graded: bool = False
    first_failing: str | None = None  # when it was last graded
    hints: dict[str, int] = field(default_factory=dict)  # given so far, by check
    blocked: bool = False  # its program could not even be read when it was last graded
    folders: list[Path] = field(
        default_factory=list
    )  # where it was started or graded, latest first

    @property
    def state(self) -> State:
        return "passed" if self.passed else "started" if self.started else "new"


def note(event: str, lab: Lab, **facts: Any) -> None:
    """Add one line to the log: ``start``, ``check``, ``hint``, ``reset`` or ``solution``."""
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    entry = {"time": moment, "event": event, "lab": lab.name, **facts}
    with _log().open("ab+") as stream:
        whole = stream.tell() == 0
        if not whole:
            stream.seek(-1, os.SEEK_END)
            whole = stream.read(1) == b"\n"
        # after a line that was cut off by a crash, begin a new one
        stream.write(b"" if whole else b"\n")
        stream.write(json.dumps(entry).encode() + b"\n")


def of(lab: Lab) -> Progress:
    """The log of one lab, summed up."""
    progress = Progress()
    for entry in _entries():
        if entry.get("lab") != lab.name:
            continue
        event = entry["event"]
        progress.started = True
        _to_the_front(progress.folders, entry)
        if event == "check":
            failing = entry.get("failing", [])
            progress.graded = True
            progress.passed = progress.passed or not failing
            progress.first_failing = failing[0] if failing else None
            progress.blocked = entry.get("blocked") is True
        elif event == "hint":
            check = entry.get("check", "")
            progress.hints[check] = max(progress.hints.get(check, 0), entry.get("given", 0))
    return progress


def folders() -> list[Path]:
    """Where labs were started or graded, of all labs, latest first."""
    found: list[Path] = []
    for entry in _entries():
        _to_the_front(found, entry)
    return found


def _to_the_front(places: list[Path], entry: Mapping[str, Any]) -> None:
    if entry.get("folder"):
        place = Path(entry["folder"])
        if place in places:
            places.remove(place)
        places.insert(0, place)


def _log() -> Path:
    return data_folder() / "labs.jsonl"


def _entries() -> Iterator[dict[str, Any]]:
    """The lines that can be read; one that was cut off by a crash counts for nothing."""
    if not _log().exists():
        return
    for line in _log().read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("event"), str):
            yield entry
