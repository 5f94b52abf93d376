"""Make ``src/whygrad/data/files/digits.npz`` from the copy of the data in scikit-learn.

    pip download --no-deps scikit-learn -d scratch
    unzip scratch/scikit_learn-*.whl sklearn/datasets/data/digits.csv.gz -d scratch
    python -m scripts.digits scratch/sklearn/datasets/data/digits.csv.gz

Needed once only: the result is part of the repository, with its origin in the NOTICE beside it.
"""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parent.parent / "src/whygrad/data/files/digits.npz"


def main(source: str) -> None:
    with gzip.open(source, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.uint8)
    arrays = {"images": table[:, :-1].reshape(-1, 8, 8), "labels": table[:, -1]}
    with zipfile.ZipFile(TARGET, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            packed = io.BytesIO()
            np.save(packed, array)
            entry = zipfile.ZipInfo(f"{name}.npy")  # with a fixed date: the same bytes every time
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, packed.getvalue())
    print(f"{TARGET}: {len(table)} digits, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
