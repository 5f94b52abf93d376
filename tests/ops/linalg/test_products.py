"""Products: what the samples cannot say, and every error by its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.ops.define import table
from whygrad.tensor import Tensor


def ones(*shape: int, dtype: Any = whygrad.float32) -> Tensor:
    return whygrad.ones(shape, dtype=dtype)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no common size": (
        lambda: ones(2, 3) @ ones(4, 5),
        RuntimeError,
        r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)(.|\n)*last size of a \(3\)",
    ),
    "first transposed": (
        lambda: ones(3, 2) @ ones(3, 5),
        RuntimeError,
        r"\(3x2 and 3x5\)(.|\n)*transpose the first: a\.mT @ b",
    ),
    "second transposed": (
        lambda: ones(2, 3) @ ones(5, 3),
        RuntimeError,
        r"\(2x3 and 5x3\)(.|\n)*transpose the second: a @ b\.mT",
    ),
    "swapped": (
        lambda: ones(2, 3) @ ones(5, 2),
        RuntimeError,
        r"\(2x3 and 5x2\)(.|\n)*swap the arguments: b @ a",
    ),
    "vectors": (lambda: ones(3) @ ones(4), RuntimeError, "inconsistent tensor size"),
    "matrix and vector": (
        lambda: ones(2, 3) @ ones(4),
        RuntimeError,
        r"size mismatch, got mat \(2x3\), vec \(4\)",
    ),
    "folded batch": (lambda: ones(2, 2, 3) @ ones(4, 2), RuntimeError, r"\(2x3 and 4x2\)"),
    "batches": (
        lambda: ones(2, 2, 3) @ ones(3, 3, 2),
        RuntimeError,
        r"batch dimensions \(2,\) and \(3,\) do not broadcast",
    ),
    "a number": (lambda: ones(2) @ 2.0, TypeError, r"takes two tensors(.|\n)*use \*"),
    "0-d": (lambda: ones() @ ones(2), RuntimeError, "at least 1D, but they are 0D and 1D"),
    "dtypes": (
        lambda: ones(2, 3) @ ones(3, 2, dtype=whygrad.float64),
        RuntimeError,
        "same dtype, but got: float32 != float64",
    ),
    "bool": (
        lambda: ones(2, 2, dtype=whygrad.bool) @ ones(2, 2, dtype=whygrad.bool),
        RuntimeError,
        "not implemented for 'Bool'",
    ),
    "meta": (
        lambda: ones(2, 3).to("meta") @ ones(4, 5).to("meta"),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied",
    ),
    "meta batches": (
        lambda: ones(2, 2, 3).to("meta") @ ones(3, 3, 5).to("meta"),
        RuntimeError,
        "do not broadcast",
    ),
    "mm": (lambda: whygrad.mm(ones(2), ones(2)), RuntimeError, "self must be a matrix"),
    "bmm": (lambda: whygrad.bmm(ones(2, 3), ones(2, 3)), RuntimeError, "must be a 3D tensor"),
    "bmm batches": (
        lambda: whygrad.bmm(ones(2, 3, 4), ones(3, 4, 5)),
        RuntimeError,
        r"first two dimensions of batch2 tensor to be: \[2, 4\] but got: \[3, 4\]",
    ),
    "mv": (lambda: whygrad.mv(ones(2, 3), ones(3, 3)), RuntimeError, "vec must be a vector"),
    "dot": (
        lambda: whygrad.dot(ones(2, 3), ones(2)),
        RuntimeError,
        "1D tensors expected, but got 2D and 1D tensors",
    ),
    "outer": (
        lambda: whygrad.outer(ones(3), ones(2, 2)),
        RuntimeError,
        "Expected 1-D argument vec2, but got 2-D",
    ),
    "addmm shape": (
        lambda: whygrad.addmm(ones(3), ones(2, 2), ones(2, 2)),
        RuntimeError,
        r"\(3,\) does not broadcast to \(2, 2\)",
    ),
    "addmm dtype": (
        lambda: whygrad.addmm(ones(2, dtype=whygrad.float64), ones(2, 2), ones(2, 2)),
        RuntimeError,
        "self and mat2 must have the same dtype",
    ),
    "einsum sizes": (
        lambda: whygrad.einsum("ij,jk", ones(2, 4), ones(3, 5)),
        RuntimeError,
        "subscript j has size 3 for operand 1 which does not broadcast with previously seen size 4",
    ),
    "einsum few operands": (
        lambda: whygrad.einsum("ij,jk->ik", ones(2, 4)),
        RuntimeError,
        "fewer operands were provided",
    ),
    "einsum many operands": (
        lambda: whygrad.einsum("i", ones(2), ones(2)),
        RuntimeError,
        "more operands were provided",
    ),
    "einsum unknown output": (
        lambda: whygrad.einsum("ij,jk->iq", ones(2, 4), ones(4, 3)),
        RuntimeError,
        "output subscript q does not appear",
    ),
    "einsum repeated output": (
        lambda: whygrad.einsum("ij->ii", ones(2, 4)),
        RuntimeError,
        "output subscript i appears more than once",
    ),
    "einsum subscripts": (
        lambda: whygrad.einsum("ijk->i", ones(2, 4)),
        RuntimeError,
        r"number of subscripts in the equation \(3\) does not match the number of dimensions \(2\)",
    ),
    "einsum ellipsis": (
        lambda: whygrad.einsum("...ijk->i", ones(2, 4)),
        RuntimeError,
        r"\(3\) is more than the number of dimensions \(2\)",
    ),
    "einsum two ellipses": (
        lambda: whygrad.einsum("...i...->i", ones(2, 2)),
        RuntimeError,
        "for which an ellipsis was already found",
    ),
    "einsum dot": (
        lambda: whygrad.einsum("i.j->i", ones(2, 4)),
        RuntimeError,
        "not part of any ellipsis",
    ),
    "einsum letter": (
        lambda: whygrad.einsum("i1->i", ones(2, 4)),
        RuntimeError,
        "invalid subscript given at index 1",
    ),
    "einsum diagonal": (
        lambda: whygrad.einsum("ii->i", ones(2, 4)),
        RuntimeError,
        "subscript i is repeated for operand 0 but the sizes don't match, 4 != 2",
    ),
    "einsum nothing": (lambda: whygrad.einsum("ij->"), ValueError, "at least one operand"),
    "einsum number": (
        lambda: whygrad.einsum("i,", ones(2), 2.0),
        TypeError,
        "operand 1 is of type",
    ),
    "einsum sublist": (
        lambda: whygrad.einsum(ones(2), [52]),
        RuntimeError,
        r"within the range \[0, 52\)",
    ),
    "tensordot": (
        lambda: whygrad.tensordot(ones(2, 4), ones(3, 5), 1),
        RuntimeError,
        "first has size 4 in dim 1 and second has size 3 in dim 0",
    ),
    "tensordot count": (
        lambda: whygrad.tensordot(ones(2), ones(2), 2),
        RuntimeError,
        "but got dims=2",
    ),
    "tensordot lists": (
        lambda: whygrad.tensordot(ones(2, 2), ones(2), ([0, 1], [0])),
        RuntimeError,
        "both dimension lists should have same length",
    ),
    "inner": (
        lambda: whygrad.inner(ones(2, 3), ones(2, 2)),
        RuntimeError,
        r"last dimension must match on both input tensors but got shapes \[2, 3\] and \[2, 2\]",
    ),
    "trace": (
        lambda: whygrad.trace(ones(2, 3, 2)),
        RuntimeError,
        "expected a matrix, but got tensor with dim 3",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_say_what_and_how(case: str) -> None:
    call, kind, text = REFUSED[case]
    with pytest.raises(kind, match=text):
        call()


def test_einsum_pair_is_einsum() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 2, 5))
    for equation in ("bij,jbk->bik", "bij,jbk->kib", "bij,jbk->bijk"):
        mine = table["einsum_pair"].call(whygrad.from_numpy(a), whygrad.from_numpy(b), equation)
        np.testing.assert_allclose(mine.numpy(), np.einsum(equation, a, b))


def test_einsum_of_one_operand_is_a_view() -> None:
    x = ones(2, 3)
    assert whygrad.einsum("ij->ji", x).data_ptr() == x.data_ptr()


def test_a_product_keeps_no_copy_of_its_factors() -> None:
    a, b = ones(3, 4).requires_grad_(), ones(2, 4).requires_grad_()
    saved = (a @ b.mT).grad_fn.saved
    assert np.shares_memory(saved["a"], a.detach().numpy())
    assert np.shares_memory(saved["b"], b.detach().numpy())


def test_beta_zero_ignores_input() -> None:
    poisoned = whygrad.full((2, 2), float("nan")).requires_grad_()
    y = whygrad.addmm(poisoned, ones(2, 2), ones(2, 2), beta=0)
    assert y.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    y.sum().backward()
    assert poisoned.grad is not None
    assert poisoned.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_in_place_forms() -> None:
    y = ones(2, 2)
    assert y.addmm_(ones(2, 3), ones(3, 2), beta=2, alpha=-1) is y
    assert y.tolist() == [[-1.0, -1.0], [-1.0, -1.0]]


def test_integer_products_wrap_like_pytorch() -> None:
    x = whygrad.full((2, 2), 100, dtype=whygrad.uint8)
    assert (x @ x).tolist() == [[32, 32], [32, 32]]
    assert (x @ x).dtype is whygrad.uint8


def test_half_precision_is_summed_in_float32() -> None:
    x = whygrad.full((1, 4096), 1.0, dtype=whygrad.float16)
    assert (x @ x.mT).item() == 4096.0


def test_grouped_mm_is_pytorchs() -> None:
    """In float32 and for rows of 16 bytes, which is what PyTorch has."""
    rng = np.random.default_rng(0)
    ends = np.array([2, 5], np.int32)
    for shapes, offs in (
        (((2, 4, 8), (2, 8, 4)), None),
        (((5, 8), (2, 8, 4)), ends),
        (((2, 4, 8), (8, 8)), ends),
        (((4, 8), (8, 4)), ends),
    ):
        arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
        found = []
        for library in (whygrad, torch):
            cuts = None if offs is None else library.from_numpy(offs)
            y = library.nn.functional.grouped_mm(*map(library.from_numpy, arrays), offs=cuts)
            found.append(y[..., :5].numpy())
        np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("library", [whygrad, torch], ids=lambda library: library.__name__)
def test_grouped_mm_refuses_what_pytorch_refuses(library: Any) -> None:
    a, b = library.ones(2, 4, 8), library.ones(2, 8, 4)
    ends = library.tensor([2, 4], dtype=library.int32)
    for args, options in (
        ((a, b), {"offs": ends}),
        ((a, b), {"bias": library.ones(4)}),
        ((a, b), {"out_dtype": library.bfloat16}),
        ((a, b.bfloat16()), {}),
        ((a[0], b), {}),
        ((a[0], b), {"offs": ends.long()}),
        ((a[0], library.ones(3, 8, 4)), {"offs": ends}),
        ((a, library.ones(2, 4, 4)), {}),
        ((a.long(), b.long()), {}),
    ):
        with pytest.raises(RuntimeError):
            library.nn.functional.grouped_mm(*args, **options)
