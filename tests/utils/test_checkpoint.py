"""Checkpointing: the same gradients, made from less memory."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.checkpoint

import whygrad as wg
from tests.autograd.tensors import leaf
from tests.utils.styles import STYLES, Function, deep, nested_in_work, whole
from whygrad.autograd.graph import saved_bytes_peak
from whygrad.autograd.recompute.regions import Boxes
from whygrad.dispatch.interception import _stack
from whygrad.nn.functional import dropout
from whygrad.utils.checkpoint import (
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)


def layer(lib: Any, x: Any, w: Any) -> Any:
    return lib.tanh(x @ w) * x


def with_inplace(lib: Any, x: Any, w: Any) -> Any:
    h = x @ w
    h += 1.0
    h[:, 0] = x[:, 0] * 2.0
    return (h.exp() + 0.0).mul_(x)


def with_unrecorded_part(lib: Any, x: Any, w: Any) -> Any:
    with lib.no_grad():
        scale = (x @ w).abs().max()
    return lib.sin(x * scale) * w


def with_several_outputs(lib: Any, x: Any, w: Any) -> Any:
    values, _ = (x @ w).max(1)
    left, right = lib.split(lib.exp(x), [1, 2], 1)
    return lib.softmax(right, 1).sum() * values.sum() + (left * left).sum()


def with_joining(lib: Any, x: Any, w: Any) -> Any:
    return lib.cat([x.sin(), (x @ w).cos(), w * w]).prod(0)


def with_detached_part(lib: Any, x: Any, w: Any) -> Any:
    return (x @ w).detach() * x.exp()


def saving_nothing(lib: Any, x: Any, w: Any) -> Any:
    return x + w


FUNCTIONS = [
    layer, with_inplace, with_unrecorded_part, with_several_outputs, with_joining,
    with_detached_part, saving_nothing,
]  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_pytorchs(function: Function, style: Function) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(3, 3)) for _ in range(2)]
    theirs = [torch.tensor(each, requires_grad=True) for each in arrays]
    torch.utils.checkpoint.checkpoint(
        partial(function, torch), *theirs, use_reentrant=False
    ).sum().backward()
    ours = [wg.tensor(each, requires_grad=True) for each in arrays]
    result = style(partial(function, wg), *ours)
    again = wg.autograd.grad(result.sum(), ours, retain_graph=True, allow_unused=True)
    result.sum().backward()
    for mine, expected, first in zip(ours, theirs, again, strict=True):
        if expected.grad is None:
            assert mine.grad is first is None
        else:
            np.testing.assert_allclose(mine.grad.numpy(), expected.grad.numpy(), rtol=1e-12)
            assert (first == mine.grad).all()


@pytest.mark.parametrize("style", [whole, nested_in_work])
@pytest.mark.parametrize("function", [layer, with_unrecorded_part, with_joining])
def test_second_order(function: Function, style: Function) -> None:
    x, w = wg.randn(2, 3, 3, dtype=wg.float64).unbind()
    inputs = [x.clone().requires_grad_(), w.clone().requires_grad_()]

    def second(call: Function) -> list[Any]:
        gradients = wg.autograd.grad(call(*inputs).sum(), inputs, create_graph=True)
        total = sum((each * each).sum() for each in gradients)
        return [each.tolist() for each in wg.autograd.grad(total, inputs)]

    plain = partial(function, wg)
    assert second(partial(style, plain)) == second(plain)


def test_gradcheck_and_third_order() -> None:
    x = leaf(0.3, -0.7)
    wave = partial(checkpoint, lambda t: (t.sin() * t).exp())
    assert wg.autograd.gradcheck(wave, (x,))
    assert wg.autograd.gradgradcheck(wave, (x,))
    third = wg.func.grad(wg.func.grad(wg.func.grad(lambda t: checkpoint(lambda u: u**4, t))))
    assert third(wg.tensor(2.0)).item() == 48.0


class Calls:
    """A function that counts how often it was begun, and how often it came to its end."""

    def __init__(self) -> None:
        self.begun = self.ended = 0

    def __call__(self, x: Any) -> Any:
        self.begun += 1
        y = x.exp().sin()
        self.ended += 1
        return y + 1.0


def test_one_more_run_per_backward() -> None:
    calls, x = Calls(), leaf(1.0, 2.0)
    y = checkpoint(calls, x).sum()
    assert (calls.begun, calls.ended) == (1, 1)
    y.backward(retain_graph=True)
    y.backward()
    assert (calls.begun, calls.ended) == (3, 1), "sin saves its input: no need to compute it again"
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_a_run_ends_where_backward_begins() -> None:
    seen = []

    def two_parts(x: Any) -> Any:
        first = x.exp() * x
        seen.append("first")
        second = first.sin()
        seen.append("second")
        return first, second

    first, _ = checkpoint(two_parts, leaf(1.0))
    seen.clear()
    first.sum().backward()
    assert seen == []


def test_early_stop_can_be_switched_off() -> None:
    for stop, ended in ((True, 1), (False, 2)):
        calls = Calls()
        with set_checkpoint_early_stop(stop):
            y = checkpoint(calls, leaf(1.0))
        y.backward()
        assert calls.ended == ended


def test_a_function_may_catch_exceptions() -> None:
    def careful(x: Any) -> Any:
        try:
            y = x.exp()
        except Exception:
            y = x * 0.0
        return y * y

    def reckless(x: Any) -> Any:
        try:
            return x.exp().sin()
        except BaseException:
            return x.cos()

    for function in (careful, reckless):
        x = leaf(0.5)
        (expected,) = wg.autograd.grad(function(x), x)
        checkpoint(function, x).backward()
        assert x.grad == expected


def test_arguments_and_results_of_any_kind() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)

    def function(parts: Any, count: int, *, scale: Any, label: str) -> Any:
        total = parts["list"][0] * parts["pair"][1] * scale
        parts["list"].append("seen")
        return {"total": total.exp(), "label": label, "many": (total, [count])}

    def run(call: Function) -> Any:
        parts = {"list": [x * 1.0], "pair": (None, w)}
        made = call(function, parts, 2, scale=x, label="a")
        assert made["label"] == "a"
        assert made["many"][1] == [2]
        return wg.autograd.grad((made["total"] + made["many"][0]).sum(), [x, w]), parts["list"]

    plain, _ = run(lambda function, *args, **kwargs: function(*args, **kwargs))
    recomputed, given = run(checkpoint)
    assert [each.tolist() for each in recomputed] == [each.tolist() for each in plain]
    assert given[1:] == ["seen"], "the second run gets a list of its own"


def test_no_input_needs_to_require_grad() -> None:
    w, data = leaf(1.0, 2.0), wg.ones(2, dtype=wg.float64)
    checkpoint(lambda x: (x * w).exp(), data).sum().backward()
    assert w.grad.tolist() == np.exp([1.0, 2.0]).tolist()


def test_nothing_happens_without_grad_mode() -> None:
    x = leaf(1.0)
    for mode in (wg.no_grad, wg.inference_mode):
        with mode():
            assert not checkpoint(lambda t: t.exp(), x).requires_grad


def test_modes_of_the_first_run_are_those_of_the_second() -> None:
    x, modes = leaf(1.0), []

    def function(x: Any) -> Any:
        modes.append((wg.is_grad_enabled(), wg.is_inference_mode_enabled()))
        return x.exp().sin()

    y = checkpoint(function, x)
    with wg.no_grad():
        y.backward(retain_graph=True)
    with wg.inference_mode():
        y.backward()
    assert modes == [(True, False)] * 3


@pytest.mark.parametrize("reentrant", [None, True, False])
def test_every_value_of_use_reentrant_gives_the_same(reentrant: bool | None) -> None:
    x = leaf(1.0, 2.0)
    checkpoint(lambda t, k: (t * k).exp(), x, k=2.0, use_reentrant=reentrant).sum().backward()
    assert x.grad.tolist() == (2 * np.exp([2.0, 4.0])).tolist()


def test_dropout_drops_the_same_elements() -> None:
    x = wg.ones(100, dtype=wg.float64, requires_grad=True)
    wg.manual_seed(3)
    y = checkpoint(lambda t: dropout(t, 0.5).exp(), x)
    after_forward = wg.get_rng_state()
    y.sum().backward()
    dropped = y.detach() == 1.0
    assert 20 < dropped.sum().item() < 80
    assert ((x.grad == 0.0) == dropped).all()
    assert (wg.get_rng_state() == after_forward).all()


def test_a_generator_of_ones_own_is_rewound_too() -> None:
    x, generator = wg.ones(50, dtype=wg.float64, requires_grad=True), wg.Generator()
    generator.manual_seed(1)

    def noisy(t: Any) -> Any:
        return t * wg.rand(50, dtype=wg.float64, generator=generator).exp() * t

    y = checkpoint(noisy, x)
    after_forward = generator.get_state()
    wg.rand(3, generator=generator)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * y.detach().numpy())
    wg.rand(1)
    assert not (generator.get_state() == after_forward).all()


def test_hooks_run_once_where_the_graph_is() -> None:
    x, seen = leaf(1.0, 2.0), []

    def hooked(x: Any) -> Any:
        h = x.exp()
        h.register_hook(lambda gradient: seen.append(gradient.tolist()) or gradient * 2)
        return h.sin()

    checkpoint(hooked, x).sum().backward()
    assert len(seen) == 1
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.cos(np.exp([1, 2])) * np.exp([1, 2]))


def test_custom_functions_inside() -> None:
    class Cube(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x * x * incoming

    def function(x: Any) -> Any:
        return Cube.apply(x.exp()).sin()

    x = leaf(0.1, 0.2)
    with saved_bytes_peak() as saved:
        y = checkpoint(function, x)
        assert saved.current == 0
    (first,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = wg.autograd.grad(first.sum(), x)
    (plain,) = wg.autograd.grad(function(x).sum(), x, create_graph=True)
    assert first.tolist() == plain.tolist()
    assert second.tolist() == wg.autograd.grad(plain.sum(), x)[0].tolist()


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("options", [{}, {"retain_graph": True}, {"create_graph": True}])
def test_backward_inside(options: dict[str, bool], early_stop: bool) -> None:
    x = leaf(0.3, 0.4)

    def function(x: Any) -> Any:
        y = x.sin()
        (slope,) = wg.autograd.grad(y.cos().sum(), x, **options)
        return x.exp() * slope

    (expected,) = wg.autograd.grad(function(x).sum(), x)
    (gradient,) = wg.autograd.grad(checkpoint(function, x, early_stop=early_stop).sum(), x)
    assert gradient.tolist() == expected.tolist()


def test_transforms() -> None:
    def loss(t: Any) -> Any:
        return checkpoint(lambda u: (u * u * u).exp(), t).sum()

    def plain(t: Any) -> Any:
        return (t * t * t).exp().sum()

    batch = wg.randn(4, 3, dtype=wg.float64)
    for transform in (
        lambda f: wg.func.vmap(wg.func.grad(f))(batch),
        lambda f: wg.func.hessian(f)(batch[0]),
        lambda f: wg.func.jvp(wg.func.grad(f), (batch[0],), (batch[1],))[1],
    ):
        np.testing.assert_allclose(transform(loss).numpy(), transform(plain).numpy(), rtol=1e-12)


def test_backward_after_vmap_has_ended() -> None:
    """The second run is among the samples of the first; PyTorch refuses this one."""
    w = leaf(1.0, 2.0)
    samples = wg.arange(6.0).double().reshape(3, 2)
    function = wg.func.vmap(lambda t: checkpoint(lambda u: (u * w).exp(), t))
    (gradient,) = wg.autograd.grad(function(samples).sum(), w)
    (expected,) = wg.autograd.grad((samples * w).exp().sum(), w)
    assert gradient.tolist() == expected.tolist()


def test_in_threads() -> None:
    x = wg.full((8,), 0.5, dtype=wg.float64, requires_grad=True)
    y = checkpoint(lambda t: (t.sin() * t).exp(), x).sum()
    (expected,) = wg.autograd.grad(y, x, retain_graph=True)
    results: list[Any] = []

    def work() -> None:
        for _ in range(20):
            results.append(wg.autograd.grad(y, x, retain_graph=True)[0].tolist())

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [expected.tolist()] * 80


def test_a_value_that_another_thread_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the question whether a value is at hand and its use, somebody else has used it."""
    x = wg.full((8,), 0.5, dtype=wg.float64, requires_grad=True)
    y = checkpoint(lambda t: (t.sin() * t).exp(), x).sum()
    (expected,) = wg.autograd.grad(y, x, retain_graph=True)
    monkeypatch.setattr(Boxes, "at_hand", True)
    (gradient,) = wg.autograd.grad(y, x, retain_graph=True)
    assert gradient.tolist() == expected.tolist()


class Failing:
    """A function that raises in one of its runs."""

    def __init__(self, run: int) -> None:
        self.runs, self.run = 0, run

    def __call__(self, x: Any) -> Any:
        self.runs += 1
        y = x.exp() * wg.rand(1).double()
        if self.runs == self.run:
            raise ValueError("no luck")
        return y.sin()


def assert_clean() -> None:
    assert _stack.interceptors == ()
    assert wg.is_grad_enabled()


def test_an_exception_in_the_first_run_leaves_no_trace() -> None:
    with pytest.raises(ValueError, match="no luck"):
        checkpoint(Failing(1), leaf(1.0))
    assert_clean()


def test_an_exception_in_the_second_run_leaves_no_trace() -> None:
    x = leaf(1.0)
    with saved_bytes_peak() as saved:
        y = checkpoint(Failing(2), x)
        held, state = saved.current, wg.get_rng_state()
        with pytest.raises(ValueError, match="no luck") as caught:
            y.backward(retain_graph=True)
        assert "raised when backward ran the checkpoint() at" in caught.value.__notes__[0]
        del caught
        assert saved.current == held
    assert_clean()
    assert x.grad is None
    assert (wg.get_rng_state() == state).all()
    y.backward()
    assert x.grad is not None


def test_saved_tensor_hooks_around_and_inside() -> None:
    x, packed = leaf(1.0, 2.0), []

    def pack(tensor: Any) -> Any:
        packed.append(tensor.tolist())
        return tensor.detach().numpy().copy()

    hooks = wg.autograd.graph.saved_tensors_hooks(pack, wg.from_numpy)
    h = x * 3.0
    (expected,) = wg.autograd.grad(h.exp().sin().sum(), x, retain_graph=True)
    with hooks:
        y = checkpoint(lambda t: t.exp().sin(), h)
    assert packed == [[3.0, 6.0]], "the argument goes through the hooks, what is inside does not"
    (gradient,) = wg.autograd.grad(y.sum(), x, retain_graph=True)
    assert gradient.tolist() == expected.tolist()

    def function(t: Any) -> Any:
        with hooks:
            return t.exp().sin()

    packed.clear()
    y = checkpoint(function, h)
    assert len(packed) == 2
    (gradient,) = wg.autograd.grad(y.sum(), x)
    assert gradient.tolist() == expected.tolist()
    assert len(packed) == 2, "nothing in there is the checkpoint's, so it does not run again"


@pytest.mark.parametrize("segments", [1, 2, 3, 5, 7])
def test_sequential(segments: int) -> None:
    layers, x = deep(7, 4)
    expected = x
    for each in layers:
        expected = each(expected)
    assert (checkpoint_sequential(layers, segments, x) == expected).all()


def test_sequential_takes_a_container_of_modules() -> None:
    class Sequential:
        def children(self) -> Any:
            return iter([wg.sin, wg.exp, wg.cos])

    x = leaf(1.0)
    y = checkpoint_sequential(Sequential(), 2, x, use_reentrant=False, preserve_rng_state=False)
    assert y == x.sin().exp().cos()


@pytest.mark.parametrize("segments", [0, 3])
def test_sequential_needs_a_function_per_segment(segments: int) -> None:
    with pytest.raises(ValueError, match=r"2 functions, segments=\d[^\0]*from 1 to 2"):
        checkpoint_sequential([wg.sin, wg.exp], segments, leaf(1.0))
