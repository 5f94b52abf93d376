"""``python -m tests.fuzz --programs 20000 --seed 0``: the long run."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TextIO

from tests.fuzz.autograd import draw, judge
from tests.fuzz.ops import compare
from tests.fuzz.ops.generate import Generator
from tests.fuzz.transforms import draw as draw_transforms
from tests.fuzz.transforms import judge as judge_transforms


class Kind:
    """A kind of program: how one is drawn, judged and made small."""

    def __init__(
        self,
        draw: Callable[[int], Any],
        difference: Callable[..., str | None],
        shrink: Callable[[Any], Any],
    ) -> None:
        self.draw = draw
        self.difference = difference
        self.shrink = shrink


def kinds() -> dict[str, Kind]:
    return {
        "ops": Kind(Generator().draw, compare.difference, compare.shrink),
        "autograd": Kind(draw.draw, judge.difference, judge.shrink),
        "transforms": Kind(
            draw_transforms.draw, judge_transforms.difference, judge_transforms.shrink
        ),
    }


def run(name: str, kind: Kind, programs: int, seed: int, most: int) -> int:
    """How many of the programs differ; each is printed in its smallest form.

    They run in a child, so that a crash of PyTorch costs one program; another child goes on.
    """
    tally = Tally(name, programs)
    while tally.number < programs and tally.failures < most:
        here, there = multiprocessing.Pipe(duplex=False)
        with tempfile.TemporaryFile("w+") as trace:
            work = (kind, range(seed + tally.number, seed + programs), there, trace)
            child = multiprocessing.get_context("fork").Process(target=_judge_all, args=work)
            child.start()
            there.close()
            with contextlib.suppress(EOFError):
                while tally.failures < most:
                    tally.add(*here.recv())
            if tally.failures >= most:
                child.terminate()
            child.join()
            if child.exitcode and tally.failures < most:
                trace.seek(0)
                tally.add(0, *_crash(kind.draw(seed + tally.number), trace.read()))
    return tally.summed_up()


def _judge_all(kind: Kind, seeds: range, results: Connection, trace: TextIO) -> None:
    faulthandler.enable(trace)
    for seed in seeds:
        program = kind.draw(seed)
        endings: Counter[str] = Counter()
        problem = None
        if kind.difference(program, endings) is not None:
            small = kind.shrink(program)
            problem = f"\n{small}\n-> {kind.difference(small)}"
        results.send((len(program.steps), problem, *endings))


def _crash(program: Any, trace: str) -> tuple[str | None, str]:
    """Whose crash it was: the innermost Python frame tells."""
    frames = [line for line in trace.splitlines() if line.startswith("  File")]
    if frames and f"{os.sep}torch{os.sep}" in frames[0]:
        return None, "PyTorch crashed"
    return f"\n{program}\n-> crashed:\n{trace}", ""


class Tally:
    """What became of the programs so far."""

    def __init__(self, name: str, programs: int) -> None:
        self.name = name
        self.programs = programs
        self.number = self.steps = self.failures = 0
        self.endings: Counter[str] = Counter()
        self._start = self._last = time.monotonic()

    def add(self, steps: int, problem: str | None, *endings: str) -> None:
        self.number += 1
        self.steps += steps
        self.endings.update(endings if problem is None else ())
        if problem is not None:
            self.failures += 1
            print(problem, flush=True)
        if time.monotonic() - self._last > 10:
            self._last = time.monotonic()
            left = (self.programs - self.number) * (self._last - self._start) / self.number
            print(f"{self}, {left:.0f} s left", flush=True)

    def __str__(self) -> str:
        return f"{self.name}: {self.number} programs, {self.failures} differ"

    def summed_up(self) -> int:
        print(f"{self}, {self.steps} steps")
        for ending, count in self.endings.most_common():
            print(f"  {count:7} {ending}")
        return self.failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Random programs on whygrad and PyTorch.")
    parser.add_argument("--programs", type=int, default=20_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--kind", choices=("ops", "autograd", "transforms"), help="only this kind")
    parser.add_argument("--stop-after", type=int, default=20, help="failures to report")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failures = 0
    for name, kind in kinds().items():
        if options.kind in (None, name):
            failures += run(name, kind, options.programs, options.seed, options.stop_after)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
