"""What hangs on what under ``create_graph=True``, against PyTorch, for every op.

A first derivative may or may not require grad, and its own derivatives may be numbers, zeros or
None.  Programs notice: a gradient penalty calls ``backward()`` on a sum of first derivatives, which
raises where nothing requires grad, and leaves ``.grad`` None where nothing arrives.  So each op is
differentiated twice with respect to every input and to the cotangent, with all inputs requiring
grad and with each alone, and what comes out is compared in value and in kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.harness import Side, torch_function, torch_side, whygrad_side
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of
from whygrad.tensor import Tensor

CONSTANT = "does not require grad"

# Where whygrad's derivative hangs on more than PyTorch's does: zeros (or the right numbers) in
# place of None.  Nothing that runs there fails here.
HANGS_ON_MORE = {
    "linalg_det": "an empty matrix: PyTorch returns before it looks at its arguments",
    "linalg_matrix_power": "the 0th power: zeros that hang on the cotangent, PyTorch's on nothing",
    "scaled_dot_product_attention": "one rule for query, key and value; PyTorch's flash kernel has "
    "no second derivative, its other one does not couple value with itself",
    "conv1d": "an empty batch is computed like any other",
    "conv2d": "an empty batch is computed like any other",
    "conv_transpose1d": "an empty batch is computed like any other",
    "grid_sample": "nearest: zeros for the grid; PyTorch's first derivative hangs on nothing",
    "conv_tbc": "made of conv1d, whose gradients are joined; PyTorch's own kernel keeps them apart",
    "batch_norm": "without weight, PyTorch loses the derivative of the bias by the cotangent",
    "layer_norm": "without weight, PyTorch loses the derivative of the bias by the cotangent",
    "rms_norm": "the mean square is saved as a part of the graph, although nobody asks for it",
    "cummax": "of nothing: PyTorch loses the derivative by the cotangent",
    "cummin": "of nothing: PyTorch loses the derivative by the cotangent",
    "pad": "circular padding is one op with the other modes; PyTorch copies the pieces",
    "repeat": "no copies at all: zeros that hang on the cotangent, PyTorch's on nothing",
}


def derivatives(
    side: Side, function: Any, library: Any, alone: int | None, cotangents: bool
) -> list[Any]:
    """Per first derivative: None, CONSTANT, or the list of its own derivatives.

    ``alone``: which input requires grad, None for all.  ``cotangents``: whether these do.
    """
    for position, each in enumerate(side.inputs):
        each.requires_grad_(alone in (None, position))
    inputs = [each for each in side.inputs if each.requires_grad]
    outputs = [each for each in side.run(function) if getattr(each, "requires_grad", False)]
    if not outputs:
        return []
    rng = np.random.default_rng(7)

    def generic(like: Any) -> Any:
        drawn = library.from_numpy(np.asarray(rng.uniform(0.5, 1.5, tuple(like.shape))))
        return drawn.to(like.dtype)

    pulled = [generic(each).requires_grad_(cotangents) for each in outputs]
    first = library.autograd.grad(outputs, inputs, pulled, create_graph=True, allow_unused=True)
    wanted = [*inputs, *pulled] if cotangents else inputs
    found: list[Any] = []
    for gradient in first:
        if gradient is None or not gradient.requires_grad:
            found.append(None if gradient is None else CONSTANT)
            continue
        weights = generic(gradient)
        second = library.autograd.grad(
            gradient, wanted, weights, retain_graph=True, allow_unused=True
        )
        found.append([None if each is None else _numbers(each) for each in second])
    return found


def _numbers(tensor: Any) -> Any:
    if isinstance(tensor, Tensor):
        return tensor.detach().to_dense()._array if tensor.is_sparse else tensor.detach().numpy()
    return tensor.detach().to_dense().numpy(force=True)  # PyTorch has zeros without memory


def difference(mine: Any, theirs: Any, more: bool) -> str:
    """How two second derivatives of one thing differ; empty if they do not."""
    if isinstance(mine, list) and isinstance(theirs, list):
        return "; ".join(filter(None, (difference(a, b, more) for a, b in zip(mine, theirs))))
    known = [isinstance(each, np.ndarray) for each in (mine, theirs)]
    if all(known):
        same = mine.shape == theirs.shape and np.allclose(mine, theirs, 1e-7, 1e-8, equal_nan=True)
        return "" if same else f"{mine} against {theirs}"
    if (known[0] and theirs is None) or isinstance(mine, list):
        return "" if more else f"{mine} against {theirs}"
    return "" if mine is theirs else f"{mine} against {theirs}"


def check(op: Op, call: Call) -> None:
    """Compare every choice of what requires grad; nothing to compare where PyTorch raises."""
    count = len(whygrad_side(call, "float64").inputs)
    choices = [(None, True), (None, False)]
    if count > 1:
        choices += [(position, False) for position in range(count)]
    for alone, cotangents in choices:
        try:
            theirs = derivatives(
                torch_side(call, "float64"), torch_function(op), torch, alone, cotangents
            )
        except (RuntimeError, NotImplementedError):
            continue
        mine = derivatives(whygrad_side(call, "float64"), op.public, whygrad, alone, cotangents)
        assert len(mine) == len(theirs)
        found = difference(mine, theirs, op.name in HANGS_ON_MORE)
        assert not found, (
            f"{op.name}({call!r}), input {'*' if alone is None else alone} requires grad"
            f"{', cotangent too' if cotangents else ''}: {found}"
        )


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(op, id=f"{op.family}-{op.name}")
        for op in table.values()
        if op.differentiable and op.torch != ""
    ],
)
def test_second_derivatives_hang_on_the_same(op: Op) -> None:
    for call in samples_of(op):
        check(op, call)


@pytest.mark.parametrize(("name", "attribute"), [("relu", "flat"), ("convolution", "joined")])
def test_a_missing_tie_is_found(name: str, attribute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table[name], attribute, ())
    user = table["relu" if name == "relu" else "conv1d"]
    with pytest.raises(AssertionError, match="against"):
        test_second_derivatives_hang_on_the_same(user)


def test_a_wrong_second_derivative_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tied = table["tied"]
    assert isinstance(tied.vjp, dict)
    monkeypatch.setitem(tied.vjp, "anchor", lambda xp, incoming, zeros: incoming)
    monkeypatch.setattr(tied, "_plans", {})
    with pytest.raises(AssertionError, match="against"):
        test_second_derivatives_hang_on_the_same(table["relu"])
