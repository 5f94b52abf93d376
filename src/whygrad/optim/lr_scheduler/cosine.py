"""Schedules that follow half a cosine from the learning rate down to ``eta_min``."""

from __future__ import annotations

import math
from typing import Any

from whygrad.optim.lr_scheduler.base import LRScheduler, Rate, current, refusal, set_option
from whygrad.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts"]


class CosineAnnealingLR(LRScheduler):
    """Down to ``eta_min`` in ``T_max`` epochs; after that the cosine goes up again."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        low, epoch, groups = self.eta_min, self.last_epoch, self.optimizer.param_groups
        if self._is_initial:
            return self._kept()
        if self._step_count == 1 and epoch > 0:
            return [low + (base - low) * (1 + math.cos(epoch * math.pi / self.T_max)) / 2
                    for base in self.base_lrs]  # fmt: skip
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # at the bottom: 0/0 by the formula
            rise = 1 - math.cos(math.pi / self.T_max)
            pairs = zip(self.base_lrs, groups, strict=True)
            return [group["lr"] + (base - low) * rise / 2 for base, group in pairs]
        now = 1 + math.cos(math.pi * epoch / self.T_max)
        before = 1 + math.cos(math.pi * (epoch - 1) / self.T_max)
        return [now / before * (group["lr"] - low) + low for group in groups]

    def _get_closed_form_lr(self) -> list[Rate]:
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down to ``eta_min`` in ``T_0`` epochs, then at the top again, each time ``T_mult`` longer."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        wrong = None
        if not isinstance(T_0, int) or T_0 <= 0:
            wrong = f"Expected positive integer T_0, but got {T_0}"
        elif not isinstance(T_mult, int) or T_mult < 1:
            wrong = f"Expected integer T_mult >= 1, but got {T_mult}"
        elif not isinstance(eta_min, (float, int)):
            wrong = f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
        if wrong is not None:
            fix = "T_0 counts epochs to the first restart, T_mult is how much longer each time"
            raise refusal(self, ValueError, wrong, fix)
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Set the next learning rates; ``epoch`` may be a fraction, to step after every batch."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            fix = "count epochs from 0"
            raise refusal(self, ValueError, f"Expected non-negative epoch, but got {epoch}", fix)
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_i = self.T_0 * self.T_mult**restarts
            self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
        self.last_epoch = math.floor(epoch)
        with self._within_step():
            rates = self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_option(group, "lr", rate)
        self._last_lr = current(self.optimizer, "lr")
