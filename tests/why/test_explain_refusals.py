"""What cannot be explained, and what the errors say."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad import Value


def leaf(*shape: int) -> Any:
    return whygrad.ones(*shape, requires_grad=True)


def refused(kind: type[Exception], *parts: str) -> Any:
    """An error with all of these parts, in this order."""
    return pytest.raises(kind, match="(?s)" + ".*".join(map(re.escape, parts)))


def test_no_way_between_the_two() -> None:
    w, other = leaf(3), leaf(3)
    loss = (w * 2).sum()
    with refused(
        RuntimeError,
        "explain(loss, wrt=other)",
        "cause: no gradient of loss reaches other, so there is nothing to explain",
        "fix:   whygrad.why_none(other, loss) names the cut",
        "at:    ",
        "whygrad.explain(loss, wrt=other)",
    ):
        whygrad.explain(loss, wrt=other)


def test_no_way_between_values() -> None:
    a, b = Value(1.0), Value(2.0)
    y = a * 2
    with refused(RuntimeError, "explain(y, wrt=b)", "use b in the computation of y"):
        whygrad.explain(y, wrt=b)


def test_another_output_of_the_same_op() -> None:
    x = leaf(4)
    first, second = x.chunk(2)
    loss = first.sum()
    with refused(RuntimeError, "no gradient of loss reaches second"):
        whygrad.explain(loss, wrt=second)


def test_a_constant() -> None:
    x, w = whygrad.ones(3), leaf(3)
    loss = (x * w).sum()
    with refused(
        RuntimeError,
        "explain(loss, wrt=x)",
        "x does not require grad, so backward computes no gradient for it",
        "call requires_grad_() on it before the computation",
        "whygrad.why_none(x, loss)",
    ):
        whygrad.explain(loss, wrt=x)


def test_a_result_without_history() -> None:
    x = leaf(3)
    y = x.detach().sum()
    with refused(RuntimeError, "explain() of float32[]", "does not require grad"):
        whygrad.explain(y, wrt=x)


def test_a_result_with_several_elements() -> None:
    x = leaf(3)
    y = x * 2
    with refused(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        whygrad.explain(y, wrt=x)
    with refused(RuntimeError, "mismatch in shape"):
        whygrad.explain(y, wrt=x, gradient=whygrad.ones(2))


def test_a_graph_that_backward_has_freed() -> None:
    w = leaf(3)
    loss = (w * w).sum()
    loss.backward()
    with refused(
        RuntimeError,
        "explain(loss, wrt=w)",
        "MulBackward at",
        "loss = (w * w).sum() no longer has the values it saved: the backward() at",
        "loss.backward() freed them",
        "explain before backward(), or pass retain_graph=True to it",
    ):
        whygrad.explain(loss, wrt=w)


def test_a_value_that_was_overwritten() -> None:
    w = leaf(3)
    h = w * 1
    loss = (h * h).sum()
    h.add_(1)
    with refused(RuntimeError, "modified by an inplace operation"):
        whygrad.explain(loss, wrt=w)


@pytest.mark.parametrize("thing", [3.0, np.ones(3), None, "x"])
def test_things_without_gradients(thing: Any) -> None:
    w = leaf(3)
    kind = type(thing).__name__
    with refused(TypeError, f"wrt is a {kind}, not a Value or a tensor of whygrad's"):
        whygrad.explain((w * w).sum(), wrt=thing)
    with refused(TypeError, f"y is a {kind}, not a Value or a tensor of whygrad's"):
        whygrad.explain(thing, wrt=w)


def test_tensors_of_pytorch() -> None:
    x = torch.ones(2, requires_grad=True)
    with refused(TypeError, "y is a Tensor", "call whygrad.torch.explain for PyTorch's tensors"):
        whygrad.explain((x * x).sum(), wrt=x)


def test_values_and_tensors_do_not_mix() -> None:
    with refused(TypeError, "no path leads from a Value to a tensor or the other way"):
        whygrad.explain(Value(1.0), wrt=leaf(1))


def test_the_gradient_of_a_value_is_a_number() -> None:
    x = Value(1.0)
    y = x * 2
    with refused(TypeError, "explain(y, wrt=x)", "the gradient of a Value is a number, not a str"):
        whygrad.explain(y, wrt=x, gradient="1")


@pytest.mark.parametrize("most", [0, -1, 2.5])
def test_at_least_one_path(most: Any) -> None:
    x = Value(1.0)
    with refused(ValueError, f"max_paths is {most!r}: at least one path has to be shown"):
        whygrad.explain(x * x, wrt=x, max_paths=most)


@pytest.mark.parametrize(
    ("index", "kind", "text"),
    [
        ((0, 3), IndexError, "index 3 is out of range for axis 1 of size 3"),
        ((-3, 0), IndexError, "index -3 is out of range for axis 0 of size 2"),
        (0, IndexError, "1 indices for 2 axes: the shape is (2, 3)"),
        ((0, 1, 2), IndexError, "3 indices for 2 axes"),
        ((0, slice(None)), TypeError, "it consists of integers, no slices, lists or None"),
        ((0, 1.0), TypeError, "it consists of integers"),
    ],
)
def test_indices(index: Any, kind: type[Exception], text: str) -> None:
    w = leaf(2, 3)
    loss = w.sum()
    with refused(kind, f"explain(loss, wrt=w, index={index!r})", text):
        whygrad.explain(loss, wrt=w, index=index)


def test_an_index_into_a_value() -> None:
    x = Value(1.0)
    with refused(IndexError, "1 indices for 0 axes"):
        whygrad.explain(x * x, wrt=x, index=0)


def test_meta_tensors() -> None:
    w = whygrad.ones(3, device="meta", requires_grad=True)
    loss = (w * w).sum()
    with refused(RuntimeError, "loss is on meta, where there are no numbers to add up"):
        whygrad.explain(loss, wrt=w)


def test_a_sparse_result() -> None:
    w = whygrad.eye(3).to_sparse().requires_grad_()
    y = w * 2
    seed = whygrad.eye(3).to_sparse()
    with refused(RuntimeError, "y has the layout", "an explanation starts from a dense result"):
        whygrad.explain(y, wrt=w, gradient=seed)


def test_inside_vmap() -> None:
    def inner(x: Any) -> Any:
        y = (x * x).sum()
        whygrad.explain(y, wrt=x)
        return y

    with refused(RuntimeError, "called inside a function being vmapped is not supported"):
        whygrad.func.vmap(inner)(whygrad.ones(2, 3, requires_grad=True))
