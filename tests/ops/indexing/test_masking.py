"""The branchless form of where against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from whygrad.ops.indexing.masking import choose

SHAPE = (64, 100)  # large enough for the bitwise form


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("arrange", [np.ascontiguousarray, np.asfortranarray, lambda x: x[::-1]])
def test_zeroes_exactly_what_where_zeroes(dtype: type, arrange: object) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=SHAPE).astype(dtype)
    values[0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    values = arrange(values)  # type: ignore[operator]
    mask = rng.integers(0, 2, SHAPE).astype(bool)
    for chosen, expected in (
        (choose(mask, values, 0.0), np.where(mask, values, 0.0)),
        (choose(mask, 0.0, values), np.where(mask, 0.0, values)),
    ):
        assert chosen.dtype == dtype
        np.testing.assert_array_equal(chosen, expected)


def test_other_forms_are_numpys() -> None:
    values, mask = np.ones(SHAPE, np.float32), np.zeros(SHAPE, bool)
    np.testing.assert_array_equal(np.signbit(choose(mask, values, -0.0)), True)
    np.testing.assert_array_equal(choose(mask, values, 2.0), 2.0)
    assert choose(mask, np.float32(1), 0.0).shape == SHAPE
    assert choose(mask[0], values, 0.0).shape == SHAPE
