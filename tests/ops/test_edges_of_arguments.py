"""Arguments at the edge: integers of every width as indices, sizes no memory has, lists in
themselves, tensors reversed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad as wg

LIBRARIES = (wg, torch)
INTEGERS = ("uint8", "int8", "int16", "int32", "int64", "bool")

USES: dict[str, Callable[[Any, Any], Any]] = {
    "alone": lambda x, i: x[i],
    "in a tuple": lambda x, i: x[i, 1],
    "second": lambda x, i: x[:, i],
    "with a tensor": lambda x, i: x[i, x[0].long()],
    "start": lambda x, i: x[i:],
    "write": lambda x, i: x.__setitem__(i, 9) or x,
}


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call().tolist()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.filterwarnings("ignore:indexing with dtype")
@pytest.mark.parametrize("use", USES)
def test_an_integer_of_any_width_is_an_index(use: str, dtype: str) -> None:
    def call(lib: Any, numbers: Any) -> Any:
        x = lib.arange(9).view(3, 3)
        return outcome(lambda: USES[use](x, lib.tensor(numbers, dtype=getattr(lib, dtype))))

    for numbers in (1, [1, 0, 1]):
        if numbers == 1 or use == "alone":
            assert call(wg, numbers) == call(torch, numbers), f"{use} {numbers}"


HUGE = 2**62
SIZES: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda lib: lib.zeros(HUGE, 8),
    "one size too many bits": lambda lib: lib.empty(2**63),
    "bytes overflow": lambda lib: lib.empty(2**61),
    "full": lambda lib: lib.full((HUGE, 8), 1.0),
    "expand": lambda lib: lib.ones(1).expand(HUGE, 8),
    "repeat": lambda lib: lib.ones(1).repeat(HUGE, 8),
    "arange": lambda lib: lib.arange(HUGE),
    "arange of floats": lambda lib: lib.arange(1e30),
    "linspace": lambda lib: lib.linspace(0, 1, HUGE),
    "eye": lambda lib: lib.eye(2**40),
    "randn": lambda lib: lib.randn(HUGE, 8),
    "randint": lambda lib: lib.randint(0, 2, (HUGE, 8)),
    "new_zeros": lambda lib: lib.ones(1).new_zeros(HUGE, 8),
    "resize_": lambda lib: lib.ones(1).resize_(HUGE, 8),
    "view": lambda lib: lib.ones(1).view(HUGE, 8),
    "meta": lambda lib: lib.empty(HUGE, 8, device="meta"),
    "pad": lambda lib: lib.nn.functional.pad(lib.ones(1), (0, HUGE)),
    "as_strided": lambda lib: lib.ones(1).as_strided((HUGE, 8), (0, 0)),
    "one_hot": lambda lib: lib.nn.functional.one_hot(lib.arange(3), HUGE),
    "broadcast": lambda lib: lib.ones(1).expand(2**40) + lib.ones(1).expand(2**40)[:, None],
    "no such memory": lambda lib: lib.zeros(2**50),
    "no memory for a result": lambda lib: lib.ones(1).expand(2**50).exp(),
    "Tensor": lambda lib: lib.Tensor(HUGE, 8),
    "Linear": lambda lib: lib.nn.Linear(2**40, 2**40),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_no_memory_has(name: str) -> None:
    with pytest.raises((RuntimeError, TypeError)) as theirs:
        SIZES[name](torch)
    with pytest.raises(type(theirs.value)) as mine:
        SIZES[name](wg)
    assert "cause:" in str(mine.value)


@pytest.mark.parametrize("make", ["tensor", "as_tensor", "Tensor"])
def test_a_list_in_itself(make: str) -> None:
    endless: list[Any] = []
    endless.append(endless)
    for lib in LIBRARIES:
        with pytest.raises(ValueError, match="too many dimensions 'list'"):
            getattr(lib, make)(endless)


@pytest.mark.parametrize("lib", LIBRARIES)
def test_reversed(lib: Any) -> None:
    x = lib.arange(6.0).view(2, 3).requires_grad_()
    turned = reversed(x)
    assert isinstance(turned, lib.Tensor)
    assert turned.tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
    (turned[0] * 2).sum().backward()
    assert x.grad.tolist() == [[0.0] * 3, [2.0] * 3]
    assert reversed(lib.tensor(3)).tolist() == 3


@pytest.mark.parametrize("place", ["missing/model", ""])
def test_an_error_of_save_names_the_place_that_was_asked_for(place: str, tmp_path: Any) -> None:
    with pytest.raises(OSError, match=str(tmp_path)) as caught:
        wg.save({"a": wg.ones(1)}, tmp_path / place)
    assert caught.value.filename == str(tmp_path / place)
    assert "partial" not in str(caught.value)
