"""``python -m tests.field.opinfo [NAME …]``: PyTorch's own samples, side by side.

``--dtype complex128`` and the like choose other numbers; a name with ``--verbose`` shows every
difference with its call, ``--excused`` what is counted as on purpose.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import torch

from tests.field.opinfo.running import Run, pytorchs_ops

__all__ = ["main"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--samples", type=int, default=40, help="of an op at most")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--excused", action="store_true", help="show differences on purpose")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    run = Run(getattr(torch, options.dtype), options.samples, options.verbose)
    infos = [info for info in pytorchs_ops() if not options.names or info.name in options.names]
    differing = [info for info in infos if not run.agrees(info)]
    if options.excused:
        for (name, text, reason), times in run.verdicts.excused.items():
            print(f"excused: {name} {times}×: {text} [{reason}]")
    print(run.summary())
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
