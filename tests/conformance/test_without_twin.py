"""Ops that the great comparison leaves out (``torch=""``) though PyTorch has one of that name.

Each is compared here: with the function itself where a warning was all that stood in the way, with
other functions of PyTorch that say the same where its own has no gradient, and random ones by what
they return rather than by their numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance import harness
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of


def twin(name: str) -> Callable[..., Any] | None:
    """PyTorch's function (or method) of this name."""
    spaces = (torch, torch.nn.functional, torch.Tensor)
    return next((getattr(space, name) for space in spaces if hasattr(space, name)), None)


LEFT_OUT = [
    op for op in table.values() if op.torch == "" and not op.internal and twin(op.name) is not None
]


def _powers(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    if N is not None and N < 2:
        return torch.vander(x, N, increasing)  # ones, without a history
    exponents = torch.arange(len(x) if N is None else N)
    return x[:, None] ** (exponents if increasing else exponents.flip(0))


def _eigenvalues(a: Any, k: int, b: Any = None, largest: bool = True) -> Any:
    """All of them, of which some are taken, in place of an iteration that stops early."""
    if b is not None:
        root = torch.linalg.cholesky(b).inverse()
        a = root @ a @ root.mT
    found = torch.linalg.eigvalsh(a)
    return (found.flip(-1)[..., :k] if largest else found[..., :k],)


def _by_groups(a: Any, b: Any, offs: Any = None) -> Any:
    if offs is None:
        return a @ b
    ends = offs.tolist()
    cuts = [slice(start, end) for start, end in zip([0, *ends], ends)]
    if a.ndim == b.ndim:
        return torch.stack([a[:, cut] @ b[cut] for cut in cuts])
    result = torch.zeros(a.shape[-2], b.shape[-1], dtype=a.dtype)
    for number, cut in enumerate(cuts):
        if a.ndim == 2:
            result[cut] = a[cut] @ b[number]
        else:
            result[:, cut] = a[number] @ b[:, cut]
    return result


# What PyTorch computes by other functions, with gradients, where its own of that name has none.
REFERENCES: dict[str, Callable[..., Any]] = {
    "cholesky_inverse": lambda x, upper=False: (x.mT @ x if upper else x @ x.mT).inverse(),
    "grouped_mm": _by_groups,
    "indices_copy": lambda x: x.coalesce().indices().clone(),
    "lobpcg": _eigenvalues,
    "smm": lambda a, b: torch.sparse.mm(a, b),
    "sparse_csr_tensor": lambda crow, col, values, size=None, **options: torch.sparse_coo_tensor(
        torch.stack([torch.arange(len(crow) - 1).repeat_interleave(crow.diff()), col]),
        values,
        size or (len(crow) - 1, int(col.max()) + 1),
        **options,
    ),
    "sspaddmm": lambda x, a, b: x.to_dense() + torch.sparse.mm(a, b),
    "values_copy": lambda x: x.coalesce().values().clone(),
    "vander": _powers,
    "view_as_complex_copy": lambda x: torch.view_as_complex(x).clone(),
}

# PyTorch rounds a constant of these to float32, or stops an iteration early.
ROUGH = {"hardsigmoid": 1e-7}


# Declared in PyTorch, but without a kernel for the layout (or for float64).
WITHOUT_KERNEL = {"grouped_mm", "indices_copy", "values_copy"}


@pytest.mark.parametrize("op", LEFT_OUT, ids=lambda op: op.name)
@pytest.mark.filterwarnings("ignore")
def test_says_what_pytorch_says(op: Op) -> None:
    for call in samples_of(op):
        compare(op, call)


def compare(op: Op, call: Call) -> None:
    mine = harness.whygrad_side(call, "float64")
    my_outputs = _dense(mine.run(op.public))
    if op.name not in WITHOUT_KERNEL:
        theirs = _Theirs(twin(op.name))
        with torch.no_grad():
            their_outputs = _dense(harness.torch_side(call, "float64").run(theirs))
        if theirs.drawn:
            compare_drawn(my_outputs, their_outputs)
            return
        harness.assert_same_values(my_outputs, their_outputs, "float64", op.name)
    side = harness.torch_side(call, "float64")
    their_outputs = _dense(side.run(REFERENCES.get(op.name) or _Theirs(twin(op.name))))
    harness.assert_same_values(my_outputs, their_outputs, "float64", op.name)
    rough = ROUGH.get(op.name, 1e-9)
    for a, b in zip(
        harness.gradients(mine, my_outputs, whygrad),
        harness.gradients(side, their_outputs, torch),
        strict=True,
    ):
        assert (a is None) == (b is None), op.name
        if b is not None:
            np.testing.assert_allclose(harness.as_numpy(a), harness.as_numpy(b), rough, rough)


class _Theirs:
    """A function of PyTorch; a generator of numbers among its arguments becomes one of PyTorch."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.drawn = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "generator" in kwargs:
            self.drawn = True
            kwargs["generator"] = torch.Generator()
        return self.function(*args, **kwargs)


def compare_drawn(mine: list[Any], theirs: list[Any]) -> None:
    """Shape, dtype, strides and history; every library has numbers of its own."""
    for a, b in zip(mine, theirs, strict=True):
        assert a.dtype.name == str(b.dtype).removeprefix("torch.")
        assert (tuple(a.shape), tuple(a.stride())) == (tuple(b.shape), b.stride())
        assert a.is_leaf


def _dense(outputs: list[Any]) -> list[Any]:
    layouts = (whygrad.strided, torch.strided)
    return [each if each.layout in layouts else each.to_dense() for each in outputs]


def test_no_reference_without_an_op() -> None:
    assert {*REFERENCES, *ROUGH, *WITHOUT_KERNEL} <= {op.name for op in LEFT_OUT}


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_gradient_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    op = table["chain_matmul"]
    right = op.public

    def wrong(*matrices: Any) -> Any:
        """The same numbers, and gradients of the other sign."""
        return right(*(each.detach() * 2 - each for each in matrices))

    monkeypatch.setattr(op, "public", wrong)
    with pytest.raises(AssertionError):
        compare(op, samples_of(op)[0])
