"""Functions under a transform that write to tensors from outside, against PyTorch.

What depends on the arguments must not end up in a captured tensor.  What was made inside may be
written to, however it was made; every op of the table is asked for memory.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.harness import flatten, whygrad_side
from whygrad.ops.define import table
from whygrad.ops.samples import samples_of
from whygrad.tensor import Tensor

Function = Callable[[Any], Any]

TRANSFORMS: dict[str, Callable[[Any, Function, Any], Any]] = {
    "grad": lambda L, f, x: L.func.grad(lambda a: f(a).sum())(x),
    "vjp": lambda L, f, x: L.func.vjp(f, x),
    "jvp": lambda L, f, x: L.func.jvp(f, (x,), (x,)),
    "jacrev": lambda L, f, x: L.func.jacrev(f)(x),
    "jacfwd": lambda L, f, x: L.func.jacfwd(f)(x),
    "hessian": lambda L, f, x: L.func.hessian(lambda a: f(a).sum())(x),
    "vmap": lambda L, f, x: L.func.vmap(f)(x),
    "vmap of grad": lambda L, f, x: L.func.vmap(L.func.grad(lambda a: f(a).sum()))(x),
    "grad in grad": lambda L, f, x: L.func.grad(
        lambda b: L.func.grad(lambda a: f(a * b).sum())(x).sum()
    )(x),
}

WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "copy_": lambda L, c, a: c.copy_(a),
    "add_": lambda L, c, a: c.add_(a),
    "setitem": lambda L, c, a: c.__setitem__(0, a.sum()),
    "through a view": lambda L, c, a: c[:2].add_(a.sum()),
    "out": lambda L, c, a: L.add(a, a, out=c),
    "scatter_": lambda L, c, a: c.scatter_(0, L.tensor([0, 1, 2]), a.expand(3)),
    "index_add_": lambda L, c, a: c.index_add_(0, L.tensor([0]), a.expand(3)[:1]),
    "argument": lambda L, c, a: a.add_(1.0),
    "made inside": lambda L, c, a: L.zeros_like(a).add_(a),
    "detached and made inside": lambda L, c, a: (a * 2).detach().add_(a),
}


@pytest.mark.parametrize("write", WRITES)
def test_derivatives_stay_inside(write: str) -> None:
    for name, transform in TRANSFORMS.items():
        outcomes = []
        for library in (whygrad, torch):
            captured = library.zeros(3)

            def function(a: Any, library: Any = library, captured: Any = captured) -> Any:
                WRITES[write](library, captured, a)
                return a * a

            try:
                transform(library, function, library.tensor([1.0, 2.0, 3.0]))
                outcome = "runs"
            except (RuntimeError, NotImplementedError) as error:
                outcome = type(error).__name__
            outcomes.append((outcome, captured.requires_grad))
        assert outcomes[0] == outcomes[1], (name, outcomes)


def test_the_error_says_what_to_do() -> None:
    captured = whygrad.zeros(3)
    with pytest.raises(RuntimeError, match=r"mutate a captured tensor(.|\n)*has_aux=True"):
        whygrad.func.grad(lambda x: captured.add_(x).sum())(whygrad.ones(3))
    assert captured.tolist() == [0.0, 0.0, 0.0]
    assert not captured.requires_grad


def test_constants_may_be_written() -> None:
    """A counter, running statistics: nothing of the run stays in them."""
    calls = whygrad.zeros(())
    layer = whygrad.nn.BatchNorm1d(2)

    def function(x: Any) -> Any:
        calls.add_(1)
        return (layer(x) ** 3).sum()

    whygrad.func.grad(function)(whygrad.tensor([[1.0, 2.0], [3.0, 5.0]]))
    assert calls.item() == layer.num_batches_tracked.item() == 1
    assert not layer.running_mean.requires_grad


def test_autograd_functional_lets_it_be_as_pytorch_does() -> None:
    for library in (whygrad, torch):
        captured = library.zeros(3)
        library.autograd.functional.vjp(lambda x, c=captured: c.add_(x).sum(), library.ones(3))
        assert captured.tolist() == [1.0, 1.0, 1.0]


def _made_inside() -> list[Callable[[], Any]]:
    """Ways to get memory inside a function, each op of the table among them."""
    outside = whygrad.ones(3)

    def from_op(op: Any, recorded: bool) -> list[Any]:
        side = whygrad_side(samples_of(op)[0], "float64")
        for each in side.inputs:
            each.requires_grad_(recorded)
        outputs = [each for each in side.run(op.public) if isinstance(each, Tensor)]
        return [each.detach() for each in outputs] if recorded else outputs

    return [
        *(
            lambda op=op, recorded=recorded: from_op(op, recorded)
            for op in table.values()
            for recorded in (False, True)
            if samples_of(op) and op.family != "sparse"
        ),
        lambda: whygrad.from_numpy(np.ones(3)),
        lambda: whygrad.from_dlpack(np.ones(3)),
        lambda: whygrad.Tensor(3),
        lambda: copy.deepcopy(outside),
        lambda: pickle.loads(pickle.dumps(outside)),
        lambda: whygrad.nn.Linear(2, 3).weight.data,
        lambda: (outside * 2).data,
        lambda: whygrad.func.grad(lambda x: (x * x).sum())(whygrad.ones(3)),
        lambda: whygrad.func.vmap(lambda x: x * 2)(outside),
    ]


@pytest.mark.parametrize("transform", ["grad", "jvp"])
def test_whatever_was_made_inside_is_writable(transform: str) -> None:
    ways = _made_inside()
    refused = []

    def function(x: Any) -> Any:
        for way in ways:
            for made in flatten(way()):
                if made.layout is whygrad.strided and made.dtype.is_floating_point:
                    try:
                        made.add_(x.sum().to(made.dtype))
                    except RuntimeError as error:
                        refused.append(str(error))  # inputs of a view that overlaps, and such
        return x

    TRANSFORMS[transform](whygrad, function, whygrad.ones(2))
    assert not [each for each in refused if "mutate a captured" in each]
