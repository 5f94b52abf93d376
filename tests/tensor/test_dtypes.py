"""Promotion against PyTorch over all pairs, and the limits of dtypes."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.tensor import dtypes

NAMES = [dtype.name for dtype in dtypes.ALL]
NUMBERS = [True, 2, 2.5, 1 + 2j]
PAIRS = list(product(NAMES, NAMES))


def name_of(torch_dtype: Any) -> str:
    """whygrad has no complex32: complex64 stands in."""
    return str(torch_dtype).removeprefix("torch.").replace("complex32", "complex64")


def expected_name(op: str, left: Any, right: Any) -> str:
    if torch.result_type(left, right) is torch.complex32:  # PyTorch cannot compute with it either
        return "complex64"
    return name_of(getattr(torch, op)(left, right).dtype)


def pair(name: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    return (
        whygrad.ones(shape, dtype=getattr(whygrad, name)),
        torch.ones(shape, dtype=getattr(torch, name)),
    )


@pytest.fixture(params=["float32", "float64", "float16"])
def default(request: Any) -> Any:
    whygrad.set_default_dtype(request.param)
    torch.set_default_dtype(getattr(torch, request.param))
    yield request.param
    whygrad.set_default_dtype("float32")
    torch.set_default_dtype(torch.float32)


def test_promote_types_and_can_cast() -> None:
    for a, b in PAIRS:
        ours, theirs = (
            (getattr(whygrad, a), getattr(whygrad, b)),
            (
                getattr(torch, a),
                getattr(torch, b),
            ),
        )
        assert whygrad.promote_types(*ours).name == name_of(torch.promote_types(*theirs)), (a, b)
        assert whygrad.can_cast(*ours) == torch.can_cast(*theirs), (a, b)


@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())], ids=str)
@pytest.mark.parametrize("op", ["add", "div"])
def test_tensor_with_tensor(shapes: Any, op: str, default: str) -> None:
    for a, b in PAIRS:
        (left, torch_left), (right, torch_right) = pair(a, shapes[0]), pair(b, shapes[1])
        result = getattr(whygrad, op)(left, right)
        assert result.dtype.name == expected_name(op, torch_left, torch_right), (a, b)
        if op == "add":
            assert whygrad.result_type(left, right) is result.dtype


@pytest.mark.parametrize("shape", [(2,), ()], ids=str)
@pytest.mark.parametrize("op", ["add", "div"])
def test_tensor_with_number(shape: Any, op: str, default: str) -> None:
    for name, number in product(NAMES, NUMBERS):
        mine, theirs = pair(name, shape)
        result = getattr(whygrad, op)(mine, number)
        assert result.dtype.name == expected_name(op, theirs, number), (name, number)
        reflected = number + mine if op == "add" else number / mine
        assert reflected.dtype is result.dtype


def test_numbers_alone(default: str) -> None:
    for a, b in product(NUMBERS, NUMBERS):
        assert whygrad.result_type(a, b).name == name_of(torch.result_type(a, b))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_finfo(name: str) -> None:
    mine, theirs = whygrad.finfo(getattr(whygrad, name)), torch.finfo(getattr(torch, name))
    for field in ("bits", "eps", "max", "min", "resolution", "smallest_normal", "tiny", "dtype"):
        value = getattr(mine, field)
        assert value == getattr(theirs, field), field
        assert type(value) in (int, float, str)
    assert repr(mine) == repr(theirs)


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_iinfo(name: str) -> None:
    mine, theirs = whygrad.iinfo(getattr(whygrad, name)), torch.iinfo(getattr(torch, name))
    for field in ("bits", "max", "min", "dtype"):
        assert getattr(mine, field) == getattr(theirs, field)
    assert repr(mine) == f"iinfo(min={theirs.min}, max={theirs.max}, dtype={name})"


def test_default_dtype_decides_what_floats_become(default: str) -> None:
    assert whygrad.get_default_dtype().name == default
    assert whygrad.tensor([1.0]).dtype.name == default
    assert whygrad.tensor([1j]).dtype.name == name_of(torch.result_type(1j, 1j))
    assert whygrad.zeros(1).dtype.name == default
    assert whygrad.arange(2.0).dtype.name == default
    assert whygrad.finfo().dtype == default


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: whygrad.finfo(whygrad.int32), "finfo() requires a floating point input type"),
        (lambda: whygrad.iinfo(whygrad.float32), "iinfo() requires an integer input type"),
        (lambda: whygrad.iinfo(whygrad.bool), "iinfo() requires an integer input type"),
        (lambda: whygrad.set_default_dtype(whygrad.int64), "only floating point types"),
        (lambda: whygrad.zeros(2, dtype="uint64"), "no element type for this NumPy dtype"),
    ],
)
def test_wrong_kind_of_dtype(call: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)
    assert "fix:" in str(caught.value)


def test_names() -> None:
    for name, dtype in dtypes.ALIASES.items():
        assert getattr(whygrad, name) is dtype
        assert getattr(torch, name) is getattr(torch, dtype.name)
    for dtype in dtypes.ALL:
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert repr(dtype) == f"whygrad.{dtype.name}"


def test_small_integers_keep_their_dtype_inside_reductions() -> None:
    x = whygrad.tensor([[200, 100], [3, 100]], dtype=whygrad.uint8)
    assert x.sum(dtype=whygrad.uint8).item() == (200 + 100 + 3 + 100) % 256
    assert x.prod(dtype=whygrad.uint8).dtype is whygrad.uint8
    assert whygrad.einsum("ij,ij->ij", x, x).dtype is whygrad.uint8
    assert x.trace().dtype is whygrad.int64
    assert x.trace().item() == 300
    single = whygrad.ones(1, 2, dtype=whygrad.int32)
    assert whygrad.tensordot(whygrad.ones(2, 1, dtype=whygrad.int32), single).dtype is whygrad.int32


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_nan_to_num_uses_the_limits_of_half_precision(name: str) -> None:
    dtype = getattr(whygrad, name)
    x = whygrad.tensor([float("inf"), -float("inf")], dtype=dtype)
    limits = whygrad.finfo(dtype)
    assert x.nan_to_num().tolist() == [limits.max, limits.min]


def test_kernels_that_numpy_would_widen_or_narrow() -> None:
    mask = whygrad.tensor([True, False])
    assert whygrad.conj_physical(mask).dtype is whygrad.bool
    index = whygrad.tensor([0, 0])
    amax = mask.scatter_reduce(0, index, whygrad.tensor([False, True]), "amax", include_self=False)
    assert amax.tolist() == [True, False]
    turned = whygrad.tensor([[1j]])
    assert whygrad.logdet(turned).dtype is whygrad.complex64
    assert whygrad.logdet(turned).item() == pytest.approx(1j * np.pi / 2)
