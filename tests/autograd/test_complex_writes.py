"""Writes to complex tensors and to their real and imaginary parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

PARTS: list[Callable[[Any, Any], Any]] = [
    lambda library, z: z.real,
    lambda library, z: z.imag,
    lambda library, z: library.view_as_real(z),
    lambda library, z: z[1:].real,
    lambda library, z: library.view_as_real(z)[..., 1],
]


def _through_the_part(library: Any, part: Any, z: Any) -> Any:
    y = z * 1
    part(library, y).mul_(2)
    return y


def _under_the_part(library: Any, part: Any, z: Any) -> Any:
    y = z * 1
    seen = part(library, y)
    y.mul_(2j)
    return seen


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("write", [_through_the_part, _under_the_part])
def test_derivatives_follow_a_write_between_parts_and_whole(part: Any, write: Any) -> None:
    found = []
    for library in (whygrad, torch):
        z = library.tensor([1 + 2j, 3 - 1j], requires_grad=True)
        y = write(library, part, z)
        y.abs().pow(3).sum().backward()
        with library.no_grad():
            _, ahead = library.func.jvp(partial(write, library, part), (z.detach(),), (z,))
        found.append([z.grad.numpy(), ahead.detach().numpy()])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-5)


def test_without_derivatives_parts_are_written() -> None:
    found = []
    for library in (whygrad, torch):
        z = library.tensor([1 + 2j, 3 - 1j], requires_grad=True)
        with library.no_grad():
            z.real.mul_(2)
            library.view_as_real(z)[0].add_(1)
        found.append(z.detach().numpy())
    np.testing.assert_array_equal(*found)


def test_copies_into_complex_memory_carry_gradients() -> None:
    found = []
    for library in (whygrad, torch):
        z = library.tensor([1 + 2j, 3 - 1j], requires_grad=True)
        x = library.tensor([0.5, 2.0], requires_grad=True)
        y = library.zeros(4, dtype=library.complex64)
        y[:2] = z
        y[2:].copy_(x)
        y[0] = x[1]
        (y * library.tensor([1j, 2 - 1j, 3j + 1, 4])).abs().square().sum().backward()
        found.append([z.grad.numpy(), x.grad.numpy(), (+y).detach().numpy()])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-5)
