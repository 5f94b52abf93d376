"""The graph as drawing programs see it: types, names and saved values of nodes, against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import whygrad
from tests.conformance.harness import torch_function, torch_side, whygrad_side
from whygrad.ops.define import table
from whygrad.ops.samples import samples_of

# One op here, another one or several there.
OTHER_NAMES = {
    "copy": "CopyBackwards",
    "selu": "EluBackward",
    "logsigmoid": "LogSigmoidBackward",
    "softsign": "DivBackward",
    "prelu": "PreluKernelBackward",
    "special_ndtr": "MulBackward",
}


def test_types_have_pytorch_names() -> None:
    """Of all ops that work on each element alone; the number of the overload is not compared."""
    others = {}
    for op in table.values():
        if op.kind != "elementwise" or op.family == "loss":  # which ends with a mean
            continue
        if not op.differentiable or op.torch == "" or op.internal:
            continue
        call = samples_of(op)[0]
        names = [
            type(side.run(function)[0].grad_fn).__name__.rstrip("0123456789")
            for side, function in (
                (whygrad_side(call, "float64"), op.public),
                (torch_side(call, "float64"), torch_function(op)),
            )
        ]
        if names[0] != names[1] and names[1] != "NoneType":
            others[op.name] = names[1]
    assert others == {name: each for name, each in OTHER_NAMES.items() if name in others}


def _drawn(library: Any, node: Any) -> list[Any]:
    """What torchviz and its like read of a graph."""
    shapes = {
        name: tuple(getattr(node, name).shape)
        for name in dir(node)
        if name.startswith("_saved_") and isinstance(getattr(node, name), library.Tensor)
    }
    kept = [tuple(each.shape) for each in getattr(node, "saved_tensors", ())]
    leaf = tuple(node.variable.shape) if hasattr(node, "variable") else None
    parents = [_drawn(library, each) for each, _ in node.next_functions if each is not None]
    return [type(node).__name__, shapes, kept, leaf, parents]


def _network(library: Any, x: Any, w: Any) -> Any:
    class Square(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * gradient

    b = library.ones(3)
    hidden = (x * w + b).exp().relu().tanh().sigmoid()
    return (Square.apply(hidden) / (w.sqrt() * x.log1p())).cos().sum()


def test_a_drawing_is_the_same() -> None:
    drawings = []
    for library in (whygrad, torch):
        leaves = [library.ones(2, 3, requires_grad=True) for _ in range(2)]
        drawings.append(_drawn(library, _network(library, *leaves).grad_fn))
    assert drawings[0] == drawings[1]


def test_saved_values_are_the_tensors_they_were() -> None:
    for library in (whygrad, torch):
        x = library.tensor([1.0, 2.0], requires_grad=True)
        node = (x * 3).grad_fn
        assert node._saved_self is None
        assert (x * x).grad_fn._saved_self is x
        y = x.exp()
        assert y.grad_fn._saved_result.grad_fn is y.grad_fn
        y.sum().backward()
        with pytest.raises(RuntimeError, match=r"(?i)freed|second time"):
            _ = y.grad_fn._saved_result
