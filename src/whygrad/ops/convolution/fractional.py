"""Max pooling by a factor that is no whole number: windows that begin at random places.

Along a dimension the windows are as long as the kernel and start about (size − kernel)/(count − 1)
apart; one random number per sample, channel and dimension says how the remainders fall.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import composite
from whygrad.ops.namespace import recorded
from whygrad.ops.ties import straight
from whygrad.tensor import Tensor, wrap

__all__: list[str] = []


def _refuse(name: str, input: Tensor, cause: str, fix: str, kind: Any = ValueError) -> Any:
    return fail(kind, call=f"{name}({describe(input)}, …)", cause=cause, fix=fix)


def _sizes(name: str, input: Tensor, dims: int, output_size: Any, output_ratio: Any) -> Any:
    if (output_size is None) == (output_ratio is None):
        cause = "an output_size or an output_ratio, and not both"
        raise _refuse(
            name, input, f"{name} requires specifying {cause}", "say how large the output should be"
        )
    if output_size is not None:
        whole = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * dims
        return tuple(map(operator.index, whole))
    ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * dims
    return tuple(int(size * ratio) for size, ratio in zip(input.shape[-dims:], ratios, strict=True))


def _pool(
    name: str, input: Tensor, kernel: tuple[int, ...], sizes: tuple[int, ...], samples: Any
) -> tuple[Tensor, Tensor]:
    dims = len(kernel)
    if input.ndim not in (dims + 1, dims + 2):
        raise _refuse(
            name,
            input,
            f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}",
            f"pass (samples, channels, *{dims} sizes)",
            RuntimeError,
        )
    single = input.ndim == dims + 1
    x = straight(input.unsqueeze(0) if single else input)
    batch, channels, *inside = x.shape
    for size, taps, count in zip(inside, kernel, sizes, strict=True):
        if count + taps - 1 + (dims == 3) > size or count < 1:  # as PyTorch counts
            raise _refuse(
                name,
                input,
                f"pool size ({taps}) and output size ({count}) too large relative to input size "
                f"({size})",
                "ask for fewer windows, or shorter ones",
                RuntimeError,
            )
    if samples is None:
        samples = x.detach().new_empty((batch, channels, dims)).uniform_()
    samples = samples.detach()
    # PyTorch takes the numbers for the width before those for the height, but only in 2-D.
    order = range(dims) if dims != 2 else (1, 0)
    flat: Any = 0
    for dim, (size, taps, count) in enumerate(zip(inside, kernel, sizes, strict=True)):
        starts = _starts(samples.select(2, order[dim]), size, taps, count)
        within = wrap(np.arange(taps)).to(x.device)
        index = (starts.unsqueeze(3) + within).reshape(
            batch, channels, *(1,) * dim, count, *(1,) * (dims - 1), taps, *(1,) * (dims - dim - 1)
        )
        flat = flat * size + index
    whole = flat.expand(batch, channels, *sizes, *kernel)
    positions = whole.reshape(batch, channels, -1)
    picked = x.flatten(2).gather(2, positions).reshape(batch, channels, *sizes, -1)
    values, places = picked.max(-1)
    found = positions.reshape(batch, channels, *sizes, -1).gather(-1, places.unsqueeze(-1))
    found = found.squeeze(-1)
    return (values.squeeze(0), found.squeeze(0)) if single else (values, found)


def _starts(sample: Tensor, size: int, taps: int, count: int) -> Tensor:
    """(samples, channels, count): where each window begins."""
    last = size - taps
    if count == 1:
        return (sample.unsqueeze(2) * 0).long() + last
    apart = last / (count - 1)
    number = wrap(np.arange(count - 1).astype(np.float64)).to(
        device=sample.device, dtype=sample.dtype
    )
    moving = sample.unsqueeze(2)
    starts = ((number + moving) * apart).long() - (moving * apart).long()
    end = starts[:, :, :1] * 0 + last
    return recorded.cat([starts, end], 2)


def _declare(dims: int, calls: Any) -> None:
    name = f"fractional_max_pool{dims}d"

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        kernel = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * dims
        sizes = _sizes(name, input, dims, output_size, output_ratio)
        taps = tuple(map(operator.index, kernel))
        return _pool(name, input, taps, sizes, _random_samples)

    def pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        found = with_indices(
            input, kernel_size, output_size, output_ratio, _random_samples=_random_samples
        )
        return found if return_indices else found[0]

    for function, extra in ((pool, ""), (with_indices, "_with_indices")):
        function.__name__ = function.__qualname__ = name + extra
        function.__doc__ = f"""The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last {dims}
    dimensions.
    """
        composite(
            function,
            "y = max of every window, windows begin at random places;  ∂x = incoming there",
            samples=(lambda make: calls(make)[:1]) if extra else calls,
            torch=f"nn.functional.{name}{extra}",
            autocast="float32",
        )


_declare(
    2,
    lambda make: [
        make.call(
            make.distinct(1, 2, 5, 6), 2, (3, 4),
            _random_samples=make.constant(make(1, 2, 2, low=0.0, high=1.0)),
        ),
        make.call(
            make.distinct(1, 6, 5), (2, 3), output_ratio=(0.5, 0.6), return_indices=True,
            _random_samples=make.constant(make(1, 1, 2, low=0.0, high=1.0)),
        ),
    ],
)  # fmt: skip
_declare(
    3,
    lambda make: [
        make.call(
            make.distinct(1, 1, 5, 4, 5), (1, 2, 2), (3, 2, 2), return_indices=True,
            _random_samples=make.constant(make(1, 1, 3, low=0.0, high=1.0)),
        ),
        make.call(
            make.distinct(1, 1, 4, 4, 4), 2, (1, 2, 2),
            _random_samples=make.constant(make(1, 1, 3, low=0.0, high=1.0)),
        ),
    ],
)  # fmt: skip
