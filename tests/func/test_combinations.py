"""Custom functions, checkpoints, writes and nested transforms in all pairs, against PyTorch.

Each part alone has tests elsewhere; here the combination is what is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import whygrad as wg
from tests.func.both import agree, t
from whygrad.utils.checkpoint import checkpoint


@cache
def functions(lib: Any) -> dict[str, Any]:
    class Product(lib.autograd.Function):  # type: ignore[misc]
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            x, y = ctx.saved_tensors
            return incoming * y, incoming * x

        @staticmethod
        def jvp(ctx: Any, to_x: Any, to_y: Any) -> Any:
            x, y = ctx.saved_tensors
            return (0 if to_x is None else to_x * y) + (0 if to_y is None else to_y * x)

    class Own(Product):
        """With a rule of its own for vmap."""

        generate_vmap_rule = False

        @staticmethod
        def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
            batches = [
                each.expand(info.batch_size, *each.shape) if dim is None else each.movedim(dim, 0)
                for each, dim in zip(args, in_dims, strict=True)
            ]
            return Own.apply(*batches), 0

    class Both(lib.autograd.Function):  # type: ignore[misc]
        """Two outputs, one of them written into new memory."""

        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x.new_empty(x.shape).copy_(x.sin()), x.cos()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*output)
            ctx.save_for_forward(*output)

        @staticmethod
        def backward(ctx: Any, to_sine: Any, to_cosine: Any) -> Any:
            sine, cosine = ctx.saved_tensors
            return to_sine * cosine - to_cosine * sine

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            sine, cosine = ctx.saved_tensors
            return tangent * cosine, -tangent * sine

    return {each.__name__: each for each in (Product, Own, Both)}


def again(lib: Any, function: Any, *args: Any) -> Any:
    """PyTorch has no checkpoints inside transforms."""
    return checkpoint(function, *args, use_reentrant=False) if lib is wg else function(*args)


def _both(lib: Any, x: Any) -> Any:
    sine, cosine = functions(lib)["Both"].apply(x)
    return sine * cosine


def _written(lib: Any, x: Any) -> Any:
    made = x.new_empty(x.shape).copy_(x)
    made.reshape(-1)[::2].mul_(x.reshape(-1)[::2])
    return made * x


def _onto_shared(lib: Any, x: Any) -> Any:
    factor = lib.full((), 0.5, dtype=lib.float64)
    return functions(lib)["Own"].apply(factor.expand(x.shape), x)


# Functions of a library and of a tensor of any shape; the result has the shape of the argument.
BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "a custom function": lambda lib, x: functions(lib)["Product"].apply(x, x.sin()),
    "of something shared": _onto_shared,
    "with its own rule": lambda lib, x: functions(lib)["Own"].apply(x, x.sin()),
    "with two outputs": _both,
    "a write": _written,
    "a checkpoint": lambda lib, x: again(lib, lambda y: y.sin() * y, x),
    "a checkpointed write": lambda lib, x: again(lib, lambda y: _written(lib, y), x),
    "a checkpointed custom function": lambda lib, x: again(lib, lambda y: _both(lib, y), x),
    "a checkpoint in a checkpoint": lambda lib, x: again(
        lib, lambda y: again(lib, lambda z: z.sin() * z, y * y), x
    ),
    "vmap in a checkpoint": lambda lib, x: again(
        lib, lambda y: lib.func.vmap(lambda row: row * row.sin())(y[None])[0], x
    ),
    "grad in a checkpoint": lambda lib, x: again(
        lib, lib.func.grad(lambda y: (y * y.sin()).sum()), x
    ),
    "jvp in a checkpoint": lambda lib, x: again(
        lib, lambda y: lib.func.jvp(lambda z: z * z.sin(), (y,), (y.cos(),))[1], x
    ),
}


def _number(function: Any) -> Any:
    return lambda x: (function(x) ** 2).sum()


def _leaf(x: Any) -> Any:
    return x.clone().requires_grad_()


def _grad_outside(lib: Any, f: Any, x: Any) -> Any:
    x = _leaf(x)
    total = (lib.func.vmap(f, in_dims=1)(x) ** 2).sum()
    (slope,) = lib.autograd.grad(total, x, create_graph=True)
    return slope, lib.autograd.grad(slope.sum(), x)[0]


def _in_a_hook(lib: Any, f: Any, x: Any) -> Any:
    seen: list[Any] = []
    x = _leaf(x)

    def hook(gradient: Any) -> Any:
        seen.append(lib.func.vmap(f, in_dims=1)(gradient))
        return f(gradient)

    x.register_hook(hook)
    return lib.autograd.grad((x * x).sum(), x)[0], seen


# What becomes of such a function f and of a matrix.
TRANSFORMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "vmap": lambda lib, f, x: lib.func.vmap(f, in_dims=-1, out_dims=1)(x),
    "chunks": lambda lib, f, x: lib.func.vmap(f, in_dims=1, chunk_size=3)(x),
    "vmap vmap": lambda lib, f, x: lib.func.vmap(lib.func.vmap(f), in_dims=1)(x),
    "vmap grad": lambda lib, f, x: lib.func.vmap(lib.func.grad(_number(f)), in_dims=1)(x),
    "grad vmap": lambda lib, f, x: lib.func.grad(_number(lib.func.vmap(f, in_dims=1)))(x),
    "vmap jvp": lambda lib, f, x: lib.func.vmap(
        lambda a, b: lib.func.jvp(f, (a,), (b,)), in_dims=(1, -1)
    )(x, x.sin()),
    "jvp vmap": lambda lib, f, x: lib.func.jvp(lib.func.vmap(f, in_dims=1), (x,), (x.sin(),)),
    "grad grad": lambda lib, f, x: lib.func.grad(_number(lib.func.grad(_number(f))))(x),
    "jvp grad": lambda lib, f, x: lib.func.jvp(lib.func.grad(_number(f)), (x,), (x.sin(),)),
    "grad jvp": lambda lib, f, x: lib.func.grad(
        _number(lambda a: lib.func.jvp(f, (a,), (a.sin(),))[1])
    )(x),
    "jacrev": lambda lib, f, x: lib.func.jacrev(f)(x),
    "jacfwd": lambda lib, f, x: lib.func.jacfwd(f)(x),
    "vmap hessian": lambda lib, f, x: lib.func.vmap(lib.func.hessian(_number(f)), in_dims=1)(x),
    "twice from outside": _grad_outside,
    "in a hook": _in_a_hook,
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("body", BODIES)
def test_every_pair(body: str, transform: str) -> None:
    def program(func: Any, lib: Any) -> Callable[[Any], Any]:
        return lambda x: TRANSFORMS[transform](lib, lambda a: BODIES[body](lib, a), x)

    agree(program, t(3, 4))


def test_a_checkpoint_draws_again_what_its_samples_drew() -> None:
    """Backward runs it when its ``vmap``, with other randomness, has ended."""
    x = wg.ones(5).requires_grad_()

    def noisy(row: Any) -> Any:
        return checkpoint(lambda y: (y * wg.rand(())).exp(), row, use_reentrant=False)

    drawn = wg.func.vmap(noisy, randomness="different")(x)
    (slope,) = wg.autograd.grad(drawn.sum(), x)
    assert wg.allclose(slope, drawn * drawn.log())
    assert len(set(drawn.tolist())) == 5


@pytest.mark.parametrize("dim", [0, 1])
def test_a_view_of_an_argument_is_written_in_forward_mode(dim: int) -> None:
    def program(func: Any, lib: Any) -> Callable[..., Any]:
        def overwrite(x: Any, y: Any) -> Any:
            x[::2].copy_(y)
            return x * 1

        return lambda *args: func.vmap(
            lambda x, y, a, b: func.jvp(overwrite, (x, y), (a, b)), in_dims=dim
        )(*[each.clone() for each in args])

    tall = (4, 3) if dim else (3, 4)
    half = (2, 3) if dim else (3, 2)
    agree(program, *[t(*shape, seed=n) for n, shape in enumerate((tall, half, tall, half))])


NEW = {
    "new_empty": lambda lib, x: x.new_empty(2, 3),
    "new_zeros": lambda lib, x: x.new_zeros((2, 3), dtype=lib.float32),
    "new_ones": lambda lib, x: x.new_ones((2, 3), dtype=lib.int64),
    "new_full": lambda lib, x: x.new_full((2, 3), 2.0, dtype=lib.float32),
    "empty_like": lambda lib, x: lib.empty_like(x),
    "zeros_like": lambda lib, x: lib.zeros_like(x, dtype=lib.float32),
    "ones_like": lambda lib, x: lib.ones_like(x, dtype=lib.int32),
    "full_like": lambda lib, x: lib.full_like(x, 3),
}


@pytest.mark.parametrize("name", NEW)
def test_what_takes_after_a_sample_can_be_written_for_each(name: str) -> None:
    def program(func: Any, lib: Any) -> Callable[[Any], Any]:
        def fill(x: Any) -> Any:
            made = NEW[name](lib, x)
            made[..., :1].copy_(x[..., :1])
            made[..., 1:] = 1
            return made

        return func.vmap(func.vmap(fill, in_dims=1), in_dims=-1)

    agree(program, t(2, 2, 4, 3) if "like" not in name else t(3, 2, 4, 3))
