"""When the allocator of the process is told to keep what is freed."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import whygrad
from whygrad.dispatch.routes import before_first_op
from whygrad.fast import allocator
waiting = list(before_first_op)
{work}
print(allocator.keep_freed_memory in waiting, allocator.keep_freed_memory in before_first_op)
"""


def when(work: str) -> str:
    command = [sys.executable, "-c", PROGRAM.format(work=work)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_importing_whygrad_leaves_it_alone() -> None:
    assert when("import whygrad.nn, whygrad.optim, whygrad.doctor") == "True True"


def test_the_first_op_of_the_process_tells_it() -> None:
    assert when("whygrad.ones(2) * 2") == "True False"
