"""``out=`` of every function that takes it, in every state a tensor can be in."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.conformance import outputs
from tests.conformance.harness import Side, torch_function, torch_side, whygrad_side
from whygrad.ops.define import Op, table
from whygrad.ops.samples import samples_of

DRAWN = ("bernoulli", "multinomial", "normal", "rand", "randint", "randn", "randperm")
# Lists of results, which PyTorch does not resize.
PARTS = ("split_copy", "split_with_sizes_copy", "unbind_copy")
COMPARED = [
    op
    for op in table.values()
    if op.takes_out and op.torch != "" and op.name not in (*DRAWN, *PARTS, "empty")
]
SAMPLES = 2  # of each op: what differs between them is not where the result is written


def differences(op: Op, function: Any) -> list[str]:
    found = []
    for call in samples_of(op)[:SAMPLES]:
        for state in outputs.STATES:
            mine = outputs.Written(wg, function, whygrad_side(call, "float64"), state)
            other = torch_side(call, "float64")
            theirs = outputs.Written(torch, torch_function(op), other, state)
            found += [
                f"{op.name}({call!r}), {state.__name__}: {each}"
                for each in outputs.differences(op, state, mine, theirs)
            ]
    return found


@pytest.mark.parametrize("op", COMPARED, ids=lambda op: op.name)
def test_against_torch(op: Op) -> None:
    assert not differences(op, op.public)


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_numbers_stay_in_the_view(name: str) -> None:
    """Numbers are our own here; where they go is not."""
    op = table[name]
    for call in samples_of(op):
        for state in (outputs.exact, outputs.gaps, outputs.offset):
            wg.manual_seed(0)
            written = outputs.Written(wg, op.public, whygrad_side(call, "float64"), state)
            assert written.error is None
            (base,), (out,) = written.bases, written.outs
            with wg.no_grad():
                out.fill_(outputs.MARK)
            assert (base.numpy() == outputs.MARK).all(), f"{name}({call!r}) wrote beside its view"


def test_every_public_function_with_out_is_in_the_table() -> None:
    """So the axis above misses none."""
    for mine, theirs in (
        (wg, torch), (wg.linalg, torch.linalg), (wg.nn.functional, torch.nn.functional)
    ):  # fmt: skip
        for name, function in vars(mine).items():
            if name.startswith("_") or isinstance(function, (type, ModuleType)):
                continue
            described = getattr(getattr(theirs, name, None), "__doc__", None) or ""
            if callable(function) and "out=" in described.split("\n\n")[0]:
                assert hasattr(function, "op"), f"{name} takes out= in PyTorch"


def test_the_axis_sees_a_write_outside_a_view() -> None:
    """The old fault: as many elements, laid over the memory row by row."""

    def careless(*args: Any, out: Any = None) -> Any:
        result = wg.arange(*args)
        if out is not None:
            out.resize_(result.shape).copy_(result)
        return result if out is None else out

    assert any("folded" in each for each in differences(table["arange"], careless))


def test_the_axis_sees_a_refused_call_that_has_written() -> None:
    def hasty(x: Any, out: Any = None) -> Any:
        if out is not None and out.dtype is wg.int32:
            out.zero_()
        return wg.exp(x, out=out)

    found = differences(table["exp"], hasty)
    assert any("integers: a refused call has written" in each for each in found)


@pytest.mark.parametrize("lib", [torch, wg])
def test_a_sequence_in_a_part_of_each_row(lib: Any) -> None:
    for fill, arguments in ((lib.arange, (0, 4)), (lib.linspace, (0, 3, 4))):
        x = lib.zeros(2, 3)
        fill(*arguments, out=x[:, 1:])
        assert x.tolist() == [[0.0, 0.0, 1.0], [0.0, 2.0, 3.0]]


def test_states_are_what_they_are_called() -> None:
    base, view = outputs.gaps(wg, (2, 3), wg.float32)
    assert (tuple(view.shape), view.stride()) == ((2, 3), (7, 2))
    assert np.shares_memory(base.numpy(), view.numpy())
    side = Side(samples_of(table["exp"])[0], lambda array, grad: wg.from_numpy(array))
    assert outputs.Written(wg, wg.exp, side, outputs.exact).returned_out
