"""Averages of a model's weights: stochastic weight averaging, exponential moving averages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

from whygrad.errors import fail
from whygrad.nn import Module
from whygrad.nn.modules.batchnorm import _BatchNorm
from whygrad.ops import functions
from whygrad.optim.lr_scheduler.base import LRScheduler, Rate, per_group, refusal
from whygrad.optim.optimizer import Optimizer
from whygrad.tensor import Tensor, dtypes
from whygrad.tensor.modes import no_grad

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Tensor | int], Tensor]
Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Tensor | int], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """average ← decay·average + (1 − decay)·current, of one tensor."""
    _check_decay("get_ema_avg_fn", decay)

    @no_grad()
    def average(ema_param: Tensor, current_param: Tensor, num_averaged: Tensor | int) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """average ← decay·average + (1 − decay)·current, of a list of tensors, in place."""
    _check_decay("get_ema_multi_avg_fn", decay)

    @no_grad()
    def average(
        ema_param_list: Sequence[Tensor],
        current_param_list: Sequence[Tensor],
        num_averaged: Tensor | int,
    ) -> None:
        for mean, current in zip(ema_param_list, current_param_list, strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(current, 1 - decay)
            else:
                mean.copy_(mean * decay + current * (1 - decay))

    return average


def get_swa_avg_fn() -> Average:
    """The mean of all values so far, of one tensor."""

    @no_grad()
    def average(
        averaged_param: Tensor, current_param: Tensor, num_averaged: Tensor | int
    ) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return average


def get_swa_multi_avg_fn() -> Averages:
    """The mean of all values so far, of a list of tensors, in place."""

    @no_grad()
    def average(
        averaged_param_list: Sequence[Tensor],
        current_param_list: Sequence[Tensor],
        num_averaged: Tensor | int,
    ) -> None:
        weight = float(1 / (num_averaged + 1))  # of a tensor: rounded to the default dtype
        for mean, current in zip(averaged_param_list, current_param_list, strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(current, weight)
            else:
                mean.copy_(mean + (current - mean) * weight)

    return average


def _check_decay(name: str, decay: float) -> None:
    if not 0 <= decay <= 1:
        raise fail(
            ValueError,
            call=f"{name}({decay})",
            cause=f"Invalid decay value {decay}: it is the share that the average keeps",
            fix="give a number from 0 to 1, such as 0.999",
        )


class AveragedModel(Module):
    """A copy of ``model`` whose parameters are averages over the calls of ``update_parameters``.

    Without ``avg_fn`` and ``multi_avg_fn`` it is the mean of all.  With ``use_buffers`` buffers are
    averaged as well, otherwise they are those of the model at the last call.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise fail(
                AssertionError,
                call="AveragedModel(…, avg_fn=…, multi_avg_fn=…)",
                cause="Only one of avg_fn and multi_avg_fn should be provided",
                fix="leave one of them out",
            )
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        count = functions["tensor"](0, dtype=dtypes.int64, device=device)
        self.register_buffer("n_averaged", count)
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged model's answer."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the values ``model`` has now into the averages; the first call copies them."""
        own, given = self._averaged(self.module), self._averaged(model)
        if not self.n_averaged.item():
            for mean, current in zip(own, given):
                mean.copy_(current)
        elif self.multi_avg_fn is not None:
            for means, currents in _by_dtype(own, given):
                self.multi_avg_fn(means, currents, self.n_averaged)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for mean, current in zip(own, given):
                mean.copy_(average(mean, current.to(mean.device), self.n_averaged))
        if not self.use_buffers:
            for buffer, current in zip(self.module.buffers(), model.buffers(), strict=True):
                buffer.detach().copy_(current.detach())
        self.n_averaged.add_(1)

    def _averaged(self, model: Module) -> list[Tensor]:
        buffers = model.buffers() if self.use_buffers else ()
        return [each.detach() for each in chain(model.parameters(), buffers)]


def _by_dtype(
    own: list[Tensor], given: list[Tensor]
) -> Iterable[tuple[list[Tensor], list[Tensor]]]:
    """Averaging functions for lists rely on lists of one dtype, as in PyTorch."""
    groups: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
    for mean, current in zip(own, given):
        means, currents = groups.setdefault((mean.device, mean.dtype), ([], []))
        means.append(mean)
        currents.append(current.to(mean.device))
    return groups.values()


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch normalization anew, from one pass over ``loader``.

    A batch is a tensor, or a list or tuple whose first entry is passed to ``model``.
    """
    layers = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    was_training = model.training
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the mean over all batches
    model.train()
    try:
        for batch in loader:
            data = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(data if device is None else data.to(device))
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """Go from each group's learning rate to ``swa_lr`` in ``anneal_epochs``, and stay there."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise refusal(
                self,
                ValueError,
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}",
                "pass 'cos' or 'linear'",
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise refusal(
                self,
                ValueError,
                f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}",
                "give the number of epochs as an int",
            )
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How far the learning rate has come at the fraction ``t`` of the way."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (
            self.anneal_func(max(0, min(1, count / max(1, self.anneal_epochs))))
            for count in (step - 1, step)
        )
        rates: list[Rate] = []
        for group in self.optimizer.param_groups:
            rate, target = group["lr"], group["swa_lr"]
            # the rate this way started from, since somebody may have changed it in between
            start = target if before == 1 else (rate - before * target) / (1 - before)
            rates.append(target * now + start * (1 - now))
        return rates
