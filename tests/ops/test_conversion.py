"""Conversion between dtypes and devices."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.tensor import dtypes

NAMES = [dtype.name for dtype in dtypes.ALL]
SHORTCUTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16",
    "int": "int32", "long": "int64", "short": "int16", "char": "int8", "byte": "uint8",
    "bool": "bool", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip


@pytest.mark.parametrize(("source", "target"), list(product(NAMES, NAMES)))
def test_values_convert_as_in_pytorch(source: str, target: str) -> None:
    numbers = [0, 1, 3, 100] if source == "uint8" else [0, 1, -3, 100]
    theirs = torch.tensor(numbers).to(getattr(torch, source))
    mine = whygrad.tensor(numbers).to(getattr(whygrad, source))
    if theirs.dtype.is_floating_point:
        theirs, mine = theirs + 0.75, mine + 0.75
    if theirs.is_complex() and not getattr(torch, target).is_complex and target != "bool":
        with pytest.warns(UserWarning, match="discards the imaginary part"):
            mine = mine.to(getattr(whygrad, target))
        theirs = theirs.real.to(getattr(torch, target))
    else:
        mine, theirs = mine.to(getattr(whygrad, target)), theirs.to(getattr(torch, target))
    assert mine.dtype.name == target
    assert mine.tolist() == theirs.tolist()


def test_floats_truncate_and_wrap_without_a_warning() -> None:
    strange = [float("nan"), float("inf"), -float("inf"), 300.0, -1.5]
    for name in ("int64", "int32", "uint8", "bool"):
        mine = whygrad.tensor(strange).to(getattr(whygrad, name))
        theirs = torch.tensor(strange).to(getattr(torch, name))
        assert mine.tolist()[3:] == theirs.tolist()[3:]
    assert whygrad.tensor([300, -1]).byte().tolist() == [44, 255]


def test_to_takes_every_form() -> None:
    x = whygrad.ones(2)
    wide = whygrad.zeros(1, dtype=whygrad.float64)
    for same in (
        x.to(),
        x.to(whygrad.float32),
        x.to("cpu"),
        x.to(x),
        x.to(None),
        x.cpu(),
        x.float(),
    ):
        assert same is x
    for other in (
        x.to(whygrad.float64),
        x.to("cpu", whygrad.float64),
        x.to(device="cpu", dtype=whygrad.float64),
        x.to(wide),
        x.to(whygrad.float64, non_blocking=True, copy=True),
        x.to(np.float64),
        x.type_as(wide),
        x.type(whygrad.float64),
        x.type("torch.DoubleTensor"),
        x.double(),
    ):
        assert other.dtype is whygrad.float64
    for copy in (x.to(whygrad.float32, copy=True), x.to(whygrad.float32, False, True)):
        assert copy is not x
        assert copy.data_ptr() != x.data_ptr()
    assert x.to("meta").device == "meta"
    assert x.to("meta", whygrad.int8).dtype is whygrad.int8


def test_shortcuts_and_type_names() -> None:
    for method, name in SHORTCUTS.items():
        mine = getattr(whygrad.ones(2), method)()
        theirs = getattr(torch.ones(2), method)()
        assert mine.dtype.name == name
        assert mine.type() == theirs.type().replace("torch", "whygrad")


def test_gradient_comes_back_in_the_source_dtype() -> None:
    x = whygrad.ones(3, requires_grad=True)
    (x.double() * whygrad.arange(3.0, dtype=whygrad.float64)).sum().backward()
    assert x.grad.dtype is whygrad.float32
    assert x.grad.tolist() == [0, 1, 2]
    half = whygrad.ones(2, dtype=whygrad.float16, requires_grad=True)
    (half.float() * 3).sum().backward()
    assert half.grad.dtype is whygrad.float16
    assert not x.long().requires_grad
    assert not x.bool().requires_grad


def test_questions() -> None:
    assert whygrad.is_tensor(whygrad.ones(1))
    assert not whygrad.is_tensor(np.ones(1))
    assert whygrad.ones(1).is_floating_point()
    assert not whygrad.is_floating_point(whygrad.ones(1, dtype=whygrad.complex64))
    assert whygrad.is_complex(whygrad.ones(1, dtype=whygrad.complex64))


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda x: x.to(whygrad.float64, "cpu"), TypeError, "invalid combination of arguments"),
        (lambda x: x.to(3), TypeError, "invalid combination of arguments"),
        (lambda x: x.to("float64"), RuntimeError, "no such device"),
        (lambda x: x.to("meta").to("cpu"), NotImplementedError, "Cannot copy out of meta tensor"),
        (lambda x: whygrad.is_floating_point(3.0), TypeError, "must be Tensor, not float"),
        (lambda x: whygrad.is_complex(3.0), TypeError, "must be Tensor, not float"),
    ],
)
def test_errors(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call(whygrad.ones(2))
    assert words in str(caught.value)
