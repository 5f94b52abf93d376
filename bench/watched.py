"""``python -m bench.watched train.py -- arguments``: what the doctor costs a whole command.

The program runs plain and under ``whygrad doctor``, taking turns, each time as a process of its
own, examination and report included.  Printed are the best times of each (by the clock, and of the
processor, which other work on the machine disturbs less), the peak of its memory, the ratios, and
whether output and exit code are the same; ``--json FILE`` writes all turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    processor: float = 0.0  # seconds


def run(command: Sequence[str], folder: Path) -> Cost:
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        unit = 1 if sys.platform == "darwin" else 1024
        processor = usage.ru_utime + usage.ru_stime
        return Cost(seconds, usage.ru_maxrss * unit, child.returncode, output.read(), processor)


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
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all turns and ratios")
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
    plain, watched = map(_best, costs.values())
    for name, cost in (("plain", plain), ("watched", watched)):
        times = f"{cost.seconds:8.2f} s  {cost.processor:8.2f} s of the processor"
        print(f"{name:<8} {times}  {cost.bytes / 1e6:8.0f} MB")
    ratios = {
        "seconds": watched.seconds / plain.seconds,
        "processor": watched.processor / plain.processor,
        "bytes": watched.bytes / plain.bytes,
    }
    print("ratio    " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))
    same = plain.output == watched.output
    print("output   " + ("the same" if same else "differs"))
    exceeded = within(plain, watched)
    print("\n".join(f"EXCEEDED {each}" for each in exceeded) or "within the limits")
    if given.json is not None:
        turns = {name: [_plain_data(each) for each in found] for name, found in costs.items()}
        facts = {"command": rest, **turns, "ratios": ratios, "same": same, "exceeded": exceeded}
        given.json.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return bool(exceeded)


def _best(turns: Sequence[Cost]) -> Cost:
    """The least of every quantity: what is on top of it came from elsewhere."""
    return replace(
        turns[-1],
        seconds=min(each.seconds for each in turns),
        processor=min(each.processor for each in turns),
        bytes=min(each.bytes for each in turns),
    )


def _plain_data(cost: Cost) -> dict[str, float]:
    return {
        "seconds": cost.seconds,
        "processor": cost.processor,
        "bytes": cost.bytes,
        "code": cost.code,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
