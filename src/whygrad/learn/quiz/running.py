"""What a program of a "predict" question prints: found by running it, never typed in."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import whygrad

__all__ = ["SECONDS", "CannotRun", "output_of"]

SECONDS = 20.0
"""The time that a program has."""

_NAME = "program.py"


class CannotRun(Exception):
    """The program did not come to its end here; the text says why in a line."""


@functools.cache
def output_of(program: str, seconds: float = SECONDS) -> str:
    """What the program prints, run by this Python in an empty folder."""
    path = (str(Path(whygrad.__file__).parents[1]), os.environ.get("PYTHONPATH"))
    environment = {
        **os.environ,
        "NO_COLOR": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _NAME).write_text(program, encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, _NAME],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            raise CannotRun(f"it takes longer than {seconds:g} s") from None
        except OSError as error:
            raise CannotRun(str(error)) from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise CannotRun(last)
    return done.stdout
