"""Nothing is left behind: without the garbage collector, memory stays where it was."""

from __future__ import annotations

import subprocess
import sys

import pytest

STEPS = """
import gc, sys
import numpy as np
import whygrad as wg
import whygrad.nn.functional as F

gc.collect()  # what the import left
gc.disable()
rng = np.random.default_rng(0)
x = wg.tensor(rng.normal(size=(8, 6)), dtype=wg.float32)
target = wg.tensor(rng.integers(0, 3, 8))
w1 = wg.tensor(rng.normal(size=(5, 6)), dtype=wg.float32, requires_grad=True)
w2 = wg.tensor(rng.normal(size=(3, 5)), dtype=wg.float32, requires_grad=True)

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

def step():
    hidden = F.linear(x, w1).tanh()
    loss = F.cross_entropy(F.linear(hidden, w2), target)
    loss = loss + hidden[:, 1:].transpose(0, 1).pow(2).mean()
    loss.backward()
    with wg.no_grad():
        for weight in (w1, w2):
            weight -= 0.01 * weight.grad
            weight.grad = None

for _ in range(500):
    step()
before = resident()
for _ in range(10_000):
    step()
print(resident() - before, gc.collect())
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="resident memory is read from /proc"
)
def test_ten_thousand_steps_leave_memory_flat() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STEPS], capture_output=True, text=True, check=True, timeout=300
    )
    growth, unreachable = map(int, done.stdout.split())
    assert growth < 2_000_000, f"{growth} bytes more after 10,000 steps"
    assert unreachable == 0, f"{unreachable} objects only the collector could free"
