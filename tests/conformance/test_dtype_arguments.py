"""Every op that takes ``dtype=``, with every dtype, against PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.dtype_arguments import differences, takes_dtype
from whygrad.ops.define import Op, table

# op → which of its differences are meant, and why ours is right.
EXPLAINED = {
    "logspace": (
        "logspace(-1, 1, 5, base=2) of float32 in uint8",
        "PyTorch wraps the exponent -1 to 255 before it takes powers",
    ),
}

OPS = [pytest.param(op, id=op.name) for op in table.values() if takes_dtype(op)]


@pytest.mark.parametrize("op", OPS)
def test_every_dtype_as_in_pytorch(op: Op) -> None:
    with warnings.catch_warnings():
        # NaN or a complex number in an integer; PyTorch says that range() is deprecated
        warnings.simplefilter("ignore")
        found = list(differences(op))
    meant, _ = EXPLAINED.get(op.name, ("nothing", ""))
    assert not [each for each in found if not each.startswith(meant)], "\n".join(found[:5])
    assert bool(found) == (op.name in EXPLAINED)


def test_some_ops_take_a_dtype() -> None:
    """The suite finds them by their signatures; here are some that it must have found."""
    names = {each.id for each in OPS}
    assert names >= {"sum", "nansum", "cumsum", "softmax", "norm", "zeros", "full_like", "rand"}


WRONG: dict[str, Any] = {
    "accumulated in int64": ("cumsum", lambda x, dim: np.add.accumulate(x, axis=dim)),
    "NaN as an integer": ("nan_to_num", lambda x, nan, posinf, neginf: x.copy()),
    "computed in the dtype of the input": ("cast", lambda x, dtype: x.copy()),
}


@pytest.mark.parametrize("mistake", WRONG)
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_a_wrong_dtype_is_caught(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, kernel = WRONG[mistake]
    op = table[name]
    with monkeypatch.context() as patch:
        patch.setattr(op, "forward", kernel)
        op.table.clear()
        asked = "cumsum" if name == "cumsum" else "nansum"
        assert list(differences(table[asked], ("with nan",), 1))
    op.table.clear()
    assert not list(differences(table[asked], ("with nan",), 1))


def test_dtypes_of_the_report() -> None:
    """The three cases that were found first."""
    for library in (whygrad, torch):
        x = library.tensor([1.5, float("nan"), 2.5])
        assert library.nansum(x, dtype=library.int32).item() == 3
        assert x.cumsum(0, dtype=library.int32).dtype is library.int32
        small = library.tensor([200, 100], dtype=library.uint8)
        total = library.cumsum(small, 0, dtype=library.uint8)
        assert total.dtype is library.uint8
        assert total.tolist() == [200, 44]
