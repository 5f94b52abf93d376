"""Loss scaling: small float16 gradients survive because the loss was multiplied first.

``scale`` multiplies, ``step`` divides the gradients again and skips the step if one of them is not
finite, ``update`` makes the factor larger after a row of good steps and smaller after a bad one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from enum import Enum
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, dtypes, modes

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What has happened to an optimizer's gradients since the last ``update``."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Progress:
    """One optimizer between two updates."""

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.found_inf: bool | None = None  # None: its gradients have not been looked at


class GradScaler:
    """Scales losses and takes steps with gradients that were scaled back.

    On ``"cuda"`` (the default, as in PyTorch) it warns and does nothing, as there without a GPU.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        if enabled and device == "cuda":
            warnings.warn(
                "GradScaler is enabled, but CUDA is not available: it does nothing; "
                "GradScaler('cpu') scales",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._init_scale = init_scale
        self._init_growth_tracker = 0
        self._scale: Tensor | None = None
        self._growth_tracker = 0
        self._progress: WeakKeyDictionary[Any, _Progress] = WeakKeyDictionary()
        if enabled:
            self._growth_factor = self._backoff_factor = 0.0
            self.set_growth_factor(growth_factor)
            self.set_backoff_factor(backoff_factor)
            self._growth_interval = growth_interval

    # --- the three calls of a training step -------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """``outputs`` (a tensor, or tensors in lists and tuples) times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._factor()
        if isinstance(outputs, Iterable):
            scaled = [self.scale(each) for each in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else iter(scaled)
        raise fail(
            ValueError,
            call=f"scale({describe(outputs)})",
            cause="outputs must be a Tensor or an iterable of Tensors",
            fix="pass the loss itself, not loss.item()",
        )

    def unscale_(self, optimizer: Any) -> None:
        """Divide the optimizer's gradients by the factor, perhaps to clip them before a step."""
        if not self._enabled:
            return
        self._need_factor("unscale_")
        progress = self._of(optimizer)
        if progress.stage is not OptState.READY:
            raise fail(
                RuntimeError,
                call="unscale_(optimizer)",
                cause="unscale_() has already been called on this optimizer since the last update()"
                if progress.stage is OptState.UNSCALED
                else "unscale_() is being called after step()",
                fix="call scale, backward, unscale_, step and update once each, in this order",
            )
        progress.found_inf = self._divide(optimizer)
        progress.stage = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)`` with divided gradients; nothing if one is not finite.

        Returns what the optimizer's step returned, or None.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise fail(
                RuntimeError,
                call="step(optimizer, closure=…)",
                cause="Closure use is not currently supported if GradScaler is enabled: the "
                "gradients of a further evaluation would not be divided",
                fix="use GradScaler(enabled=False) with this optimizer",
            )
        self._need_factor("step")
        progress = self._of(optimizer)
        if progress.stage is OptState.STEPPED:
            raise fail(
                RuntimeError,
                call="step(optimizer)",
                cause="step() has already been called since the last update()",
                fix="call update() at the end of every training step",
            )
        if progress.stage is OptState.READY:
            self.unscale_(optimizer)
        if progress.found_inf is None:
            raise fail(
                AssertionError,
                call="step(optimizer)",
                cause="No inf checks were recorded for this optimizer: none of its parameters "
                "has a gradient",
                fix="call scaler.scale(loss).backward() first",
            )
        result = None if progress.found_inf else optimizer.step(*args, **kwargs)
        progress.stage = OptState.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """Choose the factor of the next step, or set it to ``new_scale``."""
        if not self._enabled:
            return
        factor = self._need_factor("update")
        if new_scale is not None:
            self._set(factor, new_scale)
        else:
            looked_at = [each.found_inf for each in self._progress.values()]
            known = [each for each in looked_at if each is not None]
            if not known:
                raise fail(
                    AssertionError,
                    call="update()",
                    cause="No inf checks were recorded prior to update: no optimizer took a step",
                    fix="call step(optimizer) before update()",
                )
            self._adapt(factor, any(known))
        self._progress = WeakKeyDictionary()

    # --- inside -----------------------------------------------------------------------------------

    def _factor(self) -> Tensor:
        if self._scale is None:
            self._scale = _number(self._init_scale)
            self._growth_tracker = self._init_growth_tracker
        return self._scale

    def _need_factor(self, call: str) -> Tensor:
        if self._scale is None:
            raise fail(
                AssertionError,
                call=f"{call}()",
                cause=f"Attempted {call} but _scale is None: nothing has been scaled yet",
                fix="use scaler.scale(loss).backward() in place of loss.backward()",
            )
        return self._scale

    def _of(self, optimizer: Any) -> _Progress:
        progress = self._progress.get(optimizer)
        if progress is None:
            progress = self._progress[optimizer] = _Progress()
        return progress

    def _divide(self, optimizer: Any) -> bool | None:
        """Whether a gradient was not finite; None if there is no gradient at all."""
        inverse = np.float32(1.0 / self._factor().double().item())
        gradients = [
            param.grad
            for group in optimizer.param_groups
            for param in group["params"]
            if param.grad is not None
        ]
        for gradient in gradients:
            if gradient.dtype is dtypes.float16:
                raise fail(
                    ValueError,
                    call="unscale_(optimizer)",
                    cause="Attempting to unscale FP16 gradients: dividing in float16 would lose "
                    "what the factor has saved",
                    fix="keep the parameters in float32 and use autocast for the forward pass",
                )
        bad = False
        with modes.no_grad():
            for gradient in gradients:
                values = gradient._values() if gradient.is_sparse else gradient
                bad = bad or not bool(values.isfinite().all())
                values.mul_(float(inverse))
        return bad if gradients else None

    def _adapt(self, factor: Tensor, bad: bool) -> None:
        if bad:
            self._growth_tracker = 0
            factor.mul_(self._backoff_factor)
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = factor * self._growth_factor
            if bool(grown.isfinite()):
                factor.copy_(grown)
            self._growth_tracker = 0

    def _set(self, factor: Tensor, new_scale: Any) -> None:
        if isinstance(new_scale, (int, float)):
            factor.fill_(new_scale)
            return
        fits = isinstance(new_scale, Tensor) and new_scale.numel() == 1
        if not fits or new_scale.dtype is not dtypes.float32 or new_scale.requires_grad:
            raise fail(
                AssertionError,
                call=f"update({describe(new_scale)})",
                cause="new_scale should be a float or a float32 tensor of one element that does "
                "not require grad",
                fix="pass a number: scaler.update(1024.0)",
            )
        factor.copy_(new_scale.reshape(()))

    # --- settings and state -----------------------------------------------------------------------

    def is_enabled(self) -> bool:
        """Whether it scales."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor; 1 if it does not scale."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale if self._scale is None else self._scale.item())

    def get_growth_factor(self) -> float:
        """By how much the factor grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """By how much the factor is to grow; more than 1."""
        self._growth_factor = _require(new_factor > 1.0, "growth factor must be > 1.0", new_factor)

    def get_backoff_factor(self) -> float:
        """By how much the factor shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """By how much the factor is to shrink; less than 1."""
        self._backoff_factor = _require(
            new_factor < 1.0, "backoff factor must be < 1.0", new_factor
        )

    def get_growth_interval(self) -> int:
        """After how many good steps in a row the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """After how many good steps in a row the factor is to grow."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """What to save; empty if it does not scale."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker
            if self._scale is not None
            else self._init_growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue as ``state_dict`` says."""
        if not self._enabled:
            return
        if not state_dict:
            raise fail(
                RuntimeError,
                call="load_state_dict({})",
                cause="The source state dict is empty, possibly because it was saved from a "
                "disabled instance of GradScaler",
                fix="load it only if scaler.is_enabled() was True when it was saved",
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker = self._init_growth_tracker

    def __getstate__(self) -> dict[str, Any]:
        if self._progress:
            raise fail(
                AssertionError,
                call="pickling a GradScaler",
                cause="A GradScaler may only be pickled at the beginning of an iteration, or at "
                "the end after update()",
                fix="pickle it after update()",
            )
        state = self.__dict__.copy()
        del state["_progress"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._progress = WeakKeyDictionary()


def _number(value: float) -> Tensor:
    from whygrad.tensor import wrap

    return wrap(np.array(value, np.float32))


def _require(holds: bool, words: str, value: float) -> float:
    if holds:
        return value
    raise fail(
        AssertionError,
        call=f"GradScaler(… {value})",
        cause=f"The {words}",
        fix="leave it out: the usual factors are 2 and 0.5",
    )
