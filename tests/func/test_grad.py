"""grad, grad_and_value, vjp, linearize: values, structure, connection to the outside, refusals."""

from __future__ import annotations

import gc
import threading
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import whygrad as wg
from tests.func.both import agree, t
from whygrad import func


def loss(x: Any, a: Any) -> Any:
    return (x.tanh() @ a) ** 2


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Layer:
    weight: Any
    bias: Any = None


# --- values and structure -------------------------------------------------------------------------


@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (1, 0), (0, -1)])
def test_argnums(argnums: Any) -> None:
    agree(lambda F, lib: F.grad(loss, argnums), t(4), t(4, seed=1))
    agree(lambda F, lib: F.grad_and_value(loss, argnums), t(4), t(4, seed=1))


def test_nested_arguments() -> None:
    def total(nest: Any, scale: Any) -> Any:
        pair, options = nest
        return (pair.first * options["w"][0] + pair.second**3).sum() * scale

    nest = [Pair(t(3), t(3, seed=1)), {"w": (t(3, seed=2),)}]
    result = agree(lambda F, lib: F.grad(total), nest, 2.0)
    assert isinstance(result[0], Pair)


def test_dataclasses_are_nested_arguments() -> None:
    def total(layer: Layer, x: Any) -> Any:
        return (layer.weight @ x + layer.bias).square().sum()

    layer = Layer(t(2, 3), t(2, seed=1))
    result = func.grad(total)(layer, t(3, seed=2))
    assert isinstance(result, Layer)
    plain = func.grad(lambda w, b, x: total(Layer(w, b), x), (0, 1))(
        layer.weight, layer.bias, t(3, seed=2)
    )
    same_arrays((result.weight, result.bias), plain)
    batch = func.vmap(lambda layer: layer.weight.sum() + layer.bias, (Layer(0, 0),))(
        Layer(t(2, 3), t(2))
    )
    assert batch.shape == (2,)


def same_arrays(mine: Any, theirs: Any) -> None:
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-12)


def test_none_stays_none() -> None:
    result = func.grad(lambda layer: layer["w"].sum())({"w": t(2), "bias": None})
    assert result["bias"] is None
    assert func.vjp(lambda x, y: x * 2, t(2), None)[1](wg.ones(2))[1] is None


def test_keyword_arguments_are_passed_on() -> None:
    agree(lambda F, lib: lambda x, y: F.grad(lambda x, *, y: (x * y).sum())(x, y=y), t(3), t(3))


def test_unused_input_has_zero_gradient() -> None:
    agree(lambda F, lib: F.grad(lambda x, y: y.sum(), (0, 1)), t(2), t(3))
    agree(lambda F, lib: F.grad(lambda x: lib.ones(())), t(2))


def test_aux() -> None:
    def with_aux(x: Any) -> Any:
        return (x**2).sum(), {"double": x * 2, "half": [x / 2]}

    agree(lambda F, lib: F.grad(with_aux, has_aux=True), t(3))
    agree(lambda F, lib: F.grad_and_value(with_aux, has_aux=True), t(3))
    agree(lambda F, lib: lambda x: F.vjp(lambda x: (x**2, x * 3), x, has_aux=True)[::2], t(3))
    assert func.grad(lambda x: (x.sum(), "words"), has_aux=True)(t(2))[1] == "words"


@pytest.mark.parametrize("mode", [wg.no_grad, wg.inference_mode, wg.enable_grad])
def test_mode_outside_does_not_matter(mode: Any) -> None:
    x, a = t(4), t(4, seed=1)
    wanted = func.grad(loss)(x, a)
    with mode():
        assert wg.is_grad_enabled() is (mode is wg.enable_grad)
        found = func.grad(loss)(t(4), a)
        assert not found.requires_grad
        assert wg.is_grad_enabled() is (mode is wg.enable_grad)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_no_grad_inside_is_respected() -> None:
    def half(lib: Any) -> Any:
        def f(x: Any) -> Any:
            with lib.no_grad():
                constant = x**2
            return (x * constant).sum()

        return f

    agree(lambda F, lib: F.grad(half(lib)), t(3))


def test_writes_to_intermediates() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y.add_(1)
        y[0] = 5 * x[1]
        return (y**2).sum()

    agree(lambda F, lib: F.grad(f), t(3))


@pytest.mark.parametrize("place", ["constant", "leaf", "inside a graph"])
def test_input_cannot_be_written(place: str) -> None:
    x = wg.ones(3, requires_grad=place != "constant")
    x = x * 1 if place == "inside a graph" else x
    phrase = "being differentiated" if place != "constant" else "a leaf Variable that requires grad"
    with pytest.raises(RuntimeError, match=phrase):
        func.grad(lambda x: x.add_(1).sum())(x)
    assert x.tolist() == [1, 1, 1]


# --- vjp and linearize ----------------------------------------------------------------------------


def test_vjp_many_times() -> None:
    def program(F: Any, lib: Any) -> Any:
        def run(x: Any, y: Any, u: Any) -> Any:
            out, pull = F.vjp(lambda x, y: (x * y.exp(), {"sin": x.sin()}), x, y)
            return out, pull((u, {"sin": x})), pull((x, {"sin": u}))

        return run

    agree(program, t(3), t(3, seed=1), t(3, seed=2))


def test_vjp_of_one_nested_primal() -> None:
    def program(F: Any, lib: Any) -> Any:
        return lambda x: F.vjp(lambda d: d["a"] ** 2, {"a": x})[1](x)

    agree(program, t(3))


def test_vjp_frees_the_graph_on_request() -> None:
    _, pull = func.vjp(lambda x: x.exp(), t(3))
    pull(wg.ones(3, dtype=wg.float64), retain_graph=False)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        pull(wg.ones(3, dtype=wg.float64))


def test_vjp_is_differentiable_by_its_cotangents() -> None:
    def program(F: Any, lib: Any) -> Any:
        return lambda x, u: F.grad(lambda u: F.vjp(lambda x: x**3, x)[1](u)[0].pow(2).sum())(u)

    agree(program, t(3), t(3, seed=1))


def test_linearize_is_jvp() -> None:
    calls = []

    def f(d: Any, y: Any) -> Any:
        calls.append(1)
        return {"out": d["a"] * y.tanh(), "sum": y.sum(), "constant": wg.ones(2)}

    primals, out = ({"a": t(3)}, t(3, seed=1)), None
    out, push = func.linearize(f, *primals)
    for seed in (2, 3):
        tangents = ({"a": t(3, seed=seed)}, t(3, seed=seed + 5))
        value, slope = func.jvp(f, primals, tangents)
        same_arrays(push(*tangents).values(), slope.values())
        same_arrays(out.values(), value.values())
    assert len(calls) == 3
    assert not out["out"].requires_grad
    assert not push(*primals)["out"].requires_grad


def test_linearize_nests() -> None:
    def second(x: wg.Tensor, v: wg.Tensor) -> wg.Tensor:
        return func.linearize(lambda x: (x**3).sum(), x)[1](v)

    x, v = t(3), t(3, seed=1)
    np.testing.assert_allclose(func.grad(second)(x, v).numpy(), (6 * x * v).numpy())
    batch = func.vmap(second, (None, 0))(x, t(4, 3))
    np.testing.assert_allclose(batch.numpy(), (t(4, 3) @ (3 * x**2)).numpy())


# --- what is outside ------------------------------------------------------------------------------


def test_result_is_differentiable_by_what_is_outside() -> None:
    def program(F: Any, lib: Any) -> Any:
        def run(x: Any, w: Any) -> Any:
            slope, value = F.grad_and_value(lambda x: (x**3 * w).sum())(x)
            (slope.sum() + value).backward()
            return x.grad, w.grad

        return run

    agree(program, t(3).requires_grad_(), t(3, seed=1).requires_grad_())


@pytest.mark.parametrize("mode", [wg.enable_grad, wg.no_grad])
def test_requires_grad_only_if_it_leads_somewhere(mode: Any) -> None:
    w, x = t(3).requires_grad_(), t(3, seed=1)
    connected = mode is wg.enable_grad
    with mode():
        slope, value = func.grad_and_value(lambda x: (x**2).sum() + w.sum())(x)
        assert (slope.requires_grad, value.requires_grad) == (False, connected)
        slope, value = func.grad_and_value(lambda x: (x * w).sum())(x)
        assert (slope.requires_grad, value.requires_grad) == (connected, connected)
        slope, (value, aux) = func.grad_and_value(lambda x: ((x**2).sum(), x * 2), has_aux=True)(x)
        assert (slope.requires_grad, value.requires_grad, aux.requires_grad) == (False,) * 3
        slope = func.grad(lambda x: (x**2).sum())(w)
        assert slope.requires_grad is connected


def test_an_inner_transform_that_has_ended_leads_nowhere() -> None:
    def inner(y: wg.Tensor) -> wg.Tensor:
        return func.grad(lambda x: (x**2 * y).sum())(t(3)).sum()

    assert not func.grad(inner)(t(3, seed=1)).requires_grad
    assert func.grad(inner)(t(3, seed=1).requires_grad_()).requires_grad is False
    assert inner(t(3).requires_grad_()).requires_grad


def test_aux_keeps_its_graph() -> None:
    w = t(3).requires_grad_()
    _, aux = func.grad(lambda x: ((x**2).sum(), (x * w).exp()), has_aux=True)(t(3, seed=1))
    aux.sum().backward()
    assert w.grad is not None


def test_inputs_keep_their_place() -> None:
    x = t(3).requires_grad_()
    y = x * 2
    before = y.grad_fn
    func.grad(lambda y: (y**2).sum())(y)
    assert y.grad_fn is before
    assert x.grad is None
    assert x.is_leaf


def test_nothing_is_left_behind() -> None:
    gc.disable()
    try:
        kept: list[weakref.ref[Any]] = []

        def f(x: wg.Tensor) -> wg.Tensor:
            y = x.exp()
            kept.append(weakref.ref(y))
            kept.append(weakref.ref(y._node if y._node is not None else x))
            return (y * y).sum()

        x = t(3)
        func.grad(f)(x)
        func.grad_and_value(lambda x: (f(x), x * 2), has_aux=True)(x)
        func.hessian(f)(x)
        func.jvp(func.grad(f), (x,), (x,))
        func.vmap(func.grad(f))(t(2, 3))
        func.linearize(f, x)[1](x)
        func.jacfwd(f)(x)
        assert not [each for each in kept if each() is not None]
    finally:
        gc.enable()


def test_modes_are_restored_after_an_error() -> None:
    def fails(x: wg.Tensor) -> wg.Tensor:
        raise KeyError("on purpose")

    with wg.no_grad():
        for transform in (func.grad(fails), func.jacfwd(fails), func.hessian(fails)):
            with pytest.raises(KeyError):
                transform(t(3))
            assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_threads_do_not_disturb_each_other() -> None:
    x, results = t(5), {}

    def work(number: int) -> None:
        for _ in range(20):
            results[number] = func.vmap(func.grad(lambda a, x: (a * x**2).sum()), (0, None))(
                t(3, 5, seed=number), x
            )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for number, result in results.items():
        same_arrays([result], [(x**2).expand(3, 5)])
        assert number in range(3)


def test_names_survive() -> None:
    for transform in (func.grad, func.grad_and_value, func.jacrev, func.jacfwd, func.hessian):
        assert transform(loss).__name__ == "loss"


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: func.grad(lambda x: x)(t(3)), RuntimeError, "got tensor with 1 dims. Maybe you"),
        (lambda: func.grad(lambda x: 3.0)(t(3)), RuntimeError, "to return a Tensor, got float"),
        (lambda: func.grad(lambda x: (x.sum(), x))(t(3)), RuntimeError, "a Tensor, got tuple"),
        (lambda: func.grad(lambda x: x.sum().long())(t(3)), RuntimeError, "an integer has no"),
        (lambda: func.grad(loss, 2)(t(3), t(3)), RuntimeError, "argnum=2, but only 2 positional"),
        (lambda: func.grad(loss, (0, -2))(t(3), t(3)), RuntimeError, "elements must be unique"),
        (lambda: func.grad(loss, ())(t(3), t(3)), RuntimeError, "argnums must be non-empty"),
        (lambda: func.grad(loss, [0])(t(3), t(3)), RuntimeError, "int or Tuple.*got: list"),
        (lambda: func.grad(loss)(2.0, t(3)), ValueError, "must be Tensor, got float"),
        (lambda: func.grad(loss)(wg.arange(3), t(3)), RuntimeError, "Tensors of floating point"),
        (lambda: func.grad(loss, has_aux=True)(t(3), t(3)), RuntimeError, "a tuple: .output, aux."),
        (lambda: func.vjp(lambda x: 3.0, t(3)), RuntimeError, "only tensors, got unsupported"),
        (lambda: func.vjp(lambda x: (), t(3)), RuntimeError, "non-empty output"),
        (lambda: func.vjp(lambda x: x.long(), t(3)), RuntimeError, "must be floating-point"),
        (lambda: func.vjp(lambda x: x, t(3))[1](t(2)), RuntimeError, "Mismatch in shape"),
        (lambda: func.vjp(lambda x: x, t(3))[1]([t(3)]), RuntimeError, "same python structure"),
        (lambda: func.linearize(lambda x: x, t(3))[1](t(3), t(3)), RuntimeError, "same python"),
        (lambda: func.linearize(lambda x: x, t(3))[1](t(2)), RuntimeError, "Mismatch in shape"),
    ],
)
def test_what_it_says(call: Any, kind: type[Exception], phrase: str) -> None:
    with pytest.raises(kind, match=phrase) as caught:
        call()
    assert "fix:" in str(caught.value)
    assert "test_grad.py" in str(caught.value)
