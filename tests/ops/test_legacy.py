"""Tensor types and Variable, as programs of PyTorch's first years use them."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.expressions import expressions

KINDS = ["BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"]


def outcome(expression: str, library: Any) -> Any:
    """What an expression gives: shape, dtype and numbers, or the class of its error."""
    arrays = {
        "f4": np.ones(2, np.float32),
        "f8": np.array([2.7, 1.0]),
        "i4": np.array([2, 3], "i4"),
    }
    names = {"lib": library, "np": np, "V": library.autograd.Variable, **arrays}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(expression, names)
        except Exception as error:
            return type(error)
    if not isinstance(result, library.Tensor):
        return str(result).replace("torch.", "whygrad.")
    numbers = None if "size" in expression else result.detach().float().tolist()
    dtype = str(result.dtype).partition(".")[2]
    return tuple(result.shape), dtype, numbers, result.requires_grad, result.is_leaf


EXPRESSIONS = expressions(
    """
    lib.FloatTensor(size=(2,3)) lib.FloatTensor(2,3).shape lib.FloatTensor()
    lib.FloatTensor([1,2]) lib.FloatTensor((1,2)) lib.FloatTensor(f4) lib.FloatTensor(f8)
    lib.FloatTensor(lib.ones(2)) lib.FloatTensor(lib.ones(2).double())
    lib.FloatTensor(lib.Size([2,2])).shape lib.FloatTensor(2.5) lib.FloatTensor(lib.tensor(3))
    lib.FloatTensor([1,2],device="cpu") lib.FloatTensor(2,dtype=lib.float64)
    lib.FloatTensor([[1,2],[3,4]]) lib.FloatTensor([True]) lib.FloatTensor([])
    lib.FloatTensor(range(3)) lib.FloatTensor("ab") lib.FloatTensor(None) lib.FloatTensor(-1)
    lib.FloatTensor([1,2],[3,4]) lib.LongTensor([1,2.7]) lib.LongTensor(f8) lib.LongTensor(i4)
    lib.LongTensor(lib.ones(2)) lib.LongTensor(lib.tensor([1,2])) lib.ByteTensor([1,300])
    lib.ByteTensor([-1]) lib.ByteTensor([-256]) lib.tensor([-255],dtype=lib.uint8)
    lib.BoolTensor([1,0]) lib.Tensor(lib.ones(2).double()) lib.Tensor(f8) lib.Tensor([1,2])
    lib.Tensor(2.5) lib.ones(2).type() lib.ones(2).double().type() lib.ones(2).to_sparse().type()
    lib.ones(2,device="meta").type() lib.ones(2).type("torch.LongTensor")
    lib.ones(2).type("LongTensor") lib.ones(2).type("long") lib.ones(2).type(lib.LongTensor)
    lib.ones(2).type(lib.int64) lib.ones(2).type(int) lib.ones(2).double().type(lib.Tensor)
    lib.nn.Linear(1,1).type(lib.DoubleTensor).weight.dtype
    lib.nn.Linear(1,1).type("torch.DoubleTensor").weight.dtype lib.ones(2).to(lib.DoubleTensor)
    lib.typename(lib.ones(2)) lib.typename("a")
    isinstance(lib.nn.Parameter(lib.ones(2)),lib.FloatTensor)
    isinstance(lib.ones(2,device="meta"),lib.FloatTensor)
    isinstance(lib.ones(2).to_sparse(),lib.FloatTensor) isinstance(1.0,lib.FloatTensor)
    issubclass(lib.FloatTensor,lib.Tensor) lib.FloatTensor.dtype lib.FloatTensor.is_sparse
    lib.FloatTensor.__name__ lib.set_default_tensor_type(lib.float32)
    lib.set_default_tensor_type(lib.LongTensor) lib.set_default_tensor_type(lib.cuda.FloatTensor)
    lib.set_default_tensor_type("torch.cuda.FloatTensor") V(lib.ones(2))
    V(lib.ones(2),requires_grad=True) V(lib.ones(2),True) V(lib.ones(2),volatile=True)
    V(lib.ones(2),requires_grad=True,volatile=True) V(lib.ones(2,requires_grad=True))
    V(lib.ones(2,requires_grad=True),requires_grad=True)
    V(lib.ones(2,requires_grad=True)*2).grad_fn V([1.0]) V(1.0) V(f8) V(data=lib.ones(1))
    isinstance(lib.ones(1),V) isinstance(1.0,V) V(lib.tensor([1]),requires_grad=True)
    V(lib.LongTensor([1])).data
    """
)


def test_same_in_both() -> None:
    for expression in EXPRESSIONS:
        assert outcome(expression, whygrad) == outcome(expression, torch), expression


def test_every_type() -> None:
    for kind in KINDS:
        name = f"{kind}Tensor"
        assert outcome(f"lib.{name}([1,0])", whygrad) == outcome(f"lib.{name}([1,0])", torch)
        mine = getattr(whygrad, name)
        assert pickle.loads(pickle.dumps(mine)) is mine
        assert isinstance(mine([1]), mine)
        assert sum(isinstance(mine([1]), getattr(whygrad, f"{each}Tensor")) for each in KINDS) == 1


def test_memory_is_shared_as_in_pytorch() -> None:
    for lib in (whygrad, torch):
        array = np.zeros(2, np.float32)
        lib.FloatTensor(array)[0] = 1.0
        source = lib.zeros(2)
        lib.autograd.Variable(source)[1] = 2.0
        assert array.tolist() == [1.0, 0.0]
        assert source.tolist() == [0.0, 2.0]


def test_a_default_type_is_a_default_dtype() -> None:
    for lib in (whygrad, torch):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                lib.set_default_tensor_type("torch.DoubleTensor")
            assert lib.ones(1).dtype == lib.Tensor([1]).dtype == lib.float64
        finally:
            lib.set_default_dtype(lib.float32)


def test_volatile_warns() -> None:
    for lib in (whygrad, torch):
        with pytest.warns(UserWarning, match="volatile was removed"):
            lib.autograd.Variable(lib.ones(1), volatile=True)


def test_refused_methods_say_why() -> None:
    assert not hasattr(whygrad.ones(1), "q_scale")
    with pytest.raises(AttributeError, match=r"'Tensor' object .*'q_scale': quantised tensors"):
        whygrad.ones(1).q_scale()
    with pytest.raises(AttributeError, match="'hub': whygrad downloads nothing"):
        _ = whygrad.hub
