"""Sparse layouts against PyTorch and finite differences; errors by their text."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.autograd import gradcheck, gradgradcheck
from whygrad.tensor import Tensor

# PyTorch calls its CSR layout a beta feature, once per process.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse (CSR|invariant)")

INDICES = [[0, 1, 1, 2], [2, 0, 2, 1]]
REPEATED = [[0, 1, 1, 0], [2, 0, 2, 2]]
VALUES = [3.0, -4.0, 5.0, 7.0]


def coo(library: Any, indices: Any = INDICES, size: Any = (3, 3)) -> Any:
    return library.sparse_coo_tensor(indices, VALUES, size, dtype=library.float64)


def leaf(library: Any, layout: str, indices: Any = INDICES) -> Any:
    made = coo(library, indices)
    if layout == "dense":
        made = made.to_dense()
    if layout == "coalesced":
        made = made.coalesce()
    if layout == "csr":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = made.to_sparse_csr()
    return made.detach().requires_grad_()


def dense(library: Any, *shape: int) -> Any:
    numbers = np.linspace(-1.0, 2.3, int(np.prod(shape))).reshape(shape)
    return library.from_numpy(numbers).requires_grad_()


def plain(value: Any) -> Any:
    """A tensor of either library, of any layout, as a dense array."""
    return value.detach().to_dense().numpy()


def on_pattern(gradient: Any, sparse: Any) -> Any:
    """PyTorch sometimes gives a dense gradient for a sparse tensor; only the pattern counts."""
    stored = plain(sparse) != 0
    return np.where(stored, plain(gradient), 0.0)


Program = Callable[[Any, Any, Any], Any]
PROGRAMS: dict[str, Program] = {
    "s @ matrix": lambda lib, s, d: s @ d,
    "mm": lambda lib, s, d: lib.mm(s, d),
    "sparse.mm": lambda lib, s, d: lib.sparse.mm(s, d),
    "s @ vector": lambda lib, s, d: s @ d[:, 0],
    "mv": lambda lib, s, d: lib.mv(s, d[:, 1]),
    "matrix @ s": lambda lib, s, d: d.t() @ s,
    "addmm": lambda lib, s, d: lib.sparse.addmm(d, s, d, beta=0.5, alpha=2.0),
    "to_dense": lambda lib, s, d: s.to_dense(),
    "values": lambda lib, s, d: s.coalesce().values() if s.layout == lib.sparse_coo else s.values(),
    "sum": lambda lib, s, d: s.sum(),
    "s + s": lambda lib, s, d: s + s,
    "s - s": lambda lib, s, d: s - 2 * s,
    "matrix + s": lambda lib, s, d: d @ d.t() + s,
    "s * number": lambda lib, s, d: s * 2.5,
    "s / number": lambda lib, s, d: s / 4,
    "s * s": lambda lib, s, d: s * s,
    "neg": lambda lib, s, d: -s,
    "sin": lambda lib, s, d: s.sin(),
    "abs": lambda lib, s, d: s.abs(),
    "square": lambda lib, s, d: lib.square(s),
    "relu": lambda lib, s, d: s.relu(),
    "double": lambda lib, s, d: s.to(lib.float32).to(lib.float64),
    "clone": lambda lib, s, d: s.clone(),
    "to_sparse": lambda lib, s, d: s.to_sparse(),
}  # fmt: skip
COO_PROGRAMS: dict[str, Program] = {
    "t": lambda lib, s, d: s.t(),
    "transpose": lambda lib, s, d: s.transpose(0, 1),
    "permute": lambda lib, s, d: s.permute(1, 0),
    "coalesce": lambda lib, s, d: s.coalesce(),
    "sparse.sum": lambda lib, s, d: lib.sparse.sum(s),
    "sparse.sum over rows": lambda lib, s, d: lib.sparse.sum(s, 0),
    "sparse.sum over a negative dim": lambda lib, s, d: lib.sparse.sum(s, -1),
    "s @ s": lambda lib, s, d: lib.sparse.mm(s, s),
    "s * matrix": lambda lib, s, d: s * (d @ d.t()),
    "other pattern": lambda lib, s, d: s + s.t(),
    "to_csr": lambda lib, s, d: s.to_sparse_csr(),
}


def run(library: Any, program: Program, layout: str, indices: Any) -> tuple[Any, Any, Any]:
    """Result, gradient of the sparse leaf, gradient of the dense one."""
    s, d = leaf(library, layout, indices), dense(library, 3, 2)
    result = program(library, s, d)
    weights = library.from_numpy(np.linspace(0.5, 1.5, int(np.prod(result.shape))))
    (result.to_dense() * weights.reshape(tuple(result.shape))).sum().backward()
    return result, s.grad, d.grad


def reference(program: Program, layout: str, indices: Any) -> tuple[Any, Any, Any]:
    """PyTorch on the same layout; on dense tensors where it has no sparse gradient."""
    try:
        return run(torch, program, layout, indices)
    except (RuntimeError, NotImplementedError):
        return run(torch, program, "dense", indices)


def compare(program: Program, layout: str, indices: Any) -> None:
    mine, my_grad, my_dense_grad = run(whygrad, program, layout, indices)
    theirs, their_grad, their_dense_grad = reference(program, layout, indices)
    assert tuple(mine.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(plain(mine), plain(theirs), atol=1e-14)
    stored = coo(torch, indices)
    assert my_grad.layout in (whygrad.sparse_coo, whygrad.sparse_csr)
    np.testing.assert_allclose(on_pattern(my_grad, stored), on_pattern(their_grad, stored))
    assert (my_dense_grad is None) == (their_dense_grad is None)
    if my_dense_grad is not None:
        np.testing.assert_allclose(plain(my_dense_grad), plain(their_dense_grad), atol=1e-14)


@pytest.mark.parametrize("indices", [INDICES, REPEATED], ids=["distinct", "repeated"])
@pytest.mark.parametrize("layout", ["coo", "coalesced", "csr"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_matches_pytorch(name: str, layout: str, indices: Any) -> None:
    compare(PROGRAMS[name], layout, indices)


@pytest.mark.parametrize("indices", [INDICES, REPEATED], ids=["distinct", "repeated"])
@pytest.mark.parametrize("layout", ["coo", "coalesced"])
@pytest.mark.parametrize("name", COO_PROGRAMS)
def test_coordinates_match_pytorch(name: str, layout: str, indices: Any) -> None:
    compare(COO_PROGRAMS[name], layout, indices)


@pytest.mark.parametrize("name", [*PROGRAMS, *COO_PROGRAMS])
def test_finite_differences_through_the_values(name: str) -> None:
    program = (PROGRAMS | COO_PROGRAMS)[name]

    def function(values: Tensor, d: Tensor) -> Tensor:
        s = whygrad.sparse_coo_tensor(REPEATED, values, (3, 3))
        result: Tensor = program(whygrad, s, d).to_dense()
        return result

    inputs = [whygrad.tensor(VALUES, dtype=whygrad.float64).requires_grad_(), dense(whygrad, 3, 2)]
    if name == "double":
        return  # float32 in between is too coarse for differences
    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradgradcheck(function, inputs)


def test_gradient_of_a_sparse_factor_lives_on_its_pattern() -> None:
    s, d = leaf(whygrad, "coalesced"), dense(whygrad, 3, 2)
    (s @ d).sum().backward()
    assert s.grad.layout is whygrad.sparse_coo
    assert s.grad._nnz() == 4
    np.testing.assert_array_equal(s.grad.indices().numpy(), s.detach().indices().numpy())


def test_gradients_accumulate_over_uses_and_calls() -> None:
    s, d = leaf(whygrad, "csr"), dense(whygrad, 3, 2)
    (s @ d + s @ d).sum().backward()
    (s @ d).sum().backward()
    once = leaf(whygrad, "csr")
    (once @ d).sum().backward()
    np.testing.assert_allclose(plain(s.grad), 3 * plain(once.grad))
    assert s.grad.layout is whygrad.sparse_csr


def test_grad_returns_sparse_gradients() -> None:
    s, d = leaf(whygrad, "coo"), dense(whygrad, 3, 2)
    for_s, for_d = whygrad.autograd.grad((s @ d).sum(), [s, d])
    assert for_s is not None
    assert for_d is not None
    assert for_s.layout is whygrad.sparse_coo
    np.testing.assert_allclose(for_d.numpy(), plain(s).T @ np.ones((3, 2)))


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_sparse_root_takes_a_sparse_gradient(layout: str) -> None:
    s = leaf(whygrad, layout)
    y = s * 3.0
    y.backward(y.detach())
    np.testing.assert_allclose(plain(s.grad), 9 * plain(s))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64", "int32", "bool"])
def test_any_dtype(dtype: str) -> None:
    chosen, theirs = getattr(whygrad, dtype), getattr(torch, dtype)
    s = whygrad.sparse_coo_tensor(INDICES, [1, 0, 1, 1], (3, 3)).to(chosen)
    t = torch.sparse_coo_tensor(INDICES, [1, 0, 1, 1], (3, 3)).to(theirs)
    assert s.dtype is chosen
    np.testing.assert_array_equal(
        s.to_dense().to(whygrad.complex64).numpy(), t.to_dense().to(torch.complex64).numpy()
    )


def test_half_precision_product() -> None:
    s = whygrad.sparse_coo_tensor(
        INDICES, VALUES, (3, 3), dtype=whygrad.float16, requires_grad=True
    )
    (s @ whygrad.ones(3, 2, dtype=whygrad.float16)).sum().backward()
    assert s.grad is not None
    assert s.grad.dtype is whygrad.float16
    np.testing.assert_array_equal(s.grad._values().numpy(), np.full(4, 2.0, np.float16))


def test_three_dimensions() -> None:
    x = whygrad.from_numpy(np.arange(24.0).reshape(2, 3, 4) % 5).requires_grad_()
    s = x.to_sparse()
    assert (s.sparse_dim(), s.dense_dim(), s._nnz()) == (3, 0, 19)
    np.testing.assert_array_equal(s.transpose(0, 2).to_dense().detach(), x.transpose(0, 2).detach())
    np.testing.assert_array_equal(s.sum((0, 2)).to_dense().detach(), x.sum((0, 2)).detach())
    kept = s.sum(1, keepdim=True)
    assert kept.shape == (2, 1, 4)
    kept.to_dense().sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), (x.detach().numpy() != 0).astype(float))


def test_accessors() -> None:
    s = coo(whygrad, REPEATED)
    assert s.is_sparse
    assert not s.is_sparse_csr
    assert not s.is_coalesced()
    assert s._nnz() == 4
    c = s.coalesce()
    assert c.is_coalesced()
    assert c.coalesce() is c
    assert c.indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert c.values().tolist() == [10.0, -4.0, 5.0]
    r = s.to_sparse_csr()
    assert r.is_sparse_csr
    assert not r.is_sparse
    assert r.crow_indices().tolist() == [0, 1, 3, 3]
    assert r.col_indices().tolist() == [2, 0, 2]
    assert s.to_sparse_coo() is s
    assert r.to_sparse(layout=whygrad.sparse_csr) is r
    x = whygrad.ones(2, 3)
    assert x.to_dense() is x
    assert (x.sparse_dim(), x.dense_dim()) == (0, 2)
    assert s.to_dense(dtype=whygrad.float32).dtype is whygrad.float32


def test_values_share_memory() -> None:
    s = coo(whygrad)
    s._values().mul_(2.0)
    np.testing.assert_array_equal(s._values().numpy(), 2 * np.array(VALUES))
    leaf_ = leaf(whygrad, "coalesced")
    loss = (leaf_ @ dense(whygrad, 3, 2)).sum()
    leaf_._values().mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_empty() -> None:
    zeros = whygrad.sparse_coo_tensor((2, 3))
    assert zeros._nnz() == 0
    np.testing.assert_array_equal((zeros @ whygrad.ones(3, 2)).numpy(), np.zeros((2, 2)))
    np.testing.assert_array_equal((zeros + zeros).to_dense().numpy(), np.zeros((2, 3)))
    assert zeros.sum().item() == 0.0


def test_repr_is_pytorchs() -> None:
    mine, theirs = coo(whygrad).float().requires_grad_(), coo(torch).float().requires_grad_()
    assert repr(mine).replace("whygrad", "torch") == repr(theirs)
    mine, theirs = mine.detach().to_sparse_csr(), theirs.detach().to_sparse_csr()
    assert repr(mine).replace("whygrad", "torch") == repr(theirs)


ERRORS: dict[str, tuple[Callable[[Any], Any], type[Exception], list[str]]] = {
    "no kernel": (
        lambda s: whygrad.exp(s),
        RuntimeError,
        ["exp has no kernel for sparse_coo", ".to_dense()"],
    ),
    "uncoalesced values": (
        lambda s: s.values(),
        RuntimeError,
        ["Cannot get values on an uncoalesced tensor", ".coalesce()"],
    ),
    "uncoalesced indices": (
        lambda s: s.indices(),
        RuntimeError,
        ["Cannot get indices on an uncoalesced tensor", "_indices()"],
    ),
    "add a number": (lambda s: s + 1, RuntimeError, ["fill in every zero", "to_dense()"]),
    "add shapes": (
        lambda s: s + whygrad.ones(2, 2).to_sparse(),
        RuntimeError,
        ["expected sizes of 'self' and 'other' to match", "to_dense()"],
    ),
    "mul shapes": (
        lambda s: s * whygrad.ones(2, 2).to_sparse(),
        RuntimeError,
        ["mul: expected sizes to match", "to_dense()"],
    ),
    "div by sparse": (
        lambda s: s / s,
        RuntimeError,
        ["Sparse division requires a scalar or zero-dim dense tensor divisor"],
    ),
    "negative power": (lambda s: s**-1, RuntimeError, ["keeps the zeros", "to_dense()"]),
    "inner sizes": (
        lambda s: s @ whygrad.ones(2, 2, dtype=whygrad.float64),
        RuntimeError,
        ["mat1 and mat2 shapes cannot be multiplied (3x3 and 2x2)"],
    ),
    "dtypes": (
        lambda s: s @ whygrad.ones(3, 2, dtype=whygrad.float32),
        RuntimeError,
        ["expected m1 and m2 to have the same dtype"],
    ),
    "batched": (
        lambda s: s @ whygrad.ones(2, 3, 2, dtype=whygrad.float64),
        RuntimeError,
        ["for matrices and vectors", "one matrix at a time"],
    ),
    "crow of coo": (
        lambda s: s.crow_indices(),
        RuntimeError,
        ["crow_indices expected sparse row compressed tensor layout but got sparse_coo"],
    ),
    "coalesce strided": (
        lambda s: whygrad.ones(2).coalesce(),
        RuntimeError,
        ["coalesce expected sparse", "got strided"],
    ),
    "coalesce csr": (
        lambda s: s.to_sparse_csr().coalesce(),
        RuntimeError,
        ["coalesce expected sparse coordinate tensor layout but got sparse_csr"],
    ),
    "indices of csr": (
        lambda s: s.to_sparse_csr().indices(),
        RuntimeError,
        ["indices expected sparse coordinate tensor layout but got sparse_csr"],
    ),
    "csr of 3-d": (
        lambda s: whygrad.ones(2, 2, 2).to_sparse_csr(),
        RuntimeError,
        ["expected 2 dimensions, got 3", "to_sparse_coo()"],
    ),
    "hybrid": (
        lambda s: whygrad.ones(2, 2).to_sparse(1),
        RuntimeError,
        ["hybrid tensors", "leave sparse_dim out"],
    ),
    "0-d": (lambda s: whygrad.tensor(1.0).to_sparse(), RuntimeError, ["has no coordinates"]),
    "meta": (
        lambda s: whygrad.ones(2, device="meta").to_sparse(),
        RuntimeError,
        ["depends on the data"],
    ),
    "move": (lambda s: s.to("meta"), RuntimeError, ["only strided tensors move", "to_dense()"]),
    "csr sum": (
        lambda s: s.to_sparse_csr().sum(0),
        RuntimeError,
        ["keepdim=False is unsupported", "keepdim=True"],
    ),
    "sparse.sum of strided": (
        lambda s: whygrad.sparse.sum(whygrad.ones(2)),
        RuntimeError,
        ["sparse.sum takes a sparse tensor"],
    ),
    "sparse_mask": (
        lambda s: whygrad.ones(2, 2).sparse_mask(s),
        RuntimeError,
        ["incompatible sizes", "(2, 2)"],
    ),
    "numpy": (lambda s: s.numpy(), TypeError, ["to_dense()"]),
    "tolist": (lambda s: s.tolist(), TypeError, ["to_dense()"]),
    "integer leaf": (
        lambda s: s.to(whygrad.int64).requires_grad_(),
        RuntimeError,
        ["floating point"],
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_cause_and_fix(name: str) -> None:
    action, kind, texts = ERRORS[name]
    with pytest.raises(kind) as caught:
        action(coo(whygrad, REPEATED))
    for text in texts:
        assert text in str(caught.value)


BAD_COO: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "out of range": (
        ([[0, 5], [1, 0]], [1.0, 2.0], (2, 2)), {},
        "size is inconsistent with indices: for dim 0, size is 2 but found index 5",
    ),
    "negative": (([[0, -1], [1, 0]], [1.0, 2.0], (2, 2)), {}, "found negative index -1 for dim 0"),
    "counts": (
        ([[0, 1], [1, 0]], [1.0, 2.0, 3.0], (2, 2)), {},
        "nnz from indices: 2, nnz from values: 3",
    ),
    "dimensions": (([[0, 1], [1, 0]], [1.0, 2.0], (2, 2, 2)), {}, "len(size) = 3, sparse_dim = 2"),
    "flat indices": (([0, 1], [1.0, 2.0], (2, 2)), {}, "indices must be sparse_dim x nnz"),
    "hybrid": (([[0, 1]], [[1.0], [2.0]], (2, 1)), {}, "hybrid tensors"),
    "not coalesced": (
        ([[0, 0], [1, 0]], [1.0, 2.0], (2, 2)), {"is_coalesced": True},
        "cannot set is_coalesced to true",
    ),
    "device": (([[0]], [1.0], (1,)), {"device": "meta"}, "sparse layouts exist on cpu only"),
}  # fmt: skip
BAD_CSR: dict[str, tuple[tuple[Any, ...], str]] = {
    "end": (([0, 1, 5], [0, 1], [1.0, 2.0], (2, 2)), "`crow_indices[..., -1] == nnz`"),
    "rows": (([0, 1], [0, 1], [1.0, 2.0], (2, 2)), "the number of rows + 1 (=3), but got 2"),
    "columns": (([0, 1, 2], [0, 7], [1.0, 2.0], (2, 2)), "`0 <= col_indices < ncols`"),
    "counts": (([0, 1, 2], [0, 1], [1.0, 2.0, 3.0], (2, 2)), "must be equal to nnz (=3)"),
    "decreasing": (([0, 2, 1], [0], [1.0], (2, 2)), "crow_indices[..., 1:]"),
    "unsorted": (([0, 2, 2], [1, 0], [1.0, 2.0], (2, 2)), "sorted and distinct within each row"),
    "repeated": (([0, 2, 2], [1, 1], [1.0, 2.0], (2, 2)), "sorted and distinct within each row"),
    "start": (([1, 2, 2], [0, 1], [1.0, 2.0], (2, 2)), "`crow_indices[..., 0] == 0`"),
    "cube": (([0, 1], [0], [1.0], (1, 1, 1)), "compressed rows are for matrices"),
}


@pytest.mark.parametrize("name", BAD_COO)
def test_coordinates_are_checked(name: str) -> None:
    args, kwargs, text = BAD_COO[name]
    with pytest.raises(RuntimeError) as caught:
        whygrad.sparse_coo_tensor(*args, **kwargs)
    assert text in str(caught.value)


@pytest.mark.parametrize("name", BAD_CSR)
def test_rows_are_checked(name: str) -> None:
    args, text = BAD_CSR[name]
    with pytest.raises(RuntimeError) as caught:
        whygrad.sparse_csr_tensor(*args)
    assert text in str(caught.value)


@pytest.mark.parametrize("layout", ["coo", "coalesced", "csr"])
def test_nothing_leaks(layout: str) -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(whygrad, layout)
        coo(whygrad, REPEATED).sparse_mask(x)
        x.to_dense().sum().backward()
        watched = [weakref.ref(each._array.pattern) for each in (x, x.grad)]
        del x
        assert [each() for each in watched] == [None, None]
    finally:
        gc.enable()


def test_scipy_waits_until_it_is_needed() -> None:
    import subprocess
    import sys

    program = (
        "import sys, whygrad; s = whygrad.ones(2, 2).to_sparse(); (s + s).sum();"
        "assert 'scipy' not in sys.modules; s @ whygrad.ones(2, 2);"
        "assert 'scipy.sparse' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_in_place_is_refused() -> None:
    s = coo(whygrad)
    with pytest.raises(RuntimeError, match="in-place writes need a strided tensor") as caught:
        s.mul_(2.0)
    assert "x._values()" in str(caught.value)
    np.testing.assert_array_equal(s._values().numpy(), VALUES)
