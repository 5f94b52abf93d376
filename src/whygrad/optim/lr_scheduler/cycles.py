"""Schedules that raise and lower the learning rate, with the momentum the other way round."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from whygrad.optim.lr_scheduler.base import (
    LRScheduler,
    Rate,
    check_optimizer,
    per_group,
    refusal,
    set_option,
    state_of_function,
)
from whygrad.optim.optimizer import Optimizer

__all__ = ["CyclicLR", "OneCycleLR"]


class _WithMomentum(LRScheduler):
    """Sets ``momentum``, or the first of ``betas``, along with the learning rate."""

    cycle_momentum: bool
    use_beta1: bool

    def _prepare_momentum(self, lowest: Any, highest: Any, last_epoch: int) -> list[list[Any]]:
        """The limits per group, lowest first; the groups start at the highest."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise refusal(
                self,
                ValueError,
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled",
                "pass cycle_momentum=False",
            )
        self.use_beta1 = "betas" in optimizer.defaults
        limits = [
            per_group("base_momentum", optimizer, lowest),
            per_group("max_momentum", optimizer, highest),
        ]
        if last_epoch == -1:
            for low, high, group in zip(*limits, optimizer.param_groups, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"] = high
                group["base_momentum"] = low
        return limits

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """From ``base_lr`` to ``max_lr`` in ``step_size_up`` steps and back, again and again.

    ``mode`` says how the height of the triangles changes: not (``"triangular"``), by half each time
    (``"triangular2"``), or by ``gamma`` each step (``"exp_range"``); ``scale_fn`` is a function for
    it of one's own, of the number of the cycle or, ``scale_mode="iterations"``, of the step.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            fix = "choose 'triangular', 'triangular2' or 'exp_range', or give a scale_fn"
            raise refusal(self, ValueError, "mode is invalid and scale_fn is None", fix)
        base_lrs = per_group("base_lr", optimizer, base_lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_option(group, "lr", rate)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            limits = self._prepare_momentum(base_momentum, max_momentum, last_epoch)
            self.base_momentums, self.max_momentums = limits
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, or of the triangle at a step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return 1 / 2.0 ** (x - 1)
        return self.gamma**x if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        passed = 1.0 + self.last_epoch / self.total_size - cycle
        rising = passed <= self.step_ratio
        way = passed / self.step_ratio if rising else (passed - 1) / (self.step_ratio - 1)
        height = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            limits = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, limits, strict=True):
                self._set_momentum(group, high - (high - low) * way * height)
        limits = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * way * height for low, high in limits]

    def state_dict(self) -> dict[str, Any]:
        own_function = state_of_function(self._scale_fn_custom)
        return super().state_dict() | {"_scale_fn_custom": own_function}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        function = self._scale_fn_custom
        super().load_state_dict(state_dict)
        self._scale_fn_custom = function
        if function is not None:
            function.__dict__.update(state_dict["_scale_fn_custom"] or {})


def _cosine(start: Any, end: Any, part: float) -> Any:
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _linear(start: Any, end: Any, part: float) -> Any:
    return (end - start) * part + start


_ANNEALING = {"cos": _cosine, "linear": _linear}


class OneCycleLR(_WithMomentum):
    """Up to ``max_lr`` in the first ``pct_start`` of the steps, then down to nearly nothing.

    It starts at max_lr/``div_factor`` and ends at that divided by ``final_div_factor``; with
    ``three_phase`` it first goes down as it came up.  Call ``step()`` after every batch.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        self.total_steps = self._total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            cause = f"Expected float between 0 and 1 pct_start, but got {pct_start}"
            raise refusal(self, ValueError, cause, "give the part of all steps that go up: 0.3")
        if anneal_strategy not in _ANNEALING:
            cause = "anneal_strategy must be one of 'cos' or 'linear', instead got "
            raise refusal(self, ValueError, f"{cause}{anneal_strategy}", "choose one of the two")
        self._schedule_phases = _phases(pct_start, self.total_steps, three_phase)
        self._anneal_func_type = anneal_strategy
        top = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for rate, group in zip(top, optimizer.param_groups, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._prepare_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _total(self, steps: int | None, epochs: int | None, per_epoch: int | None) -> int:
        given = {"total_steps": steps}
        if steps is None:
            given = {"epochs": epochs, "steps_per_epoch": per_epoch}
        for name, count in given.items():
            cause = None
            if count is None:
                cause = "You must define either total_steps OR (epochs AND steps_per_epoch)"
            elif not isinstance(count, int) or count <= 0:
                cause = f"Expected positive integer {name}, but got {count}"
            if cause is not None:
                fix = "pass epochs=…, steps_per_epoch=len(loader)"
                raise refusal(self, ValueError, cause, fix)
        return math.prod(given.values())  # type: ignore[arg-type]

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise refusal(
                self,
                ValueError,
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}",
                "count one step per batch: total_steps = epochs * len(loader)",
            )
        start = 0.0
        phase = self._schedule_phases[0]
        for number, phase in enumerate(self._schedule_phases, 1):
            if step <= phase["end_step"] or number == len(self._schedule_phases):
                break
            start = phase["end_step"]
        part = (step - start) / (phase["end_step"] - start)
        between = _ANNEALING[self._anneal_func_type]
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, between(*ends, part))
        return rates


def _phases(pct_start: float, total: int, three: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and between which of a group's numbers it goes."""

    def phase(end: float, *names: str) -> dict[str, Any]:
        keys = ("start_lr", "end_lr", "start_momentum", "end_momentum")
        return {"end_step": end, **dict(zip(keys, names))}

    up = phase(pct_start * total - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three:
        return [up, phase(total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    return [
        up,
        phase(2 * pct_start * total - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
        phase(total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
    ]
