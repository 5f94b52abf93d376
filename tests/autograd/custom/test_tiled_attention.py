"""The attention of ``examples/tiled_attention.py`` against PyTorch's."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg

EXAMPLE = Path(__file__).parents[3] / "examples" / "tiled_attention.py"
attention = runpy.run_path(str(EXAMPLE))["tiled_attention"]


def inputs(queries: int, keys: int) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((2, 3, length, 5)) for length in (queries, keys, keys)]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(10, 10), (10, 4), (4, 10), (1, 1)])
@pytest.mark.parametrize("block", [1, 3, 64])
def test_values_and_gradients(queries: int, keys: int, causal: bool, block: int) -> None:
    arrays = inputs(queries, keys)
    ours = [wg.tensor(each, requires_grad=True) for each in arrays]
    theirs = [torch.tensor(each, requires_grad=True) for each in arrays]
    found = attention(*ours, causal, block)
    expected = torch.nn.functional.scaled_dot_product_attention(*theirs, is_causal=causal)
    np.testing.assert_allclose(found.detach(), expected.detach(), atol=1e-12)
    found.sin().sum().backward()
    expected.sin().sum().backward()
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.grad, other.grad, atol=1e-12)


def test_large_scores_do_not_overflow() -> None:
    q, k, v = (wg.tensor(each * 1000, dtype=wg.float32) for each in inputs(6, 6))
    assert wg.isfinite(attention(q, k, v, False, 2)).all()


def test_heads_by_vmap() -> None:
    q, k, v = (wg.tensor(each) for each in inputs(6, 6))
    heads = wg.func.vmap(wg.func.vmap(lambda *x: attention(*x, True, 4)))
    np.testing.assert_allclose(heads(q, k, v), attention(q, k, v, True, 4))
