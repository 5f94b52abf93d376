"""Tensors as Python numbers, NumPy arrays, DLPack capsules, copies and pickles."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

SHARED = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
          "complex64", "complex128"]  # fmt: skip


def test_numbers() -> None:
    assert whygrad.tensor([[2.5]]).item() == 2.5
    assert type(whygrad.tensor(2).item()) is int
    assert type(whygrad.tensor(True).item()) is bool
    assert type(whygrad.tensor(1.5, dtype=whygrad.bfloat16).item()) is float
    assert whygrad.tensor(1.5, dtype=whygrad.bfloat16).tolist() == 1.5
    assert whygrad.ones(2, 2).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert type(whygrad.tensor(3).tolist()) is int
    x = whygrad.tensor([2.75], requires_grad=True)
    assert (float(x), int(x), complex(x), bool(x)) == (2.75, 2, 2.75 + 0j, True)
    assert [10, 20, 30][whygrad.tensor([1])] == 20
    assert [10, 20][whygrad.tensor(True)] == 20
    assert list(range(10))[whygrad.tensor(1) : whygrad.tensor(3)] == [1, 2]


def test_formats() -> None:
    assert f"{whygrad.tensor(1.5):.3f}" == "1.500"
    assert f"{whygrad.tensor(7):04d}" == "0007"
    assert f"{whygrad.ones(2)}" == "tensor([1., 1.])"


def test_numpy_shares_memory() -> None:
    x = whygrad.zeros(3)
    x.numpy()[0] = 4
    np.asarray(x)[1] = 5
    assert x.tolist() == [4, 5, 0]
    assert np.array(x).base is None
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.shares_memory(np.asarray(x, copy=False), x.numpy())
    assert not np.shares_memory(np.array(x, copy=True), x.numpy())
    leaf = whygrad.ones(2, requires_grad=True)
    assert leaf.numpy(force=True).tolist() == [1, 1]
    assert leaf.detach().numpy().tolist() == [1, 1]


def test_arrays_and_tensors_in_one_expression() -> None:
    array = np.array([1.0, 2.0])
    x = whygrad.tensor([3.0, 4.0], dtype=whygrad.float64, requires_grad=True)
    product = array * x
    assert isinstance(product, whygrad.Tensor)
    product.sum().backward()
    assert x.grad.tolist() == [1, 2]
    for mixed in (x + array, array + x, array - x, array / x, np.float64(2) * x, x * np.float32(2)):
        assert isinstance(mixed, whygrad.Tensor)
        assert mixed.requires_grad
    assert isinstance(np.sin(x.detach()), whygrad.Tensor)


@pytest.mark.parametrize("name", SHARED)
def test_dlpack_shares_memory_both_ways(name: str) -> None:
    mine = whygrad.ones(2, 3, dtype=getattr(whygrad, name))
    theirs = torch.from_dlpack(mine)
    assert theirs.data_ptr() == mine.data_ptr()
    assert tuple(theirs.shape) == mine.shape
    assert np.shares_memory(np.from_dlpack(mine), mine.numpy())
    source = torch.ones(3, 2, dtype=getattr(torch, name)).T
    back = whygrad.from_dlpack(source)
    assert back.data_ptr() == source.data_ptr()
    assert back.stride() == source.stride()
    array = np.ones(3, name)
    assert np.shares_memory(whygrad.from_dlpack(array).numpy(), array)
    assert mine.__dlpack_device__() == (1, 0)


def test_writes_are_seen_on_the_other_side() -> None:
    mine = whygrad.zeros(2)
    theirs = torch.from_dlpack(mine)
    theirs[0] = 3
    mine.numpy()[1] = 4
    assert mine.tolist() == theirs.tolist() == [3, 4]
    back = whygrad.from_dlpack(theirs)
    back.numpy()[0] = 9
    assert theirs[0].item() == 9


def test_copy_shares_and_deepcopy_does_not() -> None:
    x = whygrad.ones(2, requires_grad=True)
    x.grad = whygrad.zeros(2)
    x.name = "weight"
    shallow, deep = copy.copy(x), copy.deepcopy([x, x])
    assert shallow.data_ptr() == x.data_ptr()
    assert shallow.requires_grad
    assert shallow.is_leaf
    assert deep[0] is deep[1]
    assert deep[0].data_ptr() != x.data_ptr()
    assert deep[0].requires_grad
    assert deep[0].name == "weight"
    assert deep[0].grad.data_ptr() != x.grad.data_ptr()
    assert copy.copy(x * 2).is_leaf


@pytest.mark.parametrize("dtype", [*SHARED, "bfloat16"])
def test_pickle(dtype: str) -> None:
    x = whygrad.arange(6).reshape(2, 3).T.to(getattr(whygrad, dtype))
    back = pickle.loads(pickle.dumps(x))
    assert back.dtype is x.dtype
    assert back.tolist() == x.tolist()


def test_pickle_keeps_what_is_not_data() -> None:
    assert pickle.loads(pickle.dumps(whygrad.ones(2, requires_grad=True))).requires_grad
    ghost = pickle.loads(pickle.dumps(whygrad.zeros(2, 3, device="meta", dtype=whygrad.int8)))
    assert (ghost.device, ghost.shape, ghost.dtype) == ("meta", (2, 3), whygrad.int8)


def ghost() -> Any:
    return whygrad.ones(1, device="meta")


def leaf() -> Any:
    return whygrad.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda: whygrad.ones(2).item(),
            RuntimeError,
            "a Tensor with 2 elements cannot be converted to Scalar",
        ),
        (lambda: ghost().item(), RuntimeError, "Tensor.item() cannot be called on meta tensors"),
        (lambda: ghost().tolist(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
        (
            lambda: bool(whygrad.ones(2)),
            RuntimeError,
            "Boolean value of Tensor with more than one value is ambiguous",
        ),
        (
            lambda: bool(whygrad.ones(0)),
            RuntimeError,
            "Boolean value of Tensor with no values is ambiguous",
        ),
        (
            lambda: float(whygrad.ones(2)),
            ValueError,
            "only one element tensors can be converted to Python scalars",
        ),
        (
            lambda: [1, 2][whygrad.tensor(1.0)],
            TypeError,
            "only integer tensors of a single element",
        ),
        (
            lambda: f"{whygrad.ones(2):.2f}",
            TypeError,
            "unsupported format string passed to Tensor.__format__",
        ),
        (lambda: leaf().numpy(), RuntimeError, "Can't call numpy() on Tensor that requires grad"),
        (lambda: leaf().numpy(), RuntimeError, "at:    tests/tensor/test_interchange.py"),
        (lambda: np.asarray(leaf()), RuntimeError, "use tensor.detach().numpy()"),
        (lambda: np.sin(leaf()), RuntimeError, "Can't call numpy() on Tensor that requires grad"),
        (lambda: ghost().numpy(), TypeError, "can't convert meta device type tensor to numpy"),
        (
            lambda: whygrad.ones(2).__array__(np.float64, copy=False),
            ValueError,
            "Unable to avoid copy",
        ),
        (lambda: leaf().__dlpack__(), BufferError, "Can't export tensors that require gradient"),
        (lambda: ghost().__dlpack__(), BufferError, "only strided tensors on cpu"),
        (
            lambda: whygrad.ones(1, dtype=whygrad.bfloat16).__dlpack__(),
            BufferError,
            "cannot export bfloat16",
        ),
        (
            lambda: copy.deepcopy(leaf() * 2),
            RuntimeError,
            "Only Tensors created explicitly by the user",
        ),
    ],
)
def test_errors(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


def test_deepcopy_takes_what_the_user_put_on_a_tensor_and_no_notes_about_its_place() -> None:
    x = whygrad.ones(3)
    with whygrad.no_grad():
        view = x[:2]
    view._no_decay = True
    assert copy.deepcopy(view).__dict__ == {"_no_decay": True}
