"""Writes to memory that backward needs: the old values are copied first, as in PyTorch."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    memory,
    saved_bytes_peak,
    saved_tensors_hooks,
)
from whygrad.tensor.storage import readers


def square_then_sine(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b**2).sum()
    b.sin_()
    return out


def twice(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b**2).sum()
    b.sin_()
    out = out + (b**3).sum()
    b.mul_(2)
    return out


def one_tensor_many_times(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b * b * b.exp() + b.sin() * b).sum()
    b.mul_(7)
    return out


def view_saved_base_written(lib: Any, a: Any) -> Any:
    b = a.clone()
    part = b[0]
    out = (part**2).sum()
    b.sin_()
    return out


def base_saved_view_written(lib: Any, a: Any) -> Any:
    b = a.clone()
    part = b[0]
    out = (b**2).sum()
    part.sin_()
    return out


def sibling_view_written(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b.view(-1) ** 2).sum() + b[1].exp().sum()
    b[0].mul_(10)
    return out


def transpose_saved(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b.mT @ b).sum()
    b.add_(1)
    return out


def output_written(lib: Any, a: Any) -> Any:
    b = a.exp()
    out = b.sum()
    b.mul_(3)
    return out


def item_assigned(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b**2).sum()
    b[0, 1] = 9.0
    return out


def written_without_recording(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b**2).sum()
    with lib.no_grad():
        b.zero_()
    return out


def leaf_written(lib: Any, a: Any) -> Any:
    out = (a**2).sum()
    with lib.no_grad():
        a.add_(5)
    return out


def through_detach(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b**2).sum()
    b.detach().add_(1)
    return out


def through_data(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = (b**2).sum()
    b.data.add_(1)
    return out


def copied_into(lib: Any, a: Any) -> Any:
    b = a.detach().clone()
    out = (a * b).sum()
    with lib.no_grad():
        b.copy_(b + 1)
    return out


def constant_written(lib: Any, a: Any) -> Any:
    mask = lib.ones(2, 3, dtype=lib.float64)
    out = (a * mask).sum()
    mask.fill_(0)
    return out


def a_loop(lib: Any, a: Any) -> Any:
    b = a.clone()
    out = a.sum()
    for _ in range(4):
        out = out + (b * b).sum()
        b.mul_(0.5)
    return out + b.sum()


PROGRAMS = [
    square_then_sine, twice, one_tensor_many_times, view_saved_base_written,
    base_saved_view_written, sibling_view_written, transpose_saved, output_written,
    written_without_recording, leaf_written, through_detach, through_data, copied_into,
    constant_written, a_loop,
]  # fmt: skip
VALUES = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]


def gradient(lib: Any, program: Callable[[Any, Any], Any]) -> list[Any]:
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        a = lib.tensor(VALUES, dtype=lib.float64, requires_grad=True)
        out = program(lib, a)
        out.backward()
        return a.grad.tolist()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients_are_those_of_the_old_values(program: Callable[[Any, Any], Any]) -> None:
    np.testing.assert_allclose(gradient(wg, program), gradient(torch, program))


@pytest.mark.parametrize("program", [square_then_sine, one_tensor_many_times, a_loop])
def test_second_order(program: Callable[[Any, Any], Any]) -> None:
    def second(lib: Any) -> list[Any]:
        with lib.autograd.graph.allow_mutation_on_saved_tensors():
            a = lib.tensor(VALUES, dtype=lib.float64, requires_grad=True)
            (first,) = lib.autograd.grad(program(lib, a), a, create_graph=True)
            (result,) = lib.autograd.grad((first**2).sum(), a)
            return result.tolist()

    np.testing.assert_allclose(second(wg), second(torch))


def test_a_view_that_starts_elsewhere() -> None:
    """PyTorch compares addresses of first elements, misses this write and computes 2·9."""
    expected = (2 * np.array(VALUES)).tolist()
    assert gradient(wg, item_assigned) == expected
    assert gradient(torch, item_assigned) != expected


def test_a_write_after_a_recorded_backward() -> None:
    """What that backward saved lies in the same memory and is copied, too."""
    x = leaf(0.5, -1.5)
    with allow_mutation_on_saved_tensors():
        h = x * 1
        (first,) = wg.autograd.grad((h**3).sum(), h, create_graph=True)
        with wg.no_grad():
            h.fill_(100.0)
        first.sum().backward()
    assert x.grad.tolist() == [3.0, -9.0]


def test_backward_may_come_after_the_block() -> None:
    """PyTorch refuses this."""
    x = leaf(1.0, 2.0)
    with allow_mutation_on_saved_tensors():
        h = x * 1
        y = (h * h).sum()
        h.mul_(10)
    with wg.no_grad():
        h.mul_(10)
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_copy_is_made_only_if_needed_and_only_once() -> None:
    x = wg.ones(1000, dtype=wg.float64, requires_grad=True)
    with saved_bytes_peak() as saved, allow_mutation_on_saved_tensors():
        h = x * 1
        y = (h * h * h).sum()
        held = memory(y).total
        before = saved.current
        with wg.no_grad():
            h.mul_(2)
        assert saved.current == before + 8000
        with wg.no_grad():
            h.mul_(2)
        assert saved.current == before + 8000
        assert memory(y).total == held, "h is no longer the graph's, its copy is"
    y.backward()


def test_outside_the_block_a_write_is_an_error() -> None:
    x = leaf(1.0, 2.0)
    with allow_mutation_on_saved_tensors():
        pass
    h = x * 1
    y = (h * h).sum()
    with wg.no_grad():
        h.mul_(10)
    with pytest.raises(RuntimeError, match="modified by an inplace operation: mul_ wrote"):
        y.backward()


def test_blocks_do_not_nest() -> None:
    with allow_mutation_on_saved_tensors():
        again = allow_mutation_on_saved_tensors()
        with pytest.raises(RuntimeError, match="contexts cannot be nested"):
            again.__enter__()


def test_hooks_inside_take_over() -> None:
    x = leaf(1.0, 2.0)
    with allow_mutation_on_saved_tensors():
        h = x * 1
        with saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
            y = (h * h).sum()
        with wg.no_grad():
            h.mul_(10)
    with pytest.raises(RuntimeError, match="modified by an inplace operation: mul_ wrote"):
        y.backward()


def test_as_a_decorator() -> None:
    @allow_mutation_on_saved_tensors()
    def loss(x: wg.Tensor) -> wg.Tensor:
        return square_then_sine(wg, x)

    x = leaf(1.0, 2.0)
    loss(x).backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_nothing_stays_behind() -> None:
    gc.collect()
    gc.disable()
    try:
        with allow_mutation_on_saved_tensors():
            x = leaf(1.0, 2.0)
            h = x * 1
            y = (h * h).sum()
            h.mul_(2)
            y.backward(create_graph=True)
            watched = [weakref.ref(each) for each in (h, y, y.grad_fn, x, h._storage)]
            assert len(readers) > 0
            del x, h, y
            assert [ref() for ref in watched] == [None] * len(watched)
        assert len(readers) == 0
    finally:
        gc.enable()
