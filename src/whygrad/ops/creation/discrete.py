"""Random whole numbers, orders and choices."""

from __future__ import annotations

import operator
from typing import Any, Unpack

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.creation.creation import Shape, build, new_shape
from whygrad.ops.creation.likes import arranged_like, require_tensor
from whygrad.ops.creation.sampling import RandomOptions, check_inexact, rng_of, seeded
from whygrad.ops.define import composite, creation
from whygrad.random import called, draws, shaped_by_first
from whygrad.tensor import Tensor, dtypes
from whygrad.tensor.graph import lineage

__all__ = ["check_bounds", "whole_range"]

Array = Any


@draws
def randint(*bounds: Any, **options: Any) -> Tensor:
    """``randint(low=0, high, size)``: whole numbers from low up to but without high."""
    names = ("high", "size") if len(bounds) + ("low" in options) < 3 else ("low", "high", "size")
    if len(bounds) == 2 and "size" in options:
        names = ("low", "high")
    given = dict(zip(names, bounds, strict=False))
    low = given.get("low", options.pop("low", 0))
    high = given["high"] if "high" in given else options.pop("high")
    size = given["size"] if "size" in given else options.pop("size")
    shape = new_shape("randint", size if isinstance(size, (tuple, list)) else (None,))
    return _integers("randint", low, high, shape, options, dtypes.int64)


@draws
@shaped_by_first
def randint_like(
    input: Tensor, low: int, high: int | None = None, **options: Unpack[RandomOptions]
) -> Tensor:
    """Whole numbers from low up to but without high, shaped like ``input``."""
    require_tensor("randint_like", input)
    if high is None:
        low, high = 0, low
    options.setdefault("device", input.device)
    return _integers("randint_like", low, high, input.shape, options, input.dtype, input)


def _integers(
    name: str,
    low: Any,
    high: Any,
    shape: Shape,
    options: Any,
    default: dtypes.DType,
    like: Tensor | None = None,
) -> Tensor:
    generator = options.pop("generator", None)
    dtype = dtypes.of(options["dtype"]) if options.get("dtype") is not None else default
    call = f"{name}({low}, {high}, {shape}, dtype={dtype})"
    try:
        low, high = operator.index(low), operator.index(high)
    except TypeError as error:
        raise fail(
            TypeError,
            call=call,
            cause=f"argument 'high' must be int: {error}",
            fix="pass whole numbers; use rand() for real ones",
        ) from None
    check_bounds(call, low, high, dtype)

    def make(chosen: Any) -> Array:
        drawn = np.asarray(rng_of(generator).integers(low, high, shape)).astype(chosen)
        return arranged_like(drawn, like)

    return build(name, shape, make, options, default)


def check_bounds(call: str, low: int, high: int, dtype: dtypes.DType) -> None:
    """Raise unless there are numbers from low up to but without high, and the dtype has them."""
    if low >= high:
        raise fail(
            RuntimeError,
            call=call,
            cause=f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
            fix="high is not included, so it must be larger than low",
        )
    if dtype.category == dtypes.COMPLEX:
        raise fail(
            RuntimeError,
            call=call,
            cause=f"whole numbers are drawn in integral, floating point and bool dtypes, not in "
            f"{dtype.name}",
            fix="draw in a real dtype and convert with .to()",
        )
    least, most = whole_range(dtype)
    if low < least or high - 1 > most:
        bound = "from" if low < least else "to - 1"
        raise fail(
            RuntimeError,
            call=call,
            cause=f"{bound} is out of bounds for {dtype.name}, which holds {least} to {most}",
            fix="choose a wider dtype",
        )


def whole_range(dtype: dtypes.DType) -> tuple[int, int]:
    """The whole numbers a dtype represents without a gap."""
    if dtype.category == dtypes.BOOL:
        return 0, 1
    if dtype.category == dtypes.INTEGER:
        info = np.iinfo(dtype.numpy)
        return int(info.min), int(info.max)
    reach = int(2 / dtypes.finfo(dtype).eps)
    return -reach, reach


@draws
def randperm(n: int, **options: Unpack[RandomOptions]) -> Tensor:
    """The numbers 0 … n − 1 in random order."""
    generator = options.pop("generator", None)
    (count,) = new_shape("randperm", (n,))
    dtype = dtypes.of(options.get("dtype") or dtypes.int64)
    most = whole_range(dtype)[1] if dtype.category in (dtypes.INTEGER, dtypes.FLOAT) else -1
    if count > most + 1 or dtype.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise fail(
            RuntimeError if most > 0 else NotImplementedError,
            call=f"randperm({n}, dtype={dtype})",
            cause=f"value cannot be converted to type {dtype.name} without overflow",
            fix="choose a wider dtype, such as int64",
        )

    def make(chosen: Any) -> Array:
        return rng_of(generator).permutation(count).astype(chosen)

    return build("randperm", (count,), make, options, dtypes.int64)


def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None) -> Tensor:
    """1 with probability ``input`` (or ``p`` for all), else 0, in the dtype of ``input``."""
    require_tensor("bernoulli", input)
    if p is None:
        return _by_element(input, generator=generator)
    return _shaped_like(input, p, generator=generator)


@draws
@called("bernoulli")
def _by_element(input: Tensor, *, generator: Any) -> Tensor:
    check_inexact("bernoulli", input.dtype)

    def make(dtype: Any) -> Array:
        chance = input._array
        if not bool(((chance >= 0) & (chance <= 1)).all()):
            raise fail(
                RuntimeError,
                call=f"bernoulli({describe(input)})",
                cause="Expected p_in >= 0 && p_in <= 1 to be true: some element is not a "
                "probability",
                fix="pass probabilities, for example sigmoid(logits)",
            )
        return np.asarray(rng_of(generator).random(input.shape) < chance).astype(dtype)

    drawn = build("bernoulli", input.shape, make, {}, input.dtype, input.device)
    return lineage.cut(input, drawn, "sampled", "bernoulli")


@draws
@called("bernoulli")
@shaped_by_first
def _shaped_like(input: Tensor, p: float, *, generator: Any) -> Tensor:
    if not 0 <= p <= 1:
        raise fail(
            RuntimeError,
            call=f"bernoulli({describe(input)}, p={p})",
            cause=f"bernoulli_ expects p to be in [0, 1], but got p={p}",
            fix="pass a probability",
        )

    def make(dtype: Any) -> Array:
        return np.asarray(rng_of(generator).random(input.shape) < p).astype(dtype)

    return build("bernoulli", input.shape, make, {}, input.dtype, input.device)


@draws
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Indices drawn per row with the probabilities (or weights) in ``input``."""
    require_tensor("multinomial", input)
    _check_weights(input, num_samples, replacement)
    shape = (*input.shape[:-1], num_samples)

    def make(dtype: Any) -> Array:
        weights = np.atleast_2d(input._array).astype(np.float64)
        draw = _with_replacement if replacement else _without_replacement
        return draw(rng_of(generator), weights, num_samples).reshape(shape).astype(dtype)

    drawn = build("multinomial", shape, make, {}, dtypes.int64, input.device)
    return lineage.cut(input, drawn, "integer", "multinomial")


def _with_replacement(rng: np.random.Generator, weights: Array, count: int) -> Array:
    edges = np.cumsum(weights, axis=1)
    points = rng.random((len(weights), count)) * edges[:, -1:]
    return np.stack([np.searchsorted(e[:-1], u, "right") for e, u in zip(edges, points)])


def _without_replacement(rng: np.random.Generator, weights: Array, count: int) -> Array:
    """Whoever's exponential waiting time ends first is drawn first."""
    with np.errstate(divide="ignore"):
        waiting = rng.standard_exponential(weights.shape) / weights
    return np.argsort(waiting, axis=1, kind="stable")[:, :count]


def _check_weights(input: Tensor, num_samples: int, replacement: bool) -> None:
    def refuse(cause: str, fix: str) -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"multinomial({describe(input)}, {num_samples}, replacement={replacement})",
            cause=cause,
            fix=fix,
        )

    if input.ndim not in (1, 2):
        raise refuse("prob_dist must be 1 or 2 dim", "reshape the weights to (rows, choices)")
    if input.dtype.category != dtypes.FLOAT:
        raise refuse(
            f"multinomial only supports floating-point dtypes for input, got {input.dtype.name}",
            "convert the weights with .float()",
        )
    if num_samples <= 0:
        raise refuse("cannot sample n_sample <= 0 samples", "draw at least one")
    if not replacement and num_samples > input.shape[-1]:
        raise refuse(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
            "pass replacement=True, or draw fewer",
        )
    if input.device.type != "cpu":
        return
    weights = input._array
    if not bool((np.isfinite(weights) & (weights >= 0)).all()):
        raise refuse(
            "probability tensor contains either `inf`, `nan` or element < 0",
            "look where the weights come from: exp() or softmax() keep them positive",
        )
    if not bool((weights.sum(axis=-1) > 0).all()):
        raise refuse(
            "invalid multinomial distribution (sum of probabilities <= 0)",
            "give at least one choice of every row a positive weight",
        )


creation(
    randint,
    "y ~ U{low, …, high − 1}",
    torch="",
    samples=lambda make: [make.around(seeded, 5, (2, 3)), make.around(seeded, -2, 5, (3,))],
)
creation(
    randint_like,
    "y ~ U{low, …, high − 1}, shaped like x",
    torch="",
    samples=lambda make: [make.around(seeded, make.ints(2, 3), 5)],
)
creation(
    randperm,
    "y = a random order of 0 … n − 1",
    torch="",
    samples=lambda make: [make.around(seeded, 6)],
)
composite(
    bernoulli,
    "y ~ 1 with probability x, else 0",
    differentiable=False,
    torch="",
    samples=lambda make: [make.around(seeded, make.constant(make(2, 3, low=0.0, high=1.0)))],
)
composite(
    multinomial,
    "y ~ index i with probability x[i]/Σx",
    differentiable=False,
    torch="",
    samples=lambda make: [
        make.around(seeded, make.constant(make(5, low=0.1)), 3),
        make.around(seeded, make.constant(make(2, 4, low=0.1)), 6, True),
    ],
)
