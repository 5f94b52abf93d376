"""Inside ``autocast`` every op computes in the precision that PyTorch gives it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.harness import Side, torch_function
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of
from whygrad.tensor.dtypes import DType

# Where the precision differs on purpose, or where PyTorch's follows from how it is built.
EXCEPTIONS = {
    "linalg_pinv": "PyTorch multiplies the factors of its own decomposition in half precision",
    "linalg_eigh": "the sample multiplies the factors back together",
    "linalg_svd": "the sample multiplies the factors back together",
    "local_response_norm": "PyTorch's takes a detour through a 3-d pool, which it casts",
    "lstm": "PyTorch has a kernel in half precision for some of its forms only",
    "max_pool3d": "PyTorch casts it only if no indices are asked for",
}
# PyTorch computes the weighted forms by other ops, in half precision.
_WEIGHTED = ("l1_loss", "mse_loss")


def precision(op: Op, call: Call, lib: Any, function: Callable[..., Any], dtype: str) -> Any:
    """The dtypes of the results inside autocast, for floats of ``dtype``; None if it fails."""

    def make(array: Any, requires_grad: bool) -> Any:
        if isinstance(array, DType):
            return array if lib is whygrad else getattr(torch, array.name)
        made = lib.from_numpy(np.array(array))
        made = made.to(getattr(lib, dtype)) if array.dtype.kind == "f" else made
        return made.requires_grad_() if requires_grad else made

    side = Side(call, make)
    with warnings.catch_warnings(), lib.autocast("cpu", dtype=lib.bfloat16):
        warnings.simplefilter("ignore")
        try:
            results = side.run(function)
        except (RuntimeError, TypeError):
            return None
    return [str(each.dtype).partition(".")[2] for each in results if isinstance(each, lib.Tensor)]


def differences(ops: list[Op]) -> list[str]:
    found = []
    for op in ops:
        if op.torch == "" or op.name in EXCEPTIONS:
            continue
        for index, call in enumerate(samples_of(op)):
            if call.around is not None or ("weight" in call.kwargs and op.name in _WEIGHTED):
                continue
            for dtype in ("float32", "bfloat16"):
                theirs = precision(op, call, torch, torch_function(op), dtype)
                if theirs is None:
                    continue  # PyTorch has no such kernel
                mine = precision(op, call, whygrad, op.public, dtype)
                if mine != theirs:
                    found.append(f"{op.name} sample {index} of {dtype}: {mine} against {theirs}")
    return found


@pytest.mark.parametrize("part", range(4))
def test_precision_of_every_op(part: int) -> None:
    assert not differences(list(table.values())[part::4])


def test_a_wrong_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, wrong in (("mse_loss", None), ("exp", "float32"), ("matmul", "float32")):
        monkeypatch.setattr(table[name], "autocast", wrong)
        table[name].table.clear()
        try:
            assert differences([table[name]])
        finally:
            monkeypatch.undo()
            table[name].table.clear()
