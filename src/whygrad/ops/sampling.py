"""Random tensors.

Every function draws from a :class:`whygrad.random.Generator`, the default one unless
``generator=`` is given.  Arguments, checks and dtypes are PyTorch's; the numbers are not.
"""

from __future__ import annotations

import operator
from typing import Any, Unpack

import numpy as np

from whygrad import devices, dtypes
from whygrad.errors import describe, fail
from whygrad.ops.creation import Options, Shape, build, new_shape, size_argument
from whygrad.ops.define import composite
from whygrad.ops.likes import require_tensor
from whygrad.random import Generator, default_generator
from whygrad.tensor import Tensor, wrap

Array = Any

_HALF_BITS = {"float16": 11, "bfloat16": 8}  # of the significand


class RandomOptions(Options, total=False):
    """Keywords of every function that draws."""

    generator: Generator | None


def _rng(generator: Generator | None) -> np.random.Generator:
    return (default_generator if generator is None else generator).rng


def _draw_uniform(rng: np.random.Generator, shape: Shape, dtype: Any) -> Array:
    """Uniform in [0, 1); in half precision too, where rounding a float32 could give 1."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return _draw_uniform(rng, (*shape, 2), part).view(dtype)[..., 0]
    bits = _HALF_BITS.get(dtype.name)
    if bits is not None:
        return (rng.integers(0, 1 << bits, shape) / (1 << bits)).astype(dtype)
    return np.asarray(rng.random(shape, dtype))


def _draw_normal(rng: np.random.Generator, shape: Shape, dtype: Any) -> Array:
    """Standard normal; a complex number has variance 1 in all, half of it in each part."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        pairs = _draw_normal(rng, (*shape, 2), part) * part.type(0.5**0.5)
        return pairs.view(dtype)[..., 0]
    if dtype.name in _HALF_BITS:
        return rng.standard_normal(shape, np.float32).astype(dtype)
    return np.asarray(rng.standard_normal(shape, dtype))


def _check_inexact(name: str, dtype: dtypes.DType) -> None:
    if dtype.category < dtypes.FLOAT:
        raise fail(
            RuntimeError,
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
    device = devices.cpu if like is None else like.device
    _check_inexact(name, dtypes.of(options.get("dtype") or dtype))
    return build(
        name, shape, lambda chosen: draw(_rng(generator), shape, chosen), options, dtype, device
    )


def rand(*size: Any, **options: Unpack[RandomOptions]) -> Tensor:
    """Uniform in [0, 1)."""
    return _continuous("rand", _draw_uniform, size_argument("rand", size, options), options)


def randn(*size: Any, **options: Unpack[RandomOptions]) -> Tensor:
    """Normal with mean 0 and variance 1."""
    return _continuous("randn", _draw_normal, size_argument("randn", size, options), options)


def rand_like(input: Tensor, **options: Unpack[RandomOptions]) -> Tensor:
    """Uniform in [0, 1), shaped like ``input``."""
    require_tensor("rand_like", input)
    return _continuous("rand_like", _draw_uniform, input.shape, options, input)


def randn_like(input: Tensor, **options: Unpack[RandomOptions]) -> Tensor:
    """Standard normal, shaped like ``input``."""
    require_tensor("randn_like", input)
    return _continuous("randn_like", _draw_normal, input.shape, options, input)


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


def randint_like(
    input: Tensor, low: int, high: int | None = None, **options: Unpack[RandomOptions]
) -> Tensor:
    """Whole numbers from low up to but without high, shaped like ``input``."""
    require_tensor("randint_like", input)
    if high is None:
        low, high = 0, low
    options.setdefault("device", input.device)
    return _integers("randint_like", low, high, input.shape, options, input.dtype)


def _integers(
    name: str, low: Any, high: Any, shape: Shape, options: Any, default: dtypes.DType
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
    if low >= high:
        raise fail(
            RuntimeError,
            call=call,
            cause=f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
            fix="high is not included, so it must be larger than low",
        )
    least, most = _whole_range(dtype)
    if low < least or high - 1 > most:
        bound = "from" if low < least else "to - 1"
        raise fail(
            RuntimeError,
            call=call,
            cause=f"{bound} is out of bounds for {dtype.name}, which holds {least} to {most}",
            fix="choose a wider dtype",
        )

    def make(chosen: Any) -> Array:
        return np.asarray(_rng(generator).integers(low, high, shape)).astype(chosen)

    return build(name, shape, make, options, default)


def _whole_range(dtype: dtypes.DType) -> tuple[int, int]:
    """The whole numbers a dtype represents without a gap."""
    if dtype.category == dtypes.BOOL:
        return 0, 1
    if dtype.category == dtypes.INTEGER:
        info = np.iinfo(dtype.numpy)
        return int(info.min), int(info.max)
    reach = int(2 / dtypes.finfo(dtype).eps)
    return -reach, reach


def randperm(n: int, **options: Unpack[RandomOptions]) -> Tensor:
    """The numbers 0 … n − 1 in random order."""
    generator = options.pop("generator", None)
    (count,) = new_shape("randperm", (n,))
    dtype = dtypes.of(options.get("dtype") or dtypes.int64)
    most = _whole_range(dtype)[1] if dtype.category in (dtypes.INTEGER, dtypes.FLOAT) else -1
    if count > most + 1 or dtype.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise fail(
            RuntimeError,
            call=f"randperm({n}, dtype={dtype})",
            cause=f"value cannot be converted to type {dtype.name} without overflow",
            fix="choose a wider dtype, such as int64",
        )

    def make(chosen: Any) -> Array:
        return _rng(generator).permutation(count).astype(chosen)

    return build("randperm", (count,), make, options, dtypes.int64)


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
        return (randn(size, **options) * std + mean).requires_grad_(requires_grad)
    for each in both:
        _check_inexact("normal", each.dtype)
    generator = options.pop("generator", None)
    shape = np.broadcast_shapes(*(each.shape for each in both))
    dtype = dtypes.result_type(*both)
    drawn = randn(shape, dtype=dtype, device=both[0].device, generator=generator)
    constants = [each.detach() if isinstance(each, Tensor) else each for each in (mean, std)]
    return drawn * constants[1] + constants[0]


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


def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None) -> Tensor:
    """1 with probability ``input`` (or ``p`` for all), else 0, in the dtype of ``input``."""
    require_tensor("bernoulli", input)
    if p is None:
        _check_inexact("bernoulli", input.dtype)
    elif not 0 <= p <= 1:
        raise fail(
            RuntimeError,
            call=f"bernoulli({describe(input)}, p={p})",
            cause=f"bernoulli_ expects p to be in [0, 1], but got p={p}",
            fix="pass a probability",
        )

    def make(dtype: Any) -> Array:
        chance: Any = input._array if p is None else p
        if p is None and not bool(((chance >= 0) & (chance <= 1)).all()):
            raise fail(
                RuntimeError,
                call=f"bernoulli({describe(input)})",
                cause="Expected p_in >= 0 && p_in <= 1 to be true: some element is not a "
                "probability",
                fix="pass probabilities, for example sigmoid(logits)",
            )
        return np.asarray(_rng(generator).random(input.shape) < chance).astype(dtype)

    return build("bernoulli", input.shape, make, {}, input.dtype, input.device)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Indices drawn per row with the probabilities (or weights) in ``input``."""
    require_tensor("multinomial", input)
    _check_weights(input, num_samples, replacement)
    weights = np.atleast_2d(input._array).astype(np.float64)
    rng = _rng(generator)
    if replacement:
        edges = np.cumsum(weights, axis=1)
        points = rng.random((len(weights), num_samples)) * edges[:, -1:]
        drawn = np.stack([np.searchsorted(e[:-1], u, "right") for e, u in zip(edges, points)])
    else:
        # The order of exponential waiting times with rates w is a draw without replacement.
        with np.errstate(divide="ignore"):
            waiting = rng.standard_exponential(weights.shape) / weights
        drawn = np.argsort(waiting, axis=1, kind="stable")[:, :num_samples]
    return wrap(np.ascontiguousarray(drawn if input.ndim == 2 else drawn[0]))


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


for _function, _formula in (
    (rand, "y ~ U[0, 1)"),
    (randn, "y ~ N(0, 1)"),
    (rand_like, "y ~ U[0, 1), shaped like x"),
    (randn_like, "y ~ N(0, 1), shaped like x"),
    (randint, "y ~ U{low, …, high − 1}"),
    (randint_like, "y ~ U{low, …, high − 1}, shaped like x"),
    (randperm, "y = a random order of 0 … n − 1"),
    (normal, "y ~ N(mean, std²)"),
):
    composite(_function, _formula, method=False, differentiable=False, torch="")
composite(bernoulli, "y ~ 1 with probability x, else 0", differentiable=False, torch="")
composite(multinomial, "y ~ index i with probability x[i]/Σx", differentiable=False, torch="")
