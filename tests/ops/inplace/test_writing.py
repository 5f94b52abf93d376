"""Which writes are refused, and that a refused write leaves everything as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad as wg


def test_a_view_made_under_no_grad_is_not_a_way_around_the_history() -> None:
    x = wg.ones(3, requires_grad=True)
    y = x * 2
    with wg.no_grad():
        view = y.view(3)
    with pytest.raises(RuntimeError, match=r"created in no_grad mode, by view\(\) at"):
        view.mul_(5)
    assert y.tolist() == [2.0, 2.0, 2.0]
    with wg.no_grad():
        view.mul_(5)
    assert y.tolist() == [10.0, 10.0, 10.0]


@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x.__setitem__(0, 5)])
def test_inference_tensors_stay_as_they_are(write: Any) -> None:
    with wg.inference_mode():
        x = wg.ones(3)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        write(x)
    assert x.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x.__setitem__(0, 5)])
def test_memory_that_is_not_ours_to_write(write: Any) -> None:
    array = np.ones(3)
    array.flags.writeable = False
    x = wg.from_numpy(array)
    with pytest.raises(RuntimeError, match="its memory is read-only"):
        write(x)
    assert x._version == 0


@pytest.mark.parametrize(
    ("dtype", "value", "written"),
    [("uint8", -1, 255), ("int64", 1.9, 1), ("bool", 2, True), ("float32", 3 + 0j, 3.0)],
)
def test_fill_converts_numbers(dtype: str, value: Any, written: Any) -> None:
    x = wg.zeros(1, dtype=getattr(wg, dtype))
    assert x.fill_(value).tolist() == [written]
    x.zero_()[0] = value
    assert x.tolist() == [written]
    assert wg.full((1,), value, dtype=getattr(wg, dtype)).tolist() == [written]


def test_zero_is_called_by_its_name() -> None:
    x = wg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^zero_ on float32\[3\]"):
        x.zero_()
    y = x * 1
    z = (y * y).sum()
    y.zero_()
    with pytest.raises(RuntimeError, match="zero_ wrote to this memory"):
        z.backward()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("uint8", 300), ("uint8", -1.0), ("int64", float("nan")), ("float32", 1j), ("float32", 1e300),
     ("float64", 10**400)],
)  # fmt: skip
def test_fill_refuses_what_does_not_fit(dtype: str, value: Any) -> None:
    x = wg.zeros(1, dtype=getattr(wg, dtype))
    with pytest.raises(RuntimeError, match=f"cannot be converted to type {dtype} without overflow"):
        x.fill_(value)
    with pytest.raises(RuntimeError, match=f"cannot be converted to type {dtype} without overflow"):
        x[0] = value
    assert x.tolist() == [0]


def test_fill_sends_back_the_dtype_of_its_value() -> None:
    value = wg.tensor(2.0, requires_grad=True)
    wg.zeros(3, dtype=wg.float64).fill_(value).sum().backward()
    assert value.grad.dtype is wg.float32
    assert value.grad.item() == 3.0


def test_fill_takes_one_value() -> None:
    with pytest.raises(RuntimeError, match="fill_ only supports 0-dimension value tensor"):
        wg.ones(2).fill_(wg.ones(2))


def test_a_number_beyond_every_float_is_explained() -> None:
    x = wg.ones(3)
    with pytest.raises(OverflowError, match="cause: int too large"):
        x.add_(10**400)
    assert x.tolist() == [1.0, 1.0, 1.0]
