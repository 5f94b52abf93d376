"""Is this gradient right?  Finite differences for functions of one Value, and how to pick the step.

With too large an epsilon the function bends between the two points (truncation, which shrinks with
epsilon²); with too small a one its two values agree in nearly all their digits, and what is left of
them is rounding (cancellation, which grows with 1/epsilon).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from whygrad.errors import fail
from whygrad.scalar.numbers import number
from whygrad.scalar.value import Value

__all__ = ["GradientCheck", "Step", "check_gradient", "numeric_gradient"]

EPSILONS = tuple(10.0**-digits for digits in range(1, 15))
MUCH_WORSE = 100.0  # times the best error: beyond the luck of one rounding


def numeric_gradient(f: Callable[[Value], Any], x: float, epsilon: float = 1e-6) -> float:
    """The centred difference (f(x + ε) − f(x − ε)) / 2ε."""
    if not epsilon > 0.0:
        raise fail(
            ValueError,
            call=f"a centred difference with epsilon={epsilon:g}",
            cause="epsilon is a distance, so it must be positive",
            fix="start with 1e-6; check_gradient() shows which one is best",
        )
    above, below = f(Value(x + epsilon)), f(Value(x - epsilon))
    return (number(above) - number(below)) / (2.0 * epsilon)


@dataclass(frozen=True)
class Step:
    """One epsilon and how far its difference is from ``backward()``."""

    epsilon: float
    estimate: float  # nan where f is not defined at both points
    error: float  # relative to the gradient if that is above 1


@dataclass(frozen=True)
class GradientCheck:
    """The gradient of ``backward()`` beside centred differences with several epsilons."""

    x: float
    gradient: float
    steps: tuple[Step, ...]  # largest epsilon first
    tolerance: float

    @property
    def best(self) -> Step:
        """The middle of the valley: the step whose neighbours are good as well.

        The smallest error alone may be luck: roundings that happen to cancel.
        """
        errors = [step.error for step in self.steps]
        valley = [max(errors[max(0, i - 1) : i + 2]) for i in range(len(errors))]
        return self.steps[valley.index(min(valley))]

    @property
    def ok(self) -> bool:
        """Whether the best epsilon agrees with ``backward()``."""
        return self.best.error <= self.tolerance

    @property
    def too_large(self) -> tuple[float, ...]:
        """Epsilons above the best one that are much worse: truncation.

        It cannot be rounding, which weighs less there than at the best one.
        """
        return tuple(each for each in self._much_worse() if each > self.best.epsilon)

    @property
    def too_small(self) -> tuple[float, ...]:
        """Epsilons below the best one that are much worse: cancellation, by the same argument."""
        return tuple(each for each in self._much_worse() if each < self.best.epsilon)

    def _much_worse(self) -> list[float]:
        floor = MUCH_WORSE * max(self.best.error, math.ulp(1.0))
        return [step.epsilon for step in self.steps if self.ok and step.error > floor]

    def __str__(self) -> str:
        remarks = dict.fromkeys(self.too_large, "too large: truncation")
        remarks |= dict.fromkeys(self.too_small, "too small: cancellation")
        if self.ok:
            remarks[self.best.epsilon] = "best"
        rows = [
            f"at x = {self.x:g}, backward() gives {self.gradient:.12g}",
            "",
            "epsilon  centred difference     error",
        ]
        for step in self.steps:
            remark = remarks.get(step.epsilon, "")
            if math.isnan(step.estimate):
                remark = "f is not defined on both sides"
            row = f"{step.epsilon:7.0e}  {step.estimate:18.12g}  {step.error:8.1e}  {remark}"
            rows.append(row.rstrip())
        verdict = f"they agree to {self.best.error:.1e} with epsilon {self.best.epsilon:.0e}"
        if not self.ok:
            verdict = (
                f"none comes closer than {min(step.error for step in self.steps):.1e}: the "
                "gradient is wrong,\nor f has a kink near x, or none of these epsilons suits f"
            )
        return "\n".join([*rows, "", verdict])


def check_gradient(
    f: Callable[[Value], Any],
    x: float,
    epsilons: Sequence[float] = EPSILONS,
    tolerance: float = 1e-6,
) -> GradientCheck:
    """Compare ``backward()`` through ``f`` at ``x`` with centred differences; print the result.

    >>> check = check_gradient(lambda x: x.sigmoid().log(), 0.5)
    >>> check.ok, check.best.epsilon
    (True, 1e-05)
    """
    if not epsilons:
        raise fail(
            ValueError,
            call="check_gradient with no epsilons",
            cause="there is nothing to compare backward() with",
            fix="pass at least one epsilon, or leave the argument out",
        )
    leaf = Value(x)
    out = f(leaf)
    number(out)  # refuses what is neither a Value nor a constant
    if isinstance(out, Value):
        out.backward()
    steps = []
    for epsilon in sorted(epsilons, reverse=True):
        try:
            estimate = numeric_gradient(f, leaf.data, epsilon)
        except (ArithmeticError, ValueError):
            if not epsilon > 0.0:
                raise
            estimate = math.nan
        error = abs(estimate - leaf.grad) / max(1.0, abs(leaf.grad))
        steps.append(Step(epsilon, estimate, math.inf if math.isnan(error) else error))
    return GradientCheck(leaf.data, leaf.grad, tuple(steps), tolerance)
