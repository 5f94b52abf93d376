"""Values that ``forward`` computes on the way, and what a second derivative makes of them.

PyTorch takes them for constants and returns a wrong number; the first test shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd import Function, forward_ad


def keeping(lib: Any, value: Callable[[Any], Any], how: str = "save_for_backward") -> Any:
    """y = x, whose backward multiplies by a value that forward computed."""

    class Keeping(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            kept = value(x)
            if how == "save_for_backward":
                ctx.save_for_backward(kept)
            elif how == "attribute":
                ctx.kept = kept
            else:
                ctx.kept = {"a": [1, kept]}
            return x * 1

        @staticmethod
        def backward(ctx, incoming):
            if how == "save_for_backward":
                (kept,) = ctx.saved_tensors
            else:
                kept = ctx.kept if how == "attribute" else ctx.kept["a"][1]
            return incoming * kept

    return Keeping


def second(lib: Any, function: Any, x: Any) -> Any:
    """The second derivative of Σ F(x)², of which F's own is only a part."""
    (slope,) = lib.autograd.grad((function.apply(x) ** 2).sum(), x, create_graph=True)
    (curvature,) = lib.autograd.grad(slope.sum(), x)
    return curvature.detach().numpy()


def test_pytorch_is_silently_wrong() -> None:
    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    right = 2 * np.exp(0.5) ** 2 + 2 * 0.5 * np.exp(0.5)  # of backward = 2·F(x)·exp(x)
    assert not np.allclose(second(torch, keeping(torch, lambda x: x.exp()), x), right)


VARYING: dict[str, Callable[[Any], Any]] = {
    "one op": lambda x: x.exp(),
    "several ops": lambda x: (x.sin() * 2 + 1).sum().expand(2),
    "a view": lambda x: x.view(-1),
    "a copy": lambda x: x.clone(),
    "written": lambda x: wg.zeros(2, dtype=x.dtype).copy_(x.exp()),
    "written in part": lambda x: _filled(x),
    "a view of what was written": lambda x: _filled(x).view(2, 1).view(2),
    "another custom function": lambda x: Pushing.apply(x),
    "an argument of that": lambda x: Identity.apply(x),
    "a joined one": lambda x: wg.cat([x[:1] * 2, wg.ones(1, dtype=x.dtype)]),
}
CONSTANT: dict[str, Callable[[Any], Any]] = {
    "a comparison": lambda x: (x > 0).to(x.dtype),
    "a boolean": lambda x: x > 0,
    "a step": lambda x: x.round() + x.sign(),
    "random": lambda x: wg.bernoulli(wg.full_like(x, 0.5)).div_(0.5),
    "the shape only": lambda x: wg.zeros_like(x).add_(3),
    "detached": lambda x: x.exp().detach(),
    "from NumPy": lambda x: wg.from_numpy(np.exp(x.detach().numpy())),
    "from outside": lambda x: OUTSIDE,
}
OUTSIDE = wg.ones(2, dtype=wg.float64)


class Identity(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, incoming):
        return incoming


def _filled(x: wg.Tensor) -> wg.Tensor:
    buffer = wg.zeros(2, dtype=x.dtype)
    buffer[0] = x[0] * 3
    return buffer


@pytest.mark.parametrize("how", ["save_for_backward", "attribute", "nested"])
@pytest.mark.parametrize("case", VARYING)
def test_a_second_derivative_is_refused(case: str, how: str) -> None:
    function, x = keeping(wg, VARYING[case], how), leaf(0.5, 1.0)
    (first,) = wg.autograd.grad(function.apply(x).sum(), x)
    np.testing.assert_array_equal(first, VARYING[case](x.detach()))
    with pytest.raises(RuntimeError, match="which forward computed on the way") as raised:
        second(wg, function, x)
    said = str(raised.value)
    assert "the derivative of Keeping.backward, for Keeping.apply at" in said
    name = "saved_tensors[0]" if how == "save_for_backward" else "ctx.kept"
    assert f"a gradient flows into {name}" in said
    assert "def backward(ctx, incoming):" in said.splitlines()[-1]


@pytest.mark.parametrize("how", ["save_for_backward", "attribute", "nested"])
@pytest.mark.parametrize("case", CONSTANT)
def test_constants_are_constants(case: str, how: str) -> None:
    x = leaf(0.5, 1.0)
    wg.manual_seed(0)
    function = keeping(wg, CONSTANT[case], how)
    (slope,) = wg.autograd.grad((function.apply(x) ** 2).sum(), x, create_graph=True)
    slope.sum().backward()
    wg.manual_seed(0)
    kept = CONSTANT[case](x.detach()).to(wg.float64)
    np.testing.assert_allclose(x.grad, 2 * kept * kept)


def test_a_constant_from_outside_keeps_its_own_history() -> None:
    """As in PyTorch: it is no argument, but what backward does with it is recorded."""

    def run(lib: Any) -> list[Any]:
        w = lib.tensor([3.0], requires_grad=True)
        x = lib.tensor([2.0], requires_grad=True)
        (slope,) = lib.autograd.grad(keeping(lib, lambda x: w).apply(x) ** 2, x, create_graph=True)
        return [each.tolist() for each in lib.autograd.grad(slope, (x, w))]

    assert run(wg) == run(torch)


def test_other_derivatives_of_the_gradient_are_fine() -> None:
    """Only a gradient that would have to go through the value is an error."""
    function, x, w = keeping(wg, lambda x: x.exp()), leaf(0.5), leaf(3.0)
    (slope,) = wg.autograd.grad((function.apply(x) * w).sum(), x, create_graph=True)
    (mixed,) = wg.autograd.grad(slope.sum(), w)
    np.testing.assert_allclose(mixed, np.exp(0.5))


def test_a_value_that_forward_records_itself_has_a_history() -> None:
    class Recording(Function):
        @staticmethod
        def forward(ctx, x):
            with wg.enable_grad():
                ctx.slope = 2 * x
            return x * x

        @staticmethod
        def backward(ctx, incoming):
            return incoming * ctx.slope

    x = leaf(0.3, 1.0)
    assert wg.autograd.gradgradcheck(Recording.apply, x)


def test_a_graph_inside_forward_is_walked_in_backward() -> None:
    """What reentrant checkpoints do: a graph of its own, behind a detached argument."""

    class Inside(Function):
        @staticmethod
        def forward(ctx, x):
            with wg.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x.sin()
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, incoming):
            ctx.y.backward(incoming)
            return ctx.x.grad

    x = leaf(0.3, 1.0)
    Inside.apply(x).sum().backward()
    np.testing.assert_allclose(x.grad, np.cos(x.detach()))


def test_returned_as_a_further_output() -> None:
    """The remedy of the error text."""

    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            kept = x.exp()
            ctx.save_for_backward(x, kept)
            return x * kept, kept

        @staticmethod
        def backward(ctx, incoming, of_kept):
            x, kept = ctx.saved_tensors
            return incoming * (kept + x * kept) + of_kept * kept

    x = leaf(0.3, 1.0)
    assert wg.autograd.gradcheck(lambda x: Both.apply(x)[0], x)
    assert wg.autograd.gradgradcheck(lambda x: Both.apply(x)[0], x)


class Pushing(Function):
    """y = exp x; both derivatives use a value from on the way."""

    @staticmethod
    def forward(ctx, x):
        kept = x.exp()
        ctx.save_for_backward(kept)
        ctx.save_for_forward(kept)
        return kept * 1

    @staticmethod
    def backward(ctx, incoming):
        return incoming * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * ctx.saved_tensors[0]


def test_forward_mode_once_is_fine() -> None:
    x = leaf(0.5)
    _, slope = wg.func.jvp(Pushing.apply, (x,), (wg.ones_like(x),))
    np.testing.assert_allclose(slope.detach(), np.exp(0.5))


def test_forward_over_reverse_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"a tangent flows into saved_tensors\[0\]"):
        wg.func.hvp(
            lambda x: (Pushing.apply(x) ** 2).sum(), (leaf(0.5),), (wg.ones(1, dtype=wg.float64),)
        )


def test_forward_over_forward_is_refused() -> None:
    x = leaf(0.5)
    with forward_ad.dual_level(), forward_ad.dual_level():
        inner = forward_ad.make_dual(x, wg.ones_like(x), level=None)
        outer_level = forward_ad._levels.open[0].number
        both = forward_ad.make_dual(inner, wg.ones_like(x), level=outer_level)
        with pytest.raises(RuntimeError, match=r"the derivative of Pushing\.jvp"):
            Pushing.apply(both)


def test_reverse_over_forward_is_refused() -> None:
    x = leaf(0.5)
    with forward_ad.dual_level():
        y = Pushing.apply(forward_ad.make_dual(x, wg.ones_like(x)))
        slope = forward_ad.unpack_dual(y).tangent
        with pytest.raises(RuntimeError, match="which forward computed on the way"):
            wg.autograd.grad(slope.sum(), x)
