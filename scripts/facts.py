"""``make facts``: the numbers that say whether the house is in order, each beside its limit.

A limit that a new feature needs to raise is raised here, with the reason beside the number.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts.duplicates import repeats
from scripts.imports import cycles
from scripts.opnames import offenders
from scripts.thresholds import unnamed

__all__ = ["FACTS", "Fact"]

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "whygrad"
FILES_IN_A_FOLDER = 20


@dataclass(frozen=True)
class Fact:
    """Something that is counted: ``found`` lists what is counted, or is the count itself.

    A limit that does not stand where it should be yet has an ``aim`` below it.
    """

    name: str
    limit: int
    found: Callable[[], int | Iterable[object]]
    aim: int | None = None

    def measured(self) -> tuple[int, list[str]]:
        found = self.found()
        listed = [] if isinstance(found, int) else [str(each) for each in found]
        return (found if isinstance(found, int) else len(listed)), listed


def lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))


def root_modules() -> list[str]:
    return sorted(path.name for path in PACKAGE.glob("*.py"))


def crowded_folders() -> list[str]:
    """Folders of code with more files than one looks through; stubs are written by a script."""
    listed = subprocess.run(
        ["git", "ls-files", "src", "tests", "bench", "scripts"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    counts = Counter(str(Path(name).parent) for name in listed if not name.endswith(".pyi"))
    return [f"{folder}: {n} files" for folder, n in counts.items() if n > FILES_IN_A_FOLDER]


FACTS = [
    # 95,000 was the aim for what the package could do then; the layers, distributions, complex
    # gradients and names that PyTorch programs ask for since brought 28,000.
    # What programs of other people asked of the doctor brought 16,500.
    Fact("lines of Python in the package", 147_500, lambda: lines(PACKAGE), aim=123_000),
    # Without what watches a program: that judges nothing, and not only the doctor needs it.
    # 17,600 and what programs of other people asked for since: whether a run learned at all,
    # programs that an exception ended, terms and paths without gradient, metrics and checkpoints,
    # networks that others learn from, parts that are left aside, short trainings that
    # judge levels, fixes that are tried before they are told, what a loss means, answers that
    # depend on other samples or later places, first values beside the library's own, the
    # training samples judged as others are, a tick only for what is shown to have learned;
    # figures that are taken, and data that are prepared, outside of tensors; the weight of each
    # term of a loss; the order, the filling and the masks of sequences; credit for actions; states
    # that go from batch to batch, classes that are left out, draws that another model judges;
    # runs that are trained on from where they ended; shapes as the text tells them, codes and
    # statistics taken twice, in more of their forms; models that are compared, and more of what
    # is meant so; findings that are weighed against what was learned, figures that objects keep,
    # first values of any kind; dropout outside of layers, schedules of epochs, weights that are
    # drawn, codes that a divergence empties, counts that go on, epochs in the order of a loss.
    Fact("lines of the doctor", 35_900, lambda: lines(PACKAGE / "doctor"), aim=17_500),
    Fact("lines of learn (the content is in data)", 7_000, lambda: lines(PACKAGE / "learn")),
    Fact("modules at the root", 10, root_modules),
    Fact("folders of more than 20 files", 0, crowded_folders),
    Fact("circles of packages that import each other", 0, cycles),
    Fact("runs of more than 12 lines that stand twice", 0, repeats),
    Fact("sets of op names in the doctor beside the op table", 0, offenders),
    Fact("numbers in a rule without a name that --threshold reaches", 0, unnamed),
    Fact("lines of the README", 200, lambda: (ROOT / "README.md").read_text().count("\n")),
]


def main() -> int:
    broken = 0
    for fact in FACTS:
        count, found = fact.measured()
        mark = "✓" if count <= fact.limit else "✗"
        broken += count > fact.limit
        aim = "" if fact.aim is None or count <= fact.aim else f" (to become {fact.aim:,})"
        print(f"{mark} {count:>8,} of at most {fact.limit:>8,}  {fact.name}{aim}")
        for line in found if count > fact.limit else ():
            print(f"        {line}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
