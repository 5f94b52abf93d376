"""Memory that changes behind the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.autograd.tensors import leaf


@pytest.mark.parametrize("size", [3, 5_000, 16_001])
@pytest.mark.parametrize("where", [0, -1])
def test_writes_through_numpy_are_noticed(watch: Any, size: int, where: int) -> None:
    x = wg.ones(size, requires_grad=True)
    hidden = x * 1
    loss = (hidden * hidden).sum()
    hidden.detach().numpy()[where] = 5
    with pytest.raises(RuntimeError) as error:
        loss.backward()
    text = str(error.value)
    assert text.startswith("MulBackward saved 'a' at ")
    assert "has been modified, and not by an op: a NumPy array that shares its memory" in text
    assert "x.numpy().copy()" in text


def test_writes_to_from_numpy_arrays_are_noticed(watch: Any) -> None:
    data = np.ones(5, np.float32)
    w = wg.ones(5, requires_grad=True)
    loss = (w * wg.from_numpy(data)).sum()
    data[2] = 0
    with pytest.raises(RuntimeError, match="MulBackward saved 'b'"):
        loss.backward()


def test_untouched_memory_is_fine(watch: Any) -> None:
    data = np.ones((5, 400), np.float32)
    w = wg.ones(5, 1, requires_grad=True)
    x = wg.from_numpy(data).T.T
    loss = (w.expand(5, 400) * x).sum() + wg.cat([w, w * w]).prod()
    loss.backward()
    loss = (w * x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    data[0] = 7


def test_errors_of_the_engine_get_the_forward_stack(watch: Any) -> None:
    def square(x: Any) -> Any:
        return x * x

    hidden = leaf(1.0) * 1
    loss = square(hidden).sum()
    hidden.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        loss.backward()
    assert "return x * x" in error.value.__notes__[0]


@pytest.mark.parametrize("reads", [True, False])
def test_a_write_by_an_op_is_not_blamed_on_numpy(watch: Any, reads: bool) -> None:
    """A custom function is refused what it saved when it asks for it, not before."""

    class Square(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return incoming * 2 * ctx.saved_tensors[0] if reads else incoming

    x = wg.ones(3, requires_grad=True)
    loss = Square.apply(x).sum()
    x.data.mul_(0.5)
    if not reads:
        loss.backward()
        return
    with pytest.raises(RuntimeError, match=r"inplace operation: \.data\.mul_ wrote"):
        loss.backward()
