"""Pack and unpack hooks, against PyTorch's."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf
from tests.conformance.harness import assert_same_gradients, cases, gradients, whygrad_side
from whygrad import dispatch
from whygrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_bytes_peak,
    saved_tensors_hooks,
)
from whygrad.ops.define import Op
from whygrad.ops.samples import samples_of


def keep(x: Any) -> Any:
    return x.detach()


def same(x: Any) -> Any:
    return x


def through_numpy() -> saved_tensors_hooks:
    """Nothing of the saved tensor survives but its numbers."""
    return saved_tensors_hooks(lambda x: x.detach().numpy().copy(), wg.from_numpy)


# --- how often, with what ---------------------------------------------------------------------

PROGRAMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "both factors": lambda lib, a, b: a * b,
    "one tensor twice": lambda lib, a, b: a * a,
    "a number": lambda lib, a, b: a * 2,
    "a constant": lambda lib, a, b: a * lib.ones(3),
    "nothing": lambda lib, a, b: a + b,
    "the output": lambda lib, a, b: a.exp(),
    "input of a chain": lambda lib, a, b: (a * 3).sin(),
    "softmax": lambda lib, a, b: a.softmax(0),
    "integers": lambda lib, a, b: a[lib.tensor([0, 2])],
    "integer output": lambda lib, a, b: a.max(0).values,
    "quotient": lambda lib, a, b: a / b,
    "product of matrices": lambda lib, a, b: a.unsqueeze(1) @ b.unsqueeze(0),
    "recording off": lambda lib, a, b: a.detach() * 3,
}


def seen_by_pack(lib: Any, program: Callable[[Any, Any, Any], Any]) -> list[Any]:
    a = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = lib.tensor([4.0, 5.0, 6.0], requires_grad=True)
    seen = []

    def pack(x: Any) -> Any:
        kind = str(x.dtype).split(".")[-1]
        history = (x.requires_grad, x.is_leaf, lib.is_grad_enabled())
        seen.append((tuple(x.shape), kind, history, [f"{v:.4g}" for v in x.flatten().tolist()]))
        return x.detach()

    with lib.autograd.graph.saved_tensors_hooks(pack, same):
        program(lib, a, b)
    return sorted(seen, key=repr)


@pytest.mark.parametrize("name", PROGRAMS)
def test_pack_is_called_as_in_pytorch(name: str) -> None:
    program = PROGRAMS[name]
    assert seen_by_pack(wg, program) == seen_by_pack(torch, program)


def test_unpack_is_called_each_time_the_value_is_needed() -> None:
    unpacked: list[Any] = []
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(keep, lambda y: unpacked.append(y) or y):
        y = x.exp()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert len(unpacked) == 2
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([1.0, 2.0]))


def test_what_pack_returns_is_what_unpack_gets() -> None:
    store = {}

    def pack(x: wg.Tensor) -> int:
        store[len(store)] = x.detach().numpy().copy()
        return len(store) - 1

    x = leaf(3.0, 4.0)
    with saved_tensors_hooks(pack, lambda key: wg.from_numpy(store[key])):
        y = (x * x).sum()
    y.backward()
    assert len(store) == 2
    assert x.grad.tolist() == [6.0, 8.0]


def test_the_innermost_pair_counts() -> None:
    calls: list[str] = []

    def hooks(name: str) -> saved_tensors_hooks:
        return saved_tensors_hooks(lambda x: calls.append(name) or x.detach(), same)

    x = leaf(1.0)
    with hooks("outer"):
        x.exp()
        with hooks("inner"):
            x.exp()
            with hooks("inner"):
                pass
            x.exp()
        x.exp()
    x.exp()
    assert calls == ["outer", "inner", "inner", "outer"]


def test_the_same_object_may_be_entered_again() -> None:
    calls: list[int] = []
    hooks = saved_tensors_hooks(lambda x: calls.append(1) or x.detach(), same)
    x = leaf(1.0)
    with hooks:
        with hooks:
            x.exp()
        x.exp()
    x.exp()
    assert len(calls) == 2


def test_hooks_do_not_run_inside_hooks() -> None:
    depth: list[int] = []

    def busy(x: wg.Tensor) -> wg.Tensor:
        depth.append(1)
        with wg.enable_grad():
            y = x.detach().requires_grad_()
            (y * y).sum().backward()
        return x.detach()

    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(busy, busy):
        y = x.exp()
        assert len(depth) == 1
        y.sum().backward()
        assert len(depth) == 2


def test_hooks_belong_to_their_thread() -> None:
    calls: list[int] = []
    x = leaf(1.0)
    with saved_tensors_hooks(lambda y: calls.append(1) or y.detach(), same):
        worker = threading.Thread(target=lambda: x.exp().sum().backward())
        worker.start()
        worker.join()
    assert calls == []
    assert x.grad is not None


# --- gradients --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "index"), [case for case in cases(lambda op: op.vjp is not None) if case.values[1] == 0]
)
def test_gradients_of_every_op_survive_packing(op: Op, index: int) -> None:
    call = samples_of(op)[index]
    plain, packed = whygrad_side(call, "float64"), whygrad_side(call, "float64")
    plain_outputs = plain.run(op.public)
    hooks = saved_tensors_hooks(_as_numbers, _from_numbers)
    with hooks:
        packed_outputs = packed.run(op.public)
    assert_same_gradients(
        gradients(packed, packed_outputs, wg),
        gradients(plain, plain_outputs, wg),
        "float64",
        op.name,
    )


def _as_numbers(x: wg.Tensor) -> Any:
    if x.layout is not wg.strided:
        return x.detach()
    return x.detach().numpy().copy()


def _from_numbers(packed: Any) -> wg.Tensor:
    return packed if isinstance(packed, wg.Tensor) else wg.from_numpy(packed)


@pytest.mark.parametrize("inside", [True, False])
def test_higher_orders(inside: bool) -> None:
    x = leaf(0.5, -1.5)

    def third(hooks: Any) -> list[float]:
        with hooks:
            y = ((x * x).tanh() * x.exp()).sum()
            if inside:
                (first,) = wg.autograd.grad(y, x, create_graph=True)
        if not inside:
            (first,) = wg.autograd.grad(y, x, create_graph=True)
        (second,) = wg.autograd.grad(first.sum(), x, create_graph=True)
        (result,) = wg.autograd.grad(second.sum(), x)
        return result.tolist()

    np.testing.assert_allclose(third(through_numpy()), third(wg.enable_grad()))


def test_the_backward_of_a_recorded_backward_is_packed_too() -> None:
    def count(lib: Any) -> int:
        calls = []
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        hooks = lib.autograd.graph.saved_tensors_hooks(
            lambda y: calls.append(1) or y.detach(), same
        )
        with hooks:
            y = (x * x).sum()
            lib.autograd.grad(y, x, create_graph=True)
        return len(calls)

    assert count(wg) == count(torch)


def test_in_place_ops_are_packed() -> None:
    x = leaf(1.0, 2.0)
    with through_numpy():
        y = x.clone()
        y.mul_(y).exp_()
    y.sum().backward()
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), np.exp(values**2) * 2 * values)


def test_under_vmap_and_forward_mode() -> None:
    x = leaf(1.0, 2.0)
    with through_numpy():
        y = wg.func.vmap(lambda row: row.exp() * row)(x.unsqueeze(1)).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]) * [2.0, 3.0])
    with through_numpy():
        _, slope = wg.func.jvp(lambda t: wg.func.grad(lambda u: (u**3).sum())(t), (x,), (x,))
    np.testing.assert_allclose(slope.detach().numpy(), [6.0, 24.0])


# --- memory that was written in between -------------------------------------------------------


def test_a_packed_copy_may_outlive_a_write() -> None:
    def run(lib: Any) -> list[float]:
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        h = x * 1
        with lib.autograd.graph.saved_tensors_hooks(lambda y: y.detach().clone(), same):
            y = h * h
        with lib.no_grad():
            h.add_(1)
        y.sum().backward()
        return x.grad.tolist()

    assert run(wg) == run(torch) == [2.0, 4.0]


LENT = {
    "the tensor": (same, same),
    "detached": (keep, same),
    "deep inside": (lambda x: (1, {"x": [x]}), lambda packed: packed[1]["x"][0]),
    "data": (lambda x: x.data, same),
    "numpy": (lambda x: x.detach().numpy(), wg.from_numpy),
}


@pytest.mark.parametrize("how", LENT)
def test_memory_that_was_only_lent_is_still_watched(how: str) -> None:
    """PyTorch uses the new values here and returns a wrong gradient."""
    x = leaf(1.0, 2.0)
    h = x * 1
    with saved_tensors_hooks(*LENT[how]):
        y = h * h
    with wg.no_grad():
        h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation: add_ wrote"):
        y.sum().backward()


def test_a_recorded_backward_watches_lent_memory_too() -> None:
    x = leaf(1.0, 2.0)
    h = x * 1
    with saved_tensors_hooks(keep, same):
        y = (h * h * h).sum()
    (first,) = wg.autograd.grad(y, h, create_graph=True)
    with wg.no_grad():
        h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation: add_ wrote"):
        first.sum().backward()


# --- refusals ---------------------------------------------------------------------------------


def packed_product(pack: Any, unpack: Any) -> wg.Tensor:
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(pack, unpack):
        return ((x * 1) * (x * 3)).sum()


@pytest.mark.parametrize("pack", [lambda x: x.add_(1), lambda x: x.detach().data.add_(1)])
def test_pack_must_not_write_to_its_input(pack: Any) -> None:
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place: ") as caught:
        packed_product(pack, same)
    text = str(caught.value)
    assert "pack_hook for 'a' (float64[2]), saved by MulBackward at " in text
    assert "test_saved_hooks.py" in text
    assert "fix:   pack a copy: clone() it first" in text


def test_unpack_must_return_a_tensor() -> None:
    y = packed_product(keep, lambda x: 3)
    with pytest.raises(
        TypeError, match="unpack_hook expected to be a Tensor but got result of type int"
    ) as caught:
        y.backward()
    assert "unpack_hook for 'a' (float64[2]), saved by MulBackward at " in str(caught.value)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (wg.ones(3, dtype=wg.float64), r"float64\[3\]"),
        (wg.ones(2), r"float32\[2\]"),
        (wg.ones(2, dtype=wg.float64, device="meta"), r"float64\[2\] on meta"),
    ],
)
def test_unpack_must_return_what_was_packed(result: wg.Tensor, words: str) -> None:
    y = packed_product(keep, lambda x: result)
    with pytest.raises(RuntimeError, match=f"it returned {words}, which is not what was packed"):
        y.backward()


def test_what_a_hook_raises_arrives() -> None:
    def refuse(_: Any) -> Any:
        raise LookupError("no room")

    with pytest.raises(LookupError, match="no room"):
        packed_product(refuse, same)
    assert packed_product(keep, same).requires_grad, "the hooks are gone"
    y = packed_product(keep, refuse)
    with pytest.raises(LookupError, match="no room"):
        y.backward()


@pytest.mark.parametrize(("pack", "unpack", "name"), [(1, same, "pack"), (same, None, "unpack")])
def test_hooks_must_be_functions(pack: Any, unpack: Any, name: str) -> None:
    hooks = saved_tensors_hooks(pack, unpack)
    with pytest.raises(TypeError, match=f"{name}_hook is .*, which cannot be called"):
        hooks.__enter__()


def test_hooks_can_be_disabled() -> None:
    def refused(context: Any, message: str) -> None:
        with pytest.raises(RuntimeError, match=f"cause: {message}"):
            context.__enter__()

    x = leaf(1.0)
    with disable_saved_tensors_hooks("not in here"):
        x.exp().backward()
        with disable_saved_tensors_hooks("nor here"):
            refused(save_on_cpu(), "nor here")
        refused(saved_tensors_hooks(keep, same), "not in here")
        refused(allow_mutation_on_saved_tensors(), "not in here")
    with saved_tensors_hooks(keep, same):
        refused(disable_saved_tensors_hooks("too late"), "too late")
        x.exp()


# --- save_on_cpu ------------------------------------------------------------------------------


def test_save_on_cpu_leaves_cpu_tensors_alone() -> None:
    x = leaf(1.0, 2.0)
    with saved_bytes_peak() as saved, save_on_cpu():
        y = x.exp()
    assert saved.current == 16
    with saved_bytes_peak() as saved, save_on_cpu(pin_memory=True):
        z = x.exp()
    assert saved.current == 32, "the output, and the copy of it"
    (y + z).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([1.0, 2.0]))


class Crate:
    """Memory of a device that is not the cpu."""

    def __init__(self, cells: Any) -> None:
        self.cells = np.array(cells)
        self.shape = self.cells.shape
        self.dtype = self.cells.dtype


@pytest.fixture(scope="module")
def crates() -> str:
    dispatch.register_device(
        "crates", Crate, from_numpy=Crate, to_numpy=lambda crate: crate.cells.copy()
    )
    dispatch.register(
        wg.mul, "crates", lambda a, b: Crate(getattr(a, "cells", a) * getattr(b, "cells", b))
    )
    return "crates"


def test_save_on_cpu_brings_tensors_back_to_their_device(crates: str) -> None:
    kept = []

    class looking(save_on_cpu):
        def box(self, *args: Any) -> Any:
            box = super().box(*args)
            kept.append(box.packed)
            return box

    x = wg.tensor([2.0, 3.0]).to(crates).requires_grad_()
    weight = wg.tensor([10.0, 20.0]).to(crates)
    with looking():
        y = x * weight
    assert [(str(device), str(on_cpu.device)) for device, on_cpu in kept] == [(crates, "cpu")]
    (gradient,) = wg.autograd.grad(y, x, wg.tensor([1.0, 1.0]).to(crates))
    assert str(gradient.device) == crates
    assert gradient.cpu().tolist() == [10.0, 20.0]


# --- what stays behind ------------------------------------------------------------------------


def test_nothing_leaks_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        with saved_tensors_hooks(same, same):
            h = x * 2
            y = (h.exp() * h).sum()
            y.backward(create_graph=True)
        watched = [weakref.ref(each) for each in (h, y, y.grad_fn, h.grad_fn, x, x.grad)]
        del h, y, x
        assert [ref() for ref in watched] == [None] * len(watched)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_saved_reads_through_the_hooks() -> None:
    x = leaf(1.0, 2.0)
    with through_numpy():
        y = x * 3 * x
    saved = y.grad_fn.saved
    assert list(saved) == ["a", "b"]
    np.testing.assert_array_equal(saved["a"], [3.0, 6.0])
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed by the backward"):
        _ = y.grad_fn.saved


# --- custom functions and checkpoints ---------------------------------------------------------


def test_what_a_custom_function_saves_is_packed() -> None:
    def packed(lib: Any) -> list[Any]:
        class Scaled(lib.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, w: Any) -> Any:
                y = x * w
                ctx.save_for_backward(x, w, y)
                return y

            @staticmethod
            def backward(ctx: Any, incoming: Any) -> Any:
                x, w, _ = ctx.saved_tensors
                return incoming * w, incoming * x

        seen = []
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        w = lib.tensor([3.0, 4.0])
        hooks = lib.autograd.graph.saved_tensors_hooks(
            lambda t: seen.append(t.tolist()) or t.detach(), same
        )
        with hooks:
            Scaled.apply(x, w).sum().backward()
        return [*seen, x.grad.tolist()]

    assert packed(wg) == packed(torch)


def test_a_checkpoint_inside_hooks_keeps_to_itself() -> None:
    from whygrad.utils.checkpoint import checkpoint

    calls: list[int] = []
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(lambda t: calls.append(1) or t.detach(), same):
        y = checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False)
        y.sum().backward()
    assert calls == []
    np.testing.assert_allclose(x.grad.numpy(), np.cos(np.exp([1.0, 2.0])) * np.exp([1.0, 2.0]))
