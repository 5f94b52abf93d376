"""Kill programs while they save, again and again, and look at what is left each time.

    python -m scripts.kill_while_saving --kills 100

A child saves one checkpoint after the other, each with a step and a tensor full of that number,
until it is killed at a random moment.  The file must then be a whole checkpoint, never older than
the last one known; the next child goes on from there.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

import whygrad


def save_forever(path: Path, step: int, size: int) -> NoReturn:
    while True:
        step += 1
        whygrad.save({"step": step, "weight": whygrad.full((size,), float(step))}, path)


def checked_step(path: Path, at_least: int) -> int:
    """The step of the checkpoint, once everything in it fits together."""
    found: dict[str, Any] = whygrad.load(path)
    step: int = found["step"]
    if not (found["weight"] == step).all() or step < at_least:
        raise AssertionError(f"step {step} after {at_least}, with {found['weight']}")
    return step


def run(kills: int, size: int, seed: int) -> tuple[int, int]:
    """The number of checkpoints written, and of kills that hit one being written."""
    moments = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.safetensors"
        whygrad.save({"step": 0, "weight": whygrad.zeros(size)}, path)
        step = interrupted = 0
        for _ in range(kills):
            child = os.fork()
            if child == 0:
                save_forever(path, step, size)
            time.sleep(moments.uniform(0.0, 0.03))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            interrupted += len(os.listdir(folder)) > 1
            step = checked_step(path, step)
        whygrad.save({"step": step, "weight": whygrad.full((size,), float(step))}, path)
        if os.listdir(folder) != [path.name]:
            raise AssertionError(f"left behind: {os.listdir(folder)}")
    return step, interrupted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--size", type=int, default=200_000, help="elements of the tensor")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    step, interrupted = run(asked.kills, asked.size, asked.seed)
    print(
        f"{asked.kills} kills, {interrupted} of them in the middle of a file, {step} checkpoints: "
        "none lost, none damaged"
    )


if __name__ == "__main__":
    sys.exit(main())
