"""Dropout: noise that multiplies, element by element or channel by channel."""

from __future__ import annotations

import warnings

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, elementwise, table
from whygrad.tensor import Tensor, dtypes

__all__ = [
    "IN_PLACE",
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "dropout_",
    "feature_alpha_dropout",
    "feature_dropout",
    "native_dropout",
]

# A product by another name: the graph tells noise from other factors.
_drop = elementwise(
    "drop(x, noise)",
    "y = x·noise, with noise that dropout drew;  ∂y/∂x = noise",
    forward=np.multiply,
    vjp={"x": lambda xp, incoming, noise: incoming * noise},
    promote="same",
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), make.constant(make(3, 4))),
        make.call(make(), make.constant(make())),
        make.call(make(0, 3), make.constant(make(0, 3))),
    ],
)

# Where SELU ends on the left: what a dropped unit of alpha dropout is set to.
_SATURATED = -1.7580993408473766


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with probability ``p``, and the others grow so that the mean stays."""
    _check_probability("dropout", p)
    if not training or p == 0.0:
        return input
    return _times(input, _noise(input.detach(), p), inplace)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Drop elements of ``input`` itself."""
    return dropout(input, p, train, inplace=True)


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Alpha dropout of ``input`` itself."""
    return alpha_dropout(input, p, train, inplace=True)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Drop whole channels of ``input`` itself."""
    _check_probability("feature_dropout_", p)
    return _drop_channels(input, p, train, inplace=True)


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Alpha dropout of whole channels of ``input`` itself."""
    return feature_alpha_dropout(input, p, train, inplace=True)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout of whole channels (dimension 1)."""
    _check_probability("feature_dropout", p)
    return _drop_channels(input, p, train, inplace=False)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Dropout, and which elements it kept."""
    _check_probability("native_dropout", p)
    if train is False or not input.numel():
        kept = table["ones_like"].public(input.detach()).to(dtypes.bool_)
        return input.clone(), kept
    noise = _noise(input.detach(), p)
    return _times(input, noise, inplace=False), noise != 0


# Functions of PyTorch's that write into their argument.
IN_PLACE = (alpha_dropout_, dropout_, feature_alpha_dropout_, feature_dropout_)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _check_probability("dropout1d", p)
    if input.ndim not in (2, 3):
        raise fail(
            RuntimeError,
            call=f"dropout1d of {describe(input)}",
            cause=f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input",
            fix="it drops channels of (N, C, L) or (C, L); dropout() drops single elements",
        )
    return _drop_channels(input, p, training, inplace, batched=input.ndim == 3)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, H, W)."""
    _check_probability("dropout2d", p)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired: it is read as (N, C, L). Use dropout1d for that, or "
            "unsqueeze(0) for one sample of (C, H, W).",
            stacklevel=3,
        )
    elif input.ndim != 4:
        _warn_unusual("dropout2d", input, 2)
    return _drop_channels(input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    _check_probability("dropout3d", p)
    if input.ndim not in (4, 5):
        _warn_unusual("dropout3d", input, 3)
    return _drop_channels(input, p, training, inplace, batched=input.ndim == 5)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks with SELU."""
    _check_probability("alpha_dropout", p)
    if not training or p == 0.0:
        return input
    return _saturate(input, input.detach(), p, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Alpha dropout of whole channels (dimension 1)."""
    _check_probability("feature_alpha_dropout", p)
    if not training or p == 0.0:
        return input
    return _saturate(input, _one_per_channel(input), p, inplace)


def _noise(like: Tensor, p: float) -> Tensor:
    if p == 1.0:  # nothing is left to chance
        nothing: Tensor = table["zeros_like"].call(like)
        return nothing
    kept: Tensor = table["bernoulli"].public(like, 1.0 - p)
    noise = kept / (1.0 - p)
    if like.is_contiguous() or 0 in like.stride():
        return noise
    arranged: Tensor = table["empty_like"].public(like)  # or the product would lose the layout
    return arranged.copy_(noise)


def _times(input: Tensor, noise: Tensor, inplace: bool) -> Tensor:
    if not inplace:
        dropped: Tensor = _drop.call(input, noise)
        return dropped
    from whygrad.ops.inplace.writing import assign, check_writable, snapshot

    check_writable(input, "dropout_")
    return assign(input, _drop.call(snapshot(input, _drop), noise), "dropout_")


def _drop_channels(
    input: Tensor, p: float, training: bool, inplace: bool, batched: bool = True
) -> Tensor:
    if not training or p == 0.0:
        return input
    return _times(input, _noise(_one_per_channel(input, batched), p), inplace)


def _one_per_channel(input: Tensor, batched: bool = True) -> Tensor:
    """The first element of every channel: as many as there is noise to draw."""
    leading = 2 if batched else 1
    if input.ndim < leading:
        raise fail(
            RuntimeError,
            call=f"dropout of the channels of {describe(input)}",
            cause="Feature dropout requires at least 2 dimensions in the input",
            fix="the input is (samples, channels, …)",
        )
    first = (slice(None),) * leading + (slice(0, 1),) * (input.ndim - leading)
    return input.detach()[first]


def _saturate(input: Tensor, like: Tensor, p: float, inplace: bool) -> Tensor:
    """Set dropped elements to SELU's lower end, then scale and shift to mean 0 and variance 1."""
    if p == 1.0:
        return _times(input, _noise(like, p), inplace)
    kept: Tensor = table["bernoulli"].public(like, 1.0 - p)
    scale = ((_SATURATED**2 * p + 1.0) * (1.0 - p)) ** -0.5
    shift = (1.0 - kept) * (_SATURATED * scale) - _SATURATED * scale * p
    dropped = _times(input, kept * scale, inplace)
    return dropped.add_(shift) if inplace else dropped + shift


def _check_probability(name: str, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise fail(
            ValueError,
            call=f"{name}(x, p={p})",
            cause=f"dropout probability has to be between 0 and 1, but got {p}",
            fix="pass the share of elements to drop, such as 0.5",
        )


def _warn_unusual(name: str, input: Tensor, positions: int) -> None:
    warnings.warn(
        f"{name}: Received a {input.ndim}-D input to {name}, which is deprecated: it drops "
        f"channels of inputs with {positions} spatial dimensions. Use dropout() for others.",
        stacklevel=4,
    )


composite(
    dropout,
    "y = x·noise, noise 0 with probability p and 1/(1 − p) otherwise",
    torch="nn.functional.dropout",
    samples=lambda make: [
        make.call(make(3, 4), training=False),
        make.call(make(3, 4), 0.0),
        make.call(make(3, 4), 1.0),
        make.call(make(), p=1),
        make.call(make(0, 3), 0.5),
    ],
)
composite(
    dropout1d,
    "y = x·noise, noise per sample and channel",
    torch="nn.functional.dropout1d",
    samples=lambda make: [
        make.call(make(2, 3, 4), 1.0),
        make.call(make(3, 4), 1.0),
        make.call(make(2, 3, 4), training=False),
        make.call(make(0, 3, 4)),
    ],
)
composite(
    dropout2d,
    "y = x·noise, noise per sample and channel",
    torch="nn.functional.dropout2d",
    samples=lambda make: [
        make.call(make(2, 3, 2, 2), 1.0),
        make.call(make(2, 3, 2, 2), training=False),
        make.call(make(0, 3, 2, 2)),
    ],
)
composite(
    dropout3d,
    "y = x·noise, noise per sample and channel",
    torch="nn.functional.dropout3d",
    samples=lambda make: [
        make.call(make(2, 3, 2, 1, 2), 1.0),
        make.call(make(3, 2, 1, 2), 1.0),
        make.call(make(2, 3, 2, 1, 2), 0.0),
    ],
)
composite(
    alpha_dropout,
    "y = a·(x or −1.758…, with probability p) + b, a and b such that mean and variance stay",
    torch="nn.functional.alpha_dropout",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1.0, True),
        make.call(make(3, 4), 0.0, True),
        make.call(make(0, 3), 0.5, True),
    ],
)
composite(
    feature_dropout,
    "y = x·noise, noise per sample and channel",
    method=False,
    samples=lambda make: [
        make.call(make(2, 3, 4), 1.0, True),
        make.call(make(2, 3, 4), 0.5, False),
    ],
)
composite(
    native_dropout,
    "y, kept = x·noise, and where noise is not 0",
    method=False,
    samples=lambda make: [
        make.call(make(3, 4), 1.0, True),
        make.call(make(3, 4), 0.5, False),
    ],
)
composite(
    feature_alpha_dropout,
    "alpha_dropout of whole channels",
    torch="nn.functional.feature_alpha_dropout",
    samples=lambda make: [
        make.call(make(2, 3, 4)),
        make.call(make(2, 3, 4), 1.0, True),
        make.call(make(0, 3, 4), 0.5, True),
    ],
)
