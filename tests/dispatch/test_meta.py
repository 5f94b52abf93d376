"""The meta device: shapes without data, forward and backward."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.conformance.harness import every_sample, whygrad_side
from whygrad.ops.define import Op
from whygrad.ops.samples import Call
from whygrad.tensor import Tensor


def ghost(*shape: int, requires_grad: bool = False, dtype: Any = None) -> Tensor:
    made: Tensor = whygrad.empty(*shape, device="meta", requires_grad=requires_grad, dtype=dtype)
    return made


def test_creation() -> None:
    for make in (whygrad.empty, whygrad.zeros, whygrad.ones, whygrad.rand, whygrad.randn):
        x = make(2, 3, device="meta")
        assert (x.device, x.shape, x.dtype) == ("meta", (2, 3), whygrad.float32)
    assert whygrad.full((2,), 7, device="meta").dtype is whygrad.int64
    assert whygrad.arange(5, device="meta").shape == (5,)
    assert whygrad.tensor([[1.0]], device="meta").shape == (1, 1)
    assert whygrad.zeros_like(ghost(4)).device == "meta"
    assert ghost(4).new_ones(2).device == "meta"
    assert ghost(2).is_meta
    assert not whygrad.ones(2).is_meta


def test_moving_there() -> None:
    x = whygrad.ones(2, 3, requires_grad=True)
    y = x.to("meta")
    assert (y.shape, y.dtype, y.device) == ((2, 3), whygrad.float32, "meta")
    assert y.requires_grad
    assert y.to("meta") is y
    assert whygrad.ones(3, 4).t().to("meta").stride() == (1, 4)
    assert whygrad.ones(3, 4)[:, ::2].to("meta").stride() == (2, 1)
    assert x.to("meta", whygrad.float64).dtype is whygrad.float64


def test_huge_shapes_cost_nothing() -> None:
    n = 10**6
    x, w = ghost(n, n, requires_grad=True), ghost(n, n)
    y = ((x @ w).tanh() + 1.0).softmax(-1)[:, ::2].reshape(-1, 10).transpose(0, 1)
    assert y.shape == (10, n * n // 20)
    y.sum().backward()
    assert x.grad is not None
    assert (x.grad.shape, x.grad.device) == ((n, n), "meta")


def test_strides_and_views() -> None:
    x = ghost(3, 4)
    assert x.t().stride() == (1, 4)
    assert not x.t().is_contiguous()
    assert x[1:, ::2].stride() == (4, 2)
    assert x.expand(2, 3, 4).stride() == (0, 4, 1)
    with pytest.raises(RuntimeError, match="not compatible with input tensor's size and stride"):
        x.t().view(12)


def test_dtypes_promote() -> None:
    assert (ghost(2, dtype=whygrad.int64) + 1.5).dtype is whygrad.float32
    assert (ghost(2, dtype=whygrad.float16) + ghost(2)).dtype is whygrad.float32
    assert (ghost(2) > 0).dtype is whygrad.bool
    assert ghost(2, dtype=whygrad.int64).sum().dtype is whygrad.int64


def test_gradients_are_meta_tensors() -> None:
    w = ghost(4, 2, requires_grad=True)
    b = ghost(2, requires_grad=True)
    for _ in range(2):
        loss = whygrad.log_softmax(ghost(8, 4) @ w + b, -1).mean()
        loss.backward()
    for leaf in (w, b):
        assert leaf.grad is not None
        assert (leaf.grad.shape, leaf.grad.dtype, leaf.grad.device) == (
            leaf.shape, leaf.dtype, leaf.device,
        )  # fmt: skip


def test_second_order() -> None:
    x = ghost(3, requires_grad=True)
    (first,) = whygrad.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (second,) = whygrad.autograd.grad(first.sum(), x)
    assert first is not None
    assert second is not None
    assert (first.shape, second.shape, second.device) == ((3,), (3,), "meta")


@every_sample(lambda op: op.vjp is not None)
def test_backward_agrees_on_shapes(op: Op, call: Call) -> None:
    side = whygrad_side(call, "float32")
    twins: list[tuple[Tensor, Tensor]] = []

    def to_meta(value: Any) -> Any:
        if isinstance(value, Tensor):
            moved: Tensor = value.detach().to("meta").requires_grad_(value.requires_grad)
            twins.append((value, moved))
            return moved
        if isinstance(value, (list, tuple)):
            return type(value)(to_meta(each) for each in value)
        return value

    side.args = to_meta(side.args)
    side.kwargs = {name: to_meta(value) for name, value in side.kwargs.items()}
    try:
        outputs = side.run(op.public)
    except RuntimeError as error:
        if "depends on the data" in str(error) or "no data" in str(error):
            return
        raise
    roots = [out for out in outputs if isinstance(out, Tensor) and out.requires_grad]
    whygrad.autograd.backward(roots, [whygrad.ones_like(root) for root in roots])
    for original, moved in twins:
        if moved.grad is not None:
            assert (moved.grad.shape, moved.grad.dtype) == (original.shape, original.dtype)
            assert moved.grad.device == "meta"


READS: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "item": (lambda x: x.sum().item(), RuntimeError),
    "float": (lambda x: float(x.sum()), RuntimeError),
    "int": (lambda x: int(x.sum()), RuntimeError),
    "bool": (lambda x: bool(x.sum()), RuntimeError),
    "numpy": (lambda x: x.numpy(), TypeError),
    "array": (lambda x: np.asarray(x), TypeError),
    "tolist": (lambda x: x.tolist(), NotImplementedError),
    "to cpu": (lambda x: x.to("cpu"), NotImplementedError),
    "nonzero": (lambda x: x.nonzero(), NotImplementedError),
    "boolean mask": (lambda x: x[x > 0], NotImplementedError),
}


@pytest.mark.parametrize("name", READS)
def test_reading_data_is_an_error(name: str) -> None:
    read, kind = READS[name]
    with pytest.raises(kind):
        read(torch.empty(3, device="meta"))
    with pytest.raises((kind, RuntimeError) if kind is NotImplementedError else kind) as caught:
        read(ghost(3))
    text = str(caught.value)
    assert "meta" in text
    assert "data" in text
    assert "fix:" in text


def test_repr_shows_no_values() -> None:
    assert repr(ghost(3)) == "tensor(..., device='meta', size=(3,))"
    assert repr(ghost(2, 2, requires_grad=True)) == (
        "tensor(..., device='meta', size=(2, 2), requires_grad=True)"
    )


def test_mixing_devices_names_the_arguments() -> None:
    with pytest.raises(RuntimeError, match="a is on meta, b is on cpu") as caught:
        ghost(3) + whygrad.ones(3)
    assert "expected all tensors to be on the same device" in str(caught.value)
    assert "test_meta.py" in str(caught.value)
    with pytest.raises(RuntimeError, match=r"tensors\[0\] is on meta, tensors\[1\] is on cpu"):
        whygrad.cat([ghost(3), whygrad.ones(3)])
    with pytest.raises(RuntimeError, match="a is on meta, b is on cpu"):
        ghost(2, 3) @ whygrad.ones(3, 2)


def test_numbers_and_0d_tensors_mix() -> None:
    assert (ghost(3) + 1).device == "meta"
    assert (whygrad.tensor(2.0) * ghost(3)).device == "meta"
    assert (ghost(3) / whygrad.tensor(2, dtype=whygrad.int64)).dtype is whygrad.float32
    assert whygrad.where(ghost(3) > 0, ghost(3), whygrad.tensor(0.0)).device == "meta"


def test_gradients_do_not_come_back_from_meta() -> None:
    """As in PyTorch: the gradient of a cpu tensor would need data that does not exist."""
    x = whygrad.ones(3, requires_grad=True)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        x.to("meta").sum().backward()
    assert x.grad is None


def test_in_place_keeps_the_shape() -> None:
    x = ghost(3)
    x.add_(1.0).mul_(2.0)
    x[0] = 5.0
    x.copy_(whygrad.ones(3))
    assert (x.shape, x.device) == ((3,), "meta")


def test_copies() -> None:
    x = ghost(2, 3)
    assert copy.deepcopy(x).shape == (2, 3)
    assert pickle.loads(pickle.dumps(x)).device == "meta"
    assert x.clone().detach().contiguous().device == "meta"
    assert [row.shape for row in x] == [(3,), (3,)]
    assert len(x) == 2
