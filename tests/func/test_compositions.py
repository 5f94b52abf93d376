"""Transforms on top of transforms on top of functions with writes, views, indexing, checkpoints."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import whygrad as wg
from tests.func.both import agree, t
from whygrad.utils.checkpoint import checkpoint

STEPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "smooth": lambda lib, h, x: h.sin() * x,
    "mix": lambda lib, h, x: h[:, None] @ x[None, :] @ h * 0.3,
    "softmax": lambda lib, h, x: lib.softmax(h, 0) * 2,
    "choose": lambda lib, h, x: lib.where(h > 0.2, h * h, x.sin()),
    "pick": lambda lib, h, x: h[lib.tensor([2, 0, 0])] * x,
    "sort": lambda lib, h, x: lib.sort(h)[0].cumsum(0),
    "part": lambda lib, h, x: lib.stack([h[2], h[0] * x[1], h.prod()]),
    "cut": lambda lib, h, x: h * h.detach(),
    "write": lambda lib, h, x: h.clone().add_(x).mul_(h),
    "write_part": lambda lib, h, x: _written(h, x),
    "write_view": lambda lib, h, x: _written_through_view(h, x),
    "again": lambda lib, h, x: _recomputed(lib, lambda a, b: (a * b).tanh() + a, h, x),
}


def _written(h: Any, x: Any) -> Any:
    copy = h.clone()
    copy[1] = x[0] * h[2]
    return copy


def _written_through_view(h: Any, x: Any) -> Any:
    copy = h.clone().reshape(3, 1)
    last, first = copy.view(3)[1:], copy[0]
    last.mul_(x[1:]).add_(first)
    return copy.view(3) * first


def _recomputed(lib: Any, function: Any, *args: Any) -> Any:
    """PyTorch has no checkpoints inside transforms."""
    return checkpoint(function, *args, use_reentrant=False) if lib is wg else function(*args)


def _number(y: Any) -> Any:
    return (y * y).sum() * 0.5 + y.sin().sum()


def _pulled(f: Any, func: Any, x: Any) -> Any:
    output, pull = func.vjp(f, x)
    return pull(output * x)[0]


# Each makes a function of a vector with three elements out of another.
TRANSFORMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "grad": lambda f, func, x: func.grad(lambda a: _number(f(a)))(x),
    "vjp": _pulled,
    "jvp": lambda f, func, x: func.jvp(lambda a: f(a) * x, (x.sin(),), (x * x,))[1],
    "jacrev": lambda f, func, x: func.jacrev(f)(x) @ x,
    "jacfwd": lambda f, func, x: x @ func.jacfwd(f)(x),
    "hessian": lambda f, func, x: func.hessian(lambda a: _number(f(a)))(x) @ x,
    "vmap": lambda f, func, x: func.vmap(f)(x[None] * x[:, None]).sum(0),
    "columns": lambda f, func, x: func.vmap(lambda s: f(x * s), out_dims=1)(x.sin()) @ x,
}


@pytest.mark.parametrize("seed", range(120))
def test_random_compositions(seed: int) -> None:
    drawn = random.Random(seed)
    steps = drawn.choices(list(STEPS), k=drawn.randint(1, 3))
    transforms = drawn.choices(list(TRANSFORMS), k=drawn.randint(1, 3))

    def program(func: Any, lib: Any) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            h = x
            for step in steps:
                h = STEPS[step](lib, h, x)
            return h

        for transform in transforms:
            function = partial(TRANSFORMS[transform], function, func)
        return function

    agree(program, t(3, seed=seed) * 0.7)


LAYOUTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "given": lambda F, lib, x: F.jvp(lambda a: a.view(6), (x,), (x.t().clone().t(),))[1],
    "made": lambda F, lib, x: F.jacfwd(lambda a: (a[:, :1] + lib.zeros_like(a)).view(6))(x),
    "written": lambda F, lib, x: F.jvp(lambda a: _written_flat(lib, a), (x,), (x,))[1],
}


def _written_flat(lib: Any, a: Any) -> Any:
    whole = a[:, :1] + lib.zeros_like(a)
    flat, other = whole.view(6), whole.view(3, 2)
    flat[1:4].mul_(5.0)
    return whole, flat, other


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_tangent_may_lie_in_memory_as_it_likes(name: str) -> None:
    agree(lambda F, lib: partial(LAYOUTS[name], F, lib), t(2, 3))
