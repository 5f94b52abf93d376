"""What ``import`` costs in a fresh interpreter."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable

from bench.measure import Run, Workload


def importing(module: str) -> Callable[[], Run]:
    def prepare() -> Run:
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(module)
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    return prepare


WORKLOAD = Workload(
    "import",
    "a fresh interpreter that imports the library (NumPy alone for scale)",
    {name: importing(name) for name in ("whygrad", "torch", "autograd", "mygrad", "jax", "numpy")},
    rounds=5,
    reference="numpy",
)
