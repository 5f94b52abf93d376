"""A session at a real terminal: single keys, no Enter, and Ctrl-C."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.interrupts import command
from whygrad.learn.drill import progress

pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")
termios = pytest.importorskip("termios", reason="Windows has no pseudo-terminals")


@pytest.mark.parametrize("last", [b"q", b"\x03", b"\x04"])
def test_keys_and_the_end(tmp_path: Path, last: bytes) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "WHYGRAD_HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        command(sys.executable, "-m", "whygrad", "drill", "03", "--lang", "en"),
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    printed = b""

    def until(text: bytes) -> None:
        nonlocal printed
        while text not in printed:
            assert select.select([ours], [], [], 20)[0], printed
            printed += os.read(ours, 4096)
        printed = printed.split(text, 1)[1]

    def press(key: bytes) -> None:
        for _ in range(2000):
            if not termios.tcgetattr(ours)[3] & termios.ICANON:
                break
            time.sleep(0.01)  # keys from before it waits for one are lost
        os.write(ours, key)

    try:
        for rating in (b"3", b"4"):
            until(b"show the answer")
            press(b"x")
            until(b"4 easy")
            press(rating)
        until(b"show the answer")
        press(last)
        until(b"Everything is saved.")
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert [each.rating for each in progress.read(tmp_path / "reviews.jsonl").entries] == [3, 4]
