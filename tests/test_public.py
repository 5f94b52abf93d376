"""The public surface: explicit, complete, sorted, and quick to import."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.ops.activation import dropout
from whygrad.ops.define import table

MODULES = [
    info.name
    for info in pkgutil.walk_packages(whygrad.__path__, "whygrad.")
    if not info.name.endswith("__main__")
]


def _as_ruff_sorts(name: str) -> tuple[bool, str]:
    """Constants first."""
    return not (name.isupper() and len(name) > 1), name


@pytest.mark.parametrize("name", MODULES)
def test_all_is_sorted_and_true(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", None)
    if exported is not None:
        assert list(exported) in (sorted(exported), sorted(exported, key=_as_ruff_sorts))
        missing = [each for each in exported if not hasattr(module, each)]
        assert not missing


# Functions that act on settings, dtypes, generators and graphs, not on tensors.
NOT_OPS = (
    "whygrad.amp",
    "whygrad.autograd.anomaly_mode",
    "whygrad.autograd.transforms",
    "whygrad.tensor.modes",
    "whygrad.tensor.devices",
    "whygrad.tensor.dtypes",
    "whygrad.compat.environment",
    "whygrad.files",
    "whygrad.func",
    "whygrad.ops.public.legacy",
    "whygrad.tensor.printing",
    "whygrad.random",
    "whygrad.training",
    "whygrad.why",
)


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
    known = {op.public for op in table.values()} | {
        whygrad.convolution,  # takes its name from an internal op
        whygrad.is_tensor,
        whygrad.embedding_renorm_,
        whygrad.rrelu_,
        *dropout.IN_PLACE,
    }
    for name in whygrad.__all__:
        value = getattr(whygrad, name)
        if isinstance(value, FunctionType) and not value.__module__.startswith(NOT_OPS):
            in_place = name.endswith("_") and value is getattr(whygrad.Tensor, name, None)
            assert in_place or value in known, f"{name} is not in the op table"


def test_import_loads_nothing_heavy() -> None:
    program = "import sys, whygrad; print([m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["scipy", "torch", "matplotlib", "rich", "click", "ml_dtypes", "numba", "inspect",
             "pathlib"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program, *heavy], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.strip("[]\n").replace("'", "").replace(",", "").split())
    assert loaded <= {"inspect"}, loaded


def test_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert whygrad.__version__ == version("whygrad")


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (lambda: whygrad.sum(), r"invalid combination of arguments: missing a required argument"),
        (lambda: whygrad.add(whygrad.ones(2), 1, 2, 3), r"too many positional arguments"),
        (
            lambda: whygrad.softmax(whygrad.ones(2), 0, bogus=1),
            r"unexpected keyword argument 'bogus'",
        ),
        (lambda: whygrad.flatten("a"), r"argument 'input' \(position 1\) must be Tensor, not str"),
        (lambda: whygrad.where("a", 1, 2), r"argument 'condition' \(position 1\) must be Tensor"),
        (lambda: whygrad.ones(2, 3).repeat("ab", 1), r"these arguments do not fit together"),
    ],
)
def test_unforeseen_arguments_are_explained(call: Callable[[], Any], cause: str) -> None:
    with pytest.raises(TypeError, match=rf"cause: .*{cause}[^\0]*fix:   call it as \w+\("):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x: x.sum(axis=0),
        lambda lib, x: x.mean(1, keepdims=True),
        lambda lib, x: x.std(axis=1, keepdims=True),
        lambda lib, x: x.max(axis=1).indices,
        lambda lib, x: lib.softmax(x, axis=-1),
        lambda lib, x: lib.cat([x, x], axis=1),
        lambda lib, x: lib.stack([x, x], axis=1),
        lambda lib, x: lib.unsqueeze(x, axis=0),
        lambda lib, x: x[:, lib.newaxis] * lib.tensor([lib.pi, lib.e, lib.inf]),
    ],
)
def test_names_pytorch_shares_with_numpy(call: Callable[[Any, Any], Any]) -> None:
    values = [[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]]
    expected = call(torch, torch.tensor(values))
    result = call(whygrad, whygrad.tensor(values))
    assert tuple(result.shape) == tuple(expected.shape)
    np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-6)


def test_a_dimension_named_twice_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        whygrad.ones(2).sum(dim=0, axis=0)
    with pytest.raises(IndexError, match="Dimension out of range") as caught:
        whygrad.ones(2).sum(axis=3)
    assert caught.value.__context__ is None
