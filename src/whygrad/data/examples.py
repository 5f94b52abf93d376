"""Small datasets that are there without a download: digits, moons, spirals."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from whygrad.errors import fail
from whygrad.tensor import Tensor, wrap

__all__ = ["Digits", "digits", "moons", "spirals"]


class Digits(NamedTuple):
    """Handwritten digits: ``TensorDataset(*digits)`` is a dataset of them."""

    images: Tensor  # float32 (N, 1, 8, 8), from 0 (paper) to 1 (ink)
    labels: Tensor  # int64 (N,)


def digits() -> tuple[Digits, Digits]:
    """1,797 handwritten digits of 8×8 pixels: ``train, test = data.digits()``.

    Of each digit every fifth image is for testing (355 in all), the others (1,442) for training,
    in the order of the original file, so it is the same split for everybody.  The data is by E.
    Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", 1998, UCI Machine
    Learning Repository, licensed under CC BY 4.0.
    """
    with (files("whygrad.data") / "files" / "digits.npz").open("rb") as stored:
        archive = np.load(stored, allow_pickle=False)
        images = archive["images"][:, None].astype(np.float32) / np.float32(16)
        labels = archive["labels"].astype(np.int64)
    nth = (labels[:, None] == np.arange(10)).cumsum(0)[np.arange(len(labels)), labels]
    tests = nth % 5 == 0
    train, test = (Digits(wrap(images[part]), wrap(labels[part])) for part in (~tests, tests))
    return train, test


def moons(n: int = 200, noise: float = 0.1, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Two half circles that reach into each other: points (n, 2) and classes 0 and 1.

    Even points belong to the upper moon, odd ones to the lower; ``noise`` is the standard
    deviation of what is added to both coordinates.
    """
    _check("moons", n, noise, 2)
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    angle = rng.uniform(0.0, np.pi, n)
    upper = np.stack([np.cos(angle), np.sin(angle)], 1)
    lower = np.stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)], 1)
    points = np.where(labels[:, None] == 0, upper, lower) + rng.normal(0.0, noise, (n, 2))
    return wrap(points.astype(np.float32)), wrap(labels)


def spirals(
    n: int = 300, arms: int = 3, turns: float = 1.0, noise: float = 0.02, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Arms that wind around each other: points (n, 2) inside the unit circle, and their arms."""
    _check("spirals", n, noise, arms)
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % arms
    radius = np.sqrt(rng.uniform(0.0, 1.0, n))
    angle = 2.0 * np.pi * (turns * radius + labels / arms)
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    return wrap((points + rng.normal(0.0, noise, (n, 2))).astype(np.float32)), wrap(labels)


def _check(name: str, n: int, noise: float, classes: int) -> None:
    if n < 0 or noise < 0 or classes < 1:
        raise fail(
            ValueError,
            call=f"data.{name}(n={n}, noise={noise})",
            cause="the number of points and the noise cannot be negative, and there is at least "
            "one class",
            fix=f"try data.{name}()",
        )
