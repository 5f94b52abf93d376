"""Transforms of transforms: every order, and no derivative mistaken for another's."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.func.both import agree, t
from whygrad import func


def loss(x: Any, a: Any) -> Any:
    return (x.tanh() @ a.sin()) ** 3


# --- derivatives that must not be confused --------------------------------------------------------
#
# d/dx (x · d/dy (x + y)) is 1.  An engine with one derivative per number instead of one per
# transform takes the dx inside for dy, and says 2.


def by_grad(F: Any, lib: Any, f: Any, x: Any) -> Any:
    return F.grad(f)(x)


def by_jvp(F: Any, lib: Any, f: Any, x: Any) -> Any:
    return F.jvp(f, (x,), (lib.ones_like(x),))[1]


def by_vjp(F: Any, lib: Any, f: Any, x: Any) -> Any:
    return F.vjp(f, x)[1](lib.ones_like(x))[0]


MODES = [by_grad, by_jvp, by_vjp]
PAIRS = list(product(MODES, MODES))


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_classic_program(outer: Any, inner: Any) -> None:
    def program(F: Any, lib: Any) -> Any:
        return lambda x: outer(
            F, lib, lambda x: x * inner(F, lib, lambda y: x + y, lib.ones_like(x)), x
        )

    assert agree(program, wg.tensor(3.0, dtype=wg.float64)).item() == 1


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_inner_function_at_the_outer_point(outer: Any, inner: Any) -> None:
    """The inner derivative is taken at x itself, where the two are the same number."""

    def program(F: Any, lib: Any) -> Any:
        def f(x: Any) -> Any:
            return inner(F, lib, lambda y: x * y**2 * (x + y).sin(), x) * x.exp()

        return lambda x: outer(F, lib, f, x)

    agree(program, wg.tensor(0.7, dtype=wg.float64))


@pytest.mark.parametrize(("first", "second", "third"), list(product(MODES[:2], repeat=3)))
def test_three_levels_that_share_variables(first: Any, second: Any, third: Any) -> None:
    def program(F: Any, lib: Any) -> Any:
        def f(x: Any) -> Any:
            def g(y: Any) -> Any:
                def h(z: Any) -> Any:
                    return (x * y * z).sin() * (x + y**2 + z**3)

                return third(F, lib, h, x * y) * y

            return second(F, lib, g, x**2) + x

        return lambda x: first(F, lib, f, x)

    agree(program, wg.tensor(0.7, dtype=wg.float64))


def test_returned_function_keeps_its_own_derivative() -> None:
    """A derivative taken later, of a function that the outer transform is still inside of."""

    def program(F: Any, lib: Any) -> Any:
        def f(x: Any) -> Any:
            _, pull = F.vjp(lambda y: x * y**2, x)
            return pull(x)[0] + pull(lib.ones_like(x))[0]

        return F.grad(f)

    agree(program, wg.tensor(0.7, dtype=wg.float64))


# --- every order ----------------------------------------------------------------------------------


def summed(result: Any) -> Any:
    return (result**2).sum()


NESTED = {
    "grad of grad": lambda F, lib: F.grad(lambda x, a: summed(F.grad(loss)(x, a))),
    "grad of grad of grad": lambda F, lib: F.grad(
        lambda x, a: summed(F.grad(lambda x: summed(F.grad(loss)(x, a)))(x))
    ),
    "jvp of grad": lambda F, lib: lambda x, a: F.jvp(F.grad(loss), (x, a), (a, x)),
    "grad of jvp": lambda F, lib: F.grad(lambda x, a: F.jvp(loss, (x, a), (a, x))[1], (0, 1)),
    "jvp of jvp": lambda F, lib: (
        lambda x, a: F.jvp(lambda x: F.jvp(lambda x: loss(x, a), (x,), (a * x,)), (x,), (a,))
    ),
    "jvp of vjp": lambda F, lib: (
        lambda x, a: F.jvp(lambda x: F.vjp(lambda x: x.tanh() * a, x)[1](x)[0], (x,), (a,))
    ),
    "grad by the tangent of jvp of grad": lambda F, lib: (
        lambda x, a: F.grad(lambda v: summed(F.jvp(F.grad(loss), (x, a), (v, a))[1]))(x)
    ),
    "grad by the tangent of jvp of the value": lambda F, lib: (
        lambda x, a: F.grad(lambda v: summed(F.jvp(F.grad_and_value(loss), (x, a), (v, a))[1][1]))(
            x
        )
    ),
    "jacrev of jacfwd": lambda F, lib: F.jacrev(F.jacfwd(loss)),
    "jacfwd of jacrev": lambda F, lib: F.jacfwd(F.jacrev(loss)),
    "jacfwd of jacfwd": lambda F, lib: F.jacfwd(F.jacfwd(loss)),
    "jacrev of jacrev": lambda F, lib: F.jacrev(F.jacrev(loss), (0, 1)),
    "jacrev of hessian": lambda F, lib: F.jacrev(F.hessian(loss)),
    "jacfwd of hessian": lambda F, lib: F.jacfwd(F.hessian(loss)),
    "grad of hessian": lambda F, lib: F.grad(lambda x, a: summed(F.hessian(loss)(x, a)), (0, 1)),
    "hessian of jvp": lambda F, lib: F.hessian(lambda x, a: F.jvp(loss, (x, a), (a, x))[1]),
}
PLAIN = {
    "grad": lambda F, lib: F.grad(loss, (0, 1)),
    "vjp": lambda F, lib: lambda x, a: F.vjp(lambda x: x.tanh() * a, x)[1](a),
    "jacrev": lambda F, lib: F.jacrev(lambda x, a: x.tanh() * a.sin() * a.sum()),
    "jacfwd": lambda F, lib: F.jacfwd(lambda x, a: x.tanh() * a.sin() * a.sum()),
    "jacfwd by the shared one": lambda F, lib: F.jacfwd(lambda x, a: x.tanh() * a.sin(), 1),
    "hessian": lambda F, lib: F.hessian(loss),
    "hessian by both": lambda F, lib: F.hessian(loss, (0, 1)),
    "hessian of a vector": lambda F, lib: F.hessian(lambda x, a: x.tanh() * (a @ x)),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested(name: str) -> None:
    agree(NESTED[name], t(3), t(3, seed=1))


@pytest.mark.parametrize("name", {**PLAIN, **NESTED})
@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0)])
def test_inside_vmap(name: str, dims: Any) -> None:
    program = {**PLAIN, **NESTED}[name]
    shapes = [(3,) if dim is None else (2, 3) for dim in dims]
    agree(
        lambda F, lib: F.vmap(program(F, lib), dims),
        *[t(*shape, seed=seed) for seed, shape in enumerate(shapes)],
    )


@pytest.mark.parametrize("name", {**PLAIN, "jvp of grad": NESTED["jvp of grad"]})
@pytest.mark.parametrize("dims", [((0, None), (None, 0)), ((None, 0), (0, None)), (0, 0)])
def test_inside_two_vmaps(name: str, dims: Any) -> None:
    program = {**PLAIN, **NESTED}[name]
    shape = (2, 2, 3) if dims == (0, 0) else (2, 3)
    agree(
        lambda F, lib: F.vmap(F.vmap(program(F, lib), dims[0]), dims[1]),
        t(*shape),
        t(*shape, seed=1),
    )


OUTER = {
    "grad": lambda F, f: F.grad(lambda x, a: summed(f(x, a)), (0, 1)),
    "jvp": lambda F, f: lambda x, a: F.jvp(f, (x, a), (x * 2, a.cos())),
    "jacrev": lambda F, f: F.jacrev(f, (0, 1)),
    "jacfwd": lambda F, f: F.jacfwd(f, (0, 1)),
    "hessian": lambda F, f: F.hessian(lambda x, a: summed(f(x, a)), (0, 1)),
    "vmap": lambda F, f: F.vmap(f, (None, 0)),
}


@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("inner", ["value", "grad", "jacfwd"])
def test_around_vmap(outer: str, inner: str) -> None:
    """A derivative of a batch of derivatives, as in meta-learning."""

    def program(F: Any, lib: Any) -> Any:
        per_sample = {
            "value": loss,
            "grad": F.grad(loss),
            "jacfwd": F.jacfwd(lambda x, a: x.tanh() * a),
        }[inner]
        return OUTER[outer](F, F.vmap(per_sample, (0, None)))

    a = t(2, 3, seed=1) if outer == "vmap" else t(3, seed=1)
    agree(program, t(2, 3), a)


def test_levels_that_only_the_closure_knows() -> None:
    """The batch is not among the arguments of the inner transform."""

    def program(F: Any, lib: Any) -> Any:
        def sample(x: Any, a: Any, w: Any) -> Any:
            inner = F.vmap(lambda b: F.grad(lambda w: (w * x).sin().sum() * (a + b).sum())(w))
            return inner(F.vmap(lambda c: c * x)(a.expand(2, 3)))

        return F.vmap(sample, (0, 0, None))

    agree(program, t(4, 3), t(4, 3, seed=1), t(3, seed=2))


def test_tangents_of_one_point_meet_a_batch() -> None:
    """jacfwd gives one point many tangents; an outer vmap mixes it with a batch of its own."""

    def program(F: Any, lib: Any) -> Any:
        return F.vmap(lambda a, x: F.jacfwd(lambda x: (x * a).sin() * x.sum())(x), (0, None))

    agree(program, t(4, 3), t(3, seed=1))
    agree(
        lambda F, lib: F.jacfwd(lambda x, a: F.vmap(lambda a: (x * a).tanh() * x)(a), (0, 1)),
        t(3),
        t(2, 3, seed=1),
    )


def test_jacfwd_may_look_at_the_point() -> None:
    """Control flow that depends on the input is fine: there are many tangents but one point."""

    def f(x: Any) -> Any:
        return x * 3 if x.sum().item() > 0 else x * x

    np.testing.assert_allclose(func.jacfwd(f)(wg.ones(2)).numpy(), 3 * np.eye(2))


def test_gradient_of_the_sum_is_not_the_gradient_of_each() -> None:
    """The check that per-sample gradients are not just the summed one in disguise."""
    w, x = t(3), t(4, 3, seed=1)
    each = func.vmap(func.grad(loss), (None, 0))(w, x)
    total = func.grad(lambda w: func.vmap(loss, (None, 0))(w, x).sum())(w)
    assert each.shape == (4, 3)
    np.testing.assert_allclose(each.sum(0).numpy(), total.numpy())
    for row, sample in zip(each, x, strict=True):
        np.testing.assert_allclose(row.numpy(), func.grad(loss)(w, sample).numpy())


def test_autograd_grad_inside() -> None:
    """The gradient of each sample, also where the function itself is differentiated."""

    def slope(lib: Any) -> Any:
        return lambda x: lib.autograd.grad((x**3).sum(), x, create_graph=True)[0]

    agree(lambda F, lib: F.grad(lambda x: slope(lib)(x).sum()), t(3))
    agree(lambda F, lib: F.vmap(F.grad(lambda x: slope(lib)(x).sum())), t(2, 3))
    agree(lambda F, lib: F.vmap(F.vmap(F.grad(lambda x: slope(lib)(x).sum()))), t(2, 2, 3))
    x = t(2, 3).requires_grad_()
    np.testing.assert_allclose(
        func.vmap(slope(wg))(x).detach().numpy(), 3 * x.detach().numpy() ** 2
    )
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        func.vmap(lambda x: wg.autograd.grad(x * 2, x))(x)


def test_writes_through_views_inside() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        head, tail = y[0:2], y[1:]
        head.mul_(x[0])
        tail[0] = tail[1] * 2
        return (y**2 * head.sum()).sum()

    agree(lambda F, lib: F.hessian(f), t(3))
    agree(lambda F, lib: F.vmap(F.grad(f)), t(2, 3))
    agree(lambda F, lib: lambda x: F.jvp(F.grad(f), (x,), (x,)), t(3))


def test_a_view_whose_base_was_written() -> None:
    def program(F: Any, lib: Any) -> Any:
        def run(leaf: Any) -> Any:
            base = leaf * 1
            view = base[0:2]
            base.mul_(3)
            F.grad(lambda x: (x**3).sum())(view).sum().backward()
            return leaf.grad

        return run

    agree(program, t(3).requires_grad_())
