"""How the error of a finite difference depends on the step.

Too large a step and the curve of the function shows (truncation); too small and the subtraction
loses digits (cancellation).  Between them lies the bottom of a U, and central differences reach
about twice as many digits as forward ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whygrad.autograd.checks.gradcheck import (
    GradcheckError,
    Report,
    _Check,
    _reason_to_refuse,
    _unit,
)
from whygrad.autograd.checks.numeric import Function
from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = ["Sweep", "gradcheck_sweep"]

DIRECTIONS = 8


@dataclass
class Sweep:
    """Relative error of the directional derivative for each step size."""

    epsilons: Any
    central: Any
    forward: Any

    def digits(self, kind: str, eps: float) -> float:
        """Correct digits of the ``central`` or ``forward`` difference near the step ``eps``."""
        errors = self.central if kind == "central" else self.forward
        nearest = int(np.argmin(np.abs(np.log(self.epsilons) - np.log(eps))))
        return float(-np.log10(max(errors[nearest], np.finfo(float).tiny)))

    def best(self, kind: str) -> tuple[float, float]:
        """The step with the smallest error, and that error."""
        errors = self.central if kind == "central" else self.forward
        at = int(np.argmin(errors))
        return float(self.epsilons[at]), float(errors[at])

    def __str__(self) -> str:
        rows = ["   epsilon     central     forward"]
        rows += [
            f"  {eps:8.0e}    {central:8.1e}    {forward:8.1e}"
            for eps, central, forward in zip(self.epsilons, self.central, self.forward)
        ]
        for kind in ("central", "forward"):
            eps, error = self.best(kind)
            rows.append(f"{kind}: best step {eps:.0e}, relative error {error:.1e}")
        return "\n".join(rows)

    def draw(self, path: str | Path) -> Path:
        """Write the two curves as SVG or PNG, by the file's suffix."""
        try:
            from matplotlib.figure import Figure
        except ModuleNotFoundError as missing:
            raise fail(
                ModuleNotFoundError,
                call=f"draw({str(path)!r})",
                cause="pictures need matplotlib, which is not installed",
                fix="pip install 'whygrad[plot]'",
            ) from missing
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.add_subplot()
        floor = np.finfo(float).eps
        for label, errors, marker in (
            ("central  (f(x+ε) − f(x−ε)) / 2ε", self.central, "o"),
            ("forward  (f(x+ε) − f(x)) / ε", self.forward, "s"),
        ):
            axes.loglog(self.epsilons, np.maximum(errors, floor), marker=marker, label=label)
        axes.invert_xaxis()
        axes.set_xlabel("step ε")
        axes.set_ylabel("relative error of the derivative")
        axes.set_title("Large steps: truncation. Small steps: cancellation.")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend()
        target = Path(path)
        figure.savefig(target, dpi=150)
        return target


def gradcheck_sweep(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    epsilons: Sequence[float] | None = None,
) -> Sweep:
    """Measure central and forward differences against autograd for steps from 1e-1 to 1e-12."""
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    refused = _reason_to_refuse(arguments)
    if refused:
        raise GradcheckError(Report(refused=refused))
    function = Function(func, arguments)
    steps = np.logspace(-1, -12, 23) if epsilons is None else np.asarray(epsilons, dtype=float)
    rng = np.random.default_rng(0)
    directions = [[_unit(rng, v.shape) for v in function.values] for _ in range(DIRECTIONS)]
    check = _Check(function, 1e-6, 0.0, 0.0, 0.0, Report())
    exact = [_joined(check.push(list(direction))) for direction in directions]
    here = _joined(function.plain(function.values))
    scale = float(np.linalg.norm(exact)) or 1.0

    def shifted(direction: list[Any], step: float) -> Any:
        return _joined(
            function.plain([v + step * d for v, d in zip(function.values, direction, strict=True)])
        )

    central, forward = [], []
    for eps in steps:
        above = [shifted(direction, eps) for direction in directions]
        below = [shifted(direction, -eps) for direction in directions]
        central.append(_error([(a - b) / (2 * eps) for a, b in zip(above, below)], exact, scale))
        forward.append(_error([(a - here) / eps for a in above], exact, scale))
    return Sweep(steps, np.array(central), np.array(forward))


def _joined(outputs: list[Any]) -> Any:
    return np.concatenate([np.reshape(out, -1) for out in outputs])


def _error(estimates: list[Any], exact: list[Any], scale: float) -> float:
    return float(np.linalg.norm(np.array(estimates) - np.array(exact))) / scale
