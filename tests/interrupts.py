"""Ctrl-C for the programs that tests start: the only place in the suite that sends SIGINT.

The same start is for tests of SIGTERM and SIGHUP, which ``nohup`` has ignored as well.

A process that was started with SIGINT ignored hands that on to its children, and Python then
leaves it ignored: ``nohup make test &`` is such a start, and Ctrl-C would end nothing in it.  So a
program that a test wants to interrupt is started through :func:`command`, which gives it the
handler that a program started at a terminal has.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

__all__ = ["command", "interrupt"]

_START = (
    "import os, signal, sys;"
    "[signal.signal(getattr(signal, name), signal.SIG_DFL)"
    " for name in ('SIGINT', 'SIGTERM', 'SIGHUP') if hasattr(signal, name)];"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)


def command(*program: str) -> list[str]:
    """``program`` with the default handlers; its process id is the one of the start."""
    return [sys.executable, "-I", "-S", "-c", _START, *program]


def interrupt(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Ctrl-C, to the whole process group if the process leads one, as a terminal does."""
    if os.getpgid(process.pid) == process.pid:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
