"""Saved tensors that wait on the cpu."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad import dispatch
from whygrad.autograd.graph import (
    save_on_cpu,
    saved_bytes_peak,
)


def test_save_on_cpu_leaves_cpu_tensors_alone() -> None:
    x = leaf(1.0, 2.0)
    with saved_bytes_peak() as saved, save_on_cpu():
        y = x.exp()
    assert saved.current == 16
    with saved_bytes_peak() as saved, save_on_cpu(pin_memory=True):
        z = x.exp()
    assert saved.current == 32, "the output, and the copy of it"
    (y + z).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([1.0, 2.0]))


class Crate:
    """Memory of a device that is not the cpu."""

    def __init__(self, cells: Any) -> None:
        self.cells = np.array(cells)
        self.shape = self.cells.shape
        self.dtype = self.cells.dtype


@pytest.fixture(scope="module")
def crates() -> str:
    dispatch.register_device(
        "crates", Crate, from_numpy=Crate, to_numpy=lambda crate: crate.cells.copy()
    )
    dispatch.register(
        wg.mul, "crates", lambda a, b: Crate(getattr(a, "cells", a) * getattr(b, "cells", b))
    )
    return "crates"


def test_save_on_cpu_brings_tensors_back_to_their_device(crates: str) -> None:
    kept = []

    class looking(save_on_cpu):
        def box(self, *args: Any) -> Any:
            box = super().box(*args)
            kept.append(box.packed)
            return box

    x = wg.tensor([2.0, 3.0]).to(crates).requires_grad_()
    weight = wg.tensor([10.0, 20.0]).to(crates)
    with looking():
        y = x * weight
    assert [(str(device), str(on_cpu.device)) for device, on_cpu in kept] == [(crates, "cpu")]
    (gradient,) = wg.autograd.grad(y, x, wg.tensor([1.0, 1.0]).to(crates))
    assert str(gradient.device) == crates
    assert gradient.cpu().tolist() == [10.0, 20.0]
