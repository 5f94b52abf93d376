"""Which way targets that are places lie, beside the pictures that they belong to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.recording.ranges import Array

__all__ = ["gains", "is_dense", "is_picture", "left_unknown"]

_TINY = 1e-12
_TURNS = (1, 3)  # quarters: half a turn is both flips


def is_picture(values: Array) -> bool:
    """Whether a batch has places along two axes at least, or along one and channels."""
    return values.ndim >= 3


def is_dense(given: Array, target: Array) -> bool:
    """Whether there is a target for each place of a picture."""
    return is_picture(target) and given.shape[-2:] == target.shape[-2:]


def gains(given: Array, target: Array) -> Iterator[float]:
    """By how much each target fits its input better when it is flipped or turned."""
    height, width = given.shape[-2:]
    pictures = given.reshape(len(given), -1, height, width).astype(np.float64)
    wanted = target.reshape(len(given), -1, height, width)
    wanted = wanted[:, int(wanted.std(axis=(0, 2, 3)).argmax())]
    ways = [wanted, wanted[..., ::-1], wanted[:, ::-1], wanted[:, ::-1, ::-1]]
    if height == width:
        ways += [np.rot90(wanted, turns, axes=(1, 2)) for turns in _TURNS]
    fits = np.stack([_correlations(pictures, way.astype(np.float64)) for way in ways])
    signs = np.sign(fits.sum(axis=(0, 1)))  # [ways, samples, channels]: dark on bright fits too
    channel = int(np.abs(fits).max(axis=0).mean(axis=0).argmax())
    fits = (fits * signs)[..., channel]
    yield from fits[1:].max(axis=0) - fits[0]


def _correlations(pictures: Array, wanted: Array) -> Array:
    """Of each channel of each picture with its mask."""
    one = pictures - pictures.mean(axis=(2, 3), keepdims=True)
    other = wanted - wanted.mean(axis=(1, 2), keepdims=True)
    size = np.sqrt(np.square(one).sum(axis=(2, 3)))
    size = size * np.sqrt(np.square(other).sum(axis=(1, 2)))[:, None]
    return np.asarray((one * other[:, None]).sum(axis=(2, 3)) / np.maximum(size, _TINY))


def left_unknown(made: Array, wanted: Array) -> float:
    """The part of the variance of targets that answers leave: of the worst number, or of a map."""
    left = np.square(made - wanted).mean(axis=0) / np.maximum(wanted.var(axis=0), _TINY)
    return float(left.max()) if left.ndim <= 1 else float(left.mean())
