"""requires_grad, .grad, retain_grad, .data, detach_ and inference tensors."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch

import whygrad


def leaf(*values: float) -> Any:
    return whygrad.tensor(values or (1.0, 2.0), requires_grad=True)


def test_requires_grad_can_be_switched_on_leaves() -> None:
    x = whygrad.ones(2)
    assert x.requires_grad_() is x
    assert x.requires_grad
    x.requires_grad = False
    assert x.grad_fn is None
    assert not x.requires_grad
    y = leaf() * 2
    assert y.requires_grad_(True) is y


def test_a_leaf_frozen_before_backward_gets_no_gradient() -> None:
    x, y = whygrad.ones(2, requires_grad=True), whygrad.ones(2, requires_grad=True)
    loss = (x * y).sum()
    x.requires_grad_(False)
    loss.backward()
    assert x.grad is None
    assert y.grad.tolist() == [1.0, 1.0]


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@pytest.mark.parametrize("lib", [whygrad, torch], ids=["whygrad", "torch"])
def test_a_retained_gradient_has_a_graph_if_the_last_walk_was_recorded(lib: Any) -> None:
    y = lib.ones(2, requires_grad=True) * 2
    y.retain_grad()
    recorded = []
    for create_graph in (True, False, True):
        (y * y).sum().backward(retain_graph=True, create_graph=create_graph)
        recorded.append(y.grad.requires_grad)
    assert recorded == [True, False, True]
    assert y.grad.tolist() == [12.0, 12.0]


def test_retained_gradient_of_a_value_in_the_middle() -> None:
    x = leaf()
    y = x * 3
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()  # twice is once
    assert y.retains_grad
    assert y.grad is None
    (y * y).sum().backward(retain_graph=True)
    assert y.grad.tolist() == [6, 12]
    (y * y).sum().backward()
    assert y.grad.tolist() == [12, 24]
    x.retain_grad()
    assert not x.retains_grad


def test_retained_gradient_is_not_the_buffer_of_another() -> None:
    x = leaf()
    y = x * 1
    z = y * 1
    y.retain_grad()
    z.retain_grad()
    z.sum().backward()
    assert len({id(each.grad.numpy()) for each in (x, y, z)}) == 3
    y.grad.fill_(7)
    assert z.grad.tolist() == x.grad.tolist() == [1, 1]


def test_retained_gradient_follows_a_write() -> None:
    y = leaf() * 2
    y.retain_grad()
    y.mul_(5)
    assert y.retains_grad
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]


def test_a_value_overwritten_by_a_comparison_depends_on_nothing() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    y.gt_(4.0)
    assert y.tolist() == [0.0, 1.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_retained_gradient_of_one_output_of_several() -> None:
    x = whygrad.tensor([[2.0, 0.0], [0.0, 3.0]], requires_grad=True)
    sign, logarithm = whygrad.slogdet(x)
    logarithm.retain_grad()
    (sign * logarithm * 5).backward()
    assert logarithm.output_nr == 1
    assert logarithm.grad.item() == 5


def test_retained_gradient_can_be_differentiated_again() -> None:
    x = leaf()
    y = x * x
    y.retain_grad()
    (y * y).sum().backward(create_graph=True)
    assert y.grad.requires_grad
    assert y.grad.detach().tolist() == [2, 8]


def test_retaining_keeps_no_cycle() -> None:
    gc.disable()
    try:
        y = leaf() * 2
        y.retain_grad()
        y.sum().backward()
        gone = weakref.ref(y)
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_reading_grad_in_the_middle_explains_itself() -> None:
    y = leaf() * 2
    with pytest.warns(
        UserWarning, match=r"not a leaf.*computed by MulBackward at .*leaf\(\) \* 2"
    ) as caught:
        assert y.grad is None
    assert caught[0].filename == __file__


def test_grad_can_be_assigned_and_deleted() -> None:
    x = leaf()
    x.grad = whygrad.ones(2)
    assert x.grad.tolist() == [1, 1]
    del x.grad
    assert x.grad is None
    x.grad = None
    plain = whygrad.ones(2, dtype=whygrad.int64)
    plain.grad = whygrad.ones(2, dtype=whygrad.int64)


def test_data_is_the_memory_with_a_version_of_its_own() -> None:
    x = leaf()
    alias = x.data
    alias.add_(1)
    assert (x._version, alias._version, x.data._version) == (0, 1, 0)
    assert not alias.requires_grad
    assert alias.data_ptr() == x.data_ptr()


def test_a_write_through_data_to_a_saved_value_is_noticed() -> None:
    x = leaf()
    y = x * x
    x.data.data[:1].mul_(3)
    with pytest.raises(RuntimeError, match=r"\.data\.mul_ wrote to this memory at .*test_leaves"):
        y.sum().backward()
    y = x.data * x  # saved from the alias, written through the tensor
    with whygrad.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="add_ wrote to this memory"):
        y.sum().backward()
    x.data.zero_()
    (x * x).sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_data_can_be_replaced() -> None:
    x = leaf()
    x.data = whygrad.ones(3, dtype=whygrad.float64)
    assert x.dtype is whygrad.float64
    assert x.requires_grad
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    y = leaf() * 2
    y.data = whygrad.zeros(2)
    assert y.tolist() == [0, 0]


def test_detach_in_place_makes_a_leaf() -> None:
    y = leaf() * 2
    assert y.detach_() is y
    assert y.is_leaf
    assert not y.requires_grad
    assert y.detach()._version == y._version


def test_inference_tensors() -> None:
    x, plain = leaf(), whygrad.ones(2)
    with whygrad.inference_mode():
        made = x * 2
        view = plain.view(2)
        inner = made.view(2)
        made.mul_(1)
    assert made.is_inference()
    assert inner.is_inference()
    assert made.detach().is_inference()
    assert not view.is_inference()
    assert not made.clone().is_inference()
    assert (x + made).requires_grad  # add saves nothing


def inference() -> Any:
    with whygrad.inference_mode():
        return whygrad.ones(2)


def set_attribute(tensor: Any, name: str, value: Any) -> None:
    setattr(tensor, name, value)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda: (leaf() * 2).requires_grad_(False),
            RuntimeError,
            "flags of leaf variables: this one was computed by MulBackward",
        ),
        (lambda: whygrad.ones(2).requires_grad_("a"), TypeError, "requires_grad must be a bool"),
        (
            lambda: whygrad.tensor([1]).requires_grad_(),
            RuntimeError,
            "only Tensors of floating point and complex dtype can require gradients",
        ),
        (
            lambda: whygrad.ones(2).retain_grad(),
            RuntimeError,
            "can't retain_grad on Tensor that has requires_grad=False",
        ),
        (
            lambda: set_attribute(leaf(), "grad", 3),
            TypeError,
            "assigned grad expected to be a Tensor or None but got grad of type int",
        ),
        (
            lambda: set_attribute(leaf(), "grad", whygrad.ones(3)),
            RuntimeError,
            "a gradient of size '[3]' to a tensor of size '[2]'",
        ),
        (
            lambda: set_attribute(leaf(), "grad", whygrad.ones(2).double()),
            RuntimeError,
            "gradient with dtype 'float64'",
        ),
        (
            lambda: set_attribute(leaf(), "grad", whygrad.ones(2, device="meta")),
            RuntimeError,
            "device type 'meta'",
        ),
        (
            lambda: set_attribute(x := leaf(), "grad", x),
            RuntimeError,
            "can't assign Variable as its own grad",
        ),
        (
            lambda: set_attribute(leaf(), "data", 3),
            TypeError,
            "Variable data has to be a tensor, but got int",
        ),
        (
            lambda: set_attribute(leaf(), "data", whygrad.tensor([1, 2])),
            RuntimeError,
            "must be floating point",
        ),
        (
            lambda: set_attribute(leaf(), "data", whygrad.ones(2, device="meta")),
            RuntimeError,
            "incompatible tensor type",
        ),
        (
            lambda: set_attribute(leaf() * 2, "data", whygrad.ones(3)),
            RuntimeError,
            "MulBackward will send back a gradient",
        ),
        (lambda: leaf().view(2).detach_(), RuntimeError, "Can't detach views in-place"),
        (
            lambda: inference().requires_grad_(),
            RuntimeError,
            "requires_grad=True on inference tensor outside InferenceMode",
        ),
        (
            lambda: leaf() * inference(),
            RuntimeError,
            "Inference tensors cannot be saved for backward",
        ),
        (
            lambda: inference()._version,
            RuntimeError,
            "Inference tensors do not track version counter",
        ),
        (
            lambda: inference().add_(1),
            RuntimeError,
            "Inplace update to inference tensor outside InferenceMode",
        ),
    ],
)
def test_errors(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)
