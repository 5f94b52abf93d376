"""The two cheap questions about an array."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.autograd.anomaly_mode import finite


@pytest.mark.parametrize("dtype", [wg.float16, wg.bfloat16, wg.float32, wg.float64])
@pytest.mark.parametrize("trouble", [None, "nan", "inf"])
def test_all_finite(dtype: wg.DType, trouble: str | None) -> None:
    big = wg.finfo(dtype).max
    values = {None: [big, -big, 1.0], "nan": [big, 1.0, nan], "inf": [inf, 1.0, -inf]}[trouble]
    array = wg.tensor(values, dtype=dtype)._array
    for shown in (array, array[::-1], array[:, None].T, np.broadcast_to(array, (2, 3)), array[2]):
        with np.errstate(all="ignore"):
            assert finite.all_finite(shown) is (trouble is None)
        assert finite.trouble(shown) == trouble


def test_nothing_and_integers_are_finite() -> None:
    assert finite.all_finite(np.empty((0, 3), np.float32))
    assert finite.all_finite(np.arange(3))
    assert finite.trouble(np.arange(3)) is None


@pytest.mark.parametrize("shape", [(4,), (20_001,), (150, 200), (9_000, 3), (2, 70, 200)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.bool_])
def test_fingerprint_changes_with_the_memory(shape: tuple[int, ...], dtype: Any) -> None:
    array = (np.random.default_rng(0).normal(size=shape) > 0).astype(dtype)
    for shown in (array, array.T, array[::-1], np.broadcast_to(array, (2, *shape))):
        before = finite.fingerprint(shown)
        assert finite.fingerprint(shown) == before
        for place in (0, array.size // 2, array.size - 1):
            array.flat[place] = not array.flat[place]
            assert finite.fingerprint(shown) != before
            array.flat[place] = not array.flat[place]
        assert finite.fingerprint(shown) == before
