"""For every op of the table and every input: contributions add up to what autograd computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad
from tests.conformance.harness import Side, every_sample, weighted_sum, whygrad_side
from whygrad.autograd import grad
from whygrad.ops.define import Op
from whygrad.ops.samples import Call
from whygrad.tensor import Tensor
from whygrad.why.sources.recording import dense


def weighted(outputs: list[Any]) -> Tensor | None:
    """A number that every differentiable output has a part in."""
    rng = np.random.default_rng(7)
    total = None
    for out in outputs:
        if getattr(out, "requires_grad", False):
            weights = np.asarray(rng.uniform(0.5, 1.5, tuple(out.shape))).astype(out.dtype.numpy)
            term = weighted_sum(out, whygrad.from_numpy(weights))
            total = term if total is None else total + term
    return total


def assert_adds_up(loss: Tensor, side: Side) -> None:
    expected = grad(loss, side.inputs, allow_unused=True, retain_graph=True)
    for x, gradient in zip(side.inputs, expected, strict=True):
        if gradient is None:
            with pytest.raises(RuntimeError, match="nothing to explain"):
                whygrad.explain(loss, wrt=x)
            continue
        explanation = whygrad.explain(loss, wrt=x)
        exact = dense(gradient._array)
        np.testing.assert_array_equal(explanation.gradient, exact)
        np.testing.assert_allclose(explanation.total, exact, 1e-12, 1e-14)
        shares = [each.share for each in explanation.contributions]
        if None not in shares:
            assert sum(shares) == pytest.approx(1.0)


@every_sample(lambda op: op.differentiable)
def test_contributions_add_up(op: Op, call: Call) -> None:
    side = whygrad_side(call, "float64")
    loss = weighted(side.run(op.public))
    if loss is not None:
        assert_adds_up(loss, side)


@every_sample(lambda op: op.differentiable)
def test_contributions_of_two_uses_add_up(op: Op, call: Call) -> None:
    side = whygrad_side(call, "float64")
    first, second = (weighted(side.run(op.public)) for _ in range(2))
    if first is not None and second is not None:
        assert_adds_up(first + 0.25 * second, side)


def same_arguments(side: Side) -> bool:
    """Let one tensor stand for all arguments of its shape; whether there are several."""
    args = list(side.args)
    places = [place for place, each in enumerate(args) if any(each is x for x in side.inputs)]
    alike = [place for place in places if args[place].shape == args[places[0]].shape]
    if len(alike) < 2:
        return False
    first = args[alike[0]]
    for place in alike:
        args[place] = first
    side.args, side.inputs = tuple(args), [first]
    return True


@every_sample(lambda op: op.differentiable and len(op.tensor_names) > 1)
def test_one_tensor_as_several_arguments(op: Op, call: Call) -> None:
    side = whygrad_side(call, "float64")
    if not same_arguments(side):
        return
    try:
        loss = weighted(side.run(op.public))
    except (RuntimeError, ValueError):  # two different tensors were meant
        return
    if loss is not None:
        assert_adds_up(loss, side)
