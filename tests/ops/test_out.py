"""``out=``: for every function that takes it in PyTorch, with PyTorch's conditions."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.conformance.harness import (
    as_numpy,
    assert_same_values,
    every_sample,
    torch_function,
    torch_side,
    whygrad_side,
)
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of

RANDOM = ("bernoulli", "multinomial", "normal", "rand", "randint", "randn", "randperm")
# PyTorch takes out= only in some of the forms of these, or insists on its own generator.
SOMETIMES = {
    *RANDOM, "argsort", "bucketize", "chain_matmul", "fft_ihfftn", "median", "nanmedian",
    "nonzero", "prod",
    "split_copy", "split_with_sizes_copy", "std", "sum", "unbind_copy", "var", "where",
}  # fmt: skip


def room_for(result: Any, library: Any, exact: bool) -> Any:
    """Something to write into: of the right size, or without elements so that it may grow."""
    if isinstance(result, tuple):
        return tuple(room_for(each, library, exact) for each in result)
    shape = tuple(result.shape) if exact else (0,)
    return library.zeros(shape, dtype=getattr(result, "dtype", None))


def with_out(
    function: Callable[..., Any], library: Any, made: list[Any], exact: bool = False
) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        out = room_for(function(*args, **kwargs), library, exact)
        made.append(out)
        return function(*args, **kwargs, out=out)

    return call


def takes_out(op: Op) -> bool:
    """Whether PyTorch accepts the keyword, for all samples of the op."""
    for call in samples_of(op):
        try:
            with torch.no_grad():
                torch_side(call, "float64").run(with_out(torch_function(op), torch, []))
        except TypeError:
            return False
    return True


@pytest.mark.parametrize(
    "op",
    [op for op in table.values() if op.torch != "" and not op.internal],
    ids=lambda op: op.name,
)
def test_the_list_is_pytorchs(op: Op) -> None:
    if op.name == "conj":  # a view in PyTorch; the table compares it with conj_physical
        assert not op.takes_out
    elif op.name not in SOMETIMES:
        assert op.takes_out == takes_out(op)


@pytest.mark.parametrize(
    "op",
    [op for op in table.values() if op.takes_out and op.torch != "" and op.name != "empty"],
    ids=lambda op: op.name,
)
@pytest.mark.parametrize("exact", [True, False])
def test_values(op: Op, exact: bool) -> None:
    for call in samples_of(op):
        mine, theirs = whygrad_side(call, "float64"), torch_side(call, "float64")
        outs: list[Any] = []
        with wg.no_grad(), torch.no_grad():
            got = mine.run(with_out(op.public, wg, outs, exact))
            expected = theirs.run(torch_function(op))
        assert_same_values(got, expected, "float64", f"{op.name}({call!r}, out=…)")
        given = outs[0] if isinstance(outs[0], tuple) else outs
        if call.around is None:
            assert len(got) == len(given)
            assert all(a is b for a, b in zip(got, given)), "out itself is returned"
        assert all(each._version == 1 for each in given)


@every_sample(lambda op: op.name in RANDOM)
def test_random_numbers(op: Op, call: Call) -> None:
    (expected,) = whygrad_side(call, "float64").run(op.public)
    out = wg.empty(0, dtype=expected.dtype)
    (drawn,) = whygrad_side(call, "float64").run(
        lambda *args, **kwargs: op.public(*args, out=out, **kwargs)
    )
    assert drawn is out
    assert drawn.tolist() == expected.tolist(), "the same stream of numbers"


def test_new_values_take_the_dtype_of_out() -> None:
    whole = wg.ones(3, dtype=wg.int64)
    assert wg.zeros(3, out=whole).tolist() == [0, 0, 0]
    assert wg.full((3,), 1.7, out=whole).tolist() == [1, 1, 1]
    assert wg.arange(3, out=wg.empty(3, dtype=wg.float64)).dtype is wg.float64
    assert wg.randint(5, (3,), out=wg.empty(3)).dtype is wg.float32
    ghost = wg.empty(3, device="meta")
    assert wg.zeros(3, out=ghost) is ghost
    leaf = wg.empty(3)
    assert wg.zeros(3, out=leaf, requires_grad=True).requires_grad


def test_none_is_no_out() -> None:
    x = wg.ones(2)
    assert wg.exp(x, out=None).shape == (2,)
    assert wg.add(x, 1, out=None).tolist() == [2.0, 2.0]
    assert wg.zeros(2, out=None).tolist() == [0.0, 0.0]


def test_named_results_come_back_in_the_given_tensors() -> None:
    values, indices = wg.empty(0), wg.empty(0, dtype=wg.int64)
    result = wg.max(wg.tensor([[1.0, 5.0], [4.0, 3.0]]), axis=1, out=[values, indices])
    assert result.values is values
    assert result.indices is indices
    assert type(result) is wg.max(wg.ones(1, 1), 1).__class__
    assert (values.tolist(), indices.tolist()) == ([5.0, 4.0], [1, 0])


@pytest.mark.parametrize(
    ("result", "out", "fits"),
    [("float32", "float64", True), ("float64", "float16", True), ("int64", "float32", True),
     ("float32", "complex64", True), ("float32", "int64", False), ("int64", "bool", False),
     ("complex64", "float32", False)],
)  # fmt: skip
def test_conversion_to_the_dtype_of_out(result: str, out: str, fits: bool) -> None:
    def write(lib: Any) -> Any:
        x = lib.ones(3, dtype=getattr(lib, result))
        return lib.add(x, 1, out=lib.zeros(3, dtype=getattr(lib, out)))

    if fits:
        assert as_numpy(write(wg)).tolist() == as_numpy(write(torch)).tolist()
        return
    for lib in (torch, wg):
        with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
            write(lib)


def test_a_tensor_of_another_shape_is_resized_with_a_warning() -> None:
    out = wg.zeros(3)
    with pytest.warns(
        UserWarning, match=r"resized since it had shape \[3\].*shape \[2, 3\]"
    ) as seen:
        assert wg.exp(wg.zeros(2, 3), out=out) is out
    assert seen[0].filename == __file__
    assert out.tolist() == [[1.0] * 3] * 2
    address = out.data_ptr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wg.add(wg.ones(2), 1, out=out.resize_(0))
    assert out.tolist() == [2.0, 2.0]
    assert out.data_ptr() == address, "memory that is large enough is used again"


def test_a_view_shrinks_over_its_own_memory() -> None:
    def write(lib: Any) -> Any:
        base = lib.arange(6.0)
        with pytest.warns(UserWarning, match="resized"):
            lib.add(lib.ones(2), 1, out=base[1:4])
        return base.tolist()

    assert write(wg) == write(torch)


def test_a_view_cannot_grow() -> None:
    base = wg.arange(6.0)
    with (
        pytest.warns(UserWarning, match="resized"),
        pytest.raises(RuntimeError, match="other tensors look at it"),
    ):
        wg.add(wg.ones(9), 1, out=base[1:4])
    assert base.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert base._version == 0


def test_strides_of_out_are_kept() -> None:
    out = wg.zeros(3, 2).t()
    wg.add(wg.arange(6.0).view(2, 3), 0, out=out)
    assert out.stride() == (1, 2)
    assert out.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x: lib.exp(x, out=lib.zeros(3)),
        lambda lib, x: lib.exp(lib.ones(3), out=x),
        lambda lib, x: lib.floor(x, out=lib.zeros(3)),
        lambda lib, x: lib.sum(x, 0, out=lib.zeros(())),
        lambda lib, x: lib.cat([lib.ones(1), x], out=lib.zeros(4)),
        lambda lib, x: lib.zeros(3, out=x),
        lambda lib, x: lib.sort(x, out=(lib.zeros(3), lib.zeros(3, dtype=lib.int64))),
    ],
)
def test_no_history_is_recorded(call: Callable[[Any, Any], Any]) -> None:
    phrase = r"\(\): functions with out=\.\.\. arguments don't support automatic differentiation"
    for lib in (torch, wg):
        x = lib.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match=phrase):
            call(lib, x)
        with lib.no_grad():
            call(lib, x)
    assert x._version == (0 if x.tolist() == [1.0] * 3 else 1)


@pytest.mark.parametrize("call", ["eq", "argmax", "isposinf"])
def test_functions_without_a_derivative_do_not_mind(call: str) -> None:
    x = wg.ones(3, requires_grad=True)
    args = (x, 1.0) if call == "eq" else (x,)
    expected = getattr(wg, call)(*args)
    out = wg.empty(0, dtype=expected.dtype)
    assert getattr(wg, call)(*args, out=out).tolist() == expected.tolist()


def test_out_is_not_a_way_around_the_history_of_a_base() -> None:
    x = wg.ones(3, requires_grad=True)
    y = x * 2
    with wg.no_grad():
        view = y.view(3)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        wg.exp(wg.ones(3), out=view)
    leaf = wg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        wg.ge(leaf, 1, out=leaf)  # PyTorch writes


def test_a_saved_value_is_protected() -> None:
    x = wg.ones(3, requires_grad=True)
    weight = wg.full((3,), 2.0)
    y = x * weight
    wg.exp(wg.ones(3), out=weight)
    with pytest.raises(RuntimeError, match=r"exp\(out=…\) wrote to this memory at .*test_out"):
        y.sum().backward()


def test_memory_in_common() -> None:
    x = wg.arange(4.0)
    assert wg.add(x, 1, out=x).tolist() == [1.0, 2.0, 3.0, 4.0]
    square = x.view(2, 2)
    for read, write in ((x[1:], x[:-1]), (square, square.t())):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            wg.add(read, 1, out=write)
    assert x._version == 1
    # Where PyTorch refuses or overwrites what it still has to read, the result is right.
    expected = square.clone() @ square.clone()
    assert wg.mm(square, square, out=square).tolist() == expected.tolist()
    assert (
        wg.gather(x, 0, wg.tensor([3, 2, 1, 0]), out=x).tolist()
        == expected.flatten().flip(0).tolist()
    )


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: wg.exp(wg.ones(2), out="a"), TypeError, "argument 'out' must be Tensor, not str"),
        (lambda: wg.exp(wg.ones(2), out=(wg.ones(2), wg.ones(2))), TypeError,
         "expected tuple of 1 elements but got 2"),
        (lambda: wg.sort(wg.ones(2), out=wg.ones(2)), TypeError,
         "expected tuple of 2 elements but got 1"),
        (lambda: wg.add(wg.ones(2), 1, out=wg.zeros(1).expand(2)), RuntimeError,
         "more than one element of the written-to tensor"),
        (lambda: wg.add(wg.ones(2), 1, out=wg.ones(2, device="meta")), RuntimeError,
         "Expected all tensors to be on the same device"),
        (lambda: wg.add(wg.ones(2), 1, out=wg.ones(2).to_sparse()), RuntimeError,
         "need a strided tensor"),
        (lambda: wg.zeros(2, dtype=wg.float64, out=wg.ones(2)), RuntimeError,
         "dtype float64 does not match dtype of out parameter"),
        (lambda: wg.zeros(2, device="meta", out=wg.ones(2)), RuntimeError,
         "does not match device type of out parameter"),
        (lambda: wg.ones(2).exp(out=wg.ones(2)), TypeError, "unexpected keyword argument 'out'"),
        (lambda: wg.ones(2).add(1, out=wg.ones(2)), TypeError, "unexpected keyword argument 'out'"),
        (lambda: wg.ones(2).add_(1, out=wg.ones(2)), TypeError,
         "unexpected keyword argument 'out'"),
        (lambda: wg.relu(wg.ones(2), out=wg.ones(2)), TypeError,
         "unexpected keyword argument 'out'"),
        (lambda: wg.add(wg.ones(2), out=wg.ones(2)), TypeError, "missing a required argument"),
    ],
)  # fmt: skip
def test_refusals(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_layers_above_memory_refuse() -> None:
    with pytest.raises(RuntimeError, match="vmap: batching is not defined for out="):
        wg.func.vmap(lambda x: wg.exp(x, out=wg.zeros(3)))(wg.ones(2, 3))
    from whygrad.autograd import forward_ad

    with (
        forward_ad.dual_level(),
        pytest.raises(NotImplementedError, match="because it is an out= function"),
    ):
        wg.exp(forward_ad.make_dual(wg.ones(3), wg.ones(3)), out=wg.zeros(3))


def test_a_refused_pair_of_outputs_is_left_alone() -> None:
    values, indices = wg.zeros(3), wg.zeros(3, dtype=wg.bool)
    with pytest.raises(RuntimeError, match="can't be cast"):
        wg.sort(wg.tensor([3.0, 1.0, 2.0]), out=(values, indices))
    assert values.tolist() == [0.0, 0.0, 0.0]
    assert values._version == 0


def test_nothing_leaks() -> None:
    gc.disable()
    try:
        out = wg.zeros(3)
        ref = weakref.ref(wg.add(wg.ones(3), 1, out=out))
        values = np.asarray(out.numpy())
        del out, values
        assert ref() is None
    finally:
        gc.enable()
