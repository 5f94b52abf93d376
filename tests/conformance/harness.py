"""One declaration per op, every check from it.

The helpers turn a sample call from the op table into the same call on whygrad and on PyTorch and
compare what comes out.  They have tests of their own in ``test_harness.py``, including one that
shows a wrong rule is caught.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import torch

import whygrad
from whygrad.errors import fail
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, Constant, samples_of
from whygrad.tensor import Tensor
from whygrad.tensor.dtypes import DType

# PyTorch hands out the results of LAPACK and of its FFT as they lie; ours are row-major like
# everything else.  A chain of products lies as its last one does.
OWN_STRIDES = {op.name for op in table.values() if op.family in ("fourier", "linalg")} | {"einsum"}
TOLERANCE = {"float64": (1e-9, 1e-11), "float32": (2e-4, 2e-5)}


def every_sample(select: Callable[[Op], bool] = lambda op: True) -> Callable[[Any], Any]:
    """One test per op of the table, which runs the decorated function on every sample of it.

    The function takes ``(op, call, …)``, and the ``index`` of the sample if it asks for it.  A
    sample may be skipped; a test whose samples are all skipped is skipped with the last reason.
    """
    import pytest

    def decorate(check: Callable[..., None]) -> Any:
        signature = inspect.signature(check)
        numbered = "index" in signature.parameters

        def run(op: Op, **others: Any) -> None:
            calls, skipped, reason = samples_of(op), 0, ""
            for index, call in enumerate(calls):
                try:
                    check(op, call, **({"index": index} if numbered else {}), **others)
                except pytest.skip.Exception as skip:
                    skipped, reason = skipped + 1, str(skip)
                except BaseException as error:
                    error.add_note(f"sample {index} of {op.name}: {call!r}")
                    raise
            if calls and skipped == len(calls):
                pytest.skip(reason)

        functools.update_wrapper(run, check)
        rest = [
            each for name, each in signature.parameters.items() if name not in ("call", "index")
        ]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        ops = [pytest.param(op, id=f"{op.family}-{op.name}") for op in table.values() if select(op)]
        return pytest.mark.parametrize("op", ops)(run)

    return decorate


def torch_function(op: Op) -> Callable[..., Any]:
    """What PyTorch has under the name that the row says, or under the op's own."""
    name = op.torch or op.name
    try:
        return attrgetter(name)(torch)
    except AttributeError:
        raise fail(
            LookupError,
            call=f"op {op.name} of ops/{op.module.replace('.', '/')}.py against PyTorch",
            cause=f"there is no torch.{name}",
            fix='say torch="" in its row if PyTorch has no such function, or torch="its.name", as '
            'in torch="nn.functional.gelu", if it has another name there',
            where=None,
        ) from None


def widened(mine: Any, theirs: Any) -> str:
    """What most often makes a result of ``mine`` wider than that of ``theirs``; or nothing."""
    if [str(each).partition(".")[2] for each in (mine, theirs)] != ["float64", "float32"]:
        return ""
    return (
        "\nthe kernel returned float64 for float32 inputs; use math.*, not np.*, for constants: "
        "np.log(2) is a float64 and widens every array it meets, math.log(2) does not"
    )


def convert(value: Any, leaf: Callable[[Any, bool], Any]) -> Any:
    """Replace every array and dtype in a nested argument by ``leaf(value, requires_grad)``."""
    if isinstance(value, Constant):
        return leaf(value.array, False)
    if isinstance(value, np.ndarray):
        return leaf(value, value.dtype.kind in "f")
    if isinstance(value, DType):
        return leaf(value, False)
    if isinstance(value, (list, tuple)):
        return type(value)(convert(item, leaf) for item in value)
    if isinstance(value, slice):
        return slice(*(convert(part, leaf) for part in (value.start, value.stop, value.step)))
    return value


class Side:
    """A sample call on one of the two libraries: its inputs, and its outputs once called."""

    def __init__(self, call: Call, make: Callable[[Any, bool], Any]) -> None:
        self.inputs: list[Any] = []
        self.call = call

        def leaf(array: Any, requires_grad: bool) -> Any:
            made = make(array, requires_grad)
            if requires_grad:
                self.inputs.append(made)
            return made

        self.args = convert(call.args, leaf)
        self.kwargs = {name: convert(value, leaf) for name, value in call.kwargs.items()}

    def run(self, function: Callable[..., Any]) -> list[Any]:
        return flatten(self.call.on(function)(*self.args, **self.kwargs))


def flatten(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in flatten(item)]
    return [result]


def whygrad_side(call: Call, dtype: str, arrange: Callable[[Any], Any] = np.array) -> Side:
    def make(array: Any, requires_grad: bool) -> Any:
        if isinstance(array, DType):
            return array
        if array.dtype.kind == "f":
            array = array.astype(dtype)
        made = whygrad.from_numpy(arrange(array))
        return made.requires_grad_() if requires_grad else made

    return Side(call, make)


def torch_side(call: Call, dtype: str) -> Side:
    def make(array: Any, requires_grad: bool) -> Any:
        if isinstance(array, DType):
            return getattr(torch, array.name)
        if array.dtype.kind == "f":
            array = array.astype(dtype)
        made = torch.from_numpy(np.array(array))
        return made.requires_grad_() if requires_grad else made

    return Side(call, make)


def as_numpy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return np.asarray(value.detach().numpy(force=True))  # also of what is lazily zero
    if isinstance(value, Tensor):
        return np.asarray(value.detach().numpy())
    return np.asarray(value)


def assert_same_values(mine: list[Any], theirs: list[Any], dtype: str, label: str) -> None:
    rtol, atol = TOLERANCE[dtype]
    assert len(mine) == len(theirs), f"{label}: {len(mine)} outputs, PyTorch has {len(theirs)}"
    for position, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        where = f"{label}, output {position}"
        if isinstance(b, torch.Tensor):
            assert isinstance(a, Tensor), f"{where}: {type(a).__name__}, PyTorch gives a tensor"
            assert a.dtype.name == str(b.dtype).removeprefix("torch."), (
                f"{where}: {a.dtype} against {b.dtype}{widened(a.dtype, b.dtype)}"
            )
            assert tuple(a.shape) == tuple(b.shape), f"{where}: {a.shape} against {tuple(b.shape)}"
        np.testing.assert_allclose(as_numpy(a), as_numpy(b), rtol, atol, err_msg=where)


def assert_same_strides(mine: list[Any], theirs: list[Any], label: str) -> None:
    for position, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if isinstance(b, torch.Tensor) and b.layout is torch.strided and b.numel():
            assert tuple(a.stride()) == b.stride(), (
                f"{label}, output {position}: strides {a.stride()} against {b.stride()}"
            )


def weighted_sum(out: Any, weights: Any) -> Any:
    """A real number in which every element has its own share."""
    product = out * weights
    return (product.real + 0.7 * product.imag if product.is_complex() else product).sum()


def gradients(side: Side, outputs: list[Any], library: Any) -> list[Any]:
    """Vector-Jacobian products with fixed, generic cotangents."""
    rng = np.random.default_rng(7)
    total = None
    for out in outputs:
        if getattr(out, "requires_grad", False):
            weights = rng.uniform(0.5, 1.5, tuple(out.shape)).astype(as_numpy(out).dtype)
            term = weighted_sum(out, library.from_numpy(np.asarray(weights)))
            total = term if total is None else total + term
    if total is None:
        return [None] * len(side.inputs)
    total.backward()
    return [each.grad for each in side.inputs]


def assert_same_gradients(mine: list[Any], theirs: list[Any], dtype: str, label: str) -> None:
    rtol, atol = TOLERANCE[dtype]
    for position, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        where = f"{label}, gradient of input {position}"
        if b is None or a is None:
            assert (a is None) == (b is None), f"{where}: {a} against {b}"
            continue
        assert tuple(a.shape) == tuple(b.shape), f"{where}: {a.shape} against {tuple(b.shape)}"
        np.testing.assert_allclose(as_numpy(a), as_numpy(b), rtol, atol, err_msg=where)


def compare_with_torch(op: Op, call: Call, dtype: str) -> None:
    mine, theirs = whygrad_side(call, dtype), torch_side(call, dtype)
    label = f"{op.name}({call!r}) in {dtype}"
    my_outputs, their_outputs = mine.run(op.public), theirs.run(torch_function(op))
    assert_same_values(my_outputs, their_outputs, dtype, label)
    if op.name not in OWN_STRIDES:
        assert_same_strides(my_outputs, their_outputs, label)
    assert_same_gradients(
        gradients(mine, my_outputs, whygrad), gradients(theirs, their_outputs, torch), dtype, label
    )
