"""Random counts: Poisson and binomial."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.creation.creation import build
from whygrad.ops.creation.likes import require_tensor
from whygrad.ops.creation.sampling import check_inexact, rng_of, seeded
from whygrad.ops.define import creation
from whygrad.random import draws
from whygrad.tensor import Tensor
from whygrad.tensor.graph import lineage

Array = Any


@draws
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """How often something happens that happens ``input`` times on average."""
    require_tensor("poisson", input)
    check_inexact("poisson", input.dtype)

    def make(dtype: Any) -> Array:
        rate = input._array.astype(np.float64)
        if not bool((rate >= 0).all()):
            raise fail(
                RuntimeError,
                call=f"poisson({describe(input)})",
                cause="invalid Poisson rate, expected rate to be non-negative",
                fix="pass rates of 0 or more",
            )
        return np.asarray(rng_of(generator).poisson(rate)).astype(dtype)

    drawn = build("poisson", input.shape, make, {}, input.dtype, input.device)
    return lineage.cut(input, drawn, "sampled", "poisson")


@draws
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """How many of ``count`` attempts succeed, each with probability ``prob``."""
    require_tensor("binomial", count)
    check_inexact("binomial", count.dtype)
    if count.dtype is not prob.dtype:
        raise fail(
            RuntimeError,
            call=f"binomial({describe(count)}, {describe(prob)})",
            cause=f"Found dtype {count.dtype.name} but expected {prob.dtype.name}",
            fix="convert count to the dtype of prob",
        )
    shape = np.broadcast_shapes(count.shape, prob.shape)

    def make(dtype: Any) -> Array:
        attempts, chance = count._array.astype(np.int64), prob._array.astype(np.float64)
        return np.asarray(rng_of(generator).binomial(attempts, chance, shape)).astype(dtype)

    drawn = build("binomial", shape, make, {}, count.dtype, count.device)
    return lineage.cut(prob, drawn, "sampled", "binomial")


creation(
    poisson,
    "y ~ Poisson(x)",
    torch="",
    samples=lambda make: [make.around(seeded, make.constant(make(2, 3, low=0.0, high=5.0)))],
)
creation(
    binomial,
    "y ~ B(count, prob)",
    torch="",
    samples=lambda make: [
        make.around(
            seeded,
            make.constant(np.full((2, 3), 7.0)),
            make.constant(make(3, low=0.1, high=0.9)),
        )
    ],
)
