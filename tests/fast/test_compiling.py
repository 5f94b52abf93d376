"""Compiling: once per machine, announced to whoever is looking, possible without a cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from whygrad.fast.compiling import compiled

ANNOUNCEMENT = "compiling fast kernels (once per machine)"
PROGRAM = """
import whygrad
x = whygrad.ones(200, 200, requires_grad=True)
whygrad.nn.functional.gelu(x, approximate="tanh").sum().backward()
"""


def seen_in_a_terminal(cache: Path) -> str:
    """What a program says on a standard error that is a terminal."""
    ours, theirs = os.openpty()
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        stderr=theirs,
        check=True,
    )
    os.close(theirs)
    try:
        return os.read(ours, 10_000).decode()
    except OSError:  # nothing was written, and nobody is left who could
        return ""
    finally:
        os.close(ours)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a system without terminals")
def test_compiling_is_announced_once_per_machine(tmp_path: Path) -> None:
    assert seen_in_a_terminal(tmp_path).count(ANNOUNCEMENT) == 1
    assert ANNOUNCEMENT not in seen_in_a_terminal(tmp_path)


def test_compiling_is_quiet_where_nobody_looks(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_without_a_place_for_the_cache() -> None:
    """Source that is in no file cannot be cached, as in a folder that is not writable."""
    made: dict[str, Any] = {}
    exec("def doubled(x, y):\n    for i in range(x.size):\n        y[i] = x[i] + x[i]", made)
    x, y = np.arange(3.0), np.empty(3)
    compiled("contract")(made["doubled"])(x, y)
    assert y.tolist() == [0.0, 2.0, 4.0]
