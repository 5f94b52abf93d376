"""``python -m bench.watched train.py -- arguments``: what the doctor costs a whole command.

The program runs plain and under ``whygrad doctor``, taking turns, each time as a process of its
own, examination and report included.  Printed are the best time of each, the peak of its memory,
the ratios, and whether output and exit code are the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "main", "within"]

SHORT, LONG = 5.0, 60.0  # seconds: shorter than the first is all start, longer than the other …
LONG_RATIO = 1.15  # … may cost this much more
RATIO, EXTRA = 1.5, 10.0  # between them: times as much, and never more seconds than this
MEMORY_RATIO, MEMORY_EXTRA = 1.3, 100e6  # bytes


@dataclass(frozen=True)
class Cost:
    """One run of a command."""

    seconds: float
    bytes: float
    code: int
    output: bytes


def run(command: Sequence[str], folder: Path) -> Cost:
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        unit = 1 if sys.platform == "darwin" else 1024
        return Cost(seconds, usage.ru_maxrss * unit, child.returncode, output.read())


def within(plain: Cost, watched: Cost) -> list[str]:
    """What exceeds the limits, in words; empty if nothing does."""
    said = []
    extra, ratio = watched.seconds - plain.seconds, watched.seconds / plain.seconds
    if plain.seconds > LONG and ratio > LONG_RATIO:
        said.append(f"time: more than {LONG_RATIO} times")
    if SHORT <= plain.seconds <= LONG and (ratio > RATIO or extra > EXTRA):
        said.append(f"time: more than {RATIO} times or {EXTRA:.0f} s")
    if watched.bytes > MEMORY_RATIO * plain.bytes + MEMORY_EXTRA:
        said.append(f"memory: more than {MEMORY_RATIO} times and {MEMORY_EXTRA / 1e6:.0f} MB")
    if watched.code != plain.code:
        said.append(f"exit code {watched.code} in place of {plain.code}")
    return said


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.watched", description=__doc__)
    parser.add_argument("--turns", type=int, default=3, help="runs of each kind")
    parser.add_argument("program", type=Path)
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="-- arguments")
    given = parser.parse_args(arguments)
    program = given.program.resolve()
    rest = [str(program), *(each for each in given.rest if each != "--")]
    commands = {
        "plain": [sys.executable, *rest],
        "watched": [sys.executable, "-m", "whygrad", "doctor", *rest],
    }
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(given.turns):
        for name, command in commands.items():
            costs[name].append(run(command, program.parent))
    best = {name: min(each, key=lambda cost: cost.seconds) for name, each in costs.items()}
    for name, cost in best.items():
        print(f"{name:<8} {cost.seconds:8.2f} s  {cost.bytes / 1e6:8.0f} MB")
    plain, watched = best["plain"], best["watched"]
    ratios = watched.seconds / plain.seconds, watched.bytes / plain.bytes
    print(f"ratio    {ratios[0]:8.2f}    {ratios[1]:8.2f}")
    print("output   " + ("the same" if plain.output == watched.output else "differs"))
    exceeded = within(plain, watched)
    print("\n".join(f"EXCEEDED {each}" for each in exceeded) or "within the limits")
    return bool(exceeded)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
