"""Comparisons with strangers, promotion, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad


def test_comparing_with_strangers_is_left_to_python() -> None:
    x = whygrad.tensor([1.0, 2.0])
    for stranger in (None, "a", [1.0, 2.0], object()):
        assert (x == stranger) is False
        assert (x != stranger) is True
        with pytest.raises(TypeError, match="not supported between"):
            x < stranger  # noqa: B015


def test_a_stranger_may_answer_itself() -> None:
    class Anything:
        def __eq__(self, other: object) -> Any:
            return "yes"

        __hash__ = None  # type: ignore[assignment]

    assert (whygrad.tensor([1.0]) == Anything()) == "yes"


def test_tensors_stay_hashable_by_identity() -> None:
    x, y = whygrad.tensor([1.0]), whygrad.tensor([1.0])
    assert {x: 1, y: 2}[x] == 1


def test_operators_and_reflections() -> None:
    x = whygrad.tensor([1, 2, 3])
    assert (x > 2).tolist() == [False, False, True]
    assert (x >= 2.5).tolist() == [False, False, True]
    assert (x == np.array([1, 0, 3])).tolist() == [True, False, True]
    assert (1 & x).tolist() == [1, 0, 1]
    assert (~(x > 1)).tolist() == [True, False, False]
    assert (1 << x).tolist() == [2, 4, 8]


def test_answers_are_bools_without_history() -> None:
    x = whygrad.tensor([1.0, 2.0], requires_grad=True)
    y = x > 1.5
    assert y.dtype is whygrad.bool
    assert not y.requires_grad
    assert whygrad.greater_equal(x, 2).tolist() == [False, True]


def test_a_number_outside_the_dtype_is_compared_not_wrapped() -> None:
    x = whygrad.tensor([255, 1], dtype=whygrad.uint8)
    assert (x == -1).tolist() == [False, False]
    assert (x < 300).tolist() == [True, True]


def test_in_place_comparison_keeps_the_dtype() -> None:
    x = whygrad.tensor([1.0, 2.0])
    assert x.gt_(1.5) is x
    assert x.tolist() == [0.0, 1.0]


def test_equal_and_allclose_give_python_bools() -> None:
    nan = whygrad.tensor([np.nan])
    assert whygrad.equal(nan, nan) is False
    assert whygrad.allclose(nan, nan, equal_nan=True) is True
    assert whygrad.equal(whygrad.ones(2), whygrad.ones(3)) is False


REFUSED = {
    "did not match float64": (RuntimeError, lambda x: whygrad.isclose(x, x.double())),
    "rtol must be greater": (RuntimeError, lambda x: whygrad.isclose(x, x, rtol=-1.0)),
    "atol must be greater": (RuntimeError, lambda x: whygrad.allclose(x, x, atol=-1.0)),
    "must be Tensor, not float": (TypeError, lambda x: whygrad.isclose(x, 1.0)),
    "argument 'other' must be Tensor": (TypeError, lambda x: whygrad.equal(x, None)),
    "neither is a tensor": (TypeError, lambda x: whygrad.isin(1, 2)),
    "encountered for isin\\(\\): bool": (RuntimeError, lambda x: whygrad.isin(x > 1, x)),
    "not implemented for float tensors": (RuntimeError, lambda x: x & x),
    "bits are those of integers": (RuntimeError, lambda x: ~x),
    "complex numbers have no order": (RuntimeError, lambda x: x < 1j),
    "complex numbers have no sign": (RuntimeError, lambda x: whygrad.signbit(x * 1j)),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_say_why(words: str) -> None:
    kind, call = REFUSED[words]
    with pytest.raises(kind, match=words):
        call(whygrad.tensor([1.0, 2.0]))
