"""Every in-place method against PyTorch: values, dtypes, refusals and gradients."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
import whygrad.nn.functional as F
from tests.conformance.harness import TOLERANCE, as_numpy, convert, torch_function
from whygrad.ops.activation import dropout
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of

# Methods of PyTorch's that are not here although what they do is.
MISSING = {
    "resize_as_sparse_",
    "sparse_resize_",
    "sparse_resize_and_clear_",
}


def test_every_method_of_pytorchs_is_here() -> None:
    theirs = {name for name in dir(torch.Tensor) if name[-1] == "_" and name[0] != "_"}
    assert theirs - set(dir(wg.Tensor)) == MISSING


def test_functions_in_place_are_the_methods() -> None:
    absent = {"resize_as_sparse_"}
    functions = {"embedding_renorm_", "rrelu_", *(each.__name__ for each in dropout.IN_PLACE)}
    for mine, theirs in ((wg, torch), (F, torch.nn.functional)):
        names = {name for name in dir(theirs) if name[-1] == "_" and name[0] != "_"}
        assert {name for name in names if not hasattr(mine, name)} <= absent
        for name in names - absent - functions:
            assert getattr(mine, name) is getattr(wg.Tensor, name)


@pytest.mark.parametrize("name", [op.name for op in table.values() if op.inplace])
def test_inplace_argument(name: str) -> None:
    """Where PyTorch has ``inplace=True`` it means the method."""
    function = getattr(F, name, None)
    if function is None or name in ("sigmoid", "tanh"):
        return
    args = (0.5, 2.0) if name == "threshold" else ()
    x = wg.tensor([-2.0, -0.3, 0.0, 0.4, 3.0])
    expected = function(x, *args)
    assert function(x, *args, inplace=True) is x
    assert x.tolist() == expected.tolist()


def torch_twin(op: Op) -> Callable[..., Any] | None:
    """The method, or the function in ``nn.functional`` where PyTorch has it only there."""
    name = f"{op.name}_"
    functional = getattr(torch.nn.functional, op.name, None)
    if hasattr(torch.Tensor, name):
        return getattr(torch.Tensor, name)
    if functional is not None and op.name in ("silu", "mish", "hardswish", "hardsigmoid"):
        return lambda x, *args, **kwargs: functional(x, *args, **kwargs, inplace=True)
    return getattr(torch.nn.functional, name, None)


IN_PLACE = [op for op in table.values() if op.inplace and op.name != "copy"]


def calls(op: Op, kinds: str) -> list[Call]:
    """The samples of an op whose target has one of these kinds of dtype."""
    found = []
    for call in samples_of(op):
        if op.name == "polygamma":
            call.args = call.args[::-1]
        target = getattr(call.args[0], "array", call.args[0])  # perhaps in a Constant
        if call.around is None and isinstance(target, np.ndarray) and target.dtype.kind in kinds:
            found.append(call)
    return found


def side(call: Call, library: Any, dtype: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments as tensors of a library; floats become ``dtype``."""

    def leaf(value: Any, requires_grad: bool) -> Any:
        if not isinstance(value, np.ndarray):
            return getattr(library, value.name)
        if value.dtype.kind == "f":
            if dtype == "int64":
                value = np.clip(np.nan_to_num(np.rint(value)), -99, 99)
            value = value.astype(dtype)
        return library.from_numpy(np.array(value))

    kwargs = {name: convert(value, leaf) for name, value in call.kwargs.items()}
    return list(convert(call.args, leaf)), kwargs


def outcome(method: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The target, or why it was not written to."""
    try:
        returned = method(*args, **kwargs)
    except (RuntimeError, TypeError, IndexError, ValueError) as error:
        return error
    assert returned is args[0]
    assert args[0]._version == 1
    return args[0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("op", IN_PLACE, ids=lambda op: op.name)
def test_values_and_refusals(op: Op, dtype: str) -> None:
    twin = torch_twin(op)
    assert twin is not None, "PyTorch has no such method"
    for call in calls(op, "biufc"):
        compare_values(op, call, dtype, twin)


def compare_values(op: Op, call: Call, dtype: str, twin: Callable[..., Any]) -> None:
    args, kwargs = side(call, wg, dtype)
    before = as_numpy(args[0]).copy()
    mine = outcome(getattr(wg.Tensor, f"{op.name}_"), args, kwargs)
    theirs = outcome(twin, *side(call, torch, dtype))
    if isinstance(mine, Exception):
        np.testing.assert_array_equal(as_numpy(args[0]), before, "a refused write changes nothing")
        divides = op.name in ("floor_divide", "fmod", "remainder")
        empty_division = divides and not before.size  # PyTorch does not look at the divisor
        assert isinstance(theirs, Exception) or empty_division, f"PyTorch does not refuse: {mine}"
        return
    if isinstance(theirs, Exception):
        kernel_missing = isinstance(theirs, NotImplementedError)
        assert kernel_missing or "Bad in-place call" in str(theirs), f"PyTorch refuses: {theirs}"
        return
    assert str(theirs.dtype) == f"torch.{mine.dtype.name}"
    np.testing.assert_allclose(as_numpy(mine), as_numpy(theirs), *TOLERANCE.get(dtype, (0, 0)))


@pytest.mark.parametrize("op", IN_PLACE, ids=lambda op: op.name)
def test_gradients(op: Op) -> None:
    """Of a value inside the graph that is overwritten, and of the other float arguments."""
    twin = torch_twin(op)
    if op.name in ("acosh", "asinh", "atanh"):  # "the derivative for inplace … is not implemented"
        twin = torch_function(op)
    for call in calls(op, "f"):
        if op.name != "addbmm" or as_numpy(call.args[0]).ndim == 2:  # else PyTorch resizes
            compare_gradients(op, call, twin)


def compare_gradients(op: Op, call: Call, twin: Any) -> None:

    def gradients(library: Any, method: Any) -> list[Any] | None:
        args, kwargs = side(call, library, "float64")
        tensors = [each for each in args if isinstance(each, (wg.Tensor, torch.Tensor))]
        leaves = [each for each in tensors if as_numpy(each).dtype.kind == "f"]
        for each in leaves:
            each.requires_grad_()
        args[0] = args[0] * 1.0
        try:
            y = method(*args, **kwargs)
            weights = np.random.default_rng(7).uniform(0.5, 1.5, tuple(y.shape))
            (y * library.from_numpy(np.asarray(weights))).sum().backward()
        except RuntimeError:
            return None
        return [0 if each.grad is None else each.grad + 0.0 for each in leaves]

    mine = gradients(wg, getattr(wg.Tensor, f"{op.name}_"))
    theirs = gradients(torch, twin)
    if mine is None or theirs is None:
        # PyTorch has no derivative of these, or only for a positive slope.
        assert theirs is None
        assert mine is None or op.name in ("floor_divide", "heaviside", "leaky_relu")
        return
    # PyTorch leaves the history of the old value in place
    if op.name.startswith("logical_"):
        assert not any(as_numpy(each).any() for each in mine)
        return
    # PyTorch's slope of hardsigmoid is a float32 also in float64.
    tolerance = (1e-7, 0.0) if op.name == "hardsigmoid" else TOLERANCE["float64"]
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(as_numpy(a), as_numpy(b), *tolerance)


GEOMETRY: list[tuple[str, tuple[int, ...], tuple[Any, ...]]] = [
    ("unsqueeze_", (2, 3), (1,)),
    ("squeeze_", (2, 1, 3), ()),
    ("squeeze_", (1, 2, 3), (0,)),
    ("squeeze_", (1, 2, 1), ((0, 2),)),
    ("transpose_", (2, 3), (0, 1)),
    ("swapaxes_", (2, 3), (0, 1)),
    ("swapdims_", (2, 3, 1), (2, 0)),
    ("t_", (2, 3), ()),
    ("t_", (3,), ()),
    ("as_strided_", (2, 3), ((2, 2), (3, 1), 1)),
]


@pytest.mark.parametrize(("name", "shape", "args"), GEOMETRY)
def test_geometry(name: str, shape: tuple[int, ...], args: tuple[Any, ...]) -> None:
    """On the value itself, on a view of it, and on what a view was made of."""

    def run(lib: Any) -> list[Any]:
        found = []
        for scene in ("value", "view", "base"):
            x = lib.arange(12.0, dtype=lib.float64).requires_grad_()
            base = x * 2
            y = base[: int(np.prod(shape))].view(shape)
            if scene == "value":
                y = y * 1
            other = base.view(3, 4)[1] if scene == "view" else y.select(0, 0)
            assert getattr(y, name)(*args) is y
            found += [y.shape, y.stride(), y.detach().numpy().copy()]
            weight = lib.arange(1.0, y.numel() + 1, dtype=lib.float64).view(y.shape)
            y.mul_(weight)
            ((y * weight).sum() + (other * 3).sum() + base.sum()).backward()
            found.append(x.grad.numpy())
        return found

    for mine, theirs in zip(run(wg), run(torch), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_geometry_keeps_what_backward_has_saved() -> None:
    x = wg.arange(4.0).view(2, 2).clone().requires_grad_()
    y = x * 2
    z = y * y
    y.t_()  # PyTorch counts this as a write and refuses the backward
    z.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0.0, 8.0], [16.0, 24.0]]


def test_geometry_is_recorded_under_no_grad() -> None:
    """In PyTorch the gradient arrives the wrong way round."""
    x = wg.ones(2, 2, requires_grad=True)
    y = x * wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    with wg.no_grad():
        y.t_()
    (y * wg.tensor([[1.0, 5.0], [0.0, 0.0]])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[1.0, 0.0], [15.0, 0.0]]


def test_geometry_of_leaves() -> None:
    x = wg.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.t_()
    with wg.no_grad():
        x.t_()
    (x * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.shape == x.shape == (3, 2)
    y = x * 2
    first, _ = y.unbind(1)
    with pytest.raises(RuntimeError, match="multiple views"):
        first.unsqueeze_(0)


def test_geometry_of_duals_and_batches() -> None:
    from whygrad.autograd import forward_ad

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(wg.zeros(2, 3), wg.arange(6.0).view(2, 3)) * 1
        assert forward_ad.unpack_dual(dual.t_()).tangent.tolist() == [[0, 3], [1, 4], [2, 5]]

    def flip(x: Any) -> Any:
        y = x * 1
        return y.t_().unsqueeze_(0)

    assert wg.func.vmap(flip)(wg.zeros(5, 2, 3)).shape == (5, 1, 3, 2)


def test_retained_gradient_is_that_of_the_new_shape() -> None:
    x = wg.ones(2, 3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.t_()
    y.sum().backward()
    assert y.grad is not None
    assert y.grad.shape == (3, 2)


def test_resize() -> None:
    def run(lib: Any) -> list[Any]:
        x = lib.arange(6.0)
        found = [x.resize_(2, 2).tolist(), x.resize_((3,)).tolist(), x.resize_(6).tolist()]
        view = lib.arange(6.0)[1:]
        found += [view.resize_(2, 2).tolist(), view.storage_offset()]
        found += [lib.arange(4.0).resize_(8)[:4].tolist(), x.resize_as_(lib.ones(2, 1)).tolist()]
        found.append(list(lib.ones(2, 3).t().resize_(2, 3).stride()))
        return found

    assert run(wg) == run(torch)
    ghost = wg.empty(2, device="meta")
    assert ghost.resize_(5).shape == (5,)


def test_resize_refusals() -> None:
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        wg.ones(2, requires_grad=True).resize_(1)
    with pytest.raises(RuntimeError, match="negative size -1"):
        wg.ones(2).resize_(-1)
    with pytest.raises(RuntimeError, match="vmap does not support resize_"):
        wg.func.vmap(lambda x: x.resize_(1))(wg.ones(2, 2))
    x = wg.ones(2)
    view = x.view(2, 1)
    with pytest.raises(RuntimeError, match="other tensors look at it"):
        x.resize_(3)
    assert x.shape == (2,)
    del view
    assert x.resize_(3).shape == (3,)


def test_fill_diagonal() -> None:
    def run(lib: Any) -> list[Any]:
        found = [
            lib.zeros(*shape).fill_diagonal_(2, wrap=wrap).tolist()
            for shape in ((3, 3), (7, 3), (4, 3), (2, 5), (2, 2, 2))
            for wrap in (False, True)
        ]
        x = lib.ones(3, 3, requires_grad=True)
        y = x * 2
        y.fill_diagonal_(5).mul_(3)
        y.sum().backward()
        return [*found, x.grad.tolist(), y.tolist()]

    assert run(wg) == run(torch)
    with pytest.raises(RuntimeError, match="dimensions must larger than 1"):
        wg.zeros(2).fill_diagonal_(1)
    with pytest.raises(RuntimeError, match="all dimensions of input must be of equal length"):
        wg.zeros(2, 2, 3).fill_diagonal_(1)
    batch = wg.func.vmap(lambda x: (x * 1).fill_diagonal_(5))(wg.zeros(2, 3, 3))
    assert batch[1].tolist() == torch.zeros(3, 3).fill_diagonal_(5).tolist()


def test_nothing_leaks() -> None:
    gc.disable()
    try:
        x = wg.ones(2, 3, requires_grad=True)
        y = x * 2
        ref = weakref.ref(y)
        y.t_().unsqueeze_(0).mul_(2)
        del y
        assert ref() is None
    finally:
        gc.enable()
