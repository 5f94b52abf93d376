"""Anomaly mode against its definition, from the op table.

It raises exactly if the loss or a gradient is not finite, whatever the op and wherever the bad
number went in; a rule that its explanation cannot take apart would show here, too.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.conformance.derivatives.test_derivatives import as_function
from tests.conformance.harness import weighted_sum
from whygrad.autograd import AnomalyError, detect_anomaly
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of

OPS = [op for op in table.values() if op.differentiable and samples_of(op)]


def attempt(op: Op, call: Call, value: float, dropped: bool) -> str:
    """How a program ends in which one number of each input is ``value``."""
    function, inputs = as_function(op, call)
    spoiled = [with_one(value, each) for each in inputs]
    try:
        outputs = [each for each in function(*spoiled) if each.requires_grad]
        if not outputs:
            return "fine"
        if dropped:
            outputs = [wg.where(each == 0.77, each, 0.0) for each in outputs]
        loss = sum(weighted_sum(each, 1.0) for each in outputs)
        gradients = wg.autograd.grad(loss, spoiled, allow_unused=True)
    except AnomalyError:
        return "not finite"
    except (RuntimeError, ValueError) as error:
        return type(error).__name__
    found = [loss, *gradients]
    fine = all(np.isfinite(each.detach().numpy()).all() for each in found if each is not None)
    return "fine" if fine else "not finite"


def with_one(value: float, tensor: Any) -> Any:
    array = np.array(tensor.detach().numpy())
    if array.size:
        array.flat[array.size // 2] = value
    return wg.tensor(array, requires_grad=True)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_raises_exactly_if_harm_is_done(op: Op) -> None:
    call = samples_of(op)[0]
    for value in (0.0, 1.0, nan, -inf):
        for dropped in (False, True):
            expected = attempt(op, call, value, dropped)
            with detect_anomaly():
                assert attempt(op, call, value, dropped) == expected, (value, dropped)
