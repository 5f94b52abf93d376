"""Who computes: the fused kernel or its reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whygrad.fast import choice

THREE = tuple(np.dtype(name) for name in ("float16", "float32", "float64"))


def fused(x: Any) -> str:
    return "fused"


def reference(x: Any) -> str:
    return "reference"


@pytest.mark.parametrize("dtype", THREE)
def test_every_dtype_of_an_offer_counts(dtype: Any) -> None:
    choose = choice._choice(fused, reference, 4, THREE)
    assert choose(np.zeros(4, dtype)) == "fused"


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros(4, np.int64), np.zeros(4, ">f4"), np.zeros(8)[::2]],
    ids=["small", "other dtype", "other byte order", "strided"],
)
def test_everything_else_is_for_the_reference(array: Any) -> None:
    assert choice._choice(fused, reference, 4, THREE)(array) == "reference"
