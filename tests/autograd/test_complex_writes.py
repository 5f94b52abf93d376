"""Writes to complex tensors and to their real and imaginary parts: right or refused."""

from __future__ import annotations

from collections.abc import Callable
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
]


@pytest.mark.parametrize("part", PARTS)
def test_a_living_part_refuses_a_recorded_write_to_the_whole(part: Any) -> None:
    z = whygrad.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 1
    seen = part(whygrad, y)
    with pytest.raises(RuntimeError, match=r"view of complex64.* with another dtype"):
        y.mul_(2)
    del seen
    y.mul_(2)
    part(whygrad, y).sum().backward()
    assert z.grad is not None
    assert part(whygrad, z.grad).flatten().tolist()[-1] == 2  # ∂(2·z), not ∂z


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("recording", [True, False])
def test_tangents_do_not_pass_between_parts_and_whole(part: Any, recording: bool) -> None:
    def through_the_part(z: Any) -> Any:
        y = z * 1
        part(whygrad, y).mul_(2)
        return y

    def under_the_part(z: Any) -> Any:
        y = z * 1
        seen = part(whygrad, y)
        y.mul_(2)
        return seen

    z = whygrad.tensor([1 + 2j, 3 - 1j])
    for function in (through_the_part, under_the_part):
        with (
            whygrad.set_grad_enabled(recording),
            pytest.raises(RuntimeError, match="with another dtype"),
        ):
            whygrad.func.jvp(function, (z,), (z,))


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
