"""jvp, hvp, jacrev, jacfwd, hessian: values, structure, refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.func.both import agree, t
from whygrad import func


def pair(d: Any, y: Any) -> Any:
    return d["a"] * y.sin(), {"sum": (d["a"].sum() * y).sum()}


@pytest.mark.parametrize("argnums", [0, 1, (1,), (0, 1), (1, 0)])
@pytest.mark.parametrize("name", ["jacrev", "jacfwd", "hessian"])
def test_structure(name: str, argnums: Any) -> None:
    agree(lambda F, lib: getattr(F, name)(pair, argnums), {"a": t(3)}, t(3, seed=1))


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd])
def test_argnums_count_from_the_end(transform: Any) -> None:
    """With a tuple PyTorch's jacfwd answers with zeros here."""
    (found,), _ = transform(pair, (-1,))({"a": t(3)}, t(3, seed=1))
    wanted, _ = transform(pair, 1)({"a": t(3)}, t(3, seed=1))
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


@pytest.mark.parametrize("name", ["jacrev", "jacfwd", "hessian"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.tanh() * x.sum(),
        lambda x: (x**3).sum(),
        lambda x: (x**3).sum().reshape(1, 1),
        lambda x: x.sum().exp().expand(2, 2),
    ],
)
def test_shapes(name: str, function: Any, shape: Any) -> None:
    agree(lambda F, lib: getattr(F, name)(function), t(*shape))


@pytest.mark.parametrize("chunk_size", [1, 2, 5, 100])
def test_chunks_give_the_same(chunk_size: int) -> None:
    x, y = {"a": t(4)}, t(4, seed=1)
    for transform in (func.jacrev, func.jacfwd):
        whole = transform(pair, (0, 1))(x, y)
        parts = transform(pair, (0, 1), chunk_size=chunk_size)(x, y)
        np.testing.assert_allclose(parts[0][0]["a"].numpy(), whole[0][0]["a"].numpy())
        np.testing.assert_allclose(parts[1]["sum"][1].numpy(), whole[1]["sum"][1].numpy())


def test_aux() -> None:
    agree(lambda F, lib: F.jacrev(lambda x: (x**2, x * 3), has_aux=True), t(3))
    agree(lambda F, lib: F.jacfwd(lambda x: (x**2, {"b": x * 3}), has_aux=True), t(3))
    agree(lambda F, lib: lambda x: F.jvp(lambda x: (x**2, x * 3), (x,), (x,), has_aux=True), t(3))
    for transform in (func.jacrev, func.jacfwd):
        assert transform(lambda x: (x, ("words", x.shape)), has_aux=True)(t(2))[1][0] == "words"


def test_independent_outputs_have_zero_derivatives() -> None:
    constant = t(2)
    for transform in (func.jacrev, func.jacfwd):
        assert (transform(lambda x: constant)(t(3)) == wg.zeros(2, 3)).all()
    assert (func.jacfwd(lambda x: x.long())(t(3)) == 0).all()
    assert (func.hessian(lambda x: x.sum())(t(2, 2)) == wg.zeros(2, 2, 2, 2)).all()


def test_no_inputs_at_all() -> None:
    assert func.jacrev(lambda x: x.exp())(t(0)).shape == (0, 0)
    assert func.jacrev(lambda x: x.sum())(t(0)).shape == (0,)
    assert func.jacfwd(lambda x: x.sum())(t(0)).shape == (0,)


def test_jvp_of_nested_arguments() -> None:
    def program(F: Any, lib: Any) -> Any:
        return lambda primals, tangents: F.jvp(pair, primals, tangents)

    agree(program, ({"a": t(3)}, t(3, seed=1)), ({"a": t(3, seed=2)}, t(3, seed=3)))
    agree(lambda F, lib: lambda x, y: F.jvp(lambda x: y, (x,), (x,)), t(3), t(2))


@dataclass
class State:
    position: Any
    velocity: Any


def test_jvp_of_a_dataclass() -> None:
    def step(state: State) -> State:
        return State(state.position + state.velocity, state.velocity - state.position.sin())

    value, slope = func.jvp(step, (State(t(2), t(2)),), (State(t(2), wg.zeros(2).double()),))
    assert isinstance(value, State)
    np.testing.assert_allclose(slope.velocity.numpy(), (-t(2) * t(2).cos()).numpy())


def test_dicts_match_by_key() -> None:
    _, slope = func.jvp(
        lambda d: d["a"] * 10 + d["b"],
        ({"a": t(2), "b": t(2)},),
        ({"b": wg.zeros(2).double(), "a": wg.ones(2).double()},),
    )
    assert slope.tolist() == [10, 10]


@pytest.mark.parametrize("count", [1, 2])
def test_hvp_is_the_hessian_times_the_tangents(count: int) -> None:
    def f(*args: Any) -> Any:
        return (args[0].tanh() * args[-1] ** 2).sum() * args[0].sum()

    primals = tuple(t(3, seed=seed) for seed in range(count))
    tangents = tuple(t(3, seed=seed + 5) for seed in range(count))
    found = func.hvp(f, primals, tangents)
    blocks = func.hessian(f, tuple(range(count)))(*primals)
    for row, product in zip(blocks, found if count > 1 else (found,), strict=True):
        wanted = sum(block @ tangent for block, tangent in zip(row, tangents, strict=True))
        np.testing.assert_allclose(product.numpy(), wanted.numpy())


def test_hvp_nests() -> None:
    def f(x: Any) -> Any:
        return (x**3).sum()

    third = func.grad(lambda x: func.hvp(f, (x,), (x.detach(),)).sum())(t(3))
    np.testing.assert_allclose(third.numpy(), (6 * t(3)).numpy())
    batch = func.vmap(lambda v: func.hvp(f, (t(3),), (v,)))(t(2, 3, seed=1))
    np.testing.assert_allclose(batch.numpy(), (6 * t(3) * t(2, 3, seed=1)).numpy())


def test_hessian_of_the_benchmark() -> None:
    def program(F: Any, lib: Any) -> Any:
        return lambda x, a: F.hessian(lambda x: (x.tanh() @ a) ** 2)(x)

    agree(program, t(200), t(200, seed=1))


def test_result_leads_outside() -> None:
    w = t(3).requires_grad_()
    for transform in (func.jacrev, func.jacfwd, func.hessian):
        assert not transform(lambda x: (x**2).sum())(t(3)).requires_grad
        assert transform(lambda x: (x**2 * w).sum())(t(3)).requires_grad
        assert transform(lambda x: (x**3).sum())(w).requires_grad
        with wg.no_grad():
            assert not transform(lambda x: (x**3).sum())(w).requires_grad


def test_random_functions() -> None:
    def noisy(x: wg.Tensor) -> wg.Tensor:
        return x * wg.rand(3, dtype=wg.float64)

    with pytest.raises(RuntimeError, match="randomness error mode"):
        func.jacfwd(noisy)(t(3))
    assert func.jacfwd(noisy, randomness="same")(t(3)).shape == (3, 3)
    assert func.jacrev(noisy)(t(3)).shape == (3, 3)


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: func.jacrev(lambda x: 3.0)(t(3)), RuntimeError, "only tensors, got unsupported"),
        (lambda: func.jacfwd(lambda x: 3.0)(t(3)), RuntimeError, "only tensors, got unsupported"),
        (lambda: func.jacrev(lambda x: x.long())(t(3)), RuntimeError, "must be floating-point"),
        (lambda: func.jacrev(lambda x: x, 2)(t(3)), RuntimeError, "argnum=2, but only 1"),
        (lambda: func.jacfwd(lambda x: x)(wg.arange(3)), RuntimeError, "of floating point dtype"),
        (lambda: func.jacrev(lambda x: x, chunk_size=0), ValueError, "should be greater than 0"),
        (lambda: func.jvp(lambda x: x, t(3), t(3)), RuntimeError, "Expected primals to be a tuple"),
        (lambda: func.jvp(lambda x: x, (t(3),), (t(3), t(3))), RuntimeError, "same python"),
        (lambda: func.jvp(lambda x: x, (t(3),), (t(2),)), RuntimeError, "Mismatch in shape"),
        (lambda: func.jvp(lambda: t(3), (), ()), RuntimeError, "at least one Tensor"),
        (lambda: func.jvp(lambda x: x, (3.0,), (3.0,)), ValueError, "must be Tensor, got float"),
        (lambda: func.jvp(lambda x: 3.0, (t(3),), (t(3),)), RuntimeError, "return only tensors"),
        (
            lambda: func.jvp(lambda x: t(2), (t(3),), (t(3),), strict=True),
            RuntimeError,
            "not allowed with strict=True",
        ),
        (lambda: func.hvp(lambda x: x, (t(3),), (t(3),)), RuntimeError, "to return a scalar"),
        (lambda: func.hvp(lambda x: x, t(3), t(3)), RuntimeError, "Expected primals to be a tuple"),
    ],
)
def test_what_it_says(call: Any, kind: type[Exception], phrase: str) -> None:
    with pytest.raises(kind, match=phrase) as caught:
        call()
    assert "fix:" in str(caught.value)
