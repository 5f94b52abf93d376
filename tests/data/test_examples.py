"""Digits, moons, spirals and text: there, the same every time, and learnable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whygrad
from whygrad import data


def test_digits_are_all_there() -> None:
    train, test = data.digits()
    assert train.images.shape == (1442, 1, 8, 8)
    assert test.images.shape == (355, 1, 8, 8)
    assert (train.images.dtype, train.labels.dtype) == (whygrad.float32, whygrad.int64)
    everything = np.concatenate([train.images.numpy(), test.images.numpy()])
    assert (everything.min(), everything.max()) == (0.0, 1.0)
    assert (everything * 16 == np.round(everything * 16)).all()
    counts = np.bincount(np.concatenate([train.labels.numpy(), test.labels.numpy()]))
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert np.bincount(test.labels.numpy()).min() >= 34


def test_a_digit_looks_like_itself() -> None:
    train, _ = data.digits()
    assert train.labels[0].item() == 0
    picture = ["".join(" .#"[int(pixel * 2.99)] for pixel in row) for row in train.images[0, 0]]
    assert picture[:4] == ["   #.   ", "  ##.#  ", "  #  #. ", "  #  .. "]


def test_the_nearest_training_digit_is_usually_right() -> None:
    """A check that images and labels belong together, without training anything."""
    train, test = (
        (part.images.numpy().reshape(-1, 64), part.labels.numpy()) for part in data.digits()
    )
    nearest = (test[0] @ train[0].T * 2 - (train[0] ** 2).sum(1)).argmax(1)
    assert (train[1][nearest] == test[1]).mean() > 0.97


def test_no_two_calls_share_memory() -> None:
    first, second = data.digits()[0], data.digits()[0]
    first.images.zero_()
    assert second.images.sum().item() > 0


@pytest.mark.parametrize("make", [data.moons, data.spirals])
def test_points_depend_on_the_seed_alone(make: object) -> None:
    points, labels = make(60, seed=3)  # type: ignore[operator]
    again, _ = make(60, seed=3)  # type: ignore[operator]
    other, _ = make(60, seed=4)  # type: ignore[operator]
    assert (points.shape, points.dtype) == ((60, 2), whygrad.float32)
    assert (labels.shape, labels.dtype) == ((60,), whygrad.int64)
    assert points.tolist() == again.tolist() != other.tolist()


def test_moons_are_half_circles() -> None:
    points, labels = (each.numpy() for each in data.moons(100, noise=0.0))
    upper, lower = points[labels == 0], points[labels == 1] - [1.0, 0.5]
    np.testing.assert_allclose(np.hypot(*upper.T), 1, 1e-6)
    np.testing.assert_allclose(np.hypot(*lower.T), 1, 1e-6)
    assert upper[:, 1].min() >= 0 >= lower[:, 1].max()


def test_spirals_have_their_arms_evenly_around() -> None:
    points, labels = (each.numpy() for each in data.spirals(90, arms=3, turns=0.0, noise=0.0))
    angles = np.arctan2(points[:, 1], points[:, 0])
    for arm in range(3):
        expected = 2 * np.pi * arm / 3
        np.testing.assert_allclose(np.cos(angles[labels == arm] - expected), 1, 1e-6)
    assert np.hypot(*points.T).max() <= 1


@pytest.mark.parametrize(
    "call",
    [lambda: data.moons(-1), lambda: data.spirals(noise=-1), lambda: data.spirals(arms=0)],
)
def test_nonsense_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        call()


def test_text_is_long_and_made_of_the_known_characters() -> None:
    text = data.text()
    assert len(text) > 300_000
    assert set(text) <= set(data.Characters().alphabet)
    assert 'The "assert" statement' in text
    assert text == data.text()


def test_characters_there_and_back() -> None:
    text, letters = data.text()[:5000], data.Characters()
    numbers = letters.encode(text)
    assert (numbers.dtype, numbers.shape) == (whygrad.int64, (5000,))
    assert letters.decode(numbers) == text
    assert len(letters) == 96
    assert letters.encode("\n ~").tolist() == [0, 1, 95]
    assert repr(letters).startswith("Characters(96: '\\n !")
    assert letters.encode("").shape == (0,)


def test_an_alphabet_of_ones_own() -> None:
    letters = data.Characters.of("añb→🙂")
    assert letters.alphabet == "abñ→🙂"
    assert letters.decode(letters.encode("🙂ña")) == "🙂ña"
    assert data.Characters("ba").encode("ab").tolist() == [1, 0]
    with pytest.raises(ValueError, match="character 'z' at position 1 is not in the alphabet"):
        letters.encode("az")
    for nonsense in ("aa", ""):
        with pytest.raises(ValueError, match="every character once, and at least one"):
            data.Characters(nonsense)
