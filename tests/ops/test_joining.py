"""Joining, splitting, rearranging and padding: what the samples cannot express."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad
from whygrad.nn.functional import pad
from whygrad.ops.define import table
from whygrad.tensor import Tensor


def zeros(*shape: int) -> Tensor:
    return whygrad.zeros(shape)


def test_pieces_are_views_and_one_node() -> None:
    x = zeros(5, 2).requires_grad_()
    first, *_, last = x.split(2)
    assert first._base is last._base is x
    assert first.grad_fn is last.grad_fn
    assert [len(piece.shape) for piece in x.unbind()] == [1] * 5


def test_cat_is_row_major_whatever_the_inputs() -> None:
    assert whygrad.cat([zeros(3, 2).t(), zeros(3, 2).t()]).stride() == (3, 1)
    assert whygrad.stack([zeros(3, 2).t()]).stride() == (6, 3, 1)


def test_cat_promotes_even_with_legacy_empty_tensors() -> None:
    empty = whygrad.zeros(0, dtype=whygrad.float64)
    assert whygrad.cat([zeros(2, 3), empty]).dtype is whygrad.float64


def test_copies_keep_pytorchs_memory_order() -> None:
    """flip keeps the order of its input, roll and tril are row-major."""
    for name, args in (("flip", ((0,),)), ("roll", (1, 0)), ("tril", ()), ("repeat", (1, 1))):
        mine = getattr(zeros(2, 3).t(), name)(*args)
        theirs = getattr(torch.zeros(2, 3).t(), name)(*args)
        assert mine.stride() == tuple(theirs.stride()), name


def test_diag_of_a_matrix_is_a_copy() -> None:
    matrix = zeros(2, 2)
    matrix.diag().add_(1.0)
    assert matrix.tolist() == [[0, 0], [0, 0]]


def test_meshgrid_is_a_view() -> None:
    rows, columns = whygrad.meshgrid(zeros(2), zeros(3), indexing="ij")
    assert rows.stride() == (1, 0)
    assert columns.stride() == (0, 1)


def test_tril_in_place() -> None:
    matrix = whygrad.ones(2, 2)
    matrix.tril_()
    assert matrix.tolist() == [[1, 0], [1, 1]]


def test_adjoints_without_a_counterpart() -> None:
    """Each adjoint A* satisfies ⟨A x, y⟩ = ⟨x, A* y⟩."""
    x, y = whygrad.randn(3, 4), whygrad.randn(3, 3)
    pads, mode = ((0, 0), (1, -2)), "circular"
    padded, unpadded = table["pad_edges"].call, table["pad_edges_backward"].call
    left = (padded(x, pads, mode) * y).sum()
    assert whygrad.allclose(left, (x * unpadded(y, (3, 4), pads, mode)).sum(), atol=1e-5)


def test_repeat_interleave_needs_counts_it_can_read() -> None:
    counts = whygrad.tensor([1, 2]).to("meta")
    with pytest.raises(RuntimeError, match="depends on the data of repeats"):
        zeros(2).repeat_interleave(counts)


REFUSALS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: whygrad.cat([]), ValueError, "expects a non-empty list of tensors"),
    (lambda: whygrad.cat([zeros(2), 3]), TypeError, "expected Tensor as element 1"),
    (lambda: whygrad.cat([zeros()]), RuntimeError, "zero-dimensional tensor .at position 0."),
    (lambda: whygrad.cat([zeros(2, 3), zeros(3)]), RuntimeError, "same number of dimensions: got"),
    (
        lambda: whygrad.cat([zeros(2, 3), zeros(2, 4)]),
        RuntimeError,
        "Expected size 3 but got size 4 for tensor number 1",
    ),
    (lambda: whygrad.stack([]), RuntimeError, "expects a non-empty list"),
    (lambda: whygrad.stack([zeros(3), zeros(4)]), RuntimeError, "each tensor to be equal size"),
    (lambda: whygrad.block_diag(zeros(1, 1, 1)), RuntimeError, "must have 2 or fewer dimensions"),
    (lambda: whygrad.meshgrid(zeros(2), indexing="zz"), RuntimeError, "indexing must be one of"),
    (lambda: whygrad.meshgrid(zeros(2, 2)), RuntimeError, "Expected 0D or 1D tensor"),
    (
        lambda: whygrad.meshgrid(zeros(2), whygrad.arange(2)),
        RuntimeError,
        "all tensors to have the same dtype",
    ),
    (lambda: zeros(5).split([2, 2]), RuntimeError, "split_sizes to sum exactly to 5"),
    (lambda: zeros(5).split([6, -1]), RuntimeError, "only non-negative entries"),
    (lambda: zeros(5).split(0), RuntimeError, "split_size can only be 0 if dimension size is 0"),
    (lambda: zeros(5).split(-1), RuntimeError, "split expects split_size be non-negative"),
    (lambda: zeros().split(1), RuntimeError, "split expects at least a 1-dimensional tensor"),
    (lambda: zeros(5).chunk(0), RuntimeError, "`chunks` to be greater than 0, got: 0"),
    (lambda: zeros(5).tensor_split(0), RuntimeError, "number of sections must be larger than 0"),
    (lambda: zeros().tensor_split(2), RuntimeError, "expected at least a 1-dimensional tensor"),
    (lambda: zeros(4).hsplit(3), RuntimeError, "4 is not divisible by the split_size 3"),
    (lambda: zeros(4).vsplit(2), RuntimeError, "vsplit requires a tensor with at least 2"),
    (lambda: zeros().unbind(), IndexError, "tensor has no dimensions"),
    (lambda: zeros(2, 3).repeat(2), RuntimeError, "can not be smaller than number of dimensions"),
    (lambda: zeros(2).repeat(-1), RuntimeError, "negative dimension"),
    (lambda: zeros(2).repeat_interleave(-1), RuntimeError, "Repeats must be non-negative"),
    (
        lambda: zeros(2).repeat_interleave(whygrad.tensor([-1, 1])),
        RuntimeError,
        "repeats can not be negative",
    ),
    (
        lambda: zeros(2).repeat_interleave(whygrad.tensor([1, 1, 1])),
        RuntimeError,
        "repeats must have the same size as input along dim",
    ),
    (
        lambda: zeros(2).repeat_interleave(2, output_size=3),
        RuntimeError,
        "allocated size does not match required size",
    ),
    (lambda: zeros(2).flip(0, 0), RuntimeError, "appears multiple times in the list of dims"),
    (lambda: zeros(2).fliplr(), RuntimeError, "Input must be >= 2-d"),
    (lambda: zeros(2, 3).roll((1, 2), (0,)), RuntimeError, "shifts and dimensions must align"),
    (lambda: zeros(2, 3).roll((), ()), RuntimeError, "`shifts` required"),
    (lambda: zeros().roll(1, 0), IndexError, "tensor has no dimensions"),
    (lambda: zeros(2, 3).rot90(1, (0, 0)), RuntimeError, "rotation dims to be different"),
    (lambda: zeros(2, 3).rot90(1, (0,)), RuntimeError, "expected total rotation dims == 2"),
    (lambda: zeros(2).rot90(), RuntimeError, "expected total dims >= 2"),
    (lambda: zeros(3).tril(), RuntimeError, "tril: input tensor must have at least 2 dimensions"),
    (lambda: zeros(2, 2, 2).diag(), RuntimeError, "Supports 1D or 2D tensors. Got 3D"),
    (lambda: zeros(2).diag_embed(0, 1, 1), RuntimeError, "cannot be identical 1, 1"),
    (lambda: whygrad.tril_indices(-1, 2), RuntimeError, "row must be non-negative, got -1"),
    (lambda: pad(zeros(2, 3), (1,)), RuntimeError, "Padding length must be divisible by 2"),
    (lambda: pad(zeros(3), (1,) * 4), RuntimeError, "less than or equal to two times the input"),
    (lambda: pad(zeros(3), (-2, -2)), RuntimeError, "length must be non-negative"),
    (lambda: pad(zeros(1, 3), (1, 1), "zz"), NotImplementedError, "Unrecognised padding mode zz"),
    (lambda: pad(zeros(1, 3), (1, 1), "reflect", 1.0), RuntimeError, "doesn't take in value"),
    (lambda: pad(zeros(1, 3), (3, 1), "reflect"), RuntimeError, "should be less than the corresp"),
    (lambda: pad(zeros(1, 3), (4, 0), "circular"), RuntimeError, "wrapping around more than once"),
    (lambda: pad(zeros(1, 3), (-4, 0), "circular"), RuntimeError, "resulting in an empty dimens"),
    (lambda: pad(zeros(1, 0), (1, 1), "replicate"), RuntimeError, "non-zero dimensions"),
    (lambda: pad(zeros(1, 3), (-3, 0), "replicate"), RuntimeError, "is too small"),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSALS, ids=[row[2] for row in REFUSALS])
def test_refusals(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
