"""Every optimizer with every option: PyTorch's trajectory, from the same start, for 200 steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.optim.problems import (
    CASES,
    EVERY_CASE,
    LIBRARIES,
    Problem,
    assert_same_state,
    case_id,
    optimizer_of,
    plain,
)

EVERY = pytest.mark.parametrize(("name", "options"), EVERY_CASE, ids=case_id)


def trained(library: Any, name: str, options: dict[str, Any], steps: int, dtype: str) -> Any:
    problem = Problem(library, dtype)
    optimizer = optimizer_of(library, name, problem.parameters, **options)
    problem.train(optimizer, steps)
    return problem, optimizer


@EVERY
def test_float64(name: str, options: dict[str, Any]) -> None:
    ours, our_optimizer = trained(whygrad, name, options, 200, "float64")
    theirs, their_optimizer = trained(torch, name, options, 200, "float64")
    for one, other in zip(ours.values(), theirs.values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    assert_same_state(plain(our_optimizer.state_dict()), plain(their_optimizer.state_dict()), 1e-7)


@EVERY
def test_float32(name: str, options: dict[str, Any]) -> None:
    ours, _ = trained(whygrad, name, options, 60, "float32")
    theirs, _ = trained(torch, name, options, 60, "float32")
    for one, other in zip(ours.values(), theirs.values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=3e-4, atol=3e-5)


@pytest.mark.parametrize("name", CASES)
def test_float16_rounds_op_by_op(name: str) -> None:
    """From given gradients, since the two libraries' matmuls round differently."""
    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=6), rng.normal(size=(5, 6))
    results = {}
    for label, library in LIBRARIES.items():
        param = library.tensor(start, dtype=library.float16).requires_grad_()
        optimizer = optimizer_of(library, name, [param], **CASES[name][1] | {"lr": 0.01})
        for gradient in gradients:
            param.grad = library.tensor(gradient, dtype=library.float16)
            optimizer.step()
        results[label] = param.detach().float().numpy()
        assert all(
            each.dtype is library.float16 for each in optimizer.state[param].values() if each.ndim
        )
    np.testing.assert_allclose(results["whygrad"], results["torch"], rtol=5e-3, atol=3e-3)
