"""Computing in a signal handler, in the midst of whatever the main thread does.

The doctor does: SIGTERM gets its report before the program ends.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.interrupts import command

STORM = """
import signal
import whygrad as wg
from whygrad.dispatch.silence import quiet

model = wg.nn.Linear(3, 1)
calls = 0

def handler(*_):
    global calls
    calls += 1
    with quiet.again(), wg.enable_grad():
        (model(wg.ones(2, 3)) ** 2).sum().backward()
        float(model.weight.detach().clone().mul_(2).sum())
    signal.setitimer(signal.ITIMER_REAL, 0.0001)

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0001)
while calls < 2000:
    x = wg.randn(4, 3)
    x.mul_(2)
    with wg.no_grad():
        model(x).sum().item()
signal.setitimer(signal.ITIMER_REAL, 0)
print(wg.is_grad_enabled(), (model.weight * 1).requires_grad)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
def test_a_handler_waits_for_no_lock_that_its_own_thread_holds() -> None:
    program = command(sys.executable, "-c", STORM)
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True True\n", "")
