"""Schedules that multiply the learning rate by a factor now and then, or every time."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from whygrad.optim.lr_scheduler.base import (
    LRScheduler,
    Rate,
    check_optimizer,
    refusal,
    state_of_function,
)
from whygrad.optim.optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "StepLR",
]

Factor = Callable[[int], float]


class StepLR(LRScheduler):
    """Multiply by ``gamma`` every ``step_size`` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._kept()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply by ``gamma`` at each of the ``milestones``."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._kept()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Rate]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiply by ``factor`` for the first ``total_iters`` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise refusal(
                self,
                ValueError,
                f"Constant multiplicative factor expected to be between 0 and 1, not {factor}",
                "give the part of the learning rate to begin with, such as 1/3",
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._kept()
        return self._scaled(1.0 / self.factor)

    def _get_closed_form_lr(self) -> list[Rate]:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From ``start_factor`` to ``end_factor`` of the learning rate in ``total_iters`` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise refusal(
                self,
                ValueError,
                "Starting multiplicative factor expected to be greater than 0 and less or equal to "
                f"1, not {start_factor}",
                "start with a small part of the learning rate, such as 1e-3, instead of with 0",
            )
        if not 0 <= end_factor <= 1:
            raise refusal(
                self,
                ValueError,
                f"Ending multiplicative factor expected to be between 0 and 1, not {end_factor}",
                "give the part of the learning rate to end with",
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._kept()
        rise = self.end_factor - self.start_factor
        reached = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._scaled(1.0 + rise / reached)

    def _get_closed_form_lr(self) -> list[Rate]:
        rise = self.end_factor - self.start_factor
        done = min(self.total_iters, self.last_epoch)
        return [base * (self.start_factor + rise * done / self.total_iters)
                for base in self.base_lrs]  # fmt: skip


class PolynomialLR(LRScheduler):
    """lr·(1 − t/total_iters)^power, down to 0."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._kept()
        left = 1.0 - self.last_epoch / self.total_iters
        left_before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((left / left_before) ** self.power)

    def _get_closed_form_lr(self) -> list[Rate]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply by ``gamma`` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        return self._kept() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class _ByFunction(LRScheduler):
    """The factor is a function of the epoch, one for all groups or one per group.

    ``state_dict()`` has the attributes of functions that are objects; plain functions and lambdas
    are not saved.
    """

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1
    ) -> None:
        groups = len(check_optimizer(optimizer).param_groups)
        given: Any = lr_lambda
        functions = list(given) if isinstance(given, (list, tuple)) else [given] * groups
        if len(functions) != groups:
            raise refusal(
                self,
                ValueError,
                f"Expected {groups} lr_lambdas, but got {len(functions)}",
                "give one function for all groups, or a list with one per group",
            )
        for each in functions:
            if not callable(each):
                raise refusal(
                    self,
                    TypeError,
                    f"lr_lambda should be a function, but got {type(each).__name__}",
                    "give a function of the epoch: lambda epoch: 0.95**epoch",
                )
        self.lr_lambdas = functions
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | {"lr_lambdas": list(map(state_of_function, self.lr_lambdas))}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        functions = self.lr_lambdas
        super().load_state_dict(state_dict)
        self.lr_lambdas = functions
        for function, attributes in zip(functions, state_dict["lr_lambdas"]):
            function.__dict__.update(attributes or {})


class LambdaLR(_ByFunction):
    """The initial learning rate times ``lr_lambda(epoch)``."""

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class MultiplicativeLR(_ByFunction):
    """The learning rate times ``lr_lambda(epoch)``, every epoch anew."""

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        if self._is_initial:
            return self._kept()
        pairs = zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        return [group["lr"] * function(self.last_epoch) for function, group in pairs]
