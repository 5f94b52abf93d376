"""Every fused kernel against its reference: values, odd numbers, sizes, memory order, dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import whygrad  # noqa: F401  (registers the kernels)
from whygrad.ops.define import table
from whygrad.ops.namespace import raw

pytest.importorskip("numba")

from whygrad.fast import choice
from whygrad.fast.kernels import LEAST
from whygrad.fast.threads import BLOCK, SHARED

Array = Any
SINGLE, DOUBLE = choice.FLOATS
ROUNDING = {SINGLE: 4e-6, DOUBLE: 2e-14}
WIDTH = 48
ENOUGH = LEAST // WIDTH + 3  # rows: a little more than the least
SIZES = [ENOUGH, 2 * BLOCK, 2 * BLOCK + 1, SHARED // WIDTH + 1]


class Case(NamedTuple):
    """Arguments of a kernel for so many rows."""

    kernel: str
    arguments: Callable[[Any, int], tuple[Any, ...]]
    dtypes: tuple[Any, ...] = choice.FLOATS
    label: str = ""


def _layer_norm_backward(make: Any, rows: int) -> tuple[Any, ...]:
    x, weight = make(rows, WIDTH), make(WIDTH)
    statistics = table["layer_norm"].forward(x, weight, weight, 1, 1e-5)[1:]
    return (make(rows, WIDTH), x, weight, *statistics, (True, True, True), 1, 1e-5)


def _after_softmax(kernel: str) -> Callable[[Any, int], tuple[Any, ...]]:
    def arguments(make: Any, rows: int) -> tuple[Any, ...]:
        y = table[kernel].forward(make(rows, WIDTH), LAST)
        return make(rows, WIDTH), y, LAST

    return arguments


def _targets(rows: int) -> Array:
    return np.arange(rows) * 7 % WIDTH


LAST = (1,)
CASES = [
    Case("gelu", lambda make, rows: (make(rows, WIDTH), "none"), (SINGLE,)),
    Case("gelu", lambda make, rows: (make(rows, WIDTH), "tanh"), label="tanh"),
    Case(
        "gelu_backward",
        lambda make, rows: (make(rows, WIDTH), make(rows, WIDTH), "none"),
        (SINGLE,),
    ),
    Case(
        "gelu_backward",
        lambda make, rows: (make(rows, WIDTH), make(rows, WIDTH), "tanh"),
        label="tanh",
    ),
    Case("erf", lambda make, rows: (make(rows, WIDTH),), (SINGLE,)),
    Case(
        "layer_norm",
        lambda make, rows: (make(rows, WIDTH), make(WIDTH), make(WIDTH), 1, 1e-5),
    ),
    Case(
        "layer_norm",
        lambda make, rows: (make(rows, 2, 24), make(2, 24), make(2, 24), 2, 1e-5),
        label="two dimensions",
    ),
    Case("layer_norm_backward", _layer_norm_backward),
    Case("softmax", lambda make, rows: (make(rows, WIDTH), LAST)),
    Case("softmax", lambda make, rows: (make(2, rows, WIDTH), (2,)), label="of a batch"),
    Case("softmax_backward", _after_softmax("softmax")),
    Case("log_softmax", lambda make, rows: (make(rows, WIDTH), LAST)),
    Case("log_softmax_backward", _after_softmax("log_softmax")),
    *[
        Case(
            "cross_entropy",
            lambda make, rows, how=how: (
                *(make(rows, WIDTH), _targets(rows), None, -100, how, 0.0),
            ),
            label=how,
        )
        for how in ("mean", "sum", "none")
    ],
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.kernel} {c.label}".strip())
WITH_DTYPE = [
    pytest.param(case, dtype, id=f"{case.kernel} {case.label} {dtype.name}")
    for case in CASES
    for dtype in case.dtypes
]
every_case_and_dtype = pytest.mark.parametrize(("case", "dtype"), WITH_DTYPE)


def maker(dtype: Any) -> Callable[..., Array]:
    rng = np.random.default_rng(0)
    return lambda *shape: (rng.normal(size=shape) * 2).astype(dtype)


def arrays_of(answer: Any) -> tuple[Array, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def compare(case: Case, arguments: tuple[Any, ...], dtype: Any) -> None:
    chooser = getattr(raw, case.kernel)
    with np.errstate(all="ignore"):
        fast, reference = chooser.kernel(*arguments), chooser.reference(*arguments)
    assert fast is not None
    given = [each for each in arguments if isinstance(each, np.ndarray) and each.dtype == dtype]
    for ours, theirs in zip(arrays_of(fast), arrays_of(reference), strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype == dtype
        largest = max(np.abs(each[np.isfinite(each)]).max(initial=1.0) for each in (theirs, *given))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=ROUNDING[dtype] * largest)


def test_no_kernel_is_without_a_case() -> None:
    offered = {name for name, *_ in choice._offers}
    assert offered == {case.kernel for case in CASES}


@every_case_and_dtype
@pytest.mark.parametrize("rows", SIZES)
def test_like_the_reference(case: Case, dtype: Any, rows: int) -> None:
    compare(case, case.arguments(maker(dtype), rows), dtype)


@every_case_and_dtype
@pytest.mark.parametrize(
    "odd", [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30, 1e-30, 88.5, -104.0, 3e4]
)
def test_odd_numbers_as_the_reference(case: Case, dtype: Any, odd: float) -> None:
    """Also of a whole row, which has no largest number that could be subtracted."""
    arguments = case.arguments(maker(dtype), ENOUGH)
    matrices = [each for each in arguments if getattr(each, "size", 0) >= LEAST]
    for each in matrices[:1] if "softmax" in case.kernel else matrices[:2]:
        rows = each.reshape(-1, WIDTH)
        rows[1, 3] = odd
        rows[2] = odd
    if case.kernel.startswith("layer_norm") and abs(odd) == 1e30:
        pytest.skip("the square of the number is not a float32: what remains is rounding")
    compare(case, arguments, dtype)


def test_erf_to_the_last_digits() -> None:
    x = np.linspace(-4, 4, LEAST + 1, dtype=np.float32)
    exact = raw.erf.reference(x.astype(np.float64))
    np.testing.assert_allclose(raw.erf(x), exact, rtol=3e-7, atol=0)


@every_case_and_dtype
def test_same_bits_every_time(case: Case, dtype: Any) -> None:
    arguments = case.arguments(maker(dtype), SHARED // WIDTH + 1)
    chooser = getattr(raw, case.kernel)
    first, again = (arrays_of(chooser(*arguments)) for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))


def _asked(case: Case, arguments: tuple[Any, ...]) -> bool:
    """Whether the fused kernel is asked; the answer has to be right in any case."""
    chooser = getattr(raw, case.kernel)
    asked = []

    def watched(*args: Any) -> Any:
        asked.append(args)
        return chooser.kernel(*args)

    _, _, least, dtypes = next(each for each in choice._offers if each[0] == case.kernel)
    answer = arrays_of(choice._choice(watched, chooser.reference, least, dtypes)(*arguments))
    known = arrays_of(chooser.reference(*arguments))
    for ours, theirs in zip(answer, known, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    return bool(asked)


@every_case
def test_small_and_empty_arrays_take_the_reference(case: Case) -> None:
    make = maker(SINGLE)
    rows = 1 if case.label == "of a batch" else LEAST // WIDTH - 1
    assert not _asked(case, case.arguments(make, rows))
    assert _asked(case, case.arguments(make, ENOUGH))


@every_case
def test_memory_in_another_order_takes_the_reference(case: Case) -> None:
    arguments = case.arguments(maker(SINGLE), ENOUGH)
    strided = tuple(
        np.asfortranarray(each) if isinstance(each, np.ndarray) and each.ndim > 1 else each
        for each in arguments
    )
    assert not _asked(case, strided)


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        ("gelu", lambda make: (make(ENOUGH, WIDTH).astype(DOUBLE), "none")),
        ("layer_norm", lambda make: (make(ENOUGH, WIDTH), None, None, 1, 1e-5)),
        ("softmax", lambda make: (make(ENOUGH, WIDTH), (0,))),
        ("softmax_backward", lambda make: (make(ENOUGH, WIDTH), make(WIDTH, ENOUGH).T, LAST)),
        (
            "cross_entropy",
            lambda make: (make(ENOUGH, WIDTH), _targets(ENOUGH), None, 3, "mean", 0.0),
        ),
        (
            "cross_entropy",
            lambda make: (make(ENOUGH, WIDTH), _targets(ENOUGH), make(WIDTH), -100, "mean", 0.0),
        ),
        (
            "cross_entropy",
            lambda make: (
                *(make(ENOUGH, WIDTH), _targets(ENOUGH).astype(np.uint8), None, -100, "sum", 0.0),
            ),
        ),
    ],
)
def test_what_a_kernel_does_not_do_is_left_to_the_reference(kernel: str, arguments: Any) -> None:
    assert getattr(raw, kernel).kernel(*arguments(maker(SINGLE))) is None
