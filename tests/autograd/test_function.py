"""``autograd.Function``: what a call does, against PyTorch where PyTorch has an answer."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd import Function, forward_ad
from whygrad.autograd.function import FunctionCtx, once_differentiable
from whygrad.autograd.graph import saved_tensors_hooks
from whygrad.utils.checkpoint import checkpoint


def made(lib: Any, forward: Any, backward: Any = None, **more: Any) -> Any:
    """A custom function named F, in either library."""
    methods = {"forward": staticmethod(forward), **more}
    if backward is not None:
        methods["backward"] = staticmethod(backward)
    return type("F", (lib.autograd.Function,), methods)


class Square(Function):
    """y = x²"""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, incoming):
        (x,) = ctx.saved_tensors
        return 2 * x * incoming


def test_a_call_is_one_node() -> None:
    x = leaf(1.0, 2.0)
    y = Square.apply(x)
    node = y.grad_fn
    assert node.name() == "SquareBackward"
    assert "Square.apply(x)" in str(node.where)
    assert node.op.formula == "y = x²"
    assert [parent.name() for parent, _ in node.next_functions] == ["AccumulateGrad"]
    assert node.saved.keys() == {"x"}
    assert node.needs_input_grad == (True,)
    assert node.saved_tensors[0].tolist() == [1.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_forward_is_not_recorded_and_backward_is_if_wanted() -> None:
    modes = []

    def forward(ctx, x):
        modes.append(wg.is_grad_enabled())
        assert isinstance(ctx, FunctionCtx)
        assert x.requires_grad
        return x * 1

    def backward(ctx, incoming):
        modes.append(wg.is_grad_enabled())
        return incoming

    x = leaf(1.0)
    function = made(wg, forward, backward)
    wg.autograd.grad(function.apply(x).sum(), x)
    wg.autograd.grad(function.apply(x).sum(), x, create_graph=True)
    assert modes == [False, False, False, True]
    assert wg.is_grad_enabled()


def test_arguments_of_every_kind() -> None:
    """Tensors and other things mixed; None; keywords; gradients count all of them."""
    seen = {}

    def run(lib: Any) -> list[Any]:
        def forward(ctx, x, label, y, z=None, scale=1.0, unused=None):
            ctx.scale = scale
            seen[lib] = ctx.needs_input_grad
            return x * scale

        function = made(lib, forward, lambda ctx, g: (g * ctx.scale, None, None, 7 * g, None))
        x, y, z = (lib.tensor([1.0, 2.0], requires_grad=each) for each in (True, False, True))
        function.apply(x, "a label", y, scale=3.0, z=z).sum().backward()
        return [x.grad.tolist(), z.grad.tolist()]

    assert run(wg) == run(torch) == [[3.0, 3.0], [7.0, 7.0]]
    assert seen[wg] == seen[torch] == (True, False, False, True, False)


def test_keywords_may_leave_out_arguments_with_defaults() -> None:
    """And may be for keywords only; PyTorch takes neither."""

    def forward(ctx, x, y=None, z=None, *, scale=1.0):
        return x * scale

    x, z = leaf(1.0), leaf(2.0)
    function = made(wg, forward, lambda ctx, g: (g, None, 2 * g, None))
    slopes = wg.autograd.grad(function.apply(x, z=z, scale=3.0).sum(), (x, z))
    assert [each.tolist() for each in slopes] == [[1.0], [2.0]]


def test_setup_context_sees_defaults() -> None:
    def run(lib: Any) -> tuple[Any, Any]:
        def setup_context(ctx, inputs, output):
            x, ctx.power = inputs
            ctx.save_for_backward(x, output)

        function = made(
            lib,
            lambda x, power=3: x**power,
            lambda ctx, g: (g * ctx.power * ctx.saved_tensors[1] / ctx.saved_tensors[0], None),
            setup_context=staticmethod(setup_context),
        )
        x = lib.tensor([2.0], requires_grad=True)
        (slope,) = lib.autograd.grad(function.apply(x), x, create_graph=True)
        (curvature,) = lib.autograd.grad(slope, x)
        return slope.tolist(), curvature.tolist()

    assert run(wg) == run(torch) == ([12.0], [12.0])


def test_outputs_of_every_kind() -> None:
    """What is no tensor is handed through; integers and marked outputs have no derivative."""

    def run(lib: Any) -> list[Any]:
        received = []

        def forward(ctx, x):
            marked = x * 3
            ctx.mark_non_differentiable(marked)
            return x * 2, "text", marked, x.argmax(), None

        def backward(ctx, *incoming):
            received.extend(each if each is None else each.tolist() for each in incoming)
            return incoming[0] * 2

        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y, text, marked, place, nothing = made(lib, forward, backward).apply(x)
        y.sum().backward()
        flags = [y.requires_grad, marked.requires_grad, place.requires_grad]
        return [text, nothing, flags, received, x.grad.tolist()]

    assert run(wg) == run(torch)


def test_missing_gradients_are_zeros_or_none() -> None:
    def run(lib: Any, materialize: bool) -> Any:
        received = []

        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        def backward(ctx, first, second):
            received.append(second if second is None else second.tolist())
            return first * 2

        x = lib.tensor([1.0], requires_grad=True)
        made(lib, forward, backward).apply(x)[0].sum().backward()
        return received

    assert run(wg, True) == run(torch, True) == [[0.0]]
    assert run(wg, False) == run(torch, False) == [None]


def test_an_argument_returned_as_it_is_becomes_a_view() -> None:
    def run(lib: Any) -> list[Any]:
        function = made(lib, lambda ctx, x: x, lambda ctx, g: 2 * g)
        x = lib.tensor([1.0], requires_grad=True)
        y = function.apply(x)
        y.sum().backward()
        with lib.no_grad():
            unrecorded = function.apply(x)
        return [y is x, y._base is x, x.grad.tolist(), unrecorded is x, unrecorded.requires_grad]

    assert run(wg) == run(torch) == [False, True, [2.0], False, False]


def test_an_argument_may_be_written_to() -> None:
    """``mark_dirty``: the argument itself is returned, with the function as its history."""

    def run(lib: Any, part: Any) -> list[Any]:
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        function = made(lib, forward, lambda ctx, g: 5 * g)
        x = lib.tensor([1.0, 2.0, 4.0], requires_grad=True)
        whole = x * 1
        view = whole[:2]
        target = view if part else whole
        result = function.apply(target)
        slopes = [
            lib.autograd.grad(each.sum(), x, retain_graph=True)[0].tolist()
            for each in (whole, view)
        ]
        return [result is target, whole.tolist(), whole._version, slopes]

    assert run(wg, False) == run(torch, False)
    assert run(wg, True) == run(torch, True)


def test_a_written_argument_loses_the_gradient_of_its_old_value() -> None:
    def run(lib: Any) -> list[Any]:
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        value = lib.tensor([1.0], requires_grad=True) * 1
        value.retain_grad()
        value.backward(retain_graph=True)
        made(lib, forward, lambda ctx, g: 3 * g).apply(value)
        return [value.grad, value.retains_grad]

    assert run(wg) == run(torch) == [None, True]


def test_a_constant_view_of_a_leaf_is_not_written_to() -> None:
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    leaf = wg.ones(3)
    view = leaf[:2]
    leaf.requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        made(wg, forward, lambda ctx, g: 2 * g).apply(view)
    assert leaf.is_leaf
    assert leaf.tolist() == [1.0, 1.0, 1.0]


def test_a_write_through_numpy_counts_when_it_is_marked() -> None:
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.detach().numpy()[:] += 1
        return x

    x = leaf(1.0, 2.0)
    h = x * 1
    y = (h * h).sum()
    made(wg, forward, lambda ctx, g: g).apply(h)
    with pytest.raises(RuntimeError, match=r"F\.forward wrote to this memory"):
        y.backward()


def test_saved_tensors_are_checked_when_they_are_used() -> None:
    x = leaf(1.0, 2.0)
    h = x * 1
    y = Square.apply(h)
    h.add_(1)
    with pytest.raises(RuntimeError, match="SquareBackward saved 'x'"):
        y.sum().backward()

    unused = made(wg, lambda ctx, x: ctx.save_for_backward(x) or x * 2, lambda ctx, g: 2 * g)
    h = x * 1
    y = unused.apply(h)
    h.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_second_backward_needs_what_the_first_freed() -> None:
    x = leaf(1.0)
    y = Square.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="trying to backward through the graph a second time"):
        y.sum().backward()
    saves_nothing = made(wg, lambda ctx, x: x * 2, lambda ctx, g: 2 * g).apply(x)
    for _ in range(2):
        saves_nothing.sum().backward()


def test_gradients_may_have_any_strides() -> None:
    x = wg.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    transposing = made(wg, lambda ctx, x: x.mT.clone(), lambda ctx, g: g.mT)
    (transposing.apply(x) * wg.arange(6.0, dtype=wg.float64).view(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
    assert x.grad.is_contiguous()


def test_incoming_gradients_are_not_for_writing() -> None:
    """The array may be on its way to other nodes as well."""
    writing = made(wg, lambda ctx, x: x * 1, lambda ctx, g: g.mul_(2))
    x = leaf(1.0)
    h = x * 1
    with pytest.raises(RuntimeError, match="read-only"):
        (writing.apply(h) + h).sum().backward()


def test_a_gradient_handed_through_belongs_to_the_caller() -> None:
    for backward in (lambda ctx, g: g, lambda ctx, g: g.view(-1)):
        x = leaf(1.0, 2.0)
        y = made(wg, lambda ctx, x: x * 1, backward).apply(x)
        (slope,) = wg.autograd.grad(y.sum(), x, create_graph=True)
        with wg.no_grad():
            slope.add_(1)
        y.sum().backward()
        assert slope.tolist() == [2.0, 2.0]
        assert x.grad.tolist() == [1.0, 1.0]


def test_vjp_is_another_name_of_backward() -> None:
    named = made(wg, lambda ctx, x: x * 2, vjp=staticmethod(lambda ctx, g: 2 * g))
    x = leaf(1.0)
    named.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_an_exception_of_the_users_stays_what_it_is() -> None:
    def backward(ctx, incoming):
        raise KeyError("mine")

    x = leaf(1.0)
    with pytest.raises(KeyError, match="mine") as raised:
        made(wg, lambda ctx, x: x * 1, backward).apply(x).sum().backward()
    assert "in F.backward, for F.apply at" in raised.value.__notes__[0]
    assert x.grad is None


def test_a_class_inherits_from_another() -> None:
    class Quadruple(Square):
        @staticmethod
        def forward(ctx, x):
            return 4 * Square.forward(ctx, x)

        @staticmethod
        def backward(ctx, incoming):
            return 4 * Square.backward(ctx, incoming)

    x = leaf(3.0)
    Square.apply(x)
    y = Quadruple.apply(x)
    assert y.grad_fn.name() == "QuadrupleBackward"
    y.sum().backward()
    assert x.grad.tolist() == [24.0]


def test_attributes_of_ctx_are_connected_like_saved_tensors() -> None:
    """Arguments and outputs, direct or inside containers, have their history in backward."""

    def forward(ctx, x):
        y = x.exp()
        ctx.x, ctx.nested, ctx.label = x, {"y": [y, 1]}, "exp"
        return y

    def backward(ctx, incoming):
        assert ctx.label == "exp"
        ctx.visits = getattr(ctx, "visits", 0) + 1
        return incoming * ctx.nested["y"][0] * (1 + 0 * ctx.x)

    x = leaf(0.5)
    y = made(wg, forward, backward).apply(x)
    (slope,) = wg.autograd.grad(y, x, create_graph=True)
    (curvature,) = wg.autograd.grad(slope, x, create_graph=True)
    (third,) = wg.autograd.grad(curvature, x)
    np.testing.assert_allclose([slope.item(), curvature.item(), third.item()], np.exp(0.5))
    assert y.grad_fn.visits == 3


def test_hooks_see_a_custom_node() -> None:
    x = leaf(1.0, 2.0)
    y = Square.apply(x)
    seen: list[Any] = []
    y.register_hook(lambda gradient: seen.append(gradient.tolist()))
    y.grad_fn.register_prehook(lambda outgoing: (outgoing[0] * 10,))
    y.grad_fn.register_hook(lambda into, out: (into[0] + 1,))
    y.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [21.0, 41.0]


def test_saved_tensors_go_through_pack_hooks() -> None:
    """Arguments, outputs, values on the way and constants alike."""
    constant = wg.ones(2, dtype=wg.float64)

    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y, x + 1, constant)
        return y

    def backward(ctx, incoming):
        x, y, shifted, one = ctx.saved_tensors
        return incoming * (2 * x + 0 * y + 0 * shifted) * one

    packed: list[Any] = []
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(
        lambda tensor: (packed.append(tensor.tolist()), tensor.numpy(force=True).copy())[1],
        lambda array: wg.from_numpy(array),
    ):
        y = made(wg, forward, backward).apply(x)
    assert packed == [[1.0, 2.0], [1.0, 4.0], [2.0, 3.0], [1.0, 1.0]]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_checkpointed_regions_may_contain_custom_functions() -> None:
    def block(x: wg.Tensor) -> wg.Tensor:
        return Square.apply(Square.apply(x).sin())

    x = leaf(0.5, 1.0)
    (plain,) = wg.autograd.grad(block(x).sum(), x)
    y = checkpoint(block, x, use_reentrant=False)
    (again,) = wg.autograd.grad(y.sum(), x)
    np.testing.assert_array_equal(plain, again)


def test_memory_report_names_the_function() -> None:
    report = wg.autograd.graph.memory(Square.apply(leaf(1.0, 2.0) * 1).sum())
    assert "Square: x" in str(report)


def test_once_differentiable_refuses_a_second_time() -> None:
    """Also where PyTorch does not notice: the incoming gradient is a constant there."""

    class Once(Square):
        @staticmethod
        @once_differentiable
        def backward(ctx, incoming):
            assert not wg.is_grad_enabled()
            return Square.backward(ctx, incoming)

    x = leaf(3.0)
    Once.apply(x).sum().backward()
    assert x.grad.tolist() == [6.0]
    (slope,) = wg.autograd.grad((Once.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable") as raised:
        wg.autograd.grad(slope, x)
    assert "def backward(ctx, incoming):" in str(raised.value)


def test_once_differentiable_refuses_tangents() -> None:
    class Once(Square):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return Square.forward(ctx, x)

        @staticmethod
        def jvp(ctx, tangent):
            return 2 * ctx.saved_tensors[0] * tangent

        @staticmethod
        @once_differentiable
        def backward(ctx, incoming):
            return Square.backward(ctx, incoming)

    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        wg.func.hvp(lambda x: Once.apply(x).sum(), (leaf(1.0),), (wg.ones(1, dtype=wg.float64),))


def test_a_dual_argument_may_be_written_to() -> None:
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    function = made(wg, forward, jvp=staticmethod(lambda ctx, tangent: 3 * tangent))
    with forward_ad.dual_level():
        x = forward_ad.make_dual(wg.tensor([1.0]), wg.tensor([10.0]))
        y = function.apply(x)
        assert y is x
        assert [each.tolist() for each in forward_ad.unpack_dual(x)] == [[3.0], [30.0]]


def test_threads_run_backward_through_one_node() -> None:
    x = leaf(1.0, 2.0)
    y = Square.apply(x).sum()
    results: list[Any] = []

    def work() -> None:
        for _ in range(50):
            results.append(wg.autograd.grad(y, x, retain_graph=True)[0].tolist())

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [[2.0, 4.0]] * 200


class Keeps(Function):
    """Stores its output in every way there is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.y, ctx.nested = y, {"list": [y, x]}
        ctx.save_for_backward(y, x + 1)
        ctx.save_for_forward(y)
        return y

    @staticmethod
    def backward(ctx, incoming):
        return incoming * (2 + 0 * (ctx.y + ctx.nested["list"][0] + ctx.saved_tensors[0]))

    @staticmethod
    def jvp(ctx, tangent):
        return 2 * tangent + 0 * ctx.y


class KeepsOnce(Keeps):
    @staticmethod
    @once_differentiable
    def backward(ctx, incoming):
        return Keeps.backward(ctx, incoming)


def plainly(x: wg.Tensor) -> list[Any]:
    y = Keeps.apply(x)
    y.sum().backward()
    return [y, y.grad_fn]


def retained(x: wg.Tensor) -> list[Any]:
    y = Keeps.apply(x)
    (slope,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    return [y, y.grad_fn, slope]


def once(x: wg.Tensor) -> list[Any]:
    y = KeepsOnce.apply(x)
    (slope,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    return [y, y.grad_fn, slope, slope.grad_fn]


def batched(x: wg.Tensor) -> list[Any]:
    y = wg.func.vmap(Keeps.apply)(wg.stack([x, x]))
    y.sum().backward()
    return [y, y.grad_fn]


def dual(x: wg.Tensor) -> list[Any]:
    with forward_ad.dual_level():
        y = Keeps.apply(forward_ad.make_dual(x, wg.ones_like(x)))
        return [y, y.grad_fn, forward_ad.unpack_dual(y).tangent]


def failing(x: wg.Tensor) -> list[Any]:
    h = x * 1
    with pytest.raises(RuntimeError):
        made(wg, lambda ctx, x: [x * 1]).apply(h)
    return [h, h.grad_fn]


@pytest.mark.parametrize("use", [plainly, retained, once, batched, dual, failing])
def test_nothing_leaks(use: Any) -> None:
    """With the collector off, an output stored on ``ctx`` goes with the last reference to it."""
    x = leaf(1.0, 2.0)
    use(x)  # fills the caches
    gc.collect()
    gc.disable()
    try:
        watched = [weakref.ref(each) for each in use(x)]
        assert [reference() for reference in watched] == [None] * len(watched)
    finally:
        gc.enable()


class Doubled(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, incoming: Any) -> Any:
        return incoming * 2

    def __init_subclass__(cls) -> None:
        """A user's own, which does not ask the one of Function."""


def test_a_class_answers_for_itself() -> None:
    class Tripled(Doubled):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return incoming * 3

    x = leaf(1.0)
    Doubled.apply(x)
    y = Tripled.apply(x)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([3.0], [3.0])


def test_a_method_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    x = leaf(1.0)
    Doubled.apply(x)
    monkeypatch.setattr(Doubled, "backward", staticmethod(lambda ctx, incoming: incoming * 10))
    Doubled.apply(x).sum().backward()
    assert x.grad.tolist() == [10.0]
