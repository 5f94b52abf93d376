"""What checkpoints hold, when they let go of it, and that they leave nothing behind."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import whygrad as wg
from tests.autograd.tensors import leaf
from tests.utils.styles import Function, deep, nested_in_work, whole
from whygrad.autograd.graph import saved_bytes_peak
from whygrad.utils.checkpoint import checkpoint, checkpoint_sequential


def peak(run: Function) -> int:
    with saved_bytes_peak() as saved:
        run().sum().backward()
    return saved.peak


def test_memory_is_that_of_one_segment_and_the_borders() -> None:
    layers, x = deep(16)
    plain = peak(lambda: checkpoint_sequential(layers, 1, x))
    parts = peak(lambda: checkpoint_sequential(layers, 4, x))
    assert plain >= 16 * x.nbytes
    assert parts <= (4 + 4 + 2) * x.nbytes


def test_nesting_saves_more() -> None:
    layers, x = deep(64)

    def halves(layers: list[Function], x: Any) -> Any:
        if len(layers) == 1:
            return layers[0](x)
        middle = len(layers) // 2
        x = checkpoint(halves, layers[:middle], x)
        return checkpoint(halves, layers[middle:], x)

    flat = peak(lambda: checkpoint_sequential(layers, 8, x))
    recursive = peak(lambda: halves(layers, x))
    assert recursive < 0.75 * flat


def test_recomputed_values_go_as_they_are_used() -> None:
    x, sizes = leaf(*range(1000)), []
    with saved_bytes_peak() as saved:

        def function(h: Any) -> Any:
            for _ in range(10):
                h = h.sin()
                h.register_hook(lambda _: sizes.append(saved.current))
            return h

        y = checkpoint(function, x).sum()
        assert saved.current <= 2 * x.nbytes
        y.backward(retain_graph=True)
    assert sizes[0] <= 2 * x.nbytes, "nothing was computed again yet"
    falling = sizes[1:]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] < falling[0] / 4
    assert saved.current <= 2 * x.nbytes, "although the graph is kept"


def test_the_value_that_was_asked_for_goes_too() -> None:
    x = leaf(*range(1000))
    with saved_bytes_peak() as saved:
        y = checkpoint(lambda t: t.exp().sin(), x).sum()
        y.backward(retain_graph=True)
    assert saved.current == 0


def test_the_graph_reports_what_is_elsewhere() -> None:
    x = wg.ones(1000, dtype=wg.float64, requires_grad=True)
    y = checkpoint(lambda t: t.exp().sin(), x).sum()
    report = wg.autograd.graph.memory(y)
    assert report.activations == 0
    assert report.elsewhere == 2 * x.nbytes


@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("style", [whole, nested_in_work])
def test_nothing_is_left_behind(style: Function, backward: bool) -> None:
    while gc.collect():  # what other tests left may take several rounds
        pass
    gc.disable()
    try:
        x, w = (wg.randn(3, 3, dtype=wg.float64).requires_grad_() for _ in range(2))
        h = x * 1.0
        inside: list[Any] = []

        def function(a: Any, b: Any) -> Any:
            made = (a @ b).exp()
            inside.append(weakref.ref(made))
            return made.sin() * made

        y = style(function, h, w)
        watched = [weakref.ref(y), weakref.ref(y.grad_fn)]
        if backward:
            y.sum().backward(retain_graph=True)
            y.sum().backward(create_graph=True)
            x.grad = w.grad = None
        del y
        assert [ref() for ref in [*watched, *inside]] == [None] * (len(inside) + 2)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_an_argument_that_is_written_to_makes_no_cycle() -> None:
    while gc.collect():  # what other tests left may take several rounds
        pass
    gc.disable()
    try:
        h = leaf(1.0, 2.0) * 1.0
        y = checkpoint(lambda t: t.mul_(2.0).exp(), h)
        watched = [weakref.ref(h), weakref.ref(y)]
        del h, y
        assert [ref() for ref in watched] == [None, None]
    finally:
        gc.enable()


def test_a_long_chain_of_checkpoints_is_freed() -> None:
    x = y = leaf(0.5)
    for _ in range(5_000):
        y = checkpoint(wg.sin, y, preserve_rng_state=False)
    wg.autograd.grad(y, x, retain_graph=True)
    del y
