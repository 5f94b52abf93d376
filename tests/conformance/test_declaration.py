"""What is wrong with the row of a new op is said early, with what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.conformance.harness import torch_function, widened
from tests.conformance.test_table import forgotten_files, never_tensors
from whygrad.ops.define import Op, elementwise, table
from whygrad.ops.namespace import raw, recorded
from whygrad.ops.samples import Call, samples_of


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


@pytest.mark.parametrize(
    "rules",
    [
        {"vjp": {"x": lambda xp, incoming, dime: dime}},
        {"vjp": None, "jvp": lambda xp, tangents, x_shape, dime: dime},
    ],
    ids=["vjp", "jvp"],
)
def test_a_rule_asks_for_what_the_op_has(rules: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as refused:
        Op("roll(x; dim)", "y = x", forward=lambda x, dim: x, **rules)
    assert str(refused.value).startswith(
        "a rule of the op roll(x; dim)\n"
        "  cause: it has a parameter 'dime', and a rule gets by name what it asks for\n"
        "  fix:   rename the parameter of the rule to 'dim': it may be dim, x, y, or one of the "
        "tensors with _shape or _dtype after it\n"
        "  at:    "
    )


def test_an_op_that_pytorch_does_not_have() -> None:
    with pytest.raises(LookupError) as refused:
        torch_function(row("pseudo_huber(x)"))
    cause, fix = str(refused.value).splitlines()[1:]
    assert cause == "  cause: there is no torch.pseudo_huber"
    assert fix.startswith('  fix:   say torch="" in its row if PyTorch has no such function, or ')


def test_constants_that_widen_a_kernel() -> None:
    assert "use math.*, not np.*, for constants" in widened(wg.float64, wg.float32)
    assert "use math.*, not np.*, for constants" in widened(wg.float64, torch.float32)
    assert not widened(wg.float64, wg.float64)


@pytest.mark.parametrize("public", [None, lambda x, delta=1.0: (x, delta)])
def test_a_number_declared_as_a_tensor(public: Any) -> None:
    def declared(*others: Any) -> Op:
        op = row("scale(x, delta)", samples=lambda make: [make.call(make(3), 2.0), *others])
        op.public = public or (lambda *args: args)
        return op

    assert never_tensors(declared()) == ["delta"]
    op = row("scale(x; delta)", samples=lambda make: [make.call(make(3), 2.0)])
    op.public = public or (lambda *args: args)
    assert never_tensors(op) == []
    assert never_tensors(declared(Call((np.ones(3), np.ones(())), {}))) == []


def test_a_file_that_nobody_imports(tmp_path: Path) -> None:
    (tmp_path / "loss").mkdir()
    (tmp_path / "loss" / "helper.py").write_text("")
    (tmp_path / "loss" / "robust.py").write_text("from whygrad.ops.define import elementwise\n")
    assert forgotten_files(tmp_path) == [
        "ops/loss/robust.py is not imported: add robust to the import in ops/loss/__init__.py, or "
        '"loss.robust" to MODULES in ops/late.py if it is rarely used'
    ]


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
