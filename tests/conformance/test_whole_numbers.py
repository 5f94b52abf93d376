"""A float in the place of a whole number is refused wherever PyTorch refuses it.

Python cuts fractions off (``int(2.5)``) and compares floats with ints without a word, so a function
that does not ask takes ``topk(x, 2.5)`` for ``topk(x, 2)``.  Every int of every sample is replaced.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.harness import Side, torch_function, torch_side, whygrad_side
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of


def _with_fractions(call: Call) -> Iterator[Call]:
    """The call with each of its ints in turn replaced by a float, a whole one and another."""
    for place, value in (*enumerate(call.args), *call.kwargs.items()):
        if type(value) is not int:
            continue
        for wrong in (float(value), value + 0.5):
            args, kwargs = list(call.args), dict(call.kwargs)
            if isinstance(place, int):
                args[place] = wrong
            else:
                kwargs[place] = wrong
            yield Call(tuple(args), kwargs, call.around)


def _refuses(side: Side, function: Any) -> bool:
    try:
        side.run(function)
    except Exception:
        return True
    return False


def taken(op: Op) -> Iterator[str]:
    """Calls that PyTorch refuses and whygrad does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples_of(op):
            for call in _with_fractions(sample):
                if _refuses(torch_side(call, "float64"), torch_function(op)) and not _refuses(
                    whygrad_side(call, "float64"), op.public
                ):
                    yield f"{op.name}({call!r})"


def _has_ints(op: Op) -> bool:
    return any(True for sample in samples_of(op) for _ in _with_fractions(sample))


OPS = [op for op in table.values() if op.torch != "" and op.public is not None and _has_ints(op)]


@pytest.mark.parametrize("op", OPS, ids=str)
def test_fractions_are_refused_as_in_pytorch(op: Op) -> None:
    assert list(taken(op)) == []


def test_the_message_names_the_argument() -> None:
    with pytest.raises(TypeError, match=r"argument 'k' \(position 2\) must be int, not float"):
        whygrad.topk(whygrad.ones(3), 1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"argument 'steps' \(position 3\) must be int, not float"):
        whygrad.linspace(0, 1, 2.5)  # type: ignore[arg-type]


def test_a_function_that_cuts_fractions_off_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(OPS) > 150
    careless = lambda x, k, *rest, **named: torch.topk(  # noqa: E731
        torch.from_numpy(np.array(x.detach().numpy())), int(k), *rest, **named
    )
    op = table["topk"]
    monkeypatch.setattr(op, "public", careless)
    assert next(taken(op)).startswith("topk(")
