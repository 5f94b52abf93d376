"""Random real numbers.

Every function draws from a :class:`whygrad.random.Generator`, the default one unless
``generator=`` is given.  Arguments, checks and dtypes are PyTorch's; the numbers are not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.creation.creation import Options, Shape, build, new_shape, size_argument
from whygrad.ops.creation.likes import arranged_like, require_tensor
from whygrad.ops.define import creation
from whygrad.random import Generator, default_generator, draws, shaped_by_first
from whygrad.tensor import Tensor, alias, dtypes
from whygrad.tensor.graph import lineage

__all__ = ["RandomOptions", "check_inexact", "draw_normal", "draw_uniform", "rng_of", "seeded"]

Array = Any

_HALF_BITS = {"float16": 11, "bfloat16": 8}  # of the significand


class RandomOptions(Options, total=False):
    """Keywords of every function that draws."""

    generator: Generator | None


def rng_of(generator: Generator | None) -> np.random.Generator:
    return (default_generator if generator is None else generator).rng


def draw_uniform(rng: np.random.Generator, shape: Shape, dtype: Any) -> Array:
    """Uniform in [0, 1); in half precision too, where rounding a float32 could give 1."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return draw_uniform(rng, (*shape, 2), part).view(dtype)[..., 0]
    bits = _HALF_BITS.get(dtype.name)
    if bits is not None:
        return (rng.integers(0, 1 << bits, shape) / (1 << bits)).astype(dtype)
    return np.asarray(rng.random(shape, dtype))


def draw_normal(rng: np.random.Generator, shape: Shape, dtype: Any) -> Array:
    """Standard normal; a complex number has variance 1 in all, half of it in each part."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        pairs = draw_normal(rng, (*shape, 2), part) * part.type(0.5**0.5)
        return pairs.view(dtype)[..., 0]
    if dtype.name in _HALF_BITS:
        return rng.standard_normal(shape, np.float32).astype(dtype)
    return np.asarray(rng.standard_normal(shape, dtype))


def check_inexact(name: str, dtype: dtypes.DType) -> None:
    if dtype.category < dtypes.FLOAT:
        raise fail(
            NotImplementedError,
            call=f"{name}(…, dtype={dtype})",
            cause=f'"{name}" not implemented for {dtype.name}: it draws real numbers',
            fix="ask for a float dtype, or use randint",
        )


def _continuous(
    name: str,
    draw: Any,
    shape: Shape,
    options: Any,
    like: Tensor | None = None,
) -> Tensor:
    generator = options.pop("generator", None)
    dtype = dtypes.get_default_dtype() if like is None else like.dtype
    device = None if like is None else like.device
    check_inexact(name, dtypes.of(options.get("dtype") or dtype))

    def make(chosen: Any) -> Array:
        return arranged_like(draw(rng_of(generator), shape, chosen), like)

    return build(name, shape, make, options, dtype, device)


@draws
def rand(*size: Any, **options: Unpack[RandomOptions]) -> Tensor:
    """Uniform in [0, 1)."""
    return _continuous("rand", draw_uniform, size_argument("rand", size, options), options)


@draws
def randn(*size: Any, **options: Unpack[RandomOptions]) -> Tensor:
    """Normal with mean 0 and variance 1."""
    return _continuous("randn", draw_normal, size_argument("randn", size, options), options)


@draws
@shaped_by_first
def rand_like(input: Tensor, **options: Unpack[RandomOptions]) -> Tensor:
    """Uniform in [0, 1), shaped like ``input``."""
    require_tensor("rand_like", input)
    return _continuous("rand_like", draw_uniform, input.shape, options, input)


@draws
@shaped_by_first
def randn_like(input: Tensor, **options: Unpack[RandomOptions]) -> Tensor:
    """Standard normal, shaped like ``input``."""
    require_tensor("randn_like", input)
    return _continuous("randn_like", draw_normal, input.shape, options, input)


@draws
def normal(mean: Any, std: Any = 1.0, size: Any = None, **options: Any) -> Tensor:
    """Normal numbers: per element of ``mean`` and ``std``, or ``size`` of them."""
    both = [each for each in (mean, std) if isinstance(each, Tensor)]
    if bool(both) == (size is not None):
        raise fail(
            TypeError,
            call=f"normal({describe(mean)}, {describe(std)}, size={size})",
            cause="normal() received an invalid combination of arguments: the shape comes either "
            "from a tensor mean or std, or from size",
            fix="pass size= with numbers only: normal(0.0, 1.0, (2, 3))",
        )
    _check_std(std)
    if not both:
        requires_grad = options.pop("requires_grad", False)
        drawn = _continuous("normal", draw_normal, new_shape("normal", (size,)), options)
        return (drawn * std + mean).requires_grad_(requires_grad)
    for each in both:
        check_inexact("normal", each.dtype)
    unknown = options.keys() - {"generator"}
    if unknown:
        raise TypeError(f"normal() got an unexpected keyword argument {min(unknown)!r}")
    shape = np.broadcast_shapes(*(each.shape for each in both))
    options.update(dtype=dtypes.result_type(*both), device=both[0].device)
    drawn = _continuous("normal", draw_normal, shape, options)
    spread, center = (
        lineage.cut(each, alias(each), "sampled", "normal") if isinstance(each, Tensor) else each
        for each in (std, mean)
    )
    return drawn * spread + center


def _check_std(std: Any) -> None:
    negative = (
        bool((std._array < 0).any())
        if isinstance(std, Tensor) and std.device.type == "cpu"
        else not isinstance(std, Tensor) and std < 0
    )
    if negative:
        raise fail(
            RuntimeError,
            call=f"normal(…, std={describe(std)})",
            cause="normal expects all elements of std >= 0.0",
            fix="pass standard deviations, not their logarithms",
        )


def seeded(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Samples draw from a fresh generator, so that two calls can be compared."""
    return draw(*args, **kwargs, generator=Generator().manual_seed(0))


creation(
    rand,
    "y ~ U[0, 1)",
    torch="",
    samples=lambda make: [make.around(seeded, 2, 3), make.around(seeded, (0, 2))],
)
creation(
    randn,
    "y ~ N(0, 1)",
    torch="",
    samples=lambda make: [
        make.around(seeded, 2, 3),
        make.around(seeded, (), dtype=dtypes.complex64),
    ],
)
creation(
    rand_like,
    "y ~ U[0, 1), shaped like x",
    torch="",
    samples=lambda make: [make.around(seeded, make.constant(make(2, 3)))],
)
creation(
    randn_like,
    "y ~ N(0, 1), shaped like x",
    torch="",
    samples=lambda make: [make.around(seeded, make.constant(make(2, 3)))],
)
creation(
    normal,
    "y ~ N(mean, std²)",
    torch="",
    samples=lambda make: [
        make.around(seeded, 1.0, 2.0, (2, 3)),
        make.around(seeded, make.constant(make(3)), 0.5),
    ],
)
