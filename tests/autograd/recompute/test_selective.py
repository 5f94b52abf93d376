"""Some results are kept and handed out again, the others are recomputed."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd.graph import saved_bytes_peak
from whygrad.utils.checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    checkpoint,
    create_selective_checkpoint_contexts,
)


def selective(policy: Any, **options: Any) -> Any:
    return partial(create_selective_checkpoint_contexts, policy, **options)


def block(x: Any, w: Any) -> Any:
    h = wg.tanh(x @ w)
    values, _ = (h @ w).sigmoid().max(1)
    return wg.softmax(h, 1) * values.exp()


def inputs() -> list[Any]:
    wg.manual_seed(0)
    return [wg.randn(4, 4, dtype=wg.float64).requires_grad_() for _ in range(2)]


POLICIES = [
    [wg.matmul],
    ["matmul", wg.tanh],
    {wg.softmax, "max"},
    lambda ctx, op, *args: CheckpointPolicy.MUST_SAVE,
    lambda ctx, op, *args: CheckpointPolicy.PREFER_RECOMPUTE,
    lambda ctx, op, *args: op is wg.exp,
    [],
]


@pytest.mark.parametrize("policy", POLICIES)
def test_gradients_are_the_same(policy: Any) -> None:
    x, w = inputs()
    expected = wg.autograd.grad(block(x, w).sum(), [x, w], create_graph=True)
    y = checkpoint(block, x, w, context_fn=selective(policy))
    for _ in range(2):
        found = wg.autograd.grad(y.sum(), [x, w], create_graph=True)
        assert [each.tolist() for each in found] == [each.tolist() for each in expected]
    second = [wg.autograd.grad(each[1].sum(), [x, w]) for each in (expected, found)]
    assert [each.tolist() for each in second[0]] == [each.tolist() for each in second[1]]


def test_what_is_kept_is_not_computed_again() -> None:
    kept: dict[str, Any] = {}

    def policy(ctx: SelectiveCheckpointContext, op: Any, *args: Any) -> CheckpointPolicy:
        assert not ctx.is_recompute
        kept[op.__name__] = ctx.op_output._array
        if op is wg.exp:
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.MUST_RECOMPUTE

    y = checkpoint(lambda t: t.exp().sigmoid(), leaf(1.0, 2.0), context_fn=selective(policy))
    sigmoid = y.grad_fn
    exp = sigmoid.next_functions[0][0]
    assert np.shares_memory(exp.saved["y"], kept["exp"])
    assert not np.shares_memory(sigmoid.saved["y"], kept["sigmoid"])


def test_kept_results_count_as_saved() -> None:
    x, w = inputs()
    sizes = {}
    for policy in ([], ["matmul"]):
        with saved_bytes_peak() as saved:
            y = checkpoint(lambda x, w: (x @ w + 1.0) @ w + 1.0, x, w, context_fn=selective(policy))
            sizes[len(policy)] = saved.current
            del y
        assert saved.current == 0
    assert sizes == {0: 0, 1: 2 * x.nbytes}


def test_nothing_is_left_behind() -> None:
    while gc.collect():  # what other tests left may take several rounds
        pass
    gc.disable()
    try:
        x, w = inputs()
        y = checkpoint(block, x, w, context_fn=selective(["matmul", "softmax", "mul"]))
        watched = [weakref.ref(y), weakref.ref(y.grad_fn)]
        y.sum().backward(retain_graph=True)
        del y
        assert [ref() for ref in watched] == [None, None]
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_unrecorded_and_custom_parts() -> None:
    class Double(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.exp()

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return incoming * 2.0

    def function(x: Any, w: Any) -> Any:
        with wg.no_grad():
            scale = (x @ w).exp()
        return Double.apply((x * scale).sin()).sin()

    x, w = inputs()
    expected = wg.autograd.grad(function(x, w).sum(), x)
    everything = selective(lambda ctx, op, *args: True)
    found = wg.autograd.grad(checkpoint(function, x, w, context_fn=everything).sum(), x)
    assert found[0].tolist() == expected[0].tolist()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (["no such op"], ValueError, r"Expected an op in the list, but got 'no such op'"),
        ([np.exp], ValueError, r"Expected an op in the list, but got <ufunc 'exp'>"),
        ([wg.transpose], ValueError, r"transpose is a view[^\0]*leave it out"),
        (["dropout"], ValueError, r"dropout is a composite[^\0]*dispatch\.explain"),
        ("matmul", TypeError, r"must be either a function or a list of ops"),
    ],
)
def test_bad_lists_are_refused(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        create_selective_checkpoint_contexts(given)


def test_a_kept_result_that_was_written_to() -> None:
    def function(x: Any) -> Any:
        h = x @ x
        return (h.add_(1.0) * x).exp()

    x = wg.eye(2, dtype=wg.float64, requires_grad=True)
    y = checkpoint(function, x, context_fn=selective(["matmul"]))
    with pytest.raises(RuntimeError, match="has been mutated: add_ wrote to the result of matmul"):
        y.sum().backward()
    y = checkpoint(
        function,
        x,
        context_fn=selective(["matmul"], allow_cache_entry_mutation=True),
        determinism_check="none",
    )
    y.sum().backward()


def test_a_call_that_the_first_run_did_not_make() -> None:
    runs: list[int] = []

    def function(x: Any) -> Any:
        runs.append(1)
        if len(runs) > 1:
            x = x.sin()
        return x.exp()

    y = checkpoint(function, leaf(1.0), context_fn=selective(["exp"]))
    with pytest.raises(RuntimeError, match="sin invocation index 0 encountered during backward"):
        y.backward()
