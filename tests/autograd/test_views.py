"""Writes through views: the history of the base and of every other view, against PyTorch."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.harness import as_numpy

Library = Any


def _base(lib: Library) -> tuple[Any, Any]:
    w = lib.tensor([1.5, -0.5, 2.0, 0.25, -1.0, 3.0], dtype=lib.float64).requires_grad_()
    return w, (w * 1.0).view(2, 3).clone()


def _scale_row(lib: Library, w: Any, b: Any) -> list[Any]:
    b[0].mul_(w[1])
    return [b]


def _views_made_before(lib: Library, w: Any, b: Any) -> list[Any]:
    row, column, flat = b[1], b[:, 0], b.view(-1)
    b.mul_(w.view(2, 3))
    return [row, column, flat, b]


def _chain_of_views(lib: Library, w: Any, b: Any) -> list[Any]:
    outer = b.t()
    inner = outer[1:]
    last = inner[0]
    last.copy_(w[:2] * w[2:4])
    inner.add_(w[0])
    return [outer, inner, last, b]


def _siblings_see_each_other(lib: Library, w: Any, b: Any) -> list[Any]:
    left, right = b[:, :2], b[:, 1:]
    left.mul_(w[3])
    right.sin_()
    left.sub_(right)
    return [left, right, b]


def _constant_base(lib: Library, w: Any, b: Any) -> list[Any]:
    buffer = lib.zeros(3, 2, dtype=lib.float64)
    before = buffer[2]
    buffer[1].copy_(w[:2])
    buffer[1:].mul_(w[0])
    return [buffer, before]


def _brackets(lib: Library, w: Any, b: Any) -> list[Any]:
    b[0, 1] = w[0] * 2
    b[:, 2] += w[:2]
    b[b > 1] = 0.5
    b[lib.tensor([1, 0]), lib.tensor([0, 2])] = w[4:] ** 2
    return [b]


def _filled(lib: Library, w: Any, b: Any) -> list[Any]:
    b[0].zero_()
    b[1, 1:].fill_(w.sum())
    return [b]


def _scattered(lib: Library, w: Any, b: Any) -> list[Any]:
    index = lib.tensor([[0, 2], [1, 1]])
    b.t().scatter_add_(0, index, w[:4].view(2, 2))
    b[:, 1:].masked_fill_(b[:, 1:] > 1, 0.25)
    b.index_add_(1, lib.tensor([0]), w[:2].view(2, 1))
    return [b]


def _view_of_part(lib: Library, w: Any, b: Any) -> list[Any]:
    first, second = b.unbind(0)
    return [first * second]


def _written_under_no_grad(lib: Library, w: Any, b: Any) -> list[Any]:
    row = b[0]
    with lib.no_grad():
        row.mul_(3)
    return [row, b]


def _twice_the_same_view(lib: Library, w: Any, b: Any) -> list[Any]:
    row = b[0]
    row.mul_(w[0]).add_(w[1])
    row[1:].sigmoid_()
    return [row, b]


def _accumulating_loop(lib: Library, w: Any, b: Any) -> list[Any]:
    out = lib.zeros(6, dtype=lib.float64)
    for position in range(1, 6):
        out[position] = out[position - 1].clone() * 0.5 + w[position]
    return [out]


def _part_of_complex_numbers(lib: Library, w: Any, b: Any) -> list[Any]:
    numbers = lib.complex(b, b * 2).t()
    real, imag, pairs = numbers.real, numbers.imag, lib.view_as_real(numbers)
    real[1:].mul_(w[:2])
    numbers[0] *= lib.complex(w[0], w[1])
    imag[1, 0] = w[5]
    return [real, imag, pairs, lib.view_as_real(numbers)]


def _complex_view_of_real_numbers(lib: Library, w: Any, b: Any) -> list[Any]:
    pairs = b.reshape(3, 2) * 1
    numbers = lib.view_as_complex(pairs)
    real = numbers.real
    numbers.mul_(lib.complex(w[:3], w[3:]))
    pairs[0].mul_(w[2])
    return [pairs, real, lib.view_as_real(numbers)]


PROGRAMS = [
    _scale_row, _views_made_before, _chain_of_views, _siblings_see_each_other, _constant_base,
    _brackets, _filled, _scattered, _view_of_part, _written_under_no_grad, _twice_the_same_view,
    _accumulating_loop, _part_of_complex_numbers, _complex_view_of_real_numbers,
]  # fmt: skip


def _loss(lib: Library, program: Any) -> tuple[Any, Any]:
    w, b = _base(lib)
    outputs = program(lib, w, b)
    weights = [0.3 * (place + 1) for place in range(len(outputs))]
    return w, sum(k * (each * each.cos()).sum() for k, each in zip(weights, outputs, strict=True))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__.strip("_"))
def test_gradients(program: Any) -> None:
    found = []
    for lib in (whygrad, torch):
        w, loss = _loss(lib, program)
        (first,) = lib.autograd.grad(loss, w, create_graph=True)
        (second,) = lib.autograd.grad((first * first).sum(), w)
        found.append((as_numpy(loss), as_numpy(first), as_numpy(second)))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__.strip("_"))
def test_forward_mode_agrees_with_reverse_mode(program: Any) -> None:
    if program is _written_under_no_grad:
        pytest.skip("no_grad hides a dependence from reverse mode only")
    w, loss = _loss(whygrad, program)
    (gradient,) = whygrad.autograd.grad(loss, w)
    direction = whygrad.linspace(-1, 1, 6, dtype=whygrad.float64)
    with whygrad.autograd.forward_ad.dual_level():
        dual = whygrad.autograd.forward_ad.make_dual(w.detach(), direction)
        outputs = program(whygrad, dual, (dual * 1.0).view(2, 3).clone())
        total = sum(0.3 * (i + 1) * (each * each.cos()).sum() for i, each in enumerate(outputs))
        tangent = whygrad.autograd.forward_ad.unpack_dual(total).tangent
    assert tangent.item() == pytest.approx((gradient * direction).sum().item(), rel=1e-10)


def test_a_dual_and_its_primal_are_not_written_with_history() -> None:
    """PyTorch makes the dual a view; here a write to either is refused, never half recorded."""
    with whygrad.autograd.forward_ad.dual_level():
        w, b = _base(whygrad)
        dual = whygrad.autograd.forward_ad.make_dual(b, whygrad.ones_like(b))
        primal = whygrad.autograd.forward_ad.unpack_dual(dual * 1).primal
        for each in (b, dual, dual[0], b[0]):
            with pytest.raises(RuntimeError, match="another tensor over its memory"):
                each.mul_(3)
        with whygrad.no_grad():
            dual.mul_(3)
        constant = whygrad.zeros(6, dtype=whygrad.float64)
        other = whygrad.autograd.forward_ad.make_dual(constant, whygrad.ones_like(constant))
        with pytest.raises(RuntimeError, match="make_dual"):
            constant.add_(w)
        (other * 2).mul_(w)
        alone = whygrad.autograd.forward_ad.make_dual(b.clone(), whygrad.ones_like(b))
        alone.mul_(3)
        primal.sum().backward(retain_graph=True)
        assert w.grad.tolist() == [1] * 6
        alone.sum().backward()
        assert w.grad.tolist() == [4] * 6


def test_names_of_the_nodes() -> None:
    _, b = _base(whygrad)
    row = b[0]
    row.mul_(2)
    assert (b.grad_fn.name(), row.grad_fn.name()) == ("CopySlicesBackward", "AsStridedBackward")
    assert "row.mul_(2)" in str(b.grad_fn.where)
    assert "row = b[0]" in str(row.grad_fn.where), "a view remembers the line that made it"


def _leaf_view(lib: Library, w: Any, b: Any) -> None:
    w[1:].mul_(2)


def _view_of_a_leaf_that_is_a_view(lib: Library, w: Any, b: Any) -> None:
    lib.zeros(4, dtype=lib.float64).view(2, 2).requires_grad_()[0:1].zero_()


def _view_of_what_was_a_leaf(lib: Library, w: Any, b: Any) -> None:
    was = lib.zeros(4, dtype=lib.float64).requires_grad_()
    part = was[1:]
    was.requires_grad_(False)
    part.mul_(2)


def _leaf(lib: Library, w: Any, b: Any) -> None:
    w.mul_(2)


def _part_of_split(lib: Library, w: Any, b: Any) -> None:
    b.split(1)[1].mul_(2)


def _slice_of_chunk(lib: Library, w: Any, b: Any) -> None:
    b.chunk(2)[0][:, 1:].mul_(2)


def _made_under_no_grad(lib: Library, w: Any, b: Any) -> None:
    with lib.no_grad():
        row = b[0]
    row[1:].mul_(2)


def _constant_made_under_no_grad(lib: Library, w: Any, b: Any) -> None:
    with lib.no_grad():
        row = lib.zeros(2, 3, dtype=lib.float64)[0]
    row.mul_(w[:3])


def _expanded(lib: Library, w: Any, b: Any) -> None:
    b.expand(2, 2, 3).mul_(2)


REFUSALS = [
    (_leaf_view, "a view of a leaf Variable that requires grad is being used in an in-place",
     r"became a leaf by requires_grad at .*requires_grad_\(\)"),
    (_view_of_a_leaf_that_is_a_view, "a view of a leaf Variable that requires grad",
     "belongs to the value it had"),
    (_view_of_what_was_a_leaf, "a view of a leaf Variable that requires grad", "out-of-place"),
    (_leaf, "a leaf Variable that requires grad is being used in an in-place", "became a leaf"),
    (_part_of_split, "do not allow the output views to be modified inplace",
     r"by split_with_sizes\(\) at .*:\d"),
    (_slice_of_chunk, "do not allow the output views to be modified inplace",
     r"by split_with_sizes\(\) at "),
    (_made_under_no_grad, "created in no_grad mode", r"by slice\(\) at .*row = b\[0\]"),
    (_constant_made_under_no_grad, "created in no_grad mode", "both inside no_grad"),
    (_expanded, "more than one element of the written-to tensor refers to a single", "expand"),
]  # fmt: skip


@pytest.mark.parametrize(("write", "theirs", "ours"), REFUSALS)
def test_refused_as_in_pytorch(write: Any, theirs: str, ours: str) -> None:
    with pytest.raises(RuntimeError, match=theirs):
        write(torch, *_base(torch))
    w, b = _base(whygrad)
    before = (w.tolist(), b.tolist(), w._version, b._version, w._node, b._node)
    with pytest.raises(RuntimeError, match=theirs) as caught:
        write(whygrad, w, b)
    assert before == (w.tolist(), b.tolist(), w._version, b._version, w._node, b._node)
    assert caught.match(ours)


def test_parts_can_still_be_read_after_their_base_was_written() -> None:
    """PyTorch refuses this; the gradient is well defined."""
    w, b = _base(whygrad)
    first, _ = b.unbind(0)
    b.mul_(3)
    first.sum().backward()
    assert w.grad.tolist() == [3, 3, 3, 0, 0, 0]


def test_a_view_made_under_no_grad_stays_a_constant() -> None:
    _, b = _base(whygrad)
    with whygrad.no_grad():
        row = b[0]
    b.mul_(2)
    assert not row.requires_grad
    assert row.tolist() == [3.0, -1.0, 4.0]


def test_filling_an_expanded_view_fills_the_base() -> None:
    w, b = _base(whygrad)
    b.expand(2, 2, 3)[:, 1:, :1].fill_(3.0)
    assert b.tolist() == [[1.5, -0.5, 2.0], [3.0, -1.0, 3.0]]
    b.sum().backward()
    assert w.grad.tolist() == [1, 1, 1, 0, 1, 1]


def test_overlapping_windows_are_not_written_with_history() -> None:
    _, b = _base(whygrad)
    windows = b.view(-1).unfold(0, 3, 1)
    with pytest.raises(RuntimeError, match="several of its elements share memory"):
        windows.mul_(2)


def test_gradient_stays_within_a_dtype() -> None:
    w, _ = _base(whygrad)
    bits = whygrad.zeros(2, dtype=whygrad.int64)
    with pytest.raises(RuntimeError, match="no gradient goes through a change of dtype"):
        bits.view(whygrad.float64).copy_(w[:2])


def test_values_of_a_sparse_tensor_are_not_written_with_history() -> None:
    leaf = whygrad.eye(2).requires_grad_()
    values = (leaf * 1).to_sparse().coalesce().values()
    with pytest.raises(RuntimeError, match="a sparse tensor, whose history cannot be rewritten"):
        values.mul_(2)
    assert values.tolist() == [1.0, 1.0]


def test_residual_written_in_place_is_right_or_refused() -> None:
    def run(lib: Library, saves_input: bool) -> Any:
        w = lib.tensor([0.5, -1.0, 2.0], dtype=lib.float64).requires_grad_()
        h = w * 2
        branch = (h * h).sum() * h if saves_input else h + 3 * w
        h.add_(branch)
        h.sum().backward()
        return w.grad

    np.testing.assert_allclose(as_numpy(run(whygrad, False)), as_numpy(run(torch, False)))
    for lib in (whygrad, torch):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            run(lib, True)


def test_retained_gradients_move_with_the_value() -> None:
    found = []
    for lib in (whygrad, torch):
        _, b = _base(lib)
        row = b[0]
        b.retain_grad()
        row.retain_grad()
        row.mul_(2)
        (b.sum() + 5 * row.sum()).backward()
        found.append((as_numpy(b.grad), as_numpy(row.grad)))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_detach_shares_memory_and_version_and_no_history() -> None:
    w, b = _base(whygrad)
    cut = b.detach()
    cut[0].mul_(w[1])
    assert b._version == cut._version == 1
    assert cut.grad_fn.name() == "CopySlicesBackward"
    assert b.grad_fn.name() == "CloneBackward"


def test_views_of_a_tensor_detached_in_place_follow_with_the_next_write() -> None:
    for lib in (whygrad, torch):
        w, b = _base(lib)
        row = b[0]
        b.detach_()
        row.sum().backward(retain_graph=True)
        b.fill_(0.5)
        (row.sum() + w.sum()).backward()
        assert w.grad.tolist() == [2, 2, 2, 1, 1, 1]


def test_views_do_not_keep_each_other_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        _, b = _base(whygrad)
        for _ in range(3):
            b[0].mul_(2)
            b.t()[1].add_(b[1, 0])
        row = b[0]
        row.tanh_()
        alive = [weakref.ref(each) for each in (b, row, b.grad_fn, row.grad_fn)]
        del b, row
        assert [each() for each in alive] == [None] * 4
    finally:
        gc.enable()


def test_a_long_loop_of_writes_does_not_recurse() -> None:
    w = whygrad.tensor([1.0]).requires_grad_()
    out = whygrad.zeros(1000)
    for position in range(1000):
        out[position] = w[0] * position
    out.sum().backward()
    assert w.grad.item() == sum(range(1000))
