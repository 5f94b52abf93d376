"""Edges in place of tensors, notes on nodes, versions raised by hand; against PyTorch."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd.graph import GradientEdge, get_gradient_edge, increment_version


def grad_at_edges(lib: Any, edge: Any, x: Any, y: Any, z: Any) -> Any:
    return lib.autograd.grad(edge(z), [edge(x), y, edge(y)])


def backward_from_an_edge(lib: Any, edge: Any, x: Any, y: Any, z: Any) -> Any:
    lib.autograd.backward(edge(z))
    return [x.grad]


def backward_with_a_gradient(lib: Any, edge: Any, x: Any, y: Any, z: Any) -> Any:
    lib.autograd.backward((edge(y),), (lib.tensor([5.0, 7.0]),))
    return [x.grad]


def backward_to_a_leaf(lib: Any, edge: Any, x: Any, y: Any, z: Any) -> Any:
    z.backward(inputs=[edge(x)])
    return [x.grad]


def nothing_is_kept_in_the_middle(lib: Any, edge: Any, x: Any, y: Any, z: Any) -> Any:
    z.backward(inputs=edge(y))
    assert not y.retains_grad
    return [x.grad]


def unused_edge(lib: Any, edge: Any, x: Any, y: Any, z: Any) -> Any:
    return lib.autograd.grad(z, edge(x * 2), allow_unused=True)


@pytest.mark.parametrize(
    "program",
    [
        grad_at_edges, backward_from_an_edge, backward_with_a_gradient, backward_to_a_leaf,
        nothing_is_kept_in_the_middle, unused_edge,
    ],
)  # fmt: skip
def test_edges_as_in_pytorch(program: Callable[..., Any]) -> None:
    found = []
    for lib in (wg, torch):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y = x * 3
        z = (y * y).sum()
        gradients = program(lib, lib.autograd.graph.get_gradient_edge, x, y, z)
        found.append([None if each is None else each.tolist() for each in gradients])
    assert found[0] == found[1]


def test_an_edge_outlives_its_tensor() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    edge = get_gradient_edge(y)
    z = (y * y).sum()
    gone = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert gone() is None
    finally:
        gc.enable()
    assert edge == (z.grad_fn.next_functions[0][0].next_functions[0][0], 0, None)
    assert wg.autograd.grad(z, edge)[0].tolist() == [6.0, 12.0]


def test_an_edge_to_one_of_several_outputs() -> None:
    x = wg.ones(2, 3, requires_grad=True)
    _, second = x.unbind()
    edge = get_gradient_edge(second)
    assert edge.output_nr == 1
    assert wg.autograd.grad(second.sum() * 5, edge)[0].tolist() == [5, 5, 5]


def test_zeros_for_an_edge() -> None:
    """PyTorch refuses: its edges do not know their shape here."""
    x, other = leaf(1.0, 2.0), wg.ones(2, 3, requires_grad=True) * 2
    (zeros,) = wg.autograd.grad(x.sum(), get_gradient_edge(other), materialize_grads=True)
    assert (zeros.shape, zeros.dtype, zeros.tolist()) == ((2, 3), wg.float32, [[0] * 3] * 2)


def test_an_edge_of_a_leaf_that_is_gone() -> None:
    x = leaf(1.0, 2.0)
    edge, y = get_gradient_edge(x), (x * 3).sum()
    del x
    assert wg.autograd.grad(y, edge)[0].tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda: get_gradient_edge(wg.ones(2)),
            RuntimeError,
            "not possible to get the gradient edge for a Tensor that does not require gradients",
        ),
        (
            lambda: wg.autograd.backward(get_gradient_edge(leaf(1.0, 2.0) * 2)),
            RuntimeError,
            "grad can be implicitly created only for scalar outputs: this one has 2 elements",
        ),
        (
            lambda: wg.autograd.grad(leaf(1.0), GradientEdge(leaf(1.0).exp().grad_fn, 3)),
            RuntimeError,
            "the node has 1 output(s), counted from 0",
        ),
        (
            lambda: wg.autograd.grad(leaf(1.0), GradientEdge("node", 0)),  # type: ignore[arg-type]
            RuntimeError,
            "str is not a node of the graph",
        ),
        (
            lambda: wg.autograd.grad(leaf(1.0), get_gradient_edge(leaf(2.0))),
            RuntimeError,
            "appears to not have been used in the graph",
        ),
        (lambda: increment_version(3), RuntimeError, "expect a Iterable[Tensor] as input, not int"),
        (
            lambda: increment_version([wg.ones(2), 3]),  # type: ignore[list-item]
            RuntimeError,
            "expect a Iterable[Tensor] as input, not int",
        ),
    ],
)
def test_errors(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


def test_notes_on_a_node() -> None:
    node = (leaf(1.0) * 2).grad_fn
    assert node.metadata == {}
    node.metadata["made by"] = "me"
    assert node.metadata == {"made by": "me"}
    assert node._sequence_nr() == node.sequence_nr
    assert isinstance(node, wg.autograd.graph.Node)


def test_a_version_raised_by_hand() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2
    y = (h * h).sum()
    h.numpy(force=True)[:] = 0
    increment_version(h)  # NumPy wrote
    increment_version([x, x])
    assert (h._version, x._version) == (1, 2)
    with wg.inference_mode():
        made = wg.ones(2)
    increment_version(made)
    with pytest.raises(RuntimeError, match=r"increment_version wrote .*# NumPy wrote"):
        y.backward()
