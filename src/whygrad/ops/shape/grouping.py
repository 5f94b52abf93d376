"""Older and lower names for splitting, padding and summing, and channels dealt out to groups."""

from __future__ import annotations

from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import alias, composite, table
from whygrad.ops.geometry import shape_from
from whygrad.tensor import Tensor


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Deal the channels (dimension 1) out to ``groups`` in turn."""
    cause = ""
    if input.ndim < 3:
        cause = (
            f"channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    elif groups <= 0:
        cause = f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
    elif input.shape[1] % groups:
        cause = (
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and "
            f"{groups} groups."
        )
    if cause:
        raise fail(
            RuntimeError,
            call=f"channel_shuffle({describe(input)}, groups={groups})",
            cause=cause,
            fix="pass (batch, channels, …) and a number that divides the channels",
        )
    batch, channels, *rest = input.shape
    dealt = input.reshape(batch, groups, channels // groups, *rest).transpose(1, 2)
    return dealt.reshape(batch, channels, *rest)


def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """``nn.functional.pad`` with a constant."""
    return table["pad"].public(input, pad, "constant", value)


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """The sum over the dimensions that broadcasting ``size`` to this shape would repeat."""
    wanted, shape = shape_from(size), tuple(input.shape)
    extra = len(shape) - len(wanted)
    fits = extra >= 0 and all(
        small in (1, large) for small, large in zip(wanted, shape[extra:], strict=True)
    )
    if not fits:
        raise fail(
            RuntimeError,
            call=f"sum_to_size({describe(input)}, {wanted})",
            cause=f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.",
            fix="sizes must be equal or 1, counted from the last dimension",
        )
    if not wanted:
        return input.sum()
    repeated = [
        dim for dim in range(extra, len(shape)) if wanted[dim - extra] == 1 and shape[dim] != 1
    ]
    total = input.sum(tuple(repeated), keepdim=True) if repeated else input
    return total.sum(tuple(range(extra))) if extra else total


composite(
    channel_shuffle,
    "y = the channels of x, one of each group in turn",
    method=False,
    samples=lambda make: [make.call(make(2, 6, 2), 3), make.call(make(1, 4, 2, 2), 2)],
)
composite(
    constant_pad_nd,
    "y = x with a constant around it",
    method=False,
    samples=lambda make: [make.call(make(2, 3), (1, 2)), make.call(make(2, 3), (0, 1, 1, 0), 2.5)],
)
composite(
    sum_to_size,
    "y = Σ x over the dimensions that broadcasting would repeat",
    torch="Tensor.sum_to_size",
    samples=lambda make: [
        make.call(make(2, 3, 4), 3, 1),
        make.call(make(2, 3), (2, 3)),
        make.call(make(2, 3), 1),
        make.call(make.bools(), ()),
    ],
)
alias("native_channel_shuffle", "channel_shuffle")
