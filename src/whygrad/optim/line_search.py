"""How far to go in a given direction: the strong Wolfe conditions.

A step is good if the loss falls by a fair part of what the slope at the start promised, and if the
slope there is a good deal flatter.  First the step grows until such steps lie between two points,
then the bracket shrinks around one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

from whygrad.tensor import Tensor

__all__ = ["Point", "strong_wolfe"]

_FALL = 1e-4  # the part of the promised fall that is fair
_FLAT = 0.9  # how much of the slope at the start may be left


class Point(NamedTuple):
    """What is known after a step of this length."""

    length: float
    loss: float
    grad: Tensor
    slope: float  # of the loss along the direction


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    length: float,
    reach: float,
    most: int,
    tolerance: float = 1e-9,
) -> tuple[Point, int]:
    """The chosen point, and how often the loss was computed.

    ``reach`` is the largest change of a parameter by a step of length 1; brackets that move no
    parameter by ``tolerance`` are small enough.
    """
    bracket, tried = _bracketed(evaluate, start, length, most)
    low = _lower(bracket)
    stuck = False
    while len(bracket) == 2 and tried <= most:
        if abs(bracket[1].length - bracket[0].length) * reach < tolerance:
            break
        length, stuck = _inside(bracket, stuck)
        new = evaluate(length)
        tried += 1
        if _too_high(new, start) or new.loss >= bracket[low].loss:
            bracket[1 - low] = new
            low = _lower(bracket)
            continue
        if _flat_enough(new, start):
            return new, tried
        if new.slope * (bracket[1 - low].length - bracket[low].length) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = new
    return bracket[low], tried


def _bracketed(
    evaluate: Callable[[float], Point], start: Point, length: float, most: int
) -> tuple[list[Point], int]:
    """Two points with a good one between them, or a single good one."""
    before, new = start, evaluate(length)
    for tried in range(1, most + 1):
        if _too_high(new, start) or (tried > 2 and new.loss >= before.loss):
            return [before, new], tried
        if _flat_enough(new, start):
            return [new], tried
        if new.slope >= 0:
            return [before, new], tried
        farther = new.length + 0.01 * (new.length - before.length)
        length = _cubic_minimum(before, new, farther, 10 * new.length)
        before, new = new, evaluate(length)
    return [start, new], max(most, 0) + 1


def _too_high(new: Point, start: Point) -> bool:
    return new.loss > start.loss + _FALL * new.length * start.slope


def _flat_enough(new: Point, start: Point) -> bool:
    return abs(new.slope) <= -_FLAT * start.slope


def _lower(bracket: list[Point]) -> int:
    return 0 if bracket[0].loss <= bracket[-1].loss else 1


def _inside(bracket: list[Point], stuck: bool) -> tuple[float, bool]:
    """A length between the two, and whether it is suspiciously close to one of them.

    The second time in a row that the guess is close to an end it is moved a tenth of the bracket
    away from it, so every second step makes progress.
    """
    left, right = sorted(point.length for point in bracket)
    guess = _cubic_minimum(bracket[0], bracket[1], left, right)
    margin = 0.1 * (right - left)
    if min(right - guess, guess - left) >= margin:
        return guess, False
    if stuck or guess >= right or guess <= left:
        nearer_right = abs(guess - right) < abs(guess - left)
        return (right - margin if nearer_right else left + margin), False
    return guess, True


def _cubic_minimum(one: Point, other: Point, lowest: float, highest: float) -> float:
    """Where the cubic with these values and slopes is smallest; the middle if it has no minimum."""
    left, right = (one, other) if one.length <= other.length else (other, one)
    width = right.length - left.length
    bend = left.slope + right.slope - 3 * (left.loss - right.loss) / -width
    discriminant = bend * bend - left.slope * right.slope
    if discriminant >= 0:
        root = sqrt(discriminant)
        divisor = right.slope - left.slope + 2 * root
        if divisor != 0:
            guess = right.length - width * ((right.slope + root - bend) / divisor)
            return min(max(guess, lowest), highest)
    return (lowest + highest) / 2
