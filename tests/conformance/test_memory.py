"""The layout of inputs in memory must not matter; what is saved must be what is declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad
from tests.conformance.harness import (
    Side,
    assert_same_gradients,
    assert_same_values,
    every_sample,
    gradients,
    whygrad_side,
)
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call
from whygrad.tensor import Tensor


def transposed(array: Any) -> Any:
    """The same numbers in column-major memory."""
    return np.array(array, order="F")


def gapped(array: Any) -> Any:
    """Every other element of a larger block."""
    if array.ndim == 0:
        return np.array(array)
    block = np.full((*array.shape[:-1], 2 * array.shape[-1]), 99, array.dtype)
    view = block[..., ::2]
    view[...] = array
    return view


def reversed_(array: Any) -> Any:
    """Negative strides."""
    if array.ndim == 0:
        return np.array(array)
    return np.array(array[::-1])[::-1]


def offset(array: Any) -> Any:
    """Not at the start of its block."""
    block = np.full(array.size + 3, 99, array.dtype)
    view = block[3:].reshape(array.shape)
    view[...] = array
    return view


# These answer questions about strides, so another layout is another question.
VIEWS_OF_STRIDES = {"as_strided", "as_strided_copy", "as_strided_scatter"}
ARRANGEMENTS = [transposed, gapped, reversed_, offset]


@every_sample(lambda op: op.name not in VIEWS_OF_STRIDES)
def test_any_memory_layout(op: Op, call: Call) -> None:
    plain = whygrad_side(call, "float64")
    expected = plain.run(op.public)
    theirs = gradients(plain, expected, whygrad)
    for arrange in ARRANGEMENTS:
        arranged = whygrad_side(call, "float64", arrange)
        try:
            outputs = arranged.run(op.public)
        except RuntimeError as error:
            if "view" not in str(error):  # view() may refuse strides that cannot be viewed
                raise
            continue
        label = f"{op.name}({call!r}) {arrange.__name__}"
        _same(outputs, expected, label)
        mine = gradients(arranged, outputs, whygrad)
        assert_same_gradients(mine, theirs, "float64", label)


@every_sample(lambda op: op.differentiable)
def test_gradients_on_their_way_share_no_memory(op: Op, call: Call) -> None:
    """What an op passes on may be added to; the branch beside it got the same and must not see."""

    def make(array: Any, requires_grad: bool) -> Any:
        if not isinstance(array, np.ndarray):
            return array
        made = whygrad.from_numpy(np.array(array))
        return made.requires_grad_() * 1 if requires_grad else made

    outputs = [each for each in Side(call, make).run(op.public) if each.requires_grad]
    beside = [whygrad.ones_like(each.detach()).requires_grad_() for each in outputs]
    older = [each * 1 for each in beside]
    side = Side(call, make)
    uses = [each * 5 for each in side.inputs]
    outputs = [each for each in side.run(op.public) if each.requires_grad]
    sums = [mine + other for mine, other in zip(outputs, older, strict=True)]
    roots = [*sums, *uses]
    whygrad.autograd.backward(roots, [whygrad.ones_like(each.detach()) for each in roots])
    for each in beside:
        assert (each.grad.numpy() == 1).all(), f"{op.name}({call!r}) wrote to another gradient"


def _same(mine: list[Any], theirs: list[Any], label: str) -> None:
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        if isinstance(a, Tensor):
            np.testing.assert_allclose(
                a.detach().numpy(), b.detach().numpy(), 1e-9, 1e-11, err_msg=label
            )
        else:
            assert a == b, label


@every_sample(lambda op: op.kind == "elementwise")
def test_expanded_inputs(op: Op, call: Call) -> None:
    """A stride of zero is as good as a copy."""

    def spread(array: Any) -> Any:
        row = array[:1] if array.ndim else array
        return np.broadcast_to(row, array.shape)

    def repeated(array: Any) -> Any:
        return np.array(spread(array))

    expanded, copied = (whygrad_side(call, "float64", f) for f in (spread, repeated))
    expanded_outputs, copied_outputs = expanded.run(op.public), copied.run(op.public)
    _same(expanded_outputs, copied_outputs, f"{op.name}({call!r})")
    assert_same_gradients(
        gradients(expanded, expanded_outputs, whygrad),
        gradients(copied, copied_outputs, whygrad),
        "float64",
        op.name,
    )


@every_sample(lambda op: op.vjp is not None)
def test_saved_values_are_as_declared(op: Op, call: Call) -> None:
    """Ruin every input and output not declared as saved: gradients must not change."""
    honest, ruined = whygrad_side(call, "float64"), whygrad_side(call, "float64")
    honest_outputs, ruined_outputs = honest.run(op.public), ruined.run(op.public)
    node = next((o.grad_fn for o in ruined_outputs if getattr(o, "grad_fn", None)), None)
    if node is None or node.op is not op:
        return
    assert set(node.saved) & {*op.tensor_names, *op.output_names} <= set(op.saves())
    kept = [each for value in node.saved.values() for each in _arrays(value)]
    rng = np.random.default_rng(7)
    seeds = [
        np.asarray(rng.uniform(0.5, 1.5, o.shape)) if getattr(o, "requires_grad", False) else None
        for o in honest_outputs
    ]
    for array in [each._array for each in (*ruined.inputs, *ruined_outputs) if _is_float(each)]:
        if array.flags.writeable and not any(np.shares_memory(array, each) for each in kept):
            array[...] = np.nan
    for outputs in (honest_outputs, ruined_outputs):
        pairs = [(o, whygrad.from_numpy(s)) for o, s in zip(outputs, seeds) if s is not None]
        whygrad.autograd.backward([o for o, _ in pairs], [s for _, s in pairs])
    assert_same_gradients(
        [each.grad for each in ruined.inputs],
        [each.grad for each in honest.inputs],
        "float64",
        f"{op.name}({call!r})",
    )


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.is_floating_point


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (list, tuple)):
        return [array for each in value for array in _arrays(each)]
    return []


@every_sample(lambda op: op.vjp is not None)
def test_rules_return_nothing_saved(op: Op, call: Call) -> None:
    """The engine may add into what a rule returns, so it must not be a saved array."""
    side = whygrad_side(call, "float64")
    outputs = side.run(op.public)
    node = next((o.grad_fn for o in outputs if getattr(o, "grad_fn", None)), None)
    if node is None or node.op is not op:
        return
    kept = [(array, array.copy()) for value in node.saved.values() for array in _arrays(value)]
    gradients(side, outputs, whygrad)
    for leaf in side.inputs:
        if leaf.grad is not None:
            leaf.grad._array[...] = 123.0
    for array, before in kept:
        np.testing.assert_array_equal(array, before)


def test_the_table_says_what_is_saved() -> None:
    assert table["add"].saves() == ()
    assert set(table["mul"].saves()) == {"a", "b"}
    assert table["softmax"].saves() == ("y",)
    assert table["gelu"].saves() == ("x",)


def test_values_helper_notices_a_difference() -> None:
    import torch

    with pytest.raises(AssertionError):
        assert_same_values([whygrad.tensor([1.0])], [torch.tensor([2.0])], "float32", "")
