"""Every op that passes gradients through complex numbers: values and two orders against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.derivatives.test_batching import on_other_inputs
from tests.conformance.harness import Side, as_numpy, torch_function
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of
from whygrad.tensor.dtypes import DType

OPS = [
    op
    for op in table.values()
    if op.complex_rule and op.torch != "" and "complex" not in op.refuses
]
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")


def complex_side(call: Call, library: Any, turn: complex = 1) -> Side:
    """The sample with an imaginary part added to every array of real numbers, and turned."""
    rng = np.random.default_rng(5)
    inputs = []

    def make(array: Any, requires_grad: bool) -> Any:
        if isinstance(array, DType):
            return getattr(library, array.name)
        if array.dtype.kind == "f":
            array = array + 1j * rng.uniform(-0.4, 0.4, array.shape)
            array = array if turn == 1 else array * turn  # infinite numbers do not turn
        made = library.from_numpy(np.array(array))
        if requires_grad or array.dtype.kind == "c":
            inputs.append(made.requires_grad_())
        return made

    side = Side(call, make)
    side.inputs = inputs
    return side


def pulled(library: Any, outputs: list[Any], inputs: list[Any]) -> list[Any]:
    """Gradients that can be differentiated again, for generic complex cotangents."""
    rng = np.random.default_rng(7)
    roots = [each for each in outputs if getattr(each, "requires_grad", False)]
    sent = []
    for each in roots:
        real, imaginary = rng.uniform(0.5, 1.5, (2, *each.shape))
        numbers = real + 1j * imaginary if each.dtype.is_complex else real
        sent.append(library.from_numpy(np.asarray(numbers)))
    if not roots:
        return []
    found = library.autograd.grad(roots, inputs, sent, allow_unused=True, create_graph=True)
    return list(found)


def same(mine: list[Any], theirs: list[Any], label: str) -> None:
    assert len(mine) == len(theirs), label
    for a, b in zip(mine, theirs, strict=True):
        if a is None or b is None:  # PyTorch tells "no path" from zeros by its formulas
            assert all(each is None or not as_numpy(each).any() for each in (a, b)), label
            continue
        assert a.dtype.name == str(b.dtype).removeprefix("torch."), label
        b = b.detach().resolve_conj().resolve_neg()
        np.testing.assert_allclose(as_numpy(a), b.numpy(), 1e-7, 1e-8, err_msg=label)


def forward_agrees(op: Op, call: Call, label: str) -> None:
    """Forward and reverse mode are adjoint: Re⟨g, J t⟩ = Re⟨Jᴴ g, t⟩."""
    side, again = complex_side(call, whygrad), complex_side(call, whygrad)
    results = [each for each in again.run(op.public) if each.dtype.is_differentiable]
    if not results or not all(each.numel() for each in again.inputs):
        return
    rng = np.random.default_rng(3)
    tangents = [
        whygrad.from_numpy(
            np.asarray(rng.normal(size=each.shape) + 1j * rng.normal(size=each.shape))
        )
        for each in side.inputs
    ]
    originals = side.inputs
    outputs, moved = whygrad.func.jvp(
        lambda *inputs: tuple(
            each
            for each in on_other_inputs(op, side, originals)(*inputs)
            if isinstance(each, whygrad.Tensor) and each.dtype.is_differentiable
        ),
        tuple(each.detach() for each in originals),
        tuple(tangents),
    )
    weights = [
        rng.normal(size=each.shape)
        + (1j * rng.normal(size=each.shape) if each.dtype.is_complex else 0)
        for each in outputs
    ]
    gradients = whygrad.autograd.grad(
        results,
        again.inputs,
        [whygrad.from_numpy(np.asarray(each)) for each in weights],
        allow_unused=True,
    )
    ahead = sum((np.conj(w) * as_numpy(m)).sum().real for w, m in zip(weights, moved, strict=True))
    back = sum(
        (np.conj(as_numpy(g)) * as_numpy(t)).sum().real
        for g, t in zip(gradients, tangents, strict=True)
        if g is not None
    )
    np.testing.assert_allclose(ahead, back, 1e-7, 1e-8, err_msg=f"{label}, forward mode")


def compare(op: Op) -> int:
    """How many samples PyTorch computes with complex numbers; all of them agree."""
    compared = 0
    for call in samples_of(op):
        theirs = complex_side(call, torch)
        try:
            expected = theirs.run(torch_function(op))
        except (RuntimeError, NotImplementedError, TypeError):
            continue  # PyTorch has no complex kernel for these arguments
        if not theirs.inputs:
            continue
        mine = complex_side(call, whygrad)
        results = mine.run(op.public)
        label = f"{op.name}({call!r})"
        same(results, expected, label)
        try:
            other_first = pulled(torch, expected, theirs.inputs)
        except RuntimeError:
            continue  # not differentiable there, as constants of the sample need not be
        first = pulled(whygrad, results, mine.inputs)
        same(first, other_first, f"{label}, gradient")
        forward_agrees(op, call, label)
        again, other_again = (
            pulled(library, [each for each in found if each is not None], side.inputs)
            for library, found, side in ((whygrad, first, mine), (torch, other_first, theirs))
        )
        if again and other_again:
            same(again, other_again, f"{label}, second gradient")
        compared += 1
    return compared


@pytest.mark.parametrize("op", OPS, ids=str)
def test_complex_numbers_match_pytorch(op: Op) -> None:
    compare(op)


@pytest.mark.parametrize("turn", [-1, 1j, -1j])
def test_everywhere_in_the_plane(turn: complex) -> None:
    """Samples lie right of the imaginary axis; roots and logarithms are cut on the left."""
    for op in OPS:
        if op.kind != "elementwise":
            continue
        call = samples_of(op)[0]
        theirs = complex_side(call, torch, turn)
        try:
            expected = theirs.run(torch_function(op))
        except (RuntimeError, NotImplementedError, TypeError):
            continue
        mine = complex_side(call, whygrad, turn)
        results = mine.run(op.public)
        same(results, expected, op.name)
        gradients, others = (
            pulled(library, outputs, side.inputs)
            for library, outputs, side in ((whygrad, results, mine), (torch, expected, theirs))
        )
        same(gradients, others, f"{op.name}, gradient")


def test_values_of_linear_algebra() -> None:
    """A transpose where an adjoint belongs shows in complex numbers only."""
    compared = 0
    for op in table.values():
        if op.family not in ("linalg", "products") or op in OPS or op.torch == "":
            continue
        for call in samples_of(op):
            try:
                expected = complex_side(call, torch).run(torch_function(op))
                results = detached(call).run(op.public)
            except (RuntimeError, NotImplementedError, TypeError):
                continue
            numbers = [each for each in expected if isinstance(each, torch.Tensor)]
            same([each for each in results if isinstance(each, whygrad.Tensor)], numbers, op.name)
            compared += 1
    assert compared > 40


def detached(call: Call) -> Side:
    side = complex_side(call, whygrad)
    for each in side.inputs:
        each.requires_grad_(False)
    return side


@pytest.mark.parametrize("hermitian", [False, True])
def test_factors_of_hermitian_matrices(hermitian: bool) -> None:
    numbers = np.random.default_rng(0).normal(size=(2, 3, 3))
    square = numbers[0] + 1j * numbers[1]
    whole = square @ square.conj().T if hermitian else square + square.T
    found = []
    for library in (whygrad, torch):
        A, b = library.from_numpy(whole), library.from_numpy(square)
        factors = library.linalg.ldl_factor(A, hermitian=hermitian)
        u, s, v = library.svd(b)
        found.append([
            library.linalg.ldl_solve(*factors, b, hermitian=hermitian), (u * s) @ v.mH,
            library.ormqr(*library.geqrf(b), A, hermitian, True),
            library.linalg.lu_solve(*library.linalg.lu_factor(b), A, left=hermitian, adjoint=True),
        ])  # fmt: skip
    same(*found, "hermitian")  # type: ignore[arg-type]


def test_without_a_rule_both_modes_refuse() -> None:
    for op in table.values():
        if op.vjp is None or op.complex_rule or "complex" in op.refuses or op.kind == "composite":
            continue
        for call in samples_of(op)[:1]:
            try:
                results = detached(call).run(op.public)
            except (RuntimeError, NotImplementedError, TypeError):
                continue
            side = detached(call)
            inputs = [each for each in side.inputs if each.dtype.is_complex]
            if not inputs or not any(each.dtype.is_differentiable for each in results):
                continue
            function, tangents = on_other_inputs(op, side, inputs), tuple(inputs)
            with pytest.raises(NotImplementedError, match="no gradient through complex numbers"):
                whygrad.func.jvp(function, tuple(inputs), tangents)


def test_most_ops_are_really_compared() -> None:
    assert all(compare(op) for op in OPS if op.complex_rule == "own")
    assert sum(compare(op) > 0 for op in OPS[::4]) > 0.6 * len(OPS[::4])


def test_a_rule_that_is_not_conjugated_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    op = table["exp"]
    monkeypatch.setattr(op, "complex_rule", "own")
    op.table.clear()
    try:
        with pytest.raises(AssertionError, match="gradient"):
            compare(op)
    finally:
        op.table.clear()


def test_a_real_loss_is_asked_for() -> None:
    for library in (whygrad, torch):
        z = library.tensor([1 + 2j], requires_grad=True)
        with pytest.raises(RuntimeError, match="only for real scalar outputs"):
            (z * 2).sum().backward()
        rotated = z * library.tensor([1j])
        rotated.abs().sum().backward()
        np.testing.assert_allclose(z.grad.numpy(), np.array([1 + 2j]) / 5**0.5, 1e-6)
