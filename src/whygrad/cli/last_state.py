"""The last state of a run on disk, for programs that end without a word.

``os._exit`` and SIGKILL leave no time for a report.  So with the first pass, and every few seconds
from then on, what is known goes into a small file of plain data, which is removed when the program
ends in another way.
``whygrad doctor --recover FILE`` tells what is in it; nothing of the program is run for that.
"""

from __future__ import annotations

import json
import math
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from whygrad.doctor.session import Session
from whygrad.errors import fail
from whygrad.files.atomic import replacing
from whygrad.recording.record import Run
from whygrad.source import Where

__all__ = ["kept", "recover"]

_FORMAT = "whygrad-doctor-state"
_EVERY = 5.0  # seconds between two states
_LOSSES, _PARAMETERS = 256, 200  # in a file, at most


@contextmanager
def kept(session: Session, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """While inside, the state of the session is on disk, at most a few seconds old."""
    try:
        path = _folder() / f"{Path(session.run.script or 'program').stem}-{os.getpid()}.json"
    except OSError:
        yield
        return
    due = clock()

    def passed() -> None:
        nonlocal due
        if clock() >= due:
            with suppress(OSError):  # a full disk is no reason to disturb anybody
                with replacing(path) as partial:
                    partial.write_text(json.dumps(_facts(session.run)), encoding="utf-8")
                path.chmod(0o600)
            due = clock() + _EVERY

    session.observer.loop.each_pass = passed
    process = os.getpid()
    try:
        yield
    finally:
        session.observer.loop.each_pass = None
        if os.getpid() == process:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _folder() -> Path:
    """Where states are: a folder that only this user can read."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"whygrad-doctor-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        raise PermissionError(f"{folder} belongs to somebody else")
    return folder


def _facts(run: Run) -> dict[str, Any]:
    passes = run.passes[:: max(1, len(run.passes) // _LOSSES)]
    return {
        "format": _FORMAT,
        "process": os.getpid(),
        "written": time.strftime("%Y-%m-%d %H:%M:%S"),
        "script": run.script,
        "arguments": run.arguments,
        "engine": None if run.engine is None else run.engine.name,
        "seed": run.seed,
        "passes": len(run.passes),
        "losses": [[each.number, repr(each.value)] for each in (*passes, run.passes[-1])],
        "incidents": [
            {"kind": each.kind, "step": each.step, "where": _line(each.where)}
            for each in run.incidents[:8]
        ],
        "optimizers": [
            {
                "kind": course.optimizer.kind,
                "made": _line(course.optimizer.made_at),
                "updates": len(course.steps),
                "rates": [repr(each) for each in course.steps[-1].rates] if course.steps else [],
            }
            for course in run.courses
        ],
        "parameters": [
            {"name": each.name, "shape": list(each.tensor.shape), "reached": each.reached}
            for each in list(run.parameters.values())[:_PARAMETERS]
        ],
    }


def _line(where: Where | None) -> str | None:
    return None if where is None else f"{where.file}:{where.line}"


def recover(console: Console, name: str) -> None:
    """Tell what the state in a file says; ``latest`` is the one written last."""
    facts = _read(name)
    end = "is still running" if _runs(facts.get("process")) else "ended without a word"
    when = f"what was known at {facts.get('written', 'an unknown time')}"
    lines = [f"[bold]{escape(str(facts['script']))}[/bold] {end}; {when}:"]
    losses = [float(value) for _, value in facts["losses"]]
    lines.append(f"{facts['passes']} passes, seed {facts['seed']}, engine {facts['engine']}")
    if losses:
        lowest = min(filter(math.isfinite, losses), default=math.nan)
        lines.append(f"loss {losses[0]:.4g} → {losses[-1]:.4g}, lowest {lowest:.4g}")
    for each in facts["incidents"]:
        lines.append(f"not well from pass {each['step']}: {each['kind']}, at {each['where']}")
    for each in facts["optimizers"]:
        rates = ", ".join(map(str, each["rates"]))
        made = f", made at {each['made']}" if each.get("made") else ""
        lines.append(
            f"{each['kind']}{made}: {each['updates']} updates, last rate {rates or 'unknown'}"
        )
    unreached = [str(each["name"]) for each in facts["parameters"] if not each["reached"]]
    if unreached:
        lines.append(f"no gradient ever reached {', '.join(unreached[:8])}")
    for each in lines:
        console.print(each if each is lines[0] else escape(each))


def _runs(process: Any) -> bool:
    """Whether there is a process of that number, and of this user."""
    if os.name != "posix" or type(process) is not int or process <= 0:
        return False  # elsewhere to ask would be to end it
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _read(name: str) -> dict[str, Any]:
    path = _latest() if name == "latest" else Path(name)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["format"] != _FORMAT or not facts.keys() >= {"losses", "passes", "incidents"}:
            raise ValueError(f"format {facts['format']!r}")
        found: dict[str, Any] = facts
    except OSError as error:
        raise _refused(type(error), name, f"it cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _refused(ValueError, name, "this is not a state that the doctor wrote") from None
    return found


def _latest() -> Path:
    found = sorted(_folder().glob("*.json"), key=lambda each: each.stat().st_mtime)
    if not found:
        raise _refused(FileNotFoundError, "latest", f"there is none in {_folder()}")
    return found[-1]


def _refused(kind: type[Exception], name: str, cause: str) -> Exception:
    advice = "name a file of a program that was killed while the doctor watched, or latest"
    return fail(kind, call=f"doctor --recover {name}", cause=cause, fix=advice, where=None)
