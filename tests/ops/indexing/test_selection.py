"""Selecting, placing, scattering and searching: overloads, repeats, in-place twins, error texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.nn import functional as F


def leaf(values: Any, library: Any = whygrad) -> Any:
    return library.tensor(values, dtype=library.float64, requires_grad=True)


def gradients(library: Any, function: Any, *arrays: Any) -> list[Any]:
    leaves = [leaf(array, library) for array in arrays]
    out = function(library, *leaves)
    (out * out).sum().backward()
    return [out.detach().numpy(), *(each.grad.numpy() for each in leaves)]


def assert_as_in_pytorch(function: Any, *arrays: Any) -> None:
    pairs = zip(gradients(whygrad, function, *arrays), gradients(torch, function, *arrays))
    for mine, theirs in pairs:
        np.testing.assert_allclose(mine, theirs, 1e-12, 1e-12)


X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
SOURCE = np.array([[2.0, 0.0, 1.5], [3.0, -1.0, 0.0]])


# --- where ------------------------------------------------------------------------------------


def test_where_dtypes_follow_pytorch() -> None:
    condition, wanted = whygrad.tensor([True, False]), torch.tensor([True, False])
    for a, b in ((1, 2), (1, 0.5), (True, 2), (True, False)):
        mine, theirs = whygrad.where(condition, a, b), torch.where(wanted, a, b)
        assert f"torch.{mine.dtype.name}" == str(theirs.dtype)
    assert whygrad.where(condition, whygrad.tensor([1, 2]), 0.5).dtype is whygrad.float32


def test_where_alone_is_nonzero() -> None:
    rows, columns = whygrad.where(whygrad.tensor(X) > 0)
    assert rows.tolist() == [0, 0, 1, 1]
    assert columns.tolist() == [0, 2, 0, 1]


def test_where_as_a_method_chooses_from_itself() -> None:
    x = whygrad.tensor(X)
    np.testing.assert_array_equal(x.where(x > 0, 0.0).numpy(), np.where(X > 0, X, 0))


def test_where_takes_byte_conditions() -> None:
    condition = whygrad.tensor([1, 0], dtype=whygrad.uint8)
    assert whygrad.where(condition, 1, 2).tolist() == [1, 2]


# --- repeats, zeros and ties ------------------------------------------------------------------


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce_with_repeats_and_zeros(reduce: str, include_self: bool) -> None:
    def call(library: Any, x: Any, source: Any) -> Any:
        at = library.tensor([[0, 0, 1], [2, 2, 2]])
        return library.scatter_reduce(x, 1, at, source, reduce, include_self=include_self)

    assert_as_in_pytorch(call, X + 0.1, SOURCE)
    if include_self:
        assert_as_in_pytorch(call, np.full((2, 3), 2.0), np.full((2, 3), 2.0))


def test_an_excluded_input_takes_no_part_in_a_tie() -> None:
    source = leaf([2.0, 1.0])
    at = whygrad.tensor([0, 0])
    x = whygrad.tensor([2.0]).double()
    x.scatter_reduce(0, at, source, "amax", include_self=False).sum().backward()
    assert source.grad.tolist() == [1.0, 0.0]


def test_scatter_reduce_means_of_integers_round_down() -> None:
    x, source = [[0, -1, -2, -3]], [[5, -20]]
    for include_self in (True, False):
        mine, theirs = (
            library.scatter_reduce(
                library.tensor(x), 1, library.tensor([[1, 1]]), library.tensor(source),
                "mean", include_self=include_self,
            )
            for library in (whygrad, torch)
        )  # fmt: skip
        assert mine.tolist() == theirs.tolist()
    extreme = whygrad.scatter_reduce(
        whygrad.tensor(x), 1, whygrad.tensor([[1, 1]]), whygrad.tensor(source), "amax",
        include_self=False,
    )  # fmt: skip
    assert extreme.tolist() == [[0, 5, -2, -3]]


def test_scatter_with_reduce() -> None:
    x, index, source = whygrad.tensor(X), whygrad.tensor([[1, 1]]), whygrad.tensor([[5.0, 2.0]])
    source = source.double()
    assert x.scatter(1, index, source, reduce="add")[0].tolist() == [1.0, 5.0, 3.0]
    assert x.scatter(1, index, source, reduce="multiply")[0].tolist() == [1.0, -20.0, 3.0]
    assert x.scatter(1, index, 3, reduce="multiply")[0].tolist() == [1.0, -18.0, 3.0]
    assert x.scatter(1, index, value=9)[0].tolist() == [1.0, 9.0, 3.0]


def test_only_the_value_that_stays_gets_a_gradient() -> None:
    source = leaf([1.0, 2.0, 3.0])
    at = whygrad.tensor([1, 0, 1])
    for written in (
        whygrad.zeros(2).double().scatter(0, at, source),
        whygrad.zeros(2).double().index_copy(0, at, source),
        whygrad.zeros(2).double().put(at, source),
    ):
        source.grad = None
        assert written.tolist() == [2.0, 3.0]
        written.sum().backward()
        assert source.grad.tolist() == [0.0, 1.0, 1.0]


def test_a_source_larger_than_the_index_gets_zeros() -> None:
    source = leaf(np.ones((3, 3)))
    whygrad.zeros(2, 3).double().scatter_add(1, whygrad.tensor([[0, 0]]), source).sum().backward()
    assert source.grad.tolist() == [[1.0, 1.0, 0.0], [0.0] * 3, [0.0] * 3]


def test_int32_indices_and_empty_ones() -> None:
    x = whygrad.tensor(X)
    at = whygrad.tensor([0], dtype=whygrad.int32)
    assert x.index_select(0, at).tolist() == [X[0].tolist()]
    assert x.gather(1, at[None]).tolist() == [[1.0]]
    nothing = whygrad.zeros(0, dtype=whygrad.int64)
    assert x.gather(0, nothing).shape == (0,)
    assert x.scatter_add(0, nothing, whygrad.zeros(0).double()).tolist() == X.tolist()


def test_padding_rows_get_no_gradient() -> None:
    index = [[0, 2], [2, 1]]
    for padding in (None, 2, -1):
        grads = []
        for library, embedding in ((whygrad, F.embedding), (torch, torch.nn.functional.embedding)):
            weight = leaf(np.arange(6.0).reshape(3, 2), library)
            embedding(library.tensor(index), weight, padding_idx=padding).sum().backward()
            grads.append(weight.grad.tolist())
        assert grads[0] == grads[1]


def test_masked_fill_with_infinity() -> None:
    x = leaf(X)
    filled = x.masked_fill(x > 2, -np.inf)
    assert filled.exp().sum().item() == pytest.approx(np.exp(X[X <= 2]).sum())
    filled.exp().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(X > 2, 0, np.exp(X)))


# --- in place ---------------------------------------------------------------------------------

IN_PLACE = [
    ("scatter_", (1, [[0, 2]], [[5.0, 6.0]])),
    ("scatter_add_", (1, [[0, 0]], [[5.0, 6.0]])),
    ("scatter_reduce_", (1, [[0, 0]], [[5.0, 6.0]], "amax")),
    ("index_add_", (1, [0, 0], [[5.0, 6.0], [7.0, 8.0]])),
    ("index_copy_", (0, [1], [[5.0, 6.0, 7.0]])),
    ("index_fill_", (1, [0, 2], 3.0)),
    ("masked_fill_", ([[True, False, True]], 3.0)),
    ("masked_scatter_", ([[True, False, True]], [5.0, 6.0, 7.0, 8.0])),
    ("put_", ([0, -1], [5.0, 6.0])),
]


@pytest.mark.parametrize(("name", "args"), IN_PLACE)
def test_in_place_twins(name: str, args: tuple[Any, ...]) -> None:
    results = []
    for library in (whygrad, torch):
        x = leaf(X, library)
        y = x * 2
        converted = [
            library.tensor(arg, dtype=library.float64 if _is_float(arg) else None)
            if isinstance(arg, list)
            else arg
            for arg in args
        ]
        assert getattr(y, name)(*converted) is y
        (y * y).sum().backward()
        results.append((y.detach().numpy(), x.grad.numpy(), y._version))
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs)


def _is_float(values: Any) -> bool:
    return np.asarray(values).dtype.kind == "f"


# --- searching --------------------------------------------------------------------------------


def test_rows_are_searched_like_single_sequences() -> None:
    rng = np.random.default_rng(0)
    rows = np.sort(rng.integers(0, 6, (3, 4, 7)), axis=-1).astype(float)
    values = rng.integers(-1, 7, (3, 4, 5)).astype(float)
    for right in (False, True):
        mine = whygrad.searchsorted(whygrad.tensor(rows), whygrad.tensor(values), right=right)
        theirs = torch.searchsorted(torch.tensor(rows), torch.tensor(values), right=right)
        assert mine.tolist() == theirs.tolist()


def test_every_nan_is_distinct() -> None:
    assert whygrad.unique(whygrad.tensor([float("nan"), 1.0, float("nan")])).shape == (3,)


# --- errors -----------------------------------------------------------------------------------

WRONG = [
    (
        "lib.gather(x, 1, t([[4]]))",
        RuntimeError,
        "index 4 is out of bounds for dimension 1 with size 3",
    ),
    ("lib.gather(x, 1, t([[-1]]))", RuntimeError, "index -1 is out of bounds for dimension 1"),
    ("lib.gather(x, 1, t([0]))", RuntimeError, "must have the same number of dimensions as input"),
    (
        "lib.gather(x, 1, t([[0.0]]))",
        RuntimeError,
        "gather(): Expected dtype int32/int64 for index",
    ),
    (
        "lib.gather(x, 0, t([[0] * 5]))",
        RuntimeError,
        "Size does not match at dimension 1 expected index [1, 5]",
    ),
    ("lib.gather(x, 2, t([[0]]))", IndexError, "Dimension out of range"),
    (
        "lib.scatter_add(x, 1, t([[0]]), t([[1]]))",
        RuntimeError,
        "Expected self.dtype to be equal to src.dtype",
    ),
    (
        "lib.scatter_add(x, 1, t([[9]]), d([[1.0]]))",
        RuntimeError,
        "index 9 is out of bounds for dimension 1 with size 3",
    ),
    (
        "lib.scatter_add(x, 1, t([[0, 1]]), d([[1.0]]))",
        RuntimeError,
        "no larger size than src [1, 1]",
    ),
    (
        "lib.scatter(x, 1, t([[0]]), d(1.0))",
        RuntimeError,
        "same number of dimensions as src tensor",
    ),
    (
        "lib.scatter(x, 1, t([[0]]), d([[1.0]]), reduce='zzz')",
        RuntimeError,
        "reduce argument must be either add or multiply",
    ),
    ("lib.scatter(x, 1, t([[5]]), 1.0)", RuntimeError, "index 5 is out of bounds"),
    (
        "lib.scatter_reduce(x, 1, t([[0]]), d([[1.0]]), 'zzz')",
        RuntimeError,
        "must be either sum, prod, mean, amax or amin, got zzz",
    ),
    ("lib.index_select(x, 0, t([5]))", IndexError, "index out of range in self"),
    ("lib.index_select(x, 0, t([-1]))", IndexError, "index out of range in self"),
    ("lib.index_select(x, 0, t([[0]]))", IndexError, "Index is supposed to be a vector"),
    ("lib.index_select(x, 0, t([0.0]))", RuntimeError, "Expected dtype int32 or int64 for index"),
    (
        "lib.index_select(d(1.0), 0, t([0, 0]))",
        RuntimeError,
        "Index to scalar can have only 1 value",
    ),
    (
        "lib.index_add(x, 0, t([0]), d([[1.0] * 3] * 2))",
        RuntimeError,
        "Number of indices (1) should be equal to source.size(dim)",
    ),
    (
        "lib.index_add(x, 0, t([0]), d([[1.0]]))",
        RuntimeError,
        "source tensor shape must match self tensor shape",
    ),
    (
        "lib.index_add(x, 0, t([7]), d([[1.0] * 3]))",
        RuntimeError,
        "index 7 is out of bounds for dimension 0 with size 2",
    ),
    ("lib.index_add(x, 0, t([0]), t([[1.0] * 3]))", RuntimeError, "must have the same dtype"),
    (
        "lib.index_copy(x, 0, t([9]), d([[1.0] * 3]))",
        IndexError,
        "index 9 is out of bounds for dimension 0 with size 2",
    ),
    (
        "lib.index_copy(x, 0, t([0]), d([[1.0] * 3] * 2))",
        IndexError,
        "Number of indices (1) should be equal to source.size(dim)",
    ),
    (
        "lib.index_fill(x, 0, t([7]), 1.0)",
        IndexError,
        "index 7 is out of bounds for dimension 0 with size 2",
    ),
    (
        "lib.index_fill(x, 0, t([0]), d([1.0]))",
        RuntimeError,
        "only supports a 0-dimensional value tensor",
    ),
    ("lib.masked_fill(x, x, 1.0)", RuntimeError, "only supports boolean masks"),
    (
        "lib.masked_fill(x, x > 0, d([1.0]))",
        RuntimeError,
        "only supports a 0-dimensional value tensor",
    ),
    ("lib.masked_fill(x, x > 0, 1j)", RuntimeError, "without overflow"),
    ("lib.masked_select(x, x)", RuntimeError, "masked_select: expected BoolTensor for mask"),
    ("lib.masked_select(x, t([True, False]))", RuntimeError, "do not broadcast"),
    ("lib.masked_scatter(x, x > 0, d([1.0]))", RuntimeError, "Number of elements of source"),
    (
        "lib.masked_scatter(x, x > 0, t([1]))",
        RuntimeError,
        "expected self and source to have same dtype",
    ),
    ("lib.masked_scatter(x, x, d([1.0]))", RuntimeError, "only supports boolean masks"),
    ("lib.where(x, 1, 2)", RuntimeError, "where expected condition to be a boolean tensor"),
    ("lib.where(x > 0, x)", TypeError, "invalid combination of arguments"),
    ("lib.take(x, t([20]))", IndexError, "index 20 is out of bounds for dimension 0 with size 6"),
    ("lib.take(x, t([0.0]))", RuntimeError, "Expected dtype int32 or int64"),
    ("x.put(t([0]), d([1.0, 2.0]))", IndexError, "same number of elements"),
    ("x.put(t([0]), t([1]))", RuntimeError, "expected to have the same dtype"),
    ("lib.take_along_dim(x, t([0]), 1)", RuntimeError, "should have the same number of dimensions"),
    ("F.one_hot(t([0, 2]), 2)", RuntimeError, "Class values must be smaller than num_classes"),
    ("F.one_hot(t([-1]))", RuntimeError, "Class values must be non-negative"),
    ("F.one_hot(t([0.0]))", RuntimeError, "only applicable to index tensor of type LongTensor"),
    ("F.one_hot(t([0])[:0])", RuntimeError, "Can not infer total number of classes"),
    ("lib.bucketize(x, x)", RuntimeError, "boundaries tensor must be 1 dimension, but got dim(2)"),
    (
        "lib.searchsorted(x, 1.0)",
        RuntimeError,
        "can be a scalar only when boundaries tensor dimension is 1",
    ),
    (
        "lib.searchsorted(x, d([1.0]))",
        RuntimeError,
        "the first N-1 dimensions of boundaries tensor",
    ),
    ("lib.searchsorted(d(1.0), x)", RuntimeError, "should have positive dimension"),
    ("lib.searchsorted(x[0], x, side='zz')", RuntimeError, "side can only be 'left' or 'right'"),
    (
        "lib.searchsorted(x[0], x, side='left', right=True)",
        RuntimeError,
        "can't be set to opposites",
    ),
    ("F.embedding(t([0, 9]), x)", IndexError, "index out of range in self"),
    (
        "F.embedding(t([0]), x, padding_idx=9)",
        AssertionError,
        "Padding_idx must be within num_embeddings",
    ),
    ("F.embedding(t([0.0]), x)", RuntimeError, "Expected dtype int32 or int64"),
    ("F.embedding(t([0]), x[0])", RuntimeError, "'weight' must be 2-D"),
]


@pytest.mark.parametrize(("text", "kind", "phrase"), WRONG)
def test_errors_are_pytorchs_in_better_words(text: str, kind: type[Exception], phrase: str) -> None:
    for library, functional in ((torch, torch.nn.functional), (whygrad, F)):
        names = {
            "lib": library,
            "F": functional,
            "x": library.tensor(X),
            "t": library.tensor,
            "d": lambda values, library=library: library.tensor(values, dtype=library.float64),
        }
        with pytest.raises(kind) as caught:
            eval(text, names)
    assert phrase in str(caught.value)
    assert "fix:" in str(caught.value)


def test_product_with_a_zero_factor() -> None:
    """Exact at first order, refused at second: never a number that is wrong."""
    source = whygrad.tensor([2.0, 0.0, 5.0], dtype=whygrad.float64, requires_grad=True)
    index = whygrad.tensor([0, 0, 0])
    product = whygrad.ones(1, dtype=whygrad.float64).scatter_reduce(0, index, source, "prod")
    (first,) = whygrad.autograd.grad(product.sum(), source, create_graph=True)
    assert first.tolist() == [0.0, 10.0, 0.0]
    with pytest.raises(RuntimeError, match="a factor is 0"):
        first.sum().backward()
