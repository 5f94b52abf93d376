"""Tests that press Ctrl-C work however the suite was started."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interrupts import command, interrupt

TESTS = Path(__file__).parent
SENDS = re.compile(r"SIGINT|CTRL_C|interrupt_main|raise_signal")
PROGRAM = "import time; print('now', flush=True); time.sleep(60)"


@pytest.mark.parametrize("new_session", [False, True])
def test_ctrl_c_arrives_where_it_is_ignored_around(new_session: bool) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        running = subprocess.Popen(
            command(sys.executable, "-c", PROGRAM), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=new_session,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)
    assert running.stdout is not None
    assert running.stdout.readline() == "now\n"
    interrupt(running)
    _, errors = running.communicate(timeout=20)
    assert errors.rstrip().endswith("KeyboardInterrupt")


def _careless(source: str) -> bool:
    """Whether a test sends SIGINT itself, or presses the key in a program that may ignore it."""
    at_terminal = re.search(r"\bpty\b", source) and r"\x03" in source
    pressed = bool(at_terminal) and "tests.interrupts import" not in source
    return pressed or SENDS.search(source) is not None


def test_no_other_test_sends_it() -> None:
    """A test with its own SIGINT passes at a terminal and hangs or fails in the background."""
    own = {TESTS / "interrupts.py", Path(__file__)}
    careless = [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if path not in own and _careless(path.read_text(encoding="utf-8"))
    ]
    assert not careless, "start the program with tests.interrupts.command, end it with interrupt"


@pytest.mark.parametrize("line", ["process.send_signal(signal.SIGINT)", r'write(pty, b"\x03")'])
def test_a_new_sender_is_noticed(line: str) -> None:
    assert _careless(line)
