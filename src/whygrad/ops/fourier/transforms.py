"""PyTorch's Fourier transforms: what they cut, pad, scale and mirror around the plain sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.ops.geometry import normalize_dim, normalize_dims
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, dtypes

Sizes = tuple[int, ...]
Dims = tuple[int, ...]


def _refuse(name: str, input: Tensor, cause: str, fix: str) -> RuntimeError:
    return fail(RuntimeError, call=f"fft.{name}({describe(input)})", cause=cause, fix=fix)


def _scale(name: str, input: Tensor, norm: str | None, sizes: Sizes, inverse: bool) -> float:
    """What the sums are multiplied by."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise _refuse(
            name, input, f"Invalid normalization mode: {norm!r}", "use forward, backward or ortho"
        )
    count = math.prod(sizes)
    if norm == "ortho":
        return 1 / math.sqrt(count)
    return 1 / count if inverse != (norm == "forward") else 1.0


def _scaled(x: Tensor, factor: float) -> Tensor:
    return x if factor == 1.0 else x * factor


def _fitted(name: str, input: Tensor, sizes: Sizes, dims: Dims) -> Tensor:
    """``input`` cut or padded with zeros at the end of each of ``dims``."""
    for size, dim in zip(sizes, dims, strict=True):
        if size < 1:
            raise _refuse(
                name,
                input,
                f"Invalid number of data points ({size}) specified",
                "a transform needs at least one point",
            )
        have = input.shape[dim]
        if size < have:
            input = input.narrow(dim, 0, size)
        elif size > have:
            pads = [0, 0] * (input.ndim - dim)
            pads[-1] = size - have
            input = table["pad"].public(input, pads)
    return input


def _as_complex(input: Tensor) -> Tensor:
    if input.dtype.is_complex:
        return input
    real = _as_real(input)
    return table["complex"].public(real, table["zeros_like"].public(real))


def _as_real(input: Tensor) -> Tensor:
    return input if input.dtype.category >= dtypes.FLOAT else input.to(dtypes.get_default_dtype())


def _places(name: str, input: Tensor, s: Any, dim: Any, default: Any) -> tuple[Sizes, Dims]:
    """How many points to take along which dimensions."""
    if dim is None and s is None:
        dim = default if default is not None else tuple(range(input.ndim))
    elif dim is None:
        dim = default if default is not None else tuple(range(input.ndim - len(s), input.ndim))
    dims = normalize_dims(dim if isinstance(dim, (tuple, list)) else (dim,), input.ndim, name)
    if s is None:
        return tuple(input.shape[each] for each in dims), dims
    given = (s,) if isinstance(s, int) else tuple(s)
    if len(given) != len(dims):
        raise _refuse(
            name,
            input,
            "When given, dim and shape arguments must have the same length",
            "pass one size per dimension",
        )
    return tuple(input.shape[d] if n == -1 else n for n, d in zip(given, dims)), dims


def _whole(name: str, input: Tensor, sizes: Sizes, dims: Dims, norm: Any, inverse: bool) -> Tensor:
    x = _fitted(name, _as_complex(input), sizes, dims)
    return _scaled(recorded.fft_c2c(x, dims, inverse), _scale(name, x, norm, sizes, inverse))


def _half(name: str, input: Tensor, sizes: Sizes, dims: Dims, norm: Any, inverse: bool) -> Tensor:
    """Real numbers to half a spectrum; ``inverse`` makes it the conjugate one."""
    if input.dtype.is_complex:
        raise _refuse(
            name, input, f"{name} expects a real input tensor", "use fft for complex numbers"
        )
    x = _fitted(name, _as_real(input), sizes, dims)
    factor = _scale(name, x, norm, sizes, inverse)
    y = _scaled(recorded.fft_r2c(x, dims[-1]), factor)
    if inverse:
        y = y.conj()
    return recorded.fft_c2c(y, dims[:-1], inverse) if len(dims) > 1 else y


def _real(name: str, input: Tensor, sizes: Sizes, dims: Dims, norm: Any, inverse: bool) -> Tensor:
    """Half a spectrum to real numbers; without ``inverse`` from the conjugate one."""
    last = sizes[-1]
    x = _fitted(name, _as_complex(input), (*sizes[:-1], last // 2 + 1), dims)
    if len(dims) > 1:
        x = recorded.fft_c2c(x, dims[:-1], inverse)
    if not inverse:
        x = x.conj()
    return _scaled(recorded.fft_c2r(x, dims[-1], last), _scale(name, x, norm, sizes, inverse))


Worker = Callable[..., Tensor]


def _halved(sizes: Sizes, given: Any) -> Sizes:
    """Where real numbers come out, the last size is that of the result."""
    if given is not None and (not isinstance(given, (tuple, list)) or given[-1] != -1):
        return sizes
    return (*sizes[:-1], 2 * (sizes[-1] - 1))


def _one(name: str, work: Worker, inverse: bool) -> Callable[..., Tensor]:
    def transform(
        input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
    ) -> Tensor:
        axis = normalize_dim(dim, input.ndim, f"fft.{name}")
        sizes, dims = _places(name, input, n, (axis,), None)
        if work is _real:
            sizes = _halved(sizes, n)
        return work(name, input, sizes, dims, norm, inverse)

    return transform


def _many(name: str, work: Worker, inverse: bool, planes: bool) -> Callable[..., Tensor]:
    def transform(
        input: Tensor, s: Any = None, dim: Any = (-2, -1) if planes else None, norm: Any = None
    ) -> Tensor:
        sizes, dims = _places(name, input, s, dim, None)
        if not dims and work is not _whole:
            raise _refuse(
                name, input, f"{name} must transform at least one axis", "name one in dim"
            )
        if work is _real:
            sizes = _halved(sizes, s)
        return work(name, input, sizes, dims, norm, inverse)

    return transform


_WORDS = {
    "fft": (_whole, False, "y[k] = Σ x[j]·e^(−2πijk/n)"),
    "ifft": (_whole, True, "y[j] = Σ x[k]·e^(2πijk/n) / n"),
    "rfft": (_half, False, "y[k] = Σ x[j]·e^(−2πijk/n) for real x, k ≤ n/2"),
    "irfft": (_real, True, "y = the real numbers whose rfft is x"),
    "hfft": (_real, False, "y = the real transform of x, half of a signal equal to its mirror"),
    "ihfft": (_half, True, "y = half of the signal whose hfft is x"),
}


def _samples(family: str, dims: str) -> Callable[[Any], list[Any]]:
    def around(transform: Any, x: Any, **options: Any) -> Any:
        complex_input = family in ("fft", "ifft", "irfft", "hfft")
        y = transform(x * (1 + 0.5j) if complex_input else x, **options)
        return (y.real, y.imag) if y.dtype.is_complex else y

    if dims == "":
        return lambda make: [
            make.around(around, make(2, 5)),
            make.around(around, make(4, 3), n=6, dim=0, norm="ortho"),
            make.around(around, make(5), n=3, norm="forward"),
        ]
    if dims == "2":
        return lambda make: [
            make.around(around, make(3, 4)),
            make.around(around, make(4, 3, 2), s=(3, 4), dim=(0, 1), norm="ortho"),
        ]
    return lambda make: [
        make.around(around, make(2, 3)),
        make.around(around, make(3, 2, 4), s=(4,), dim=(1,), norm="forward"),
    ]


for _name, (_work, _inverse, _formula) in _WORDS.items():
    for _dims, _function in (
        ("", _one(_name, _work, _inverse)),
        ("2", _many(f"{_name}2", _work, _inverse, planes=True)),
        ("n", _many(f"{_name}n", _work, _inverse, planes=False)),
    ):
        _function.__name__ = _function.__qualname__ = f"fft_{_name}{_dims}"
        _function.__doc__ = {
            "": f"``{_name}`` along one dimension.",
            "2": f"``{_name}`` along two dimensions, the last ones if none are named.",
            "n": f"``{_name}`` along several dimensions, all if none are named.",
        }[_dims]
        composite(
            _function,
            _formula if not _dims else f"{_formula}, along each of dim",
            torch=f"fft.{_name}{_dims}",
            samples=_samples(_name, _dims),
        )
