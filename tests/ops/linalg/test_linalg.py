"""Linear algebra: what the samples cannot say, and every error by its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whygrad
from whygrad import linalg
from whygrad.linalg import LinAlgError
from whygrad.ops.define import table
from whygrad.tensor import Tensor


def ones(*shape: int, dtype: Any = whygrad.float64) -> Tensor:
    return whygrad.ones(shape, dtype=dtype)


def stack(*matrices: Any) -> Tensor:
    return whygrad.tensor(matrices, dtype=whygrad.float64)


GOOD, SINGULAR, NEGATIVE = [[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 4.0]], [[-1.0, 0], [0, 1]]

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "not square": (
        lambda: linalg.inv(ones(2, 3)),
        RuntimeError,
        "must be batches of square matrices, but they are 2 by 3 matrices",
    ),
    "a vector": (lambda: linalg.det(ones(2)), RuntimeError, "must have at least 2 dimensions"),
    "integers": (
        lambda: linalg.svdvals(ones(2, 2, dtype=whygrad.int64)),
        RuntimeError,
        "linalg.svdvals: Expected a floating point or complex tensor as input. Got int64",
    ),
    "integer vector norm": (
        lambda: linalg.vector_norm(ones(2, dtype=whygrad.int64)),
        RuntimeError,
        "Expected a floating point or complex tensor",
    ),
    "singular inverse": (
        lambda: linalg.inv(stack(GOOD, SINGULAR)),
        LinAlgError,
        r"\(Batch element 1\): the input matrix is singular: its 2 rows span only 1 dimensions"
        r"(.|\n)*linalg.pinv",
    ),
    "singular system": (
        lambda: linalg.solve(stack(*SINGULAR), ones(2)),
        LinAlgError,
        r"linalg.solve(.|\n)*cause: the input matrix is singular",
    ),
    "right-hand side": (
        lambda: linalg.solve(ones(2, 2), ones(3)),
        RuntimeError,
        r"Incompatible shapes of A and B for the equation AX = B \(2x2 and 3x1\)",
    ),
    "right-hand side of the mirrored system": (
        lambda: linalg.solve(ones(2, 2), ones(2, 3), left=False),
        RuntimeError,
        r"for the equation XA = B \(2x2 and 2x3\)(.|\n)*2 columns",
    ),
    "batches of a system": (
        lambda: linalg.solve(ones(3, 2, 2), ones(4, 2, 2)),
        RuntimeError,
        r"\(3,\) and \(4,\) do not broadcast",
    ),
    "dtypes of a system": (
        lambda: linalg.solve(ones(2, 2), ones(2, 2, dtype=whygrad.float32)),
        RuntimeError,
        "A of type float64 and B of type float32",
    ),
    "triangular vector": (
        lambda: linalg.solve_triangular(ones(2, 2), ones(2), upper=True),
        RuntimeError,
        "The input tensor B must have at least 2 dimensions",
    ),
    "not positive-definite": (
        lambda: linalg.cholesky(stack(GOOD, NEGATIVE)),
        LinAlgError,
        r"\(Batch element 1\): .* not positive-definite \(its smallest eigenvalue is -1\)",
    ),
    "qr mode": (
        lambda: linalg.qr(ones(3, 2), mode="x"),
        RuntimeError,
        "qr received unrecognized mode 'x'",
    ),
    "qr derivative": (
        lambda: linalg.qr(ones(3, 2).requires_grad_(), mode="complete").R.sum().backward(),
        RuntimeError,
        "not differentiable when mode='complete' and nrows > ncols",
    ),
    "triangle": (lambda: linalg.eigh(ones(2, 2), "X"), RuntimeError, "'L' or 'U', but got X"),
    "nan": (
        lambda: linalg.svd(stack(GOOD, [[1.0, float("nan")], [0.0, 1.0]])),
        LinAlgError,
        r"\(Batch element 1\): the algorithm failed to converge .* non-finite values",
    ),
    "eigenvalues of nan": (
        lambda: linalg.eigvalsh(ones(3, 3) * float("nan")),
        LinAlgError,
        "non-finite",
    ),
    "power": (
        lambda: linalg.matrix_power(ones(2, 2), 0.5),
        TypeError,
        "'n' must be int, not float",
    ),
    "norm order": (
        lambda: linalg.matrix_norm(ones(2, 2), 3),
        RuntimeError,
        "linalg.matrix_norm: Order 3 not supported",
    ),
    "norm of a vector": (lambda: linalg.matrix_norm(ones(2)), RuntimeError, "at least 2 dim"),
    "norm dims": (
        lambda: linalg.matrix_norm(ones(2, 2), dim=(0,)),
        RuntimeError,
        "dim must be a 2-tuple. Got 0",
    ),
    "equal norm dims": (
        lambda: linalg.matrix_norm(ones(2, 2), dim=(0, 0)),
        RuntimeError,
        r"dims must be different. Got \(0, 0\)",
    ),
    "norm without dim": (
        lambda: linalg.norm(ones(2, 2, 2), 2),
        RuntimeError,
        "the input must be 1D or 2D. Got 3D",
    ),
    "norm of three dims": (
        lambda: linalg.norm(ones(2, 2, 2), 2, (0, 1, 2)),
        RuntimeError,
        r"must be of length 1 or 2. Got \[0, 1, 2\]",
    ),
    "short chain": (lambda: linalg.multi_dot([ones(2, 2)]), RuntimeError, "at least 2 tensors"),
    "chain sizes": (
        lambda: linalg.multi_dot([ones(3, 3), ones(2, 2)]),
        RuntimeError,
        r"tensors 0 and 1 with shapes \[3, 3\] and \[2, 2\] cannot be multiplied",
    ),
    "chain ranks": (
        lambda: linalg.multi_dot([ones(3, 3), ones(3), ones(3, 2)]),
        RuntimeError,
        "tensor 1 must be 2D but got 1D",
    ),
    "cross ranks": (
        lambda: linalg.cross(ones(2, 3), ones(3)),
        RuntimeError,
        "same number of dimensions",
    ),
    "cross size": (
        lambda: linalg.cross(ones(2, 4), ones(2, 4)),
        RuntimeError,
        "inputs dimension -1 must have length 3. Got 4 and 4",
    ),
    "cross without dim": (
        lambda: whygrad.cross(ones(2, 2), ones(2, 2)),
        RuntimeError,
        "no dimension of size 3",
    ),
    "driver": (
        lambda: linalg.lstsq(ones(2, 2), ones(2, 2), driver="x"),
        RuntimeError,
        "`driver` should be one of",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_say_what_and_how(case: str) -> None:
    call, kind, text = REFUSED[case]
    with pytest.raises(kind, match=text):
        call()


def test_linalg_error_is_what_pytorch_users_catch() -> None:
    assert issubclass(LinAlgError, RuntimeError)


def test_module_lists_its_names() -> None:
    assert linalg.__all__ == sorted(linalg.__all__)
    assert all(hasattr(linalg, name) for name in linalg.__all__)


def test_results_have_names() -> None:
    x = stack(*GOOD)
    assert linalg.svd(x)._fields == ("U", "S", "Vh")
    assert linalg.eigh(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.qr(x)._fields == ("Q", "R")
    assert linalg.slogdet(x)._fields == ("sign", "logabsdet")


def test_gradient_of_det_is_exact_for_a_singular_matrix() -> None:
    x = stack(*SINGULAR).requires_grad_()
    linalg.det(x).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_cofactors_of_a_stack_with_a_singular_member() -> None:
    cofactors = table["cofactor"].call(stack(GOOD, SINGULAR)).numpy()
    np.testing.assert_allclose(cofactors[0], [[2.0, -1.0], [-1.0, 2.0]], atol=1e-12)
    np.testing.assert_allclose(cofactors[1], [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_second_derivative_of_det_needs_an_inverse() -> None:
    x = stack(*SINGULAR).requires_grad_()
    (slope,) = whygrad.autograd.grad(linalg.det(x), [x], create_graph=True)
    with pytest.raises(LinAlgError, match="singular"):
        slope.sum().backward()


def test_identity_like() -> None:
    y = table["identity_like"].call(ones(2, 3, 3))
    assert y.dtype is whygrad.float64
    np.testing.assert_array_equal(y.numpy(), np.eye(3))


def test_logdet_outside_its_domain() -> None:
    assert np.isnan(whygrad.logdet(stack(*NEGATIVE)).item())
    assert whygrad.logdet(stack(*SINGULAR)).item() == -np.inf


def test_qr_of_r_alone_is_differentiable() -> None:
    """More than PyTorch offers, which does not keep Q in this mode."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 2))
    alone = whygrad.from_numpy(x.copy()).requires_grad_()
    both = whygrad.from_numpy(x.copy()).requires_grad_()
    linalg.qr(alone, mode="r").R.sum().backward()
    linalg.qr(both).R.sum().backward()
    assert alone.grad is not None
    assert both.grad is not None
    np.testing.assert_array_equal(alone.grad.numpy(), both.grad.numpy())


def test_least_squares_returns_what_the_driver_computes() -> None:
    rng = np.random.default_rng(0)
    a, b = whygrad.from_numpy(rng.normal(size=(4, 2))), whygrad.from_numpy(rng.normal(size=(4, 1)))
    solution, residuals, rank, sizes = np.linalg.lstsq(a.numpy(), b.numpy())
    mine = linalg.lstsq(a, b, driver="gelsd")
    np.testing.assert_allclose(mine.solution.numpy(), solution)
    np.testing.assert_allclose(mine.residuals.numpy(), residuals)
    np.testing.assert_allclose(mine.singular_values.numpy(), sizes)
    assert mine.rank.item() == rank
    assert linalg.lstsq(a, b, driver="gels").rank.numel() == 0
    assert linalg.lstsq(a, b).residuals.numel() == 0


def test_a_chain_is_multiplied_in_the_cheapest_order() -> None:
    tall, wide = ones(50, 1).requires_grad_(), ones(1, 50)
    y = whygrad.chain_matmul(tall, wide, ones(50, 1))
    assert y.tolist() == [[50.0]] * 50
    assert tuple(y.grad_fn.saved["b"].shape) == (1, 1), "the two on the right come first"


def test_float16_is_computed_in_float32() -> None:
    x = whygrad.tensor(GOOD, dtype=whygrad.float16)
    assert linalg.inv(x).dtype is whygrad.float16


def test_complex_values() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    tensor = whygrad.from_numpy(x)
    np.testing.assert_allclose(linalg.pinv(tensor).numpy(), np.linalg.pinv(x))
    np.testing.assert_allclose(linalg.det(tensor).numpy(), np.linalg.det(x))
    hermitian = x @ x.conj().T
    upper = linalg.cholesky(whygrad.from_numpy(hermitian), upper=True).numpy()
    np.testing.assert_allclose(upper.conj().T @ upper, hermitian)
