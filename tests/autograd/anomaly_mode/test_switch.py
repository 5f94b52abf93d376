"""Turning the mode on and off, and what it leaves behind."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
import torch

import whygrad as wg
from tests.autograd.anomaly_mode.catching import caught
from tests.autograd.tensors import leaf
from whygrad.autograd import AnomalyError, anomaly_mode, detect_anomaly, set_detect_anomaly


def test_switches_are_pytorchs() -> None:
    def states(library: Any) -> list[Any]:
        def state() -> tuple[bool, bool]:
            return library.is_anomaly_enabled(), library.is_anomaly_check_nan_enabled()

        seen = [state()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with library.autograd.detect_anomaly(check_nan=False):
                seen.append(state())
                with library.autograd.set_detect_anomaly(True):
                    seen.append(state())
                seen.append(state())
        seen.append(state())
        library.autograd.set_detect_anomaly(True)
        seen.append(state())
        library.autograd.set_detect_anomaly(False, False)
        seen.append(state())
        library.autograd.set_detect_anomaly(False)
        return [*seen, state()]

    assert states(wg) == states(torch)


def test_mode_ends_with_the_block_that_raised() -> None:
    with pytest.raises(KeyError), detect_anomaly():
        raise KeyError
    assert not wg.is_anomaly_enabled()
    leaf(0.0).sqrt().sum().backward()


def test_mode_belongs_to_the_thread(watch: Any) -> None:
    x, seen = leaf(0.0), []

    def other() -> None:
        seen.append(wg.is_anomaly_enabled())
        x.sqrt().sum().backward()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [False]
    assert x.grad.tolist() == [inf]


@pytest.mark.parametrize(
    "call",
    [
        lambda: set_detect_anomaly(1),  # type: ignore[arg-type]
        lambda: set_detect_anomaly(True, "no"),  # type: ignore[arg-type]
        lambda: detect_anomaly(allow_inf=None),  # type: ignore[arg-type]
    ],
)
def test_switches_take_bools(call: Callable[[], Any]) -> None:
    with pytest.raises(
        TypeError, match=r"must be bool, not (int|str|NoneType)\n  fix:   pass True"
    ):
        call()
    assert not wg.is_anomaly_enabled()


def test_reused_block_and_modules_names() -> None:
    block = detect_anomaly()
    for _ in range(2):
        with block:
            assert wg.is_anomaly_enabled()
    assert anomaly_mode.detect_anomaly is detect_anomaly
    assert issubclass(AnomalyError, RuntimeError)


def test_nothing_is_kept_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        with detect_anomaly() as watch:
            x = leaf(-1.0, 4.0)
            hidden = x.log()  # nan, and thrown away
            node, array = weakref.ref(hidden.grad_fn), weakref.ref(hidden._array)
            y = wg.where(x > 0, wg.where(x > 0, hidden, 0.0), 0.0).sum()
            del hidden
            y.backward()
            del y
            assert node() is None
            assert array() is None
            caught(x.log().sum().backward)
        assert watch.harmless
    finally:
        gc.enable()


def test_off_means_plain() -> None:
    from whygrad.autograd import engine
    from whygrad.tensor import modes

    with detect_anomaly():
        x = leaf(1.0) * 2
        assert x.grad_fn._extras is not None
    y = leaf(1.0) * 2
    assert y.grad_fn._extras is None
    assert engine.chosen.walk is engine.Walk
    assert modes.state.added == 0
