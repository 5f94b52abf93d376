"""LRScheduler: the learning rate as a function of how often ``step()`` was called.

A schedule gives the next learning rates in ``get_lr``, usually from the current ones, so schedules
of one optimizer can be combined and a user may change a learning rate in between.  Some also have a
closed form in the number of the epoch, for ``step(epoch)``.  All attributes but the optimizer are
the state; their names are PyTorch's, so a saved schedule can be read on both sides.
"""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from whygrad.errors import describe, fail
from whygrad.optim.optimizer import Optimizer
from whygrad.tensor import Tensor

__all__ = [
    "LRScheduler",
    "Rate",
    "check_optimizer",
    "current",
    "per_group",
    "refusal",
    "set_option",
    "state_of_function",
]

Rate = float | Tensor


class LRScheduler:
    """The base of schedules: subclass it and define ``get_lr``."""

    optimizer: Optimizer
    base_lrs: list[Rate]
    last_epoch: int
    _last_lr: list[Rate]
    _step_count: int
    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = check_optimizer(optimizer)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise refusal(
                    self,
                    KeyError,
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming "
                    "scheduler with last_epoch >= 0",
                    "load the state of the optimizer first; leave last_epoch out in a new run",
                )
        self.base_lrs = current(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where the schedule that saved ``state_dict`` stood."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Rate]:
        """The learning rates of the groups, as this schedule last set them."""
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """The next learning rates; for subclasses to define and for ``step`` to call."""
        raise refusal(
            self,
            NotImplementedError,
            f"{type(self).__name__} does not define get_lr()",
            "return a list with a learning rate per group",
        )

    def _get_closed_form_lr(self) -> list[Rate]:
        """The learning rates of epoch ``last_epoch``, whatever they are now."""
        return self.get_lr()

    def step(self, epoch: int | None = None) -> None:
        """Set the next learning rates; call it after ``optimizer.step()``."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first value "
                "of the learning rate schedule is skipped. Call `optimizer.step()` first, then "
                "`lr_scheduler.step()`.",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warn_epoch(stacklevel=3)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._within_step():
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = self._get_closed_form_lr()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_option(group, "lr", rate)
        self._last_lr = current(self.optimizer, "lr")

    @contextmanager
    def _within_step(self) -> Iterator[None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside_step(self) -> None:
        """For ``get_lr``, which gives the *next* rates."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _kept(self) -> list[Rate]:
        return current(self.optimizer, "lr")

    def _scaled(self, factor: float) -> list[Rate]:
        return [group["lr"] * factor for group in self.optimizer.param_groups]


def warn_epoch(stacklevel: int) -> None:
    warnings.warn(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
        "possible. Call `scheduler.step()`; with an epoch the closed form of the schedule is used "
        "instead of the chainable one, where there is one.",
        UserWarning,
        stacklevel=stacklevel + 1,
    )


def refusal(scheduler: object, kind: type[Exception], cause: str, fix: str) -> Exception:
    return fail(kind, call=f"{type(scheduler).__name__}(…)", cause=cause, fix=fix)


def check_optimizer(optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise fail(
            TypeError,
            call=f"a learning rate schedule for {describe(optimizer)}",
            cause=f"{type(optimizer).__name__} is not an Optimizer",
            fix="pass the optimizer first: StepLR(optimizer, 10)",
        )
    return optimizer


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


def current(optimizer: Optimizer, option: str) -> list[Any]:
    """An option of every group; tensors are copied, so nobody changes the option by accident."""
    return [_copy(group[option]) for group in optimizer.param_groups]


def set_option(group: dict[str, Any], option: str, value: Any) -> None:
    """Change an option; one that is a tensor stays the same tensor."""
    if isinstance(group[option], Tensor):
        group[option].fill_(float(value))
    else:
        group[option] = value


def per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """One value per group, from one for all or from a list."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [_copy(value) for _ in range(groups)]
    if len(value) != groups:
        raise fail(
            ValueError,
            call=f"{name}={describe(value)}",
            cause=f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {groups}",
            fix="give one number for all groups, or a list with one per group",
        )
    return [_copy(each) for each in value]


def state_of_function(function: Callable[..., Any] | None) -> dict[str, Any] | None:
    """What of a user's function can be saved: the attributes of a callable object."""
    if function is None or isinstance(function, types.FunctionType):
        return None
    return function.__dict__.copy()
