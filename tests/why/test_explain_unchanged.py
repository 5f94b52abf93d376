"""Asking changes nothing, and works whatever the surroundings are."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import whygrad
from whygrad import Value
from whygrad.autograd import detect_anomaly, forward_ad, grad
from whygrad.autograd.graph import saved_tensors_hooks
from whygrad.tensor import Tensor


def leaf() -> Tensor:
    return whygrad.arange(1.0, 5.0).requires_grad_()


def test_tensors_graph_and_random_numbers_stay() -> None:
    x, w = leaf(), leaf()
    h = whygrad.dropout(x * w, 0.5, True)
    h.retain_grad()
    loss = (h * w).sum()
    w.grad = whygrad.ones(4)
    versions = [each._version for each in (x, w, h, loss)]
    state = whygrad.get_rng_state().numpy().copy()
    whygrad.explain(loss, wrt=(x, w, h))
    whygrad.explain(loss, wrt=w, index=0)
    assert [each._version for each in (x, w, h, loss)] == versions
    np.testing.assert_array_equal(whygrad.get_rng_state().numpy(), state)
    assert x.grad is None
    assert h.grad is None
    assert w.grad.tolist() == [1.0] * 4
    loss.backward()  # nothing was freed
    assert h.grad is not None


def test_values_keep_their_gradients() -> None:
    x = Value(3.0)
    y = x * x
    x.grad = 5.0
    whygrad.explain(y, wrt=x)
    assert (x.grad, y.grad) == (5.0, 0.0)


def test_after_a_backward_that_kept_the_graph() -> None:
    w = leaf()
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    assert w.grad is not None
    np.testing.assert_array_equal(whygrad.explain(loss, wrt=w).gradient, w.grad.numpy())


def test_hooks_are_named_but_not_called() -> None:
    calls = []

    def halve(gradient: Tensor) -> Tensor:
        calls.append(gradient)
        return gradient / 2

    w, other = leaf(), leaf()
    h = w * 3
    h.register_hook(halve)
    w.register_hook(halve)
    w.register_post_accumulate_grad_hook(calls.append)
    h._node.register_prehook(calls.append)
    other.register_hook(halve)
    loss = (h * h).sum() + (other * 2).sum()
    explanation = whygrad.explain(loss, wrt=w)
    assert calls == []
    assert [note.split(" registered")[0] for note in explanation.notes] == [
        "the hook 'halve'",
        "the hook 'append'",
        "the hook 'halve'",
    ]
    assert explanation.notes[0].endswith(
        "h.register_hook(halve) was not called: if it changes gradients, backward() gives others"
    )
    np.testing.assert_array_equal(explanation.gradient, 18 * w.detach().numpy())
    loss.backward()
    assert len(calls) == 5


@contextmanager
def _dual_level() -> Iterator[None]:
    with forward_ad.dual_level():
        yield


SURROUNDINGS: list[Callable[[], Any]] = [
    whygrad.no_grad,
    whygrad.inference_mode,
    detect_anomaly,
    _dual_level,
]


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_the_modes_of_the_one_who_asks_do_not_matter(surroundings: Callable[[], Any]) -> None:
    w = leaf()
    loss = (w * w).sum()
    with warnings.catch_warnings(), surroundings():
        before = whygrad.is_grad_enabled(), whygrad.is_inference_mode_enabled()
        explanation = whygrad.explain(loss, wrt=w, index=1)
        assert (whygrad.is_grad_enabled(), whygrad.is_inference_mode_enabled()) == before
    assert [each.element for each in explanation.contributions] == [2.0, 2.0]
    assert all(each.terms is not None for each in explanation.contributions)


def test_a_nan_is_explained_in_anomaly_mode() -> None:
    with detect_anomaly(), warnings.catch_warnings():
        w = whygrad.zeros(2, requires_grad=True)
        loss = (w.sqrt() * 0.0).sum()
        explanation = whygrad.explain(loss, wrt=w, index=0)
    assert np.isnan(explanation.gradient).all()


def test_pack_hooks_do_not_see_the_question() -> None:
    packed = []

    def pack(tensor: Tensor) -> Tensor:
        packed.append(tensor)
        return tensor

    w = leaf()
    with saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = (w * w).sum()
        count = len(packed)
        whygrad.explain(loss, wrt=w, index=0)
    assert len(packed) == count


def test_inside_a_function_transform() -> None:
    seen = []

    def function(x: Tensor) -> Tensor:
        y = (x * x).sum()
        seen.append(whygrad.explain(y, wrt=x).gradient)
        return y

    gradient = whygrad.func.grad(function)(leaf().detach())
    np.testing.assert_array_equal(seen[0], gradient.numpy())


def test_dual_numbers_are_explained_by_their_primal() -> None:
    x = leaf()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, whygrad.ones(4))
        y = (dual * dual).sum()
        explanation = whygrad.explain(y, wrt=x)
    np.testing.assert_array_equal(explanation.gradient, 2 * x.detach().numpy())


def test_an_explanation_is_a_copy() -> None:
    w = leaf()
    seed = whygrad.ones(4)
    y = w * 1
    explanation = whygrad.explain(y, wrt=w, gradient=seed)
    with whygrad.no_grad():
        seed.zero_()
        w.zero_()
    assert explanation.gradient.tolist() == [1.0] * 4
    assert explanation.target.value.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_an_explanation_does_not_keep_the_graph() -> None:
    w = leaf()
    y = w * w
    loss = y.sum()
    node = weakref.ref(y._node)
    explanation = whygrad.explain(loss, wrt=w)
    del y, loss
    gc.collect()
    assert node() is None
    assert "w * w" in str(explanation)


def test_second_order_graphs() -> None:
    w = leaf()
    loss = (w**3).sum()
    (first,) = grad(loss, w, create_graph=True)
    assert first is not None
    penalty = (first * first).sum()
    explanation = whygrad.explain(penalty, wrt=w)
    (expected,) = grad(penalty, w)
    assert expected is not None
    np.testing.assert_array_equal(explanation.gradient, expected.numpy())
