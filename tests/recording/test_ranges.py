"""The few numbers that an array is described by."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from whygrad.recording.ranges import glance, hint, rms, sample_marks, summarize

SIZES = [1, 7, 8191, 8192, 8193, 50_000]  # long ones are squared in pieces


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int64", "complex64"])
def test_the_root_mean_square(size: int, kind: str) -> None:
    array = (np.random.default_rng(size).normal(3, 2, (size, 2)) * 4).astype(kind)
    expected = math.sqrt(np.mean(np.abs(array.astype("complex128")) ** 2))
    assert rms(array) == pytest.approx(expected, rel=1e-5)
    assert rms(array[:, 0]) == pytest.approx(rms(array[:, 0].copy()), rel=1e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_bad_value_shows_wherever_it_is(size: int, bad: float) -> None:
    for place in {0, size // 2, size - 1}:
        array = np.ones(size, np.float32)
        array[place] = bad
        assert not math.isfinite(rms(array))
        found = summarize(array)
        assert (found.nans, found.infs) == ((1, 0) if math.isnan(bad) else (0, 1))
        assert glance(array) == found or math.isnan(found.low)


def test_large_values_do_not_overflow_and_nobody_is_warned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rms(np.full(20_000, 1e30, np.float32)) == pytest.approx(1e30, rel=1e-5)
        assert rms(np.zeros((0, 3))) == 0.0


@pytest.mark.parametrize("size", SIZES)
def test_the_parts_of_a_summary(size: int) -> None:
    array = np.random.default_rng(0).normal(1e3, 1, size).astype(np.float32)
    array[:: max(2, size // 100)] = 0
    found = summarize(array)
    wide = array.astype(np.float64)
    assert (found.low, found.high) == (wide.min(), wide.max())
    assert found.mean == pytest.approx(wide.mean(), rel=1e-9)
    assert found.std == pytest.approx(wide.std(), rel=1e-6, abs=1e-9)
    assert found.zeros == np.mean(array == 0)


@pytest.mark.parametrize("size", [1, 10, 256, 1024, 1025])
def test_the_hints_of_both_engines(size: int) -> None:
    torch = pytest.importorskip("torch")
    from whygrad.recording.engines.pytorch import TorchEngine

    array = np.full(size, 3.0, np.float32)
    engine = TorchEngine.get()
    for shape in [(size,), (size, 1)]:
        tensor = torch.tensor(array.reshape(shape))
        assert engine.hint(tensor) == pytest.approx(hint(array)) == pytest.approx(3.0)
        tensor[0] = math.nan
        assert math.isnan(engine.hint(tensor))


def test_marks_of_round_numbers_do_not_collide() -> None:
    rows = np.random.default_rng(0).integers(0, 17, (3000, 64)) / 8 - 1
    assert len(set(sample_marks(rows))) == len(np.unique(rows, axis=0))
