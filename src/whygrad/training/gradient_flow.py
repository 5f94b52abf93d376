"""``grad_flow``: how strong the gradients of a model are, parameter by parameter.

Ask between ``backward()`` and ``step()``.  Three numbers tell most of what can be wrong: the norm
of the gradient (vanishing, exploding), the norm of the weights, and how far one step will move them
in relation (around 1e-3 is usual).  A parameter without a gradient is not one whose gradient is
zero: the first was not reached by backward, the second was, and does not matter to the loss.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, log10
from pathlib import Path
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.nn.modules.module import Module
from whygrad.optim.lbfgs import LBFGS
from whygrad.optim.optimizer import Optimizer
from whygrad.tensor import Tensor
from whygrad.tensor.modes import no_grad
from whygrad.training.tables import as_html, as_text

__all__ = ["Flow", "GradFlow", "grad_flow"]

Measure = Callable[["Flow"], "float | None"]

_USUAL_RATIO = 1e-3
_WIDTH = 20  # of a bar, in characters


@dataclass
class Flow:
    """One parameter.  Norms are Euclidean; None where there is nothing to measure."""

    name: str
    shape: list[int]
    state: str  # "ok", "zero", "not finite", "no gradient" or "frozen"
    gradient: float | None
    weight: float
    update: float | None  # how far the optimizer would move it now

    @property
    def update_ratio(self) -> float | None:
        """The length of the update in relation to the weights."""
        return None if self.update is None or not self.weight else self.update / self.weight


@dataclass
class GradFlow:
    """What :func:`grad_flow` measured, in the order of the model's parameters."""

    flows: list[Flow]
    optimizer: str | None  # the class whose updates were measured

    def __getitem__(self, name: str) -> Flow:
        for flow in self.flows:
            if flow.name == name:
                return flow
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that ``json.dumps`` takes; numbers that are not finite become None."""
        names = ("name", "shape", "state", "gradient", "weight", "update", "update_ratio")
        rows = [{name: getattr(flow, name) for name in names} for flow in self.flows]
        for row in rows:
            for name in names[3:]:
                row[name] = _finite(row[name])
        return {"schema": "whygrad.grad_flow/1", "optimizer": self.optimizer, "parameters": rows}

    def __str__(self) -> str:
        rows, align = self._rows()
        return f"{as_text(rows, align)}{self._remark()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows, align = self._rows()
        return as_html(rows, align, self._remark().strip())

    def _rows(self) -> tuple[list[list[str]], str]:
        head = ["parameter", "gradient", "weight", "update/weight", "gradient, by powers of ten"]
        bar = _bars([flow.gradient for flow in self.flows])
        rows = [
            [
                flow.name,
                _number(flow.gradient),
                _number(flow.weight),
                _number(flow.update_ratio),
                bar(flow.gradient) if flow.state in ("ok", "zero") else flow.state,
            ]
            for flow in self.flows
        ]
        keep = [0, 1, 2, 4] if self.optimizer is None else [0, 1, 2, 3, 4]
        return [[row[column] for column in keep] for row in (head, *rows)], (
            "<>><" if self.optimizer is None else "<>>><"
        )

    def _remark(self) -> str:
        missing = [flow.name for flow in self.flows if flow.state == "no gradient"]
        if not missing:
            return ""
        names = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        return f"\n\nno gradient: {names}. whygrad.why_none(parameter, loss) says why"

    def draw(self, path: str | Path) -> Path:
        """Write the norms as a picture, SVG or PNG by the file's suffix."""
        try:
            from matplotlib.figure import Figure
        except ModuleNotFoundError as missing:
            raise fail(
                ModuleNotFoundError,
                call=f"draw({str(path)!r})",
                cause="pictures need matplotlib, which is not installed",
                fix="pip install 'whygrad[plot]', or print the table, which has bars",
            ) from missing
        panels: list[tuple[str, Measure]] = [("gradient norm", _gradient), ("weight norm", _weight)]
        if self.optimizer is not None:
            panels.append((f"update / weight, usual {_USUAL_RATIO:.0e}", _ratio))
        height = 1.2 + 0.25 * len(self.flows)
        figure = Figure(figsize=(3.2 * len(panels) + 1, height), layout="constrained")
        all_axes = figure.subplots(1, len(panels), sharey=True)
        for axes, (title, measure) in zip(all_axes, panels, strict=True):
            self._draw_panel(axes, measure)
            axes.set_title(title, fontsize="medium")
        if self.optimizer is not None:
            all_axes[-1].axvline(_USUAL_RATIO, color="gray", linestyle=":")
        target = Path(path)
        figure.savefig(target, dpi=150)
        return target

    def _draw_panel(self, axes: Any, measure: Measure) -> None:
        values = [_finite(measure(flow)) for flow in self.flows]
        places = range(len(values))
        axes.barh(places, [value or np.nan for value in values], color="#4878a8")
        axes.set_yticks(places, [flow.name for flow in self.flows], fontsize="small")
        axes.set_ylim(len(values) - 0.5, -0.5)  # the first layer on top
        if measure is not _weight and any(values):
            axes.set_xscale("log")
        for place, flow in enumerate(self.flows):
            if measure is _gradient and flow.state != "ok":
                where = {"xy": (0.02, place), "xycoords": ("axes fraction", "data")}
                axes.annotate(flow.state, **where, va="center", fontsize="small", color="#c62828")


def _gradient(flow: Flow) -> float | None:
    return flow.gradient


def _weight(flow: Flow) -> float | None:
    return flow.weight


def _ratio(flow: Flow) -> float | None:
    return flow.update_ratio


def grad_flow(model: Module, optimizer: Optimizer | None = None) -> GradFlow:
    """Gradient norm, weight norm and, with an optimizer, the update ratio of every parameter.

    The update is what ``optimizer.step()`` would do now; it is tried on copies, so neither the
    model nor the optimizer changes.  ``print`` shows a table with bars, ``draw(path)`` a picture.
    """
    if not isinstance(model, Module):
        raise fail(
            TypeError,
            call=f"grad_flow({describe(model)})",
            cause=f"a {type(model).__name__} has no parameters to go through",
            fix="pass an nn.Module",
        )
    updates = {} if optimizer is None else _updates(optimizer)
    flows = [
        _flow(name, parameter, updates.get(parameter))
        for name, parameter in model.named_parameters()
    ]
    return GradFlow(flows, None if optimizer is None else type(optimizer).__name__)


def _flow(name: str, parameter: Tensor, update: float | None) -> Flow:
    gradient = None if parameter.grad is None else _norm(parameter.grad)
    if gradient is None:
        state = "no gradient" if parameter.requires_grad else "frozen"
    elif not isfinite(gradient):
        state = "not finite"
    else:
        state = "ok" if gradient else "zero"
    return Flow(name, list(parameter.shape), state, gradient, _norm(parameter), update)


def _updates(optimizer: Optimizer) -> dict[Tensor, float]:
    """How far a step would move each parameter, tried on a copy of the optimizer."""
    if isinstance(optimizer, LBFGS):
        raise fail(
            ValueError,
            call="grad_flow(model, LBFGS)",
            cause="this optimizer computes the loss several times in a step, so there is no update "
            "to predict from the gradients that are there",
            fix="leave the optimizer out",
        )
    twin = copy.deepcopy(optimizer)
    twin._inside_step = True  # hooks around step() are not to see a step that does not happen
    pairs = [
        (parameter, copied)
        for group, twin_group in zip(optimizer.param_groups, twin.param_groups, strict=True)
        for parameter, copied in zip(group["params"], twin_group["params"], strict=True)
    ]
    with no_grad():
        for parameter, copied in pairs:
            copied.grad = None if parameter.grad is None else parameter.grad.detach().clone()
        twin.step()
        return {
            parameter: _norm(copied - parameter)
            for parameter, copied in pairs
            if parameter.grad is not None
        }


def _norm(tensor: Tensor) -> float:
    values = tensor.detach()
    if values.is_sparse:
        values = values.coalesce().values()
    with np.errstate(over="ignore"):
        wide = values.numpy().astype(np.complex128 if values.is_complex() else np.float64)
    return float(np.linalg.norm(wide.reshape(-1)))


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _number(number: float | None) -> str:
    return "–" if number is None else "0" if number == 0 else f"{number:.2e}"


def _bars(values: list[float | None]) -> Callable[[float | None], str]:
    """Bars whose length is the exponent: the smallest number gets one block, the largest all."""
    known = [log10(value) for value in values if value and isfinite(value)]
    low = min(known, default=0.0)
    span = max(max(known, default=0.0) - low, 1.0)

    def bar(value: float | None) -> str:
        if not value:
            return "zero"
        return "█" * (1 + round((log10(value) - low) / span * (_WIDTH - 1)))

    return bar
