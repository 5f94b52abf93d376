"""A dozen custom functions that wrap known ops, written once for whygrad and for PyTorch.

Each maps float64 matrices of one shape to matrices of the same shape, so that they can be chained
at random.  ``plain`` is the same computation without a custom function.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

import whygrad as wg

__all__ = ["NAMES", "Twin", "twins"]


class Twin(NamedTuple):
    """A function in one of the two libraries."""

    function: Any
    plain: Callable[..., Any]
    arity: int


def _saved_input(base: Any, lib: Any) -> Any:
    class Square(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, incoming):
            (x,) = ctx.saved_tensors
            return 2 * x * incoming

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return 2 * x * tangent

    return Twin(Square, lambda x: x * x, 1)


def _saved_output(base: Any, lib: Any) -> Any:
    class Exp(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return (x / 4).exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, incoming):
            (y,) = ctx.saved_tensors
            return y * incoming / 4

        @staticmethod
        def jvp(ctx, tangent):
            (y,) = ctx.saved_tensors
            return y * tangent / 4

    return Twin(Exp, lambda x: (x / 4).exp(), 1)


def _two_inputs(base: Any, lib: Any) -> Any:
    class Mul(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, incoming):
            x, y = ctx.saved_tensors
            wanted = ctx.needs_input_grad
            return incoming * y if wanted[0] else None, incoming * x if wanted[1] else None

        @staticmethod
        def jvp(ctx, x_tangent, y_tangent):
            x, y = ctx.saved_tensors
            return x_tangent * y + x * y_tangent

    return Twin(Mul, lambda x, y: x * y, 2)


def _product(base: Any, lib: Any) -> Any:
    class Product(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y, scale=0.5):
            return x @ y * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, y, ctx.scale = inputs
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)

        @staticmethod
        def backward(ctx, incoming):
            x, y = ctx.saved_tensors
            return incoming @ y.mT * ctx.scale, x.mT @ incoming * ctx.scale, None

        @staticmethod
        def jvp(ctx, x_tangent, y_tangent, _):
            x, y = ctx.saved_tensors
            return (x_tangent @ y + x @ y_tangent) * ctx.scale

    return Twin(Product, lambda x, y: x @ y * 0.5, 2)


def _output_as_attribute(base: Any, lib: Any) -> Any:
    class Tanh(base):
        @staticmethod
        def forward(ctx, x):
            ctx.y = x.tanh()
            return ctx.y

        @staticmethod
        def backward(ctx, incoming):
            return incoming * (1 - ctx.y * ctx.y)

    return Twin(Tanh, lambda x: x.tanh(), 1)


def _input_in_a_list(base: Any, lib: Any) -> Any:
    class Sin(base):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = [x, "sin"]
            return x.sin()

        @staticmethod
        def backward(ctx, incoming):
            return incoming * ctx.kept[0].cos()

    return Twin(Sin, lambda x: x.sin(), 1)


def _boolean_mask(base: Any, lib: Any) -> Any:
    class Relu(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * (x > 0)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0] > 0)
            ctx.save_for_forward(inputs[0] > 0)

        @staticmethod
        def backward(ctx, incoming):
            (mask,) = ctx.saved_tensors
            return incoming * mask

        @staticmethod
        def jvp(ctx, tangent):
            (mask,) = ctx.saved_tensors
            return tangent * mask

    return Twin(Relu, lambda x: x * (x > 0), 1)


def _float_mask(base: Any, lib: Any) -> Any:
    class Absolute(base):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.sign())
            return x.abs()

        @staticmethod
        def backward(ctx, incoming):
            (sign,) = ctx.saved_tensors
            return incoming * sign

    return Twin(Absolute, lambda x: x.abs(), 1)


def _several_outputs(base: Any, lib: Any) -> Any:
    class SinCos(base):
        @staticmethod
        def forward(ctx, x):
            sin, cos = x.sin(), x.cos()
            ctx.save_for_backward(sin, cos)
            return sin, "and", cos

        @staticmethod
        def backward(ctx, of_sin, _, of_cos):
            sin, cos = ctx.saved_tensors
            return of_sin * cos - of_cos * sin

    def both(x):
        sin, _, cos = SinCos.apply(x)
        return sin + 2 * cos

    return Twin(SimpleNamespace(apply=both), lambda x: x.sin() + 2 * x.cos(), 1)


def _unused_output(base: Any, lib: Any) -> Any:
    class Halves(base):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x / 2, x / 3

        @staticmethod
        def backward(ctx, of_half, of_third):
            assert of_third is None
            return of_half / 2

    return Twin(SimpleNamespace(apply=lambda x: Halves.apply(x)[0]), lambda x: x / 2, 1)


def _view(base: Any, lib: Any) -> Any:
    class Transpose(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.mT

        @staticmethod
        def setup_context(ctx, inputs, output): ...

        @staticmethod
        def backward(ctx, incoming):
            return incoming.mT

        @staticmethod
        def jvp(ctx, tangent):
            return tangent.mT

    return Twin(Transpose, lambda x: x.mT, 1)


def _broadcast_down(base: Any, lib: Any) -> Any:
    class AddRow(base):
        """Returns gradients in the shape of the output: the engine undoes broadcasting."""

        @staticmethod
        def forward(ctx, x, row):
            return x + row

        @staticmethod
        def backward(ctx, incoming):
            return incoming, incoming

    return Twin(SimpleNamespace(apply=lambda x: AddRow.apply(x, x[0])), lambda x: x + x[0], 1)


def _in_place(base: Any, lib: Any) -> Any:
    class Triple(base):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, incoming):
            return 3 * incoming

    return Twin(SimpleNamespace(apply=lambda x: Triple.apply(x * 1)), lambda x: 3 * x, 1)


def _recomputed(base: Any, lib: Any) -> Any:
    class Softmax(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return (x - x.logsumexp(-1, keepdim=True)).exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, incoming):
            y = Softmax.forward(*ctx.saved_tensors)
            return y * (incoming - (incoming * y).sum(-1, keepdim=True))

        @staticmethod
        def jvp(ctx, tangent):
            y = Softmax.forward(*ctx.saved_tensors)
            return y * (tangent - (tangent * y).sum(-1, keepdim=True))

    return Twin(Softmax, lambda x: x.softmax(-1), 1)


_MAKERS = {
    maker.__name__.strip("_"): maker
    for maker in (
        _saved_input, _saved_output, _two_inputs, _product, _output_as_attribute, _input_in_a_list,
        _boolean_mask, _float_mask, _several_outputs, _unused_output, _view, _broadcast_down,
        _in_place, _recomputed,
    )
}  # fmt: skip
NAMES = tuple(_MAKERS)


def _all(base: Any, lib: Any) -> dict[str, Twin]:
    return {name: maker(base, lib) for name, maker in _MAKERS.items()}


_ours = _all(wg.autograd.Function, wg)
_theirs = _all(torch.autograd.Function, torch)


def twins(name: str) -> tuple[Twin, Twin]:
    """The function in whygrad and in PyTorch."""
    return _ours[name], _theirs[name]
