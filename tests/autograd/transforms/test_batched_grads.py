"""``autograd.grad(is_grads_batched=True)`` against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import whygrad


def _several(library: Any) -> list[Any]:
    a = library.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = library.tensor([4.0, 5.0, 6.0], requires_grad=True)
    unused = library.ones(2, requires_grad=True)
    found = library.autograd.grad(
        [a**3 * b, (a * b).sum()],
        [a, b, unused],
        [library.eye(3), library.tensor([1.0, 0.0, 2.0])],
        is_grads_batched=True,
        allow_unused=True,
    )
    return [None if each is None else each.tolist() for each in found]


def _twice(library: Any) -> Any:
    a = library.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (jacobian,) = library.autograd.grad(
        a**3, a, library.eye(3), create_graph=True, is_grads_batched=True
    )
    return library.autograd.grad(jacobian.sum(), a)[0].tolist()


def _networks(library: Any) -> Any:
    x = library.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    y = library.relu(x @ x.T).sum(1)
    (rows,) = library.autograd.grad(y, x, library.eye(2), is_grads_batched=True)
    return rows.tolist()


@pytest.mark.parametrize("program", [_several, _twice, _networks])
def test_like_pytorch(program: Any) -> None:
    assert program(whygrad) == program(torch)


@pytest.mark.parametrize("shape", [(3,), (2, 4)])
def test_a_cotangent_that_does_not_fit(shape: tuple[int, ...]) -> None:
    for library in (whygrad, torch):
        x = library.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="first dimension"):
            library.autograd.grad(x * 2, x, library.ones(shape), is_grads_batched=True)
