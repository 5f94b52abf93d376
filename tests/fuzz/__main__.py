"""``python -m tests.fuzz --programs 20000 --seed 0``: the long run."""

from __future__ import annotations

import argparse
import sys
import time
import warnings

from tests.fuzz import compare, inplace
from tests.fuzz.generate import Generator


def main() -> int:
    parser = argparse.ArgumentParser(description="Random programs on whygrad and PyTorch.")
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--inplace", action="store_true", help="programs that write in place")
    parser.add_argument("--stop-after", type=int, default=20, help="failures to report")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    judge = inplace if options.inplace else compare
    draw = inplace.draw if options.inplace else Generator().draw
    failures = steps = 0
    start = last = time.monotonic()
    for number in range(options.programs):
        program = draw(options.seed + number)
        steps += len(program.steps)
        problem = judge.difference(program)
        if problem is not None:
            failures += 1
            small = judge.shrink(program)
            print(f"\n{small}\n-> {judge.difference(small)}", flush=True)
            if failures >= options.stop_after:
                break
        if time.monotonic() - last > 10:
            last = time.monotonic()
            rate = (number + 1) / (last - start)
            left = (options.programs - number - 1) / rate
            print(f"{number + 1} programs, {failures} differ, {left:.0f} s left", flush=True)
    print(f"{number + 1} programs, {steps} steps, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
