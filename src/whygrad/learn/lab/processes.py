"""The fresh processes in which questions to a learner's program are answered.

Most of what a fresh process does is loading: Python, and the libraries of the lab's probes.  On
Linux one process per lab, the template, does that once, and each question is answered by a fork of
it: as fresh, since the template executes no line of a learner's and sees no question.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

__all__ = ["Forked", "Spawned", "start"]

_CHILD = Path(__file__).with_name("child.py")
_COMMAND = (sys.executable, "-I", "-B", "-u", "-X", "utf8", str(_CHILD))
_FORKS = sys.platform == "linux"  # elsewhere libraries do not always stand it
_LOADING = 60.0  # seconds, for the template; a process that is spawned has a limit of its own
_NUMBER = 8  # bytes, of what the template sends


class Spawned(subprocess.Popen[bytes]):
    """A process that loads everything itself."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        super().__init__(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=os.name == "posix",
        )

    def end(self) -> None:
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self.kill()
        self.wait()


class Forked:
    """A fork of a template, with what is used of ``Popen``."""

    def __init__(self, template: _Template) -> None:
        self._template = template
        self.returncode: int | None = None
        pipes = [os.pipe() for _ in range(3)]
        (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = pipes
        self.stdin: IO[bytes] = os.fdopen(ours_in, "wb")
        self.stdout: IO[bytes] = os.fdopen(ours_out, "rb")
        self.stderr: IO[bytes] = os.fdopen(ours_err, "rb")
        theirs = (theirs_in, theirs_out, theirs_err)
        try:
            self.pid = template.fork(theirs)
        except BaseException:
            for stream in (self.stdin, self.stdout, self.stderr):
                stream.close()
            raise
        finally:
            for each in theirs:
                os.close(each)

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            try:
                self.returncode = self._template.number(timeout)
            except TimeoutError:
                raise subprocess.TimeoutExpired(_COMMAND, timeout or 0.0) from None
            except OSError:  # the template is gone, and who ended it ended this one as well
                self.returncode = -signal.SIGKILL
        return self.returncode

    def end(self) -> None:
        """End it; only then may its number be another's."""
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)
        self.wait()
        self._template.forget()


class _Template:
    """A process that has loaded the probes of a lab; it has one fork at a time."""

    def __init__(self, probes: str, paths: Sequence[str], environment: Mapping[str, str]) -> None:
        self.free = threading.Lock()
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*_COMMAND, str(theirs.fileno()), json.dumps([probes, list(paths)])],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd=os.sep,
                env=environment,
                start_new_session=True,
            )

    def fork(self, ends: Sequence[int]) -> int:
        """The number of a new fork, whose stdin, stdout and stderr are ``ends``."""
        socket.send_fds(self._line, [b"+"], ends)
        return self.number(_LOADING)

    def number(self, timeout: float | None) -> int:
        """What the template says next: a fork's number, how it ended, that it is forgotten."""
        self._line.settimeout(timeout)
        read = self._line.recv(_NUMBER, socket.MSG_WAITALL)
        if len(read) < _NUMBER:
            raise ConnectionError("the template has ended")
        return int.from_bytes(read, "little", signed=True)

    def forget(self) -> None:
        try:
            self._line.sendall(b"-")
            self.number(None)
        except OSError:
            self.close()
        self.free.release()

    def close(self) -> None:
        self._line.close()
        self._process.kill()
        self._process.wait()


class _Latest:
    """The template of the lab that was asked last: whoever works at one asks it many times."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._template: _Template | None = None
        self._own = threading.Lock()
        atexit.register(self.drop)

    def lend(
        self, probes: str, paths: Sequence[str], environment: Mapping[str, str]
    ) -> _Template | None:
        """A template that has no fork at present; None if it is busy."""
        key = (os.getpid(), probes, os.stat(probes).st_mtime_ns, *paths)
        with self._own:
            known = self._template
            if known is not None and not known.free.acquire(blocking=False):
                return None
            if known is None or key != self._key:
                self.drop()
                known = _Template(probes, paths, environment)
                known.free.acquire()
                self._template, self._key = known, key
            return known

    def drop(self) -> None:
        template, self._template = self._template, None
        if template is not None and self._key[0] == os.getpid():
            template.close()


_latest = _Latest()


def start(
    probes: str, paths: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Forked | Spawned:
    """A fresh process that waits for its job: a fork if that is possible."""
    if _FORKS:
        try:
            template = _latest.lend(probes, paths, environment)
            if template is not None:
                return Forked(template)
        except OSError:  # what keeps it from loading is told by a process of its own
            _latest.drop()
    return Spawned(folder, environment)
