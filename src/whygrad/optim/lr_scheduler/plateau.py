"""A schedule that looks at how training goes."""

from __future__ import annotations

from math import inf
from typing import Any, SupportsFloat

from whygrad.optim.lr_scheduler.base import (
    LRScheduler,
    check_optimizer,
    current,
    refusal,
    set_option,
    warn_epoch,
)
from whygrad.optim.optimizer import Optimizer

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """Multiply by ``factor`` when a metric has not become better for ``patience`` steps.

    Better means smaller, or larger with ``mode="max"``, by more than ``threshold``: relative to the
    best so far, or absolute with ``threshold_mode="abs"``.  After a reduction it waits for
    ``cooldown`` steps before it counts again.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        groups = len(optimizer.param_groups)
        several = isinstance(min_lr, (list, tuple))
        lowest: list[float] = list(min_lr) if several else [min_lr] * groups
        wrong = None
        if factor >= 1.0:
            wrong = f"Factor should be < 1.0, not {factor}"
        elif mode not in ("min", "max"):
            wrong = f"mode {mode} is unknown! There are 'min' and 'max'"
        elif threshold_mode not in ("rel", "abs"):
            wrong = f"threshold mode {threshold_mode} is unknown! There are 'rel' and 'abs'"
        elif len(lowest) != groups:
            wrong = f"expected {groups} min_lrs, got {len(lowest)}"
        if wrong is not None:
            raise refusal(self, ValueError, wrong, "see help(ReduceLROnPlateau)")
        self.factor = factor
        self.default_min_lr = None if several else lowest[0]
        self.min_lrs = lowest
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = current(optimizer, "lr")
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse = inf if mode == "min" else -inf
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Note the metric, and reduce the learning rates if it is time to."""
        metric = float(metrics)
        if epoch is not None:
            warn_epoch(stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(metric):
            self.best = metric
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = current(self.optimizer, "lr")

    @property
    def in_cooldown(self) -> bool:
        """Whether it waits after a reduction."""
        return self.cooldown_counter > 0

    def _is_better(self, metric: float) -> bool:
        by = self.threshold
        if self.mode == "min":
            needed = self.best * (1.0 - by) if self.threshold_mode == "rel" else self.best - by
            return metric < needed
        needed = self.best * (by + 1.0) if self.threshold_mode == "rel" else self.best + by
        return metric > needed

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise refusal(
                    self,
                    RuntimeError,
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from "
                    f"when `ReduceLROnPlateau` was initialized ({len(self.min_lrs)})",
                    "a group was added since: append its smallest learning rate to min_lrs",
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, lowest in zip(groups, self.min_lrs, strict=True):
            before = float(group["lr"])
            after = max(before * self.factor, lowest)
            if before - after > self.eps:
                set_option(group, "lr", after)
