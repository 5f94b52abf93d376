"""Random numbers written into a tensor that is already there: ``x.uniform_()``, ``x.normal_()``.

Argument names, defaults and conditions are PyTorch's.  What is drawn is written like the result of
any in-place method, so leaves, views, versions and history have the same rules as everywhere.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.creation.creation import build
from whygrad.ops.creation.discrete import check_bounds, whole_range
from whygrad.ops.creation.sampling import draw_normal, draw_uniform, rng_of
from whygrad.ops.inplace.writing import assign, check_writable
from whygrad.random import Generator, called, drawing, shaped_by_first
from whygrad.tensor import Tensor, dtypes

__all__ = ["install"]

Array = Any
Method = Callable[..., Tensor]

_NUMBERS = {
    "whole or real": (dtypes.BOOL, dtypes.INTEGER, dtypes.FLOAT),
    "whole (except bool) or real": (dtypes.INTEGER, dtypes.FLOAT),
    "real": (dtypes.FLOAT,),
    "real or complex": (dtypes.FLOAT, dtypes.COMPLEX),
}


def _fill(
    target: Tensor,
    name: str,
    numbers: str,
    draw: Callable[..., Array],
    generator: Generator | None,
    *tensors: Tensor,
) -> Tensor:
    """Write ``draw(rng, shape, NumPy dtype, arrays of tensors…)`` into ``target``."""
    _check_dtype(target, name, numbers)
    check_writable(target, name)

    @called(name)
    @shaped_by_first
    def drawn(like: Tensor, *parameters: Tensor) -> Tensor:
        shape = tuple(like.shape)

        def make(dtype: Any) -> Array:
            arrays = [each._array for each in parameters]
            return np.asarray(draw(rng_of(generator), shape, dtype, *arrays)).astype(dtype)

        return build(name, shape, make, {}, like.dtype, like.device)

    around = drawing.around
    values = drawn(target, *tensors) if around is None else around(drawn, target, *tensors)
    return assign(target, values, name)


def _check_dtype(target: Tensor, name: str, numbers: str) -> None:
    if target.dtype.category not in _NUMBERS[numbers]:
        raise _refuse(
            target,
            name,
            f'"{name}" not implemented for {target.dtype.name}: it draws {numbers} numbers',
            "convert the tensor first, or draw with random_(), which takes every real dtype",
            NotImplementedError,
        )


def _refuse(
    target: Tensor, name: str, cause: str, fix: str, kind: type[Exception] = RuntimeError
) -> Exception:
    return fail(kind, call=f"{name} on {describe(target)}", cause=cause, fix=fix)


def _taking_from(method: Method) -> Method:
    """PyTorch has a parameter named ``from``, which Python does not allow in a definition."""

    @functools.wraps(method)
    def renamed(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if "from" in kwargs:
            kwargs["from_"] = kwargs.pop("from")
        return method(self, *args, **kwargs)

    return renamed


@_taking_from
def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write numbers that are uniform in [from, to)."""
    if not from_ <= to or not np.isfinite(from_) or not np.isfinite(to):
        raise _refuse(
            self,
            "uniform_",
            "uniform_ expects to return a [from, to) range, but found "
            f"from={from_} > to={to} or a bound that is not finite",
            "pass finite bounds, the lower one first",
        )

    def draw(rng: Any, shape: Any, dtype: Any) -> Array:
        unit = draw_uniform(rng, shape, dtype)
        if (from_, to) == (0.0, 1.0):
            return unit
        if dtype.kind == "c":
            return unit * (to - from_) + complex(from_, from_)
        spread = (from_ + unit.astype(np.float64) * (to - from_)).astype(dtype)
        return np.where(spread < to, spread, np.asarray(from_, dtype))  # rounding may reach to

    return _fill(self, "uniform_", "real or complex", draw, generator)


def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write normal numbers."""
    if not std >= 0:
        raise _refuse(
            self,
            "normal_",
            f"normal expects std >= 0.0, but found std {std}",
            "pass a standard deviation, not its logarithm",
        )

    def draw(rng: Any, shape: Any, dtype: Any) -> Array:
        standard = draw_normal(rng, shape, dtype)
        return standard if (mean, std) == (0.0, 1.0) else standard * std + mean

    return _fill(self, "normal_", "real or complex", draw, generator)


def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Tensor:
    """Write numbers whose logarithm is normal with this mean and standard deviation."""
    _require(self, "log_normal_", std > 0, f"log_normal_ expects std > 0.0, but found std={std}")
    return _fill(
        self,
        "log_normal_",
        "real",
        lambda rng, shape, dtype: rng.lognormal(mean, std, shape),
        generator,
    )


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Write waiting times of a process with rate ``lambd``."""
    _require(
        self,
        "exponential_",
        lambd > 0,
        f"exponential_ expects lambda > 0.0, but found lambda={lambd}",
    )
    return _fill(
        self,
        "exponential_",
        "real",
        lambda rng, shape, dtype: rng.standard_exponential(shape) / lambd,
        generator,
    )


def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write numbers with Cauchy's distribution: so wide that it has no mean."""
    _require(self, "cauchy_", sigma > 0, f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _fill(
        self,
        "cauchy_",
        "real",
        lambda rng, shape, dtype: median + sigma * rng.standard_cauchy(shape),
        generator,
    )


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Write how many trials it takes, each with probability ``p``, until one succeeds."""
    _require(self, "geometric_", 0 < p < 1, f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _fill(
        self,
        "geometric_",
        "whole (except bool) or real",
        lambda rng, shape, dtype: rng.geometric(p, shape),
        generator,
    )


def _require(target: Tensor, name: str, condition: bool, cause: str) -> None:
    if not condition:
        raise _refuse(target, name, cause, "pass parameters for which the distribution exists")


def bernoulli_(
    self: Tensor, p: float | Tensor = 0.5, *, generator: Generator | None = None
) -> Tensor:
    """Write 1 with probability ``p`` (a number, or one per element), else 0."""
    if not isinstance(p, Tensor):
        _require(
            self, "bernoulli_", 0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p}"
        )
        return _fill(
            self,
            "bernoulli_",
            "whole or real",
            lambda rng, shape, dtype: rng.random(shape) < p,
            generator,
        )
    _require(
        self,
        "bernoulli_",
        p.dtype.category == dtypes.FLOAT,
        f'"bernoulli_" not implemented for probabilities of dtype {p.dtype.name}',
    )

    def draw(rng: Any, shape: Any, dtype: Any, chance: Array) -> Array:
        _require(
            self,
            "bernoulli_",
            bool(((chance >= 0) & (chance <= 1)).all()),
            "Expected p_in >= 0 && p_in <= 1 to be true: some element is not a probability",
        )
        return rng.random(shape) < chance

    return _fill(
        self, "bernoulli_", "whole or real", draw, generator, p.detach().expand(self.shape)
    )


def random_(
    self: Tensor, *bounds: int | None, generator: Generator | None = None, **named: int | None
) -> Tensor:
    """``random_(from, to)``, ``random_(to)`` or ``random_()``: write whole numbers.

    From ``from`` (or 0) up to but without ``to`` (or as far as the dtype counts without a gap).
    """
    names = ("from", "to") if len(bounds) + len(named) == 2 else ("to",)
    given = {**dict(zip(names, bounds, strict=False)), **named}
    if len(given) < len(bounds) + len(named) or not given.keys() <= {"from", "to"}:
        raise _refuse(
            self,
            "random_",
            "random_() received an invalid combination of arguments",
            "call it as random_(from, to), random_(to) or random_()",
            TypeError,
        )
    _check_dtype(self, "random_", "whole or real")
    low, high = given.get("from") or 0, given.get("to")
    if high is None:
        high = whole_range(self.dtype)[1] + 1
    low, high = operator.index(low), operator.index(high)
    check_bounds(f"random_({low}, {high}) on {describe(self)}", low, high, self.dtype)
    return _fill(
        self,
        "random_",
        "whole or real",
        lambda rng, shape, dtype: rng.integers(low, high - 1, shape, endpoint=True),
        generator,
    )


def install() -> None:
    """Give ``Tensor`` the methods that fill it with random numbers."""
    for method in (
        bernoulli_, cauchy_, exponential_, geometric_, log_normal_, normal_, random_, uniform_,
    ):  # fmt: skip
        setattr(Tensor, method.__name__, method)
