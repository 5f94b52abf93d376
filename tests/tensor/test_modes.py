"""Switching recording off and on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad as wg


def test_no_grad_records_nothing() -> None:
    x = wg.ones(2, requires_grad=True)
    with wg.no_grad():
        y = x * 2
    assert not y.requires_grad
    assert y.grad_fn is None


def test_modes_nest_and_restore() -> None:
    with wg.no_grad():
        with wg.enable_grad():
            assert wg.is_grad_enabled()
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_restored_after_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), wg.no_grad():
        raise ZeroDivisionError
    assert wg.is_grad_enabled()


def test_one_object_used_twice() -> None:
    mode = wg.no_grad()
    with mode:
        with mode:
            pass
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


@pytest.mark.parametrize(
    "make", [lambda: wg.no_grad, wg.no_grad, lambda: wg.set_grad_enabled(False)]
)
def test_as_decorator(make: Callable[[], Any]) -> None:
    @make()
    def inside() -> bool:
        return wg.is_grad_enabled()

    assert inside() is False
    assert wg.is_grad_enabled()


def test_set_grad_enabled_acts_at_once() -> None:
    wg.set_grad_enabled(False)
    try:
        assert not wg.is_grad_enabled()
    finally:
        wg.set_grad_enabled(True)
    with wg.set_grad_enabled(False):
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_inference_mode() -> None:
    x = wg.ones(2, requires_grad=True)
    with wg.inference_mode():
        y = x * 2
        assert wg.is_inference_mode_enabled()
    assert not y.requires_grad
    assert not wg.is_inference_mode_enabled()


def test_generators_run_inside_and_their_users_outside() -> None:
    ended = []

    @wg.no_grad()
    def steps() -> Any:
        try:
            answer = yield wg.is_grad_enabled()
            assert answer == "sent"
            try:
                yield wg.is_grad_enabled()
            except KeyError:
                yield wg.is_grad_enabled()
        finally:
            ended.append(wg.is_grad_enabled())

    running = steps()
    seen = [next(running), running.send("sent"), running.throw(KeyError())]
    assert seen == [False, False, False]
    assert wg.is_grad_enabled()
    running.close()
    assert ended == [False]
    assert wg.is_grad_enabled()


@pytest.mark.parametrize("lib", [wg, torch], ids=["whygrad", "torch"])
def test_a_write_in_inference_mode_is_not_recorded(lib: Any) -> None:
    leaf = lib.ones(2, requires_grad=True)
    value = leaf * 3
    with lib.inference_mode(), lib.enable_grad():
        leaf.mul_(2)
        value.mul_(2)
    value.sum().backward()
    assert leaf.tolist() == [2.0, 2.0]
    assert leaf.grad.tolist() == [3.0, 3.0]


def test_enable_grad_does_not_record_in_inference_mode() -> None:
    x = wg.ones(2, requires_grad=True)
    with wg.inference_mode(), wg.enable_grad():
        y = x * 2
    assert not y.requires_grad
    assert y.is_inference()


def test_recursion() -> None:
    @wg.no_grad()
    def depth(n: int) -> list[bool]:
        return [wg.is_grad_enabled()] + (depth(n - 1) if n else [])

    assert depth(3) == [False] * 4
    assert wg.is_grad_enabled()
