"""What is wrong with the row of a new op is said early, with what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.ops.define import Op, elementwise, table
from whygrad.ops.namespace import raw, recorded
from whygrad.ops.samples import samples_of


def row(signature: str, **fields: Any) -> Op:
    return Op(signature, "y = x", forward=lambda x, *_: x, vjp=None, **fields)


def test_a_signature_has_no_defaults() -> None:
    with pytest.raises(TypeError) as refused:
        row("squash(x; limit=1.0)")
    assert str(refused.value).startswith(
        "an op declared as 'squash(x; limit=1.0)'\n"
        "  cause: a signature only has names, and 'limit=1.0' gives a default: the kernel and the "
        "rules get every parameter\n"
        "  fix:   write 'limit' here, and the default in the function that users call: "
        "public=lambda x, limit=1.0: (x, limit,)\n"
        "  at:    "
    )


def test_a_signature_has_names_only() -> None:
    with pytest.raises(TypeError, match="cause: 'x y' is not a name\n  fix:   list the tensors, "):
        row("squash(x y)")


def test_an_op_with_parameters_needs_samples() -> None:
    with pytest.raises(TypeError) as refused:
        samples_of(row("squash(x, y; limit)", kind="elementwise"))
    assert str(refused.value) == (
        "the tests of op squash(x, y; limit)\n"
        "  cause: it has no samples, and which calls make sense is known of elementwise ops "
        "without parameters only\n"
        "  fix:   samples=lambda make: [make.call(make(3, 4), make(3, 4), limit=…)], with a call "
        "for each option, for broadcasting, and for 0-d and empty tensors"
    )


@pytest.fixture
def log_cosh() -> Iterator[Op]:
    """An op whose rule calls NumPy: right in an ordinary backward, blind to the second order."""
    yield elementwise(
        "log_cosh(x)",
        "y = log cosh x;  dy/dx = tanh x",
        forward=lambda x: np.log(np.cosh(x)),
        vjp={"x": lambda xp, incoming, x: incoming * np.tanh(x)},
    )
    del table["log_cosh"]
    for space in (raw, recorded):
        delattr(space, "log_cosh")


def test_numpy_in_a_rule(log_cosh: Op) -> None:
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    log_cosh.public(x).sum().backward()
    assert x.grad is not None
    with pytest.raises(RuntimeError) as refused:
        log_cosh.public(x).sum().backward(create_graph=True)
    told = str(refused.value)
    assert "use xp.tanh, so that the rule also works for derivatives of derivatives\n" in told
    assert "at:    " in told
    assert "incoming * np.tanh(x)" in told.splitlines()[-1]
