"""Running a learner's program in a process of its own, on a copy of its folder.

The parent keeps the answers, the clock and the learner's real files; the child has the inputs.
Whatever the child does (hang, die, print without end, answer nonsense) comes back as a
:class:`Trouble` with a kind, within the time limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from whygrad.learn.content import folder as course
from whygrad.learn.lab.processes import start

__all__ = ["Limits", "Reply", "Trouble", "ask", "unfit_file"]

_PACKAGE = Path(__file__).parents[2]
_KEPT_OUTPUT = 20_000
_PATIENCE = 1.0
_COPIED_FILES = 200
_LARGEST_FILE = 1 << 20
_ENVIRONMENT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Limits:
    """How much a program may take."""

    seconds: float = 10.0  # from the first line of the learner's on
    startup: float = 60.0  # for Python and the libraries before that
    megabytes: int = 2048  # of address space
    output: int = 5 << 20  # bytes printed
    answer: int = 16 << 20  # bytes of results


class Trouble(Exception):
    """The program gave no answer; ``kind`` says why, ``facts`` the particulars.

    Kinds: ``syntax``, ``exception``, ``todo`` (NotImplementedError), ``forbidden``, ``exit``,
    ``timeout``, ``killed``, ``output``, ``answer`` and ``large`` (a file; too large each),
    ``garbled``, ``ended``, ``missing``, ``probes`` (which are the lab's, and cannot be run).
    """

    def __init__(self, kind: str, facts: Mapping[str, Any], printed: str = "") -> None:
        super().__init__(f"{kind}: {dict(facts)}")
        self.kind = kind
        self.facts = dict(facts)
        self.printed = printed
        self.example = ""  # the program that shows it, where the grader has one


@dataclass(frozen=True)
class Reply:
    """What one case gave: a value of plain data, or the trouble."""

    value: Any = None
    trouble: Trouble | None = None
    printed: str = ""  # by the whole process


def ask(
    folder: Path,
    *,
    probes: Path,
    probe: str,
    cases: Sequence[Mapping[str, Any]],
    files: Sequence[str],
    replaced: Mapping[str, str] | None = None,
    banned: Sequence[str] = (),
    limits: Limits = Limits(),
) -> list[Reply]:
    """Call a probe for each case, all in one fresh process, on a copy of the folder.

    ``replaced`` gives other texts for some of the files, by name.
    """
    texts = dict(replaced or {})
    for name in files:
        if name not in texts and (unfit := unfit_file(folder, name)):
            return [Reply(trouble=unfit) for _ in cases]
    with _copy(folder, files, texts) as root:
        job = {
            "probes": str(probes),
            "probe": probe,
            "cases": list(cases),
            "modules": [Path(name).stem for name in files if name.endswith(".py")],
            "root": str(root),
            "folder": str(root / "lab"),
            "secret": [str(_PACKAGE / "learn"), str(course())],  # graders and solutions
            "banned": ["whygrad.learn", *banned],
            "trusted": [str(_PACKAGE)],
            "paths": _library_paths(folder),
            "seconds": limits.seconds,
            "megabytes": limits.megabytes,
            "environment": _environment(root),
        }
        return _Child(root, job, limits).replies(len(cases))


def unfit_file(folder: Path, name: str) -> Trouble | None:
    """Why one of the learner's files cannot be used at all."""
    facts = {"file": name, "folder": str(folder), "bytes": _LARGEST_FILE}
    if not (folder / name).is_file():
        return Trouble("missing", facts)
    return Trouble("large", facts) if (folder / name).stat().st_size > _LARGEST_FILE else None


class _Child:
    """One child, from its start to its end."""

    def __init__(self, root: Path, job: Mapping[str, Any], limits: Limits) -> None:
        self.limits = limits
        self.messages: list[Any] = []
        self.printed = b""
        self.news: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.process = start(job["probes"], job["paths"], root / "lab", job["environment"])
        text = json.dumps(job).encode()
        self.threads = [
            threading.Thread(target=self._write, args=(self.process.stdin, text), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stdout, True), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stderr, False), daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def replies(self, count: int) -> list[Reply]:
        """One reply per case; after the child's end, the first without one has the reason."""
        trouble = self._wait()
        printed = self.printed.decode("utf-8", "replace")
        found: dict[int, Reply] = {}
        for message in self.messages:
            number = message.get("case")
            if not isinstance(number, int) or number in found:
                continue
            if "value" in message:
                found[number] = Reply(message["value"], printed=printed)
            else:
                found[number] = Reply(trouble=self._reported(message.get("error")))
        silent = trouble or self._trouble("ended", {"code": self.process.returncode})
        return [found.get(number, Reply(trouble=silent)) for number in range(count)]

    def _wait(self) -> Trouble | None:
        try:
            return self._until_the_end()
        finally:
            self._kill()

    def _until_the_end(self) -> Trouble | None:
        limit, ready = self.limits.startup, False
        until = time.monotonic() + limit
        while True:
            try:
                news = self.news.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return self._trouble("timeout", {"seconds": limit})
            if news == "ready":
                limit, ready = self.limits.seconds, True
                until = time.monotonic() + limit
            elif news == "done":
                return None
            elif news == "closed":
                try:
                    code = self.process.wait(max(0.1, until - time.monotonic()))
                except subprocess.TimeoutExpired:
                    return self._trouble("timeout", {"seconds": limit})
                if code >= 0:
                    return self._trouble("ended", {"code": code}) if ready else self._unprepared()
                kind = "timeout" if -code == getattr(signal, "SIGXCPU", 0) else "killed"
                return self._trouble(kind, {"seconds": limit, "signal": _signal_name(-code)})
            else:
                sizes = {"answer": self.limits.answer, "output": self.limits.output}
                return self._trouble(news, {"bytes": sizes.get(news, 0)})

    def _kill(self) -> None:
        self.process.end()
        for thread in self.threads:
            thread.join(_PATIENCE)  # in vain if a descendant escaped and holds the pipe

    def _read(self, stream: IO[bytes], has_replies: bool) -> None:
        with stream:
            if has_replies:
                self._read_replies(stream)
            else:
                self._read_output(stream)
            while os.read(stream.fileno(), 65536):
                pass  # a closed pipe would be one more failure, and the first is to be told

    def _read_replies(self, stream: IO[bytes]) -> None:
        size = 0
        ready = False
        while line := stream.readline(self.limits.answer + 1):
            size += len(line)
            if size > self.limits.answer:
                self.news.put("answer")
                return
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if not isinstance(message, dict):
                self.news.put("garbled")
                return
            self.messages.append(message)
            if "done" in message:
                self.news.put("done")
                return
            if "ready" in message and not ready:
                ready = True
                self.news.put("ready")
        self.news.put("closed")

    def _read_output(self, stream: IO[bytes]) -> None:
        size = 0
        while chunk := os.read(stream.fileno(), 65536):
            size += len(chunk)
            if len(self.printed) < _KEPT_OUTPUT:
                self.printed += chunk[: _KEPT_OUTPUT - len(self.printed)]
            if size > self.limits.output:
                self.news.put("output")
                return

    def _write(self, stream: IO[bytes], job: bytes) -> None:
        with contextlib.suppress(OSError), stream:  # if it died first, that is heard elsewhere
            stream.write(job)

    def _reported(self, error: Any) -> Trouble:
        facts = error if isinstance(error, dict) else {}
        kinds = ("exception", "exit", "forbidden", "syntax", "todo")
        kind = facts.get("kind")
        known = kind if isinstance(kind, str) and kind in kinds else "garbled"
        return self._trouble(known, facts)

    def _unprepared(self) -> Trouble:
        """It ended before a line of the learner's ran: the lab's own probes failed."""
        self.threads[-1].join(_PATIENCE)  # what it said to the end
        last = self.printed.decode("utf-8", "replace").strip().rpartition("\n")[2]
        kind, _, message = last.partition(": ")
        return Trouble("probes", {"type": kind, "message": message})

    def _trouble(self, kind: str, facts: Mapping[str, Any]) -> Trouble:
        return Trouble(kind, facts, self.printed.decode("utf-8", "replace"))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _environment(root: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    temporary = str(root / "tmp")
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)
    homes = dict.fromkeys(("HOME", "USERPROFILE"), str(root / "home"))
    return {**kept, **places, **homes, **dict.fromkeys(_THREADS, "1")}


def _library_paths(folder: Path) -> list[str]:
    """Where the parent finds libraries, without the learner's own folder and the present one."""
    kept = []
    for entry in sys.path:
        path = Path(entry or ".").resolve()
        if entry and path.is_dir() and path != Path.cwd() and folder.resolve() != path:
            kept.append(str(path))
    return kept


@contextlib.contextmanager
def _copy(folder: Path, files: Sequence[str], texts: Mapping[str, str]) -> Iterator[Path]:
    """A temporary folder with a copy of the program in ``lab``, and room for a home."""
    root = Path(tempfile.mkdtemp(prefix="whygrad-lab-")).resolve()
    try:
        for name in ("home", "lab", "tmp"):
            (root / name).mkdir()
        for name in {*files, *_other_modules(folder)}:
            target = root / "lab" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if name in texts:
                target.write_text(texts[name], encoding="utf-8")
            else:
                shutil.copyfile(folder / name, target)
        yield root
    finally:
        _remove(root)


def _other_modules(folder: Path) -> list[str]:
    """Further modules of the learner's, which the lab's files may import."""
    found: list[str] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith((".", "_")))
        for name in sorted(names):
            path = Path(base, name)
            if name.endswith(".py") and path.is_file() and path.stat().st_size <= _LARGEST_FILE:
                found.append(str(path.relative_to(folder)))
            if len(found) >= _COPIED_FILES:
                return found
    return found


def _remove(root: Path) -> None:
    """Take the copy away, also where the program has locked folders."""
    for base, folders, _ in os.walk(root):
        for name in folders:
            path = Path(base, name)
            if not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.chmod(stat.S_IRWXU)
    shutil.rmtree(root, ignore_errors=True)
