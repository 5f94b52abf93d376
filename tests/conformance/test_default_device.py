"""Ops that are given tensors stay where these are, whatever device new tensors go to."""

from __future__ import annotations

import warnings
from typing import Any

import whygrad
from tests.conformance.harness import whygrad_side
from whygrad.ops.define import Op, table
from whygrad.ops.samples import samples_of
from whygrad.tensor import Tensor

GO_TO_THE_DEFAULT = ("as_tensor", "asarray")  # as in PyTorch


def strays(ops: list[Op]) -> list[str]:
    """Ops whose results, or whose helpers, landed on the default device."""
    found = []
    for op in ops:
        for index, call in enumerate(samples_of(op)):
            side = whygrad_side(call, "float32")
            if not side.inputs or op.name in GO_TO_THE_DEFAULT:
                continue
            try:
                with warnings.catch_warnings(), whygrad.device("meta"):
                    warnings.simplefilter("ignore")
                    places = {each.device.type for each in side.run(op.public) if _is_tensor(each)}
            except (RuntimeError, NotImplementedError) as error:
                found.append(f"{op.name} sample {index}: {str(error).splitlines()[0]}")
            else:
                if places - {"cpu"}:
                    found.append(f"{op.name} sample {index}: {places}")
    return found


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def test_no_op_follows_the_default_device() -> None:
    assert not strays(list(table.values()))


def test_a_stray_is_noticed() -> None:
    careless = Op("careless(x)", "y = x + 1", forward=lambda x: x, vjp=None, kind="elementwise")
    careless.public = lambda x: x + whygrad.ones(x.shape)
    assert strays([careless])
