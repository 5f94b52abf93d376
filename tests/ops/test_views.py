"""Views follow PyTorch's rules: when they exist, their strides and offsets, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.tensor import Tensor


def zeros(*shape: int) -> Tensor:
    return whygrad.zeros(shape)


class Chain:
    """The same random view ops on a whygrad and a PyTorch tensor."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        shape = tuple(int(size) for size in self.rng.integers(1, 5, self.rng.integers(0, 4)))
        numbers = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
        self.mine, self.theirs = whygrad.from_numpy(numbers), torch.from_numpy(numbers.copy())
        self.done: list[Any] = []

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def choose(self) -> tuple[str, tuple[Any, ...]]:
        shape, ndim = tuple(self.theirs.shape), self.theirs.ndim
        anywhere: list[Callable[[], tuple[str, tuple[Any, ...]]]] = [
            lambda: ("unsqueeze", (self.number(-ndim - 1, ndim + 1),)),
            lambda: ("squeeze", ()),
            lambda: ("permute", (tuple(int(dim) for dim in self.rng.permutation(ndim)),)),
            lambda: ("view", (self.another_shape(),)),
            lambda: ("reshape", (self.another_shape(),)),
            lambda: ("expand", (self.larger_shape(),)),
        ]
        if ndim:
            dim = self.number(0, ndim)
            anywhere += [
                lambda: ("transpose", (dim, self.number(-ndim, ndim))),
                lambda: ("squeeze", (dim,)),
                lambda: ("narrow", (dim, 0, self.number(1, shape[dim] + 1))),
                lambda: ("narrow", (dim, shape[dim] - 1, 1)),
                lambda: ("select", (dim, self.number(-shape[dim], shape[dim]))),
                lambda: ("unfold", (dim, self.number(1, shape[dim] + 1), self.number(1, 3))),
                lambda: ("flatten", (dim, -1)),
                lambda: ("slice", ((Ellipsis, None, slice(None, None, 2), None),)),
                lambda: ("slice", ((None, *(slice(None),) * dim, -1),)),
            ]
        if ndim > 1:
            anywhere.append(lambda: ("diagonal", (self.number(0, 1), 0, ndim - 1)))
        return anywhere[self.number(0, len(anywhere))]()

    def another_shape(self) -> tuple[int, ...]:
        left, sizes = self.theirs.numel(), []
        while left > 1:
            divisors = [size for size in range(2, left + 1) if left % size == 0]
            sizes.append(divisors[self.number(0, len(divisors))])
            left //= sizes[-1]
        for _ in range(self.number(0, 3)):
            sizes.insert(self.number(0, len(sizes) + 1), 1)
        return tuple(sizes)

    def larger_shape(self) -> tuple[int, ...]:
        grown = [self.number(1, 4) if size == 1 else -1 for size in self.theirs.shape]
        return (*(self.number(1, 3) for _ in range(self.number(0, 2))), *grown)

    def step(self) -> bool:
        """One more view on both sides; False where both refuse."""
        name, args = self.choose()
        self.done.append((name, args))
        try:
            theirs = self.theirs[args[0]] if name == "slice" else getattr(self.theirs, name)(*args)
        except RuntimeError as refused:
            with pytest.raises(RuntimeError, match=str(refused).split(" (")[0][:40]):
                getattr(self.mine, name)(*args)
            return False
        mine = self.mine[args[0]] if name == "slice" else getattr(self.mine, name)(*args)
        assert tuple(mine.shape) == tuple(theirs.shape), self.done
        assert mine.stride() == theirs.stride(), self.done
        assert mine.storage_offset() == theirs.storage_offset(), self.done
        assert mine.is_contiguous() == theirs.is_contiguous(), self.done
        aliases = mine._storage is self.mine._storage
        assert aliases == (theirs.untyped_storage()._cdata == self.theirs.untyped_storage()._cdata)
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy(), err_msg=str(self.done))
        self.mine, self.theirs = mine, theirs
        return self.theirs.numel() < 2000


@pytest.mark.parametrize("seed", range(300))
def test_chains_of_views_have_pytorchs_geometry(seed: int) -> None:
    chain = Chain(seed)
    for _ in range(6):
        if not chain.step():
            break


def test_view_shares_memory_and_version() -> None:
    base = zeros(2, 3)
    flat = base.view(6)
    flat[4] = 7.0
    assert base.tolist() == [[0, 0, 0], [0, 7, 0]]
    assert base._version == flat._version == 1
    assert flat._base is base
    assert flat._is_view()
    assert not base._is_view()
    assert flat.view(3, 2)._base is base


def test_diagonal_and_expand_are_windows_on_the_same_memory() -> None:
    square = zeros(2, 2)
    square.diagonal()[:] = 1.0
    assert square.tolist() == [[1, 0], [0, 1]]
    assert zeros(3, 1).expand(3, 4).stride() == (1, 0)


def test_reshape_copies_only_when_it_must() -> None:
    matrix = zeros(2, 3)
    assert matrix.reshape(6).data_ptr() == matrix.data_ptr()
    assert matrix.t().reshape(6).data_ptr() != matrix.data_ptr()


def test_contiguous_returns_self_or_a_recorded_row_major_copy() -> None:
    matrix = zeros(2, 3).requires_grad_()
    assert matrix.contiguous() is matrix
    copy = matrix.t().contiguous()
    assert copy.is_contiguous()
    assert copy.stride() == (2, 1)
    copy.sum().backward()
    assert matrix.grad is not None
    assert matrix.grad.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_clone_keeps_the_order_of_dense_memory() -> None:
    matrix = zeros(2, 3)
    assert matrix.t().clone().stride() == (1, 3)
    assert matrix.t().clone(memory_format=whygrad.contiguous_format).stride() == (2, 1)
    assert zeros(2, 6)[:, ::2].clone().stride() == (3, 1)
    assert zeros(3, 1).expand(3, 4).clone().stride() == (4, 1)


def test_geometry_of_a_tensor() -> None:
    part = zeros(4, 6)[1:, 2:]
    assert part.size() == part.shape == whygrad.Size([3, 4])
    assert part.size(-1) == 4
    assert part.stride() == (6, 1)
    assert part.stride(0) == 6
    assert part.storage_offset() == 8
    assert part.dim() == part.ndimension() == part.ndim == 2
    assert part.numel() == part.nelement() == 12
    assert part.element_size() == 4
    assert part.untyped_storage().nbytes() == 96
    assert part.data_ptr() == part.untyped_storage().data_ptr() + 32
    assert not part.is_contiguous()


def test_size_is_a_tuple_that_counts() -> None:
    size = whygrad.Size([2, 3])
    assert size.numel() == 6
    assert repr(size) == "whygrad.Size([2, 3])"
    assert isinstance(size[1:], whygrad.Size)
    assert isinstance(size + (1,), whygrad.Size)  # noqa: RUF005
    assert (1,) + size == (1, 2, 3)  # noqa: RUF005
    assert size * 2 == (2, 3, 2, 3)
    assert size == (2, 3)


def test_empty_tensors_report_row_major_strides() -> None:
    assert zeros(2, 0, 3).stride() == tuple(torch.zeros(2, 0, 3).stride())


def test_transposes() -> None:
    batch = zeros(2, 3, 4)
    assert tuple(batch.T.shape) == (4, 3, 2)
    assert tuple(batch.mT.shape) == (2, 4, 3)
    assert tuple(batch.mH.shape) == (2, 4, 3)
    assert tuple(zeros(2, 3).H.shape) == (3, 2)
    assert whygrad.tensor([[1 + 2j]]).H.tolist() == [[1 - 2j]]


def test_real_and_imaginary_parts_share_memory() -> None:
    number = whygrad.tensor([1 + 2j, 3 - 1j])
    assert number.real.tolist() == [1.0, 3.0]
    assert number.imag.tolist() == [2.0, -1.0]
    assert number.imag.data_ptr() == number.data_ptr() + 4
    assert zeros(2).real.shape == (2,)


def test_view_as_another_dtype_of_the_same_width() -> None:
    ones = whygrad.ones(2)
    bits = ones.view(whygrad.int32)
    assert bits.dtype is whygrad.int32
    assert bits.tolist() == torch.ones(2).view(torch.int32).tolist()
    assert bits.data_ptr() == ones.data_ptr()


def test_unused_pieces_get_zero_gradient() -> None:
    x = zeros(5).requires_grad_()
    x.split(2)[1].sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0, 1, 1, 0]
    y = zeros(3, 2).requires_grad_()
    y.unbind()[2].sum().backward()
    assert y.grad is not None
    assert y.grad.tolist() == [[0, 0], [0, 0], [1, 1]]
    assert zeros(0, 3).requires_grad_().unbind() == ()


def test_a_reshape_that_copies_is_no_view() -> None:
    """As in PyTorch; so it can be detached in place, and its hooks survive a write."""
    for library in (whygrad, torch):
        value = library.ones(2, 3, requires_grad=True) * 1
        copy = value.mT.reshape(-1)
        assert copy._base is None
        copy.mul_(2)
        assert value.sum().item() == 6
        assert not copy.detach_().requires_grad


def test_as_strided_of_a_view_may_show_more_of_its_base() -> None:
    """Every element shown gets its gradient; PyTorch drops those outside the view."""
    leaf = whygrad.arange(4.0).reshape(2, 2).requires_grad_()
    shown = (leaf * 1).select(-1, 0).as_strided((2,), (1,))
    shown.add_(1)
    (shown * whygrad.tensor([1.0, 10.0])).sum().backward()
    assert leaf.grad.tolist() == [[1.0, 10.0], [0.0, 0.0]]


def test_as_strided_counts_from_the_start_of_the_storage() -> None:
    numbers = whygrad.arange(6.0)
    assert numbers[2:].as_strided((2,), (2,)).tolist() == [2, 4]
    assert numbers[2:].as_strided((2,), (2,), 0).tolist() == [0, 2]


REFUSALS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: zeros(2, 3).view(7), RuntimeError, r"shape '\[7\]' is invalid for input of size 6"),
    (lambda: zeros(2, 3).view(-1, -1), RuntimeError, "only one dimension can be inferred"),
    (lambda: zeros(2, 3).view(-2, 3), RuntimeError, "invalid shape dimension -2 at index 0"),
    (lambda: zeros(0, 3).view(-1, 0), RuntimeError, "size -1 can be any value and is ambiguous"),
    (lambda: zeros(2, 3).t().view(6), RuntimeError, "view size is not compatible with input"),
    (lambda: zeros(2, 3).view(), TypeError, "missing 1 required positional argument"),
    (lambda: zeros(2, 3).view(whygrad.int64), RuntimeError, "different element sizes"),
    (lambda: zeros(2, 3).reshape(4, -1), RuntimeError, r"shape '\[4, -1\]' is invalid"),
    (lambda: zeros(2, 3).expand(3), RuntimeError, "number of sizes provided .1. must be greater"),
    (lambda: zeros(2, 3).expand(4, 3), RuntimeError, "must match the existing size .2. at non-"),
    (lambda: zeros(3).expand(-1, 3), RuntimeError, "isn't allowed in a leading, non-existing"),
    (lambda: zeros(1).expand(-2), RuntimeError, "size -2 at dimension 0 is negative"),
    (lambda: whygrad.broadcast_tensors(zeros(2), zeros(3)), RuntimeError, "cannot be broadcast"),
    (lambda: zeros(2).squeeze(3), IndexError, "Dimension out of range"),
    (lambda: zeros(2, 3).unsqueeze(4), IndexError, r"in range of \[-3, 2\], but got 4"),
    (lambda: zeros(2, 3, 4).t(), RuntimeError, "<= 2 dimensions, but self is 3D"),
    (lambda: zeros(3).mT, RuntimeError, "only supported on matrices or batches of matrices"),
    (lambda: zeros(3).adjoint(), RuntimeError, "only supported on matrices or batches"),
    (lambda: zeros(2, 3, 4).H, RuntimeError, "tensor.H is only supported on matrices"),
    (lambda: zeros(2, 3).permute(0), RuntimeError, r"input.dim\(\) = 2 is not equal to len"),
    (lambda: zeros(2, 3).permute(0, 0), RuntimeError, "duplicate dims are not allowed"),
    (lambda: zeros(2, 3).movedim(0, (1,)), TypeError, "two integers or two tuples"),
    (lambda: zeros(2, 3).movedim((0, 1), (1,)), RuntimeError, "same number of dims as destin"),
    (lambda: zeros(2, 3).flatten(1, 0), RuntimeError, "start_dim cannot come after end_dim"),
    (lambda: zeros(2, 6).unflatten(1, (4, 2)), RuntimeError, "don't multiply up to the size"),
    (lambda: zeros(2, 6).unflatten(1, ()), RuntimeError, "sizes must be non-empty"),
    (lambda: zeros(2, 3).narrow(0, 3, 1), IndexError, "start out of range"),
    (lambda: zeros(2, 3).narrow(0, 1, 2), RuntimeError, r"exceeds dimension size \(2\)"),
    (lambda: zeros(2, 3).narrow(0, 1, -1), RuntimeError, "length must be non-negative"),
    (lambda: zeros().narrow(0, 0, 0), RuntimeError, "cannot be applied to a 0-dim tensor"),
    (lambda: zeros().select(0, 0), IndexError, "cannot be applied to a 0-dim tensor"),
    (lambda: zeros(2, 3).select(0, 2), IndexError, r"index 2 out of range for tensor of size"),
    (lambda: zeros(2, 3).diagonal(0, 1, 1), RuntimeError, "cannot be identical 1, 1"),
    (lambda: zeros(2).unfold(0, 3, 1), RuntimeError, "maximum size for tensor at dimension 0 is 2"),
    (lambda: zeros(2).unfold(0, 1, 0), RuntimeError, "step is 0 but must be > 0"),
    (lambda: zeros(2).unfold(0, -1, 1), RuntimeError, "size is -1 but must be >= 0"),
    (lambda: zeros(2).imag, RuntimeError, "imag is not implemented for tensors with non-complex"),
    (lambda: zeros(2).clone(memory_format="C"), TypeError, "memory format does not exist"),
    (
        lambda: zeros(2).contiguous(memory_format=whygrad.preserve_format),
        RuntimeError,
        "preserve memory format is unsupported",
    ),
    (lambda: zeros(2).size(1), IndexError, "Dimension out of range"),
    (lambda: zeros().stride(0), IndexError, "tensor has no dimensions"),
    (lambda: zeros(6).as_strided((2, 2), (2, 1), 3), RuntimeError, "out of bounds for storage"),
    (lambda: zeros(6).as_strided((2,), (-1,)), RuntimeError, "Negative strides are not supported"),
    (lambda: zeros(6).as_strided((2,), (1, 2)), RuntimeError, "mismatch in length of strides"),
    (lambda: zeros(6).as_strided((2,), (1,), -1), RuntimeError, "invalid storage offset -1"),
    (
        lambda: zeros(2).requires_grad_().expand(3, 2).as_strided((2,), (1,)),
        RuntimeError,
        "several elements of the input share memory",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSALS, ids=[row[2] for row in REFUSALS])
def test_refusals(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
