"""The public surface: explicit, complete, sorted, and quick to import."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import whygrad
from whygrad.ops.define import aliases, table

MODULES = [
    info.name
    for info in pkgutil.walk_packages(whygrad.__path__, "whygrad.")
    if not info.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_all_is_sorted_and_true(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", None)
    if exported is not None:
        assert list(exported) == sorted(exported)
        missing = [each for each in exported if not hasattr(module, each)]
        assert not missing


def test_every_op_is_public() -> None:
    """As a function of the package, or of the namespace its name begins with."""
    for op in table.values():
        if op.public_name is None:
            continue
        target = whygrad
        for part in op.public_name.split("."):
            target = getattr(target, part)
        assert target is op.public, op.name


def test_every_public_function_is_in_the_table() -> None:
    known = {op.public for op in table.values()}
    engine = {
        "backward", "grad", "enable_grad", "explain", "fork_rng", "get_default_dtype",
        "get_rng_state", "inference_mode", "initial_seed", "is_grad_enabled",
        "is_inference_mode_enabled", "manual_seed", "no_grad", "seed", "set_default_dtype",
        "set_grad_enabled", "set_printoptions", "set_rng_state", "finfo", "iinfo", "can_cast",
        "promote_types", "result_type", "is_tensor", "is_floating_point", "is_complex",
    }  # fmt: skip
    for name in whygrad.__all__:
        value = getattr(whygrad, name)
        if callable(value) and not isinstance(value, type) and name not in engine:
            assert value in known or name in aliases, f"{name} is not in the op table"


def test_import_loads_nothing_heavy() -> None:
    program = "import sys, whygrad; print([m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["scipy", "torch", "matplotlib", "rich", "click", "ml_dtypes", "numba", "inspect"]
    done = subprocess.run(
        [sys.executable, "-c", program, *heavy], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.strip("[]\n").replace("'", "").replace(",", "").split())
    assert loaded <= {"inspect"}, loaded


def test_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert whygrad.__version__ == version("whygrad")
