"""Schedules made of schedules: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from whygrad.optim.lr_scheduler.base import LRScheduler, current, refusal, set_option
from whygrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from whygrad.optim.optimizer import Optimizer

__all__ = ["ChainedScheduler", "SequentialLR"]


class _OfSeveral(LRScheduler):
    _schedulers: Sequence[LRScheduler]

    def _check(self, optimizer: Optimizer | None, schedulers: Sequence[LRScheduler]) -> Optimizer:
        """The optimizer of all of them."""
        name = type(self).__name__
        if not schedulers:
            cause = f"{name} expects at least one scheduler, but got no scheduler"
            raise refusal(self, ValueError, cause, "pass a list of schedules")
        for index, each in enumerate(schedulers):
            if not hasattr(each, "optimizer"):
                cause = f"{name} at index {index} should have `optimizer` as its attribute"
                raise refusal(self, TypeError, cause, "pass schedules, made with the optimizer")
            if isinstance(each, ReduceLROnPlateau):
                raise refusal(
                    self,
                    ValueError,
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    f"additional kwargs to be specified when calling `step`, but got one at index "
                    f"{index}",
                    "call step(metric) of that one by itself",
                )
            optimizer = each.optimizer if optimizer is None else optimizer
            if each.optimizer is not optimizer:
                raise refusal(
                    self,
                    ValueError,
                    f"{name} expects all schedulers to belong to the same optimizer, but the "
                    f"{type(each).__name__} at index {index} has another",
                    "make all of them with the optimizer given here",
                )
        assert optimizer is not None
        return optimizer

    def state_dict(self) -> dict[str, Any]:
        inner = [each.state_dict() for each in self._schedulers]
        return super().state_dict() | {"_schedulers": inner}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        schedulers = self._schedulers
        super().load_state_dict(state_dict)
        self._schedulers = schedulers
        for each, state in zip(schedulers, state_dict["_schedulers"]):
            each.load_state_dict(state)


class SequentialLR(_OfSeveral):
    """The first schedule up to the first of ``milestones``, then the second, and so on."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = self._check(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise refusal(
                self,
                ValueError,
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}",
                "give the epoch at which each schedule but the first begins",
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:  # each schedule has had its first say on them
            set_option(group, "lr", group["initial_lr"])
        _undo(schedulers)
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Set the next learning rates; call it after ``optimizer.step()``."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        chosen = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            chosen._update_lr(0)
        else:
            chosen.step()
        self._last_lr = chosen.get_last_lr()


def _undo(schedulers: Sequence[LRScheduler]) -> None:
    """Every schedule is at its beginning again, also inside others."""
    waiting = list(schedulers)
    while waiting:
        each = waiting.pop()
        if isinstance(each, _OfSeveral):
            waiting.extend(each._schedulers)
        else:
            each.last_epoch -= 1


class ChainedScheduler(_OfSeveral):
    """All schedules step at once: each changes what the one before it left."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self.optimizer = self._check(optimizer, schedulers)
        self._schedulers = schedulers
        self._last_lr = current(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Set the next learning rates; call it after ``optimizer.step()``."""
        for each in self._schedulers:
            each.step()
        self._last_lr = current(self.optimizer, "lr")
