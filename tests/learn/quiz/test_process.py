"""``whygrad quiz`` in a process of its own: through pipes, at a terminal, and Ctrl-C."""

from __future__ import annotations

import os
import re
import select
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interrupts import command, interrupt
from tests.learn.quiz.learner import log

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "tests.learn.quiz.course", "quiz", "99"]


def test_through_a_real_pipe(learner: Path) -> None:
    done = subprocess.run(COMMAND, input=b"b\n\xc3(\n", cwd=ROOT, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"The input ended here" in done.stdout
    assert done.stderr == b""
    assert len(log(learner)) == 2


def test_a_terminal_without_our_signs_and_a_pipe_that_closes(learner: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        COMMAND, input=b"b\n", cwd=ROOT, env=environment, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert b"? Right." in done.stdout
    several = f"{shlex.join([*COMMAND, '--json', '-'])} | head -c 20"
    done = subprocess.run(
        several, shell=True, cwd=ROOT, env=environment, capture_output=True, timeout=60
    )
    assert done.stdout == b'{\n  "schema": 1,\n  "'[:20]
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="there are no pseudo-terminals there")
def test_at_a_terminal_with_ctrl_c(learner: Path) -> None:
    """The terminal echoes, waits for Enter between questions, has colours; Ctrl-C ends kindly."""
    import pty

    keyboard, terminal = pty.openpty()
    process = subprocess.Popen(
        command(*COMMAND), cwd=ROOT, stdin=terminal, stdout=terminal, stderr=terminal,
        env={**os.environ, "TERM": "xterm-256color"}, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    seen = b""

    def wait_for(pattern: bytes) -> None:
        nonlocal seen
        while not re.search(pattern, seen, re.S):
            assert select.select([keyboard], [], [], 60)[0], seen.decode(errors="replace")
            seen += os.read(keyboard, 1 << 16)

    try:
        wait_for(rb"quit.*> ")
        os.write(keyboard, b"b\n")
        wait_for(rb"Enter for the next question\.")
        os.write(keyboard, b"\n")
        wait_for(rb"Which ones are even\?.*quit.*> ")
        interrupt(process)
        if not select.select([keyboard], [], [], 5)[0]:
            # the line editor does not notice a signal between its prompt and its waiting
            interrupt(process)
        wait_for(rb"Stopped\. Your answers are kept\..*To go on:")
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.wait()
        os.close(keyboard)
    assert b"Traceback" not in seen
    assert b"\x1b[" in seen  # colours
    assert [event["event"] for event in log(learner)] == ["begin", "answer"]
