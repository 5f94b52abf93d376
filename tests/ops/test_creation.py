"""Creation: what the sample calls of the op table cannot say."""

from __future__ import annotations

from array import array
from collections import UserList, deque
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

LITERALS: list[Any] = [
    3, 2.5, True, 1j, [], [[], []], [1, 2.5], [True, 2], [1, 2j], [[1, 2], [3, 4]], (1, 2),
    range(4), [range(2), range(2)], [np.float64(1)], [np.float32(1), 1.0], [1.0, np.float64(2)],
    [np.int32(1)], [np.int8(1), 2.5], np.float64(1), np.arange(3), np.ones((2, 2), np.float32),
    np.zeros(0), [-(2**63)], [[[1.0]]], float("nan"),
]  # fmt: skip


@pytest.mark.parametrize("data", LITERALS, ids=repr)
@pytest.mark.parametrize("dtype", [None, "float64", "complex64", "bool"])
def test_tensor_takes_what_pytorch_takes(data: Any, dtype: str | None) -> None:
    try:
        theirs = torch.tensor(data, dtype=None if dtype is None else getattr(torch, dtype))
    except TypeError:
        pytest.skip("PyTorch refuses it")
    mine = whygrad.tensor(data, dtype=None if dtype is None else getattr(whygrad, dtype))
    assert mine.dtype.name == str(theirs.dtype).removeprefix("torch.")
    assert mine.shape == tuple(theirs.shape)
    np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_tensors_inside_a_list_keep_their_dtype() -> None:
    wide = whygrad.tensor(1.0, dtype=whygrad.float64)
    assert whygrad.tensor([wide, 2]).dtype is whygrad.float64
    assert whygrad.tensor([[wide], [whygrad.tensor([2])]]).tolist() == [[1.0], [2.0]]


def test_tensor_copies_and_as_tensor_shares() -> None:
    array = np.ones(3)
    copied, shared = whygrad.tensor(array), whygrad.as_tensor(array)
    array[0] = 5
    assert copied.tolist() == [1, 1, 1]
    assert shared.tolist() == [5, 1, 1]
    assert whygrad.from_numpy(array).numpy() is array
    assert whygrad.as_tensor(shared) is shared
    assert whygrad.as_tensor(array, dtype=whygrad.float32).dtype is whygrad.float32


def test_as_tensor_stays_in_the_graph_and_tensor_leaves_it() -> None:
    x = whygrad.ones(2, requires_grad=True)
    assert whygrad.as_tensor(x, dtype=whygrad.float64).requires_grad
    with pytest.warns(UserWarning, match=r"t.detach\(\).clone\(\) says so"):
        copy = whygrad.tensor(x)
    assert not copy.requires_grad
    with pytest.warns(UserWarning, match=r"t.detach\(\).clone\(\) says so"):
        x.new_tensor(x)


def test_asarray() -> None:
    array = np.ones(2)
    assert whygrad.asarray(array, copy=False).numpy() is array
    assert whygrad.asarray(array, copy=True).numpy() is not array
    assert whygrad.asarray([1.0], requires_grad=True).requires_grad
    assert whygrad.asarray(whygrad.ones(2, requires_grad=True)).requires_grad
    foreign = torch.ones(2)
    assert whygrad.asarray(foreign).data_ptr() == foreign.data_ptr()
    buffer = bytearray(np.float32([1, 2]).tobytes())
    assert whygrad.asarray(buffer, dtype=whygrad.float32).tolist() == [1, 2]


def test_options_reach_every_function() -> None:
    makers: list[Any] = [
        lambda **o: whygrad.zeros(2, 3, **o),
        lambda **o: whygrad.ones((2, 3), **o),
        lambda **o: whygrad.empty(2, 3, **o),
        lambda **o: whygrad.full((2, 3), 1, **o),
        lambda **o: whygrad.eye(2, 3, **o),
        lambda **o: whygrad.tensor([[1, 2, 3], [4, 5, 6]], **o),
        lambda **o: whygrad.rand(2, 3, **o),
        lambda **o: whygrad.randint(5, (2, 3), **o),
        lambda **o: whygrad.zeros_like(whygrad.ones(2, 3), **o),
        lambda **o: whygrad.ones_like(whygrad.ones(2, 3), **o),
        lambda **o: whygrad.full_like(whygrad.ones(2, 3), 4, **o),
        lambda **o: whygrad.empty_like(whygrad.ones(2, 3), **o),
        lambda **o: whygrad.ones(1).new_zeros(2, 3, **o),
        lambda **o: whygrad.ones(1).new_ones((2, 3), **o),
        lambda **o: whygrad.ones(1).new_full((2, 3), 2, **o),
        lambda **o: whygrad.ones(1).new_empty(2, 3, **o),
        lambda **o: whygrad.ones(1).new_tensor([[1, 2, 3], [4, 5, 6]], **o),
    ]
    for make in makers:
        made = make(dtype=whygrad.float64, requires_grad=True)
        assert made.dtype is whygrad.float64
        assert made.requires_grad
        assert made.is_leaf
        assert made.shape == (2, 3)
        ghost = make(device="meta", dtype=whygrad.float16)
        assert ghost.device == "meta"
        assert ghost.shape == (2, 3)
        assert ghost.dtype is whygrad.float16
        with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
            make(wrong=1)


def test_like_follows_device_dtype_and_strides() -> None:
    turned = whygrad.ones(3, 2, dtype=whygrad.int16).T
    same = whygrad.zeros_like(turned)
    assert same.dtype is whygrad.int16
    assert same.stride() == tuple(torch.zeros_like(torch.ones(3, 2).T).stride())
    assert whygrad.zeros_like(turned, dtype=whygrad.float64).stride() == same.stride()
    ghost = whygrad.zeros(2, device="meta")
    assert whygrad.ones_like(ghost).device == "meta"
    assert whygrad.ones_like(ghost, device="cpu").tolist() == [1, 1]
    assert not whygrad.zeros_like(whygrad.ones(2, requires_grad=True)).requires_grad


def test_old_constructor() -> None:
    assert whygrad.Tensor(2, 3).shape == (2, 3)
    assert whygrad.Tensor([1, 2]).dtype is whygrad.float32
    assert whygrad.Tensor().shape == (0,)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("bounds", [(5,), (2, 9, 3), (9, 2, -2), (0.5, 3), (0, 1.01, 0.25), (3, 3)])
def test_arange_counts_as_pytorch_does(bounds: Any, dtype: str) -> None:
    try:
        theirs = torch.arange(*bounds, dtype=getattr(torch, dtype))
    except ValueError:  # a step below one is no step in int64
        with pytest.raises(ValueError, match="step must be nonzero"):
            whygrad.arange(*bounds, dtype=getattr(whygrad, dtype))
        return
    mine = whygrad.arange(*bounds, dtype=getattr(whygrad, dtype))
    np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_linspace_hits_both_ends() -> None:
    for steps in (2, 3, 7, 100):
        line = whygrad.linspace(0.1, 0.7, steps, dtype=whygrad.float64).tolist()
        assert line[0] == 0.1
        assert line[-1] == 0.7
    assert whygrad.linspace(whygrad.tensor(0.0), whygrad.tensor(2), 3).tolist() == [0, 1, 2]


def test_inference_mode_marks_what_it_makes() -> None:
    with whygrad.inference_mode():
        made = whygrad.ones(2)
    assert made.is_inference()
    assert not whygrad.ones(2).is_inference()


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda w: w.tensor([[1, 2], [3]]),
            ValueError,
            "expected sequence of length 2 at dim 1 (got 1)",
        ),
        (
            lambda w: w.tensor([1, [2]]),
            ValueError,
            "some elements are numbers and some are sequences",
        ),
        (lambda w: w.tensor("a"), TypeError, "invalid data type"),
        (lambda w: w.tensor([None]), RuntimeError, "Could not infer dtype of NoneType"),
        (lambda w: w.tensor({}), RuntimeError, "Could not infer dtype of dict"),
        (lambda w: w.tensor(2**63), ValueError, "without overflow"),
        (lambda w: w.tensor([300], dtype=w.uint8), RuntimeError, "type uint8 without overflow"),
        (lambda w: w.tensor(float("nan"), dtype=w.int64), RuntimeError, "without overflow"),
        (lambda w: w.tensor([1j], dtype=w.float32), TypeError, "must be real number, not complex"),
        (lambda w: w.tensor([w.ones(2)]), ValueError, "only one element tensors"),
        (
            lambda w: w.tensor([1, 2], requires_grad=True),
            RuntimeError,
            "floating point and complex dtype",
        ),
        (lambda w: w.from_numpy([1]), TypeError, "expected np.ndarray (got list)"),
        (lambda w: w.from_numpy(np.arange(2, dtype=">i4")), ValueError, "byte order"),
        (
            lambda w: w.from_numpy(np.ones(2, np.uint16)),
            TypeError,
            "no element type for this NumPy dtype",
        ),
        (lambda w: w.asarray([1.0], copy=False), ValueError, "can't alias arbitrary sequence"),
        (lambda w: w.from_dlpack(3), RuntimeError, "from_dlpack received"),
        (lambda w: w.zeros(), TypeError, "missing 1 required positional arguments: 'size'"),
        (lambda w: w.zeros(-1), RuntimeError, "Dimension size must be non-negative"),
        (lambda w: w.zeros(2.0), TypeError, "must be tuple of ints"),
        (lambda w: w.zeros(True), TypeError, "must be tuple of ints"),
        (lambda w: w.zeros(2, layout=3), TypeError, "argument 'layout' must be"),
        (lambda w: w.zeros(2, device="gpu9"), RuntimeError, "no such device"),
        (lambda w: w.full(2, 3), TypeError, "must be tuple of ints"),
        (
            lambda w: w.full((2,), float("nan"), dtype=w.int64),
            RuntimeError,
            "type int64 without overflow",
        ),
        (lambda w: w.full((2,), 300, dtype=w.uint8), RuntimeError, "type uint8 without overflow"),
        (lambda w: w.zeros_like(3.0), TypeError, "argument 'input' must be Tensor, not float"),
        (lambda w: w.eye(-1), RuntimeError, "n must be greater or equal to 0, got -1"),
        (lambda w: w.eye(2, -1), RuntimeError, "m must be greater or equal to 0, got -1"),
        (lambda w: w.arange(5, 0), RuntimeError, "inconsistent with step sign"),
        (lambda w: w.arange(0, 5, 0), RuntimeError, "step must be nonzero"),
        (lambda w: w.arange(0, 2, 0.3, dtype=w.int64), ValueError, "truncated to int64"),
        (lambda w: w.arange(0, float("inf")), RuntimeError, "unsupported range: 0 -> inf"),
        (lambda w: w.arange(2, dtype=w.bool), RuntimeError, "not implemented for bool"),
        (lambda w: w.linspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
        (lambda w: w.logspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
        (lambda w: w.linspace(w.zeros(1), 1, 3), RuntimeError, "only supports 0-dimensional start"),
    ],
)
def test_errors(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call(whygrad)
    assert words in str(caught.value)


class Halves:
    """A sequence by its methods alone."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, place: int) -> float:
        if place > 1:
            raise IndexError
        return place / 2


SEQUENCES = [
    deque([1.0, 2.0]), [deque([1, 2]), [3, 4]], deque([Halves(), Halves()]), array("f", [1, 2]),
    bytearray(b"ab"), memoryview(b"ab"), UserList([1, 2]), deque(), {0: 1}, {0: 1}.values(), {1},
    map(int, [1]), b"ab", [deque([1, 2]), [3]],
]  # fmt: skip


@pytest.mark.parametrize("data", SEQUENCES, ids=lambda data: type(data).__name__)
@pytest.mark.parametrize("function", ["tensor", "as_tensor"])
def test_any_sequence_is_data(data: Any, function: str) -> None:
    kinds = (RuntimeError, TypeError, ValueError)
    found: list[Any] = []
    for library in (whygrad, torch):
        try:
            made = getattr(library, function)(data)
            found.append((made.tolist(), str(made.dtype).split(".")[-1]))
        except kinds as error:
            found.append([isinstance(error, kind) for kind in kinds])
    assert found[0] == found[1]
