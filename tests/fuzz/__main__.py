"""``python -m tests.fuzz --programs 20000 --seed 0``: the long run."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

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
    """How many of the programs differ; each is printed in its smallest form."""
    failures = steps = number = 0
    endings: Counter[str] = Counter()
    start = last = time.monotonic()
    for number in range(1, programs + 1):
        program = kind.draw(seed + number - 1)
        steps += len(program.steps)
        if kind.difference(program, endings) is not None:
            failures += 1
            small = kind.shrink(program)
            print(f"\n{small}\n-> {kind.difference(small)}", flush=True)
            if failures >= most:
                break
        if time.monotonic() - last > 10:
            last = time.monotonic()
            left = (programs - number) * (last - start) / number
            print(f"{name}: {number} programs, {failures} differ, {left:.0f} s left", flush=True)
    print(f"{name}: {number} programs, {steps} steps, {failures} differ")
    for ending, count in endings.most_common():
        print(f"  {count:7} {ending}")
    return failures


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
