"""What random functions do inside ``vmap``: the same contract as in PyTorch, whatever the numbers.

A call is refused, gives every sample the same numbers, or gives each its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.func

import whygrad as wg
import whygrad.func

SIZE = 4

# Functions of a library and of a vector with nine positive elements.
DRAWING: dict[str, Callable[[Any, Any], Any]] = {
    "rand": lambda lib, x: lib.rand(2),
    "randn": lambda lib, x: lib.randn(2),
    "randint": lambda lib, x: lib.randint(0, 10**6, (2,)),
    "randperm": lambda lib, x: lib.randperm(50),
    "rand_like": lambda lib, x: lib.rand_like(x),
    "randn_like": lambda lib, x: lib.randn_like(input=x),
    "randint_like": lambda lib, x: lib.randint_like(x, 0, 10**6),
    "normal of two tensors": lambda lib, x: lib.normal(x, x),
    "normal of a mean": lambda lib, x: lib.normal(x, 1.0),
    "normal of a deviation": lambda lib, x: lib.normal(0.0, std=x),
    "normal of a size": lambda lib, x: lib.normal(0.0, 1.0, (2,)),
    "bernoulli": lambda lib, x: lib.bernoulli((0 * x + 0.5).repeat(9)),
    "multinomial": lambda lib, x: lib.multinomial(x, 50, replacement=True),
    "multinomial of a matrix": lambda lib, x: lib.multinomial(lib.stack([x, x]), 8),
    "dropout": lambda lib, x: lib.nn.functional.dropout(x.repeat(9), 0.5),
    "alpha_dropout": lambda lib, x: lib.nn.functional.alpha_dropout(x.repeat(9), 0.5),
    "dropout2d": lambda lib, x: lib.nn.functional.dropout2d(x.repeat(9).reshape(1, -1, 1, 1), 0.5),
    "gumbel_softmax": lambda lib, x: lib.nn.functional.gumbel_softmax(x * 1.0),
    "uniform_": lambda lib, x: (x * 1.0).uniform_(),
    "normal_": lambda lib, x: (x * 1.0).normal_(),
    "bernoulli_": lambda lib, x: x.repeat(9).bernoulli_(0.5),
    "bernoulli_ of a tensor": lambda lib, x: x.repeat(9).bernoulli_(0 * x.repeat(9) + 0.5),
    "exponential_": lambda lib, x: (x * 1.0).exponential_(),
    "cauchy_": lambda lib, x: (x * 1.0).cauchy_(),
    "geometric_": lambda lib, x: (x * 1.0).geometric_(0.001),
    "log_normal_": lambda lib, x: (x * 1.0).log_normal_(),
    "random_": lambda lib, x: (x * 1.0).random_(0, 10**6),
    "a new tensor filled": lambda lib, x: lib.zeros(3).uniform_(),
}
# PyTorch draws its noise in place and so refuses it for an input that all samples share; here
# noise is drawn like rand_like, which both libraries give to each sample.
OWN = {("gumbel_softmax", False, "different"): "its own"}


def outcome(
    lib: Any, function: Callable[[Any, Any], Any], batched: bool, mode: str, **options: Any
) -> str:
    x = lib.arange(1, 10).to(lib.float32)
    batch = lib.stack([x] * SIZE)
    mapped = lib.func.vmap(
        lambda sample: function(lib, sample if batched else x), randomness=mode, **options
    )
    try:
        drawn = mapped(batch)
    except RuntimeError as error:
        if "random" not in str(error):
            raise
        return "refused"
    different = {np.asarray(each).tobytes() for each in drawn}
    return {1: "the same", SIZE: "its own"}[len(different)]


@pytest.mark.parametrize("name", DRAWING)
def test_the_contract_is_pytorchs(name: str) -> None:
    wg.manual_seed(0)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own remarks
        for batched in (True, False):
            for mode in ("error", "same", "different"):
                mine = outcome(wg, DRAWING[name], batched, mode)
                theirs = outcome(torch, DRAWING[name], batched, mode)
                theirs = OWN.get((name, batched, mode), theirs)
                assert mine == theirs, f"batched: {batched}, randomness={mode!r}"


@pytest.mark.parametrize("name", DRAWING)
def test_chunks_do_not_change_the_contract(name: str) -> None:
    for batched in (True, False):
        for mode in ("same", "different"):
            whole = outcome(wg, DRAWING[name], batched, mode)
            assert outcome(wg, DRAWING[name], batched, mode, chunk_size=3) == whole


def test_chunks_draw_from_every_generator_once() -> None:
    own = wg.Generator().manual_seed(3)
    wg.manual_seed(5)
    drawn = wg.func.vmap(
        lambda x: x + wg.rand(()) + wg.rand((), generator=own), randomness="same", chunk_size=2
    )(wg.zeros(5))
    expected = wg.rand((), generator=wg.Generator().manual_seed(3))
    after = wg.rand(())
    wg.manual_seed(5)
    expected = expected + wg.rand(())
    assert drawn.tolist() == [expected.item()] * 5
    assert after.item() == wg.rand(()).item(), "later numbers depend on the number of chunks"


def test_a_level_may_share_what_an_outer_level_does_not() -> None:
    chances = wg.full((3, 4, 200), 0.5)
    inner = wg.func.vmap(lambda row, p: wg.bernoulli(p), (0, None), randomness="same")
    drawn = wg.func.vmap(lambda rows: inner(rows, rows[0]), randomness="different")(chances)
    assert (drawn == drawn[:, :1]).all()
    assert not (drawn[0] == drawn[1]).all()


def test_parameters_may_carry_tangents_and_gradients() -> None:
    mean = wg.arange(4.0).requires_grad_()
    drawn = wg.func.vmap(lambda m: wg.normal(m, 0.0) * m, randomness="different")(mean)
    assert wg.autograd.grad(drawn.sum(), mean)[0].tolist() == mean.tolist()
    _, slope = wg.func.jvp(
        wg.func.vmap(lambda m: wg.normal(m, 0.0) * m, randomness="different"),
        (wg.arange(4.0),),
        (wg.ones(4),),
    )
    assert slope.tolist() == [0.0, 1.0, 2.0, 3.0]
