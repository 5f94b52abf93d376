"""``with autocast("cpu", dtype=bfloat16):`` and its helpers for custom functions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from whygrad.amp import state as settings
from whygrad.amp.casting import cast_floats
from whygrad.errors import fail
from whygrad.tensor import devices, dtypes

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_LOWER = (dtypes.bfloat16, dtypes.float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch knows ``autocast`` for this kind of device; computing happens on the CPU."""
    return devices.Device(device_type).type in settings._FIRST_DTYPE


class autocast:
    """A block (or, as a decorator, a function) in which ops choose their precision.

    Matrix products, convolutions and attention run in ``dtype``, bfloat16 unless said otherwise;
    losses and what needs precision run in float32; everything else in what it is given.
    ``enabled=False`` inside another block switches it off.  Run the forward pass and the loss
    inside, backward outside.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise fail(
                ValueError,
                call=f"autocast({device_type!r})",
                cause=f"Expected `device_type` of type `str`, got: `{type(device_type).__name__}`",
                fix="pass the kind of device: autocast('cpu')",
            )
        self.device = devices.Device(device_type).type
        self.fast_dtype = settings.get_autocast_dtype(self.device) if dtype is None else dtype
        if enabled and self.device == "cuda":
            warnings.warn(
                "CUDA is not available: autocast('cuda') does nothing", UserWarning, stacklevel=2
            )
            enabled = False
        elif enabled and self.device == "cpu" and self.fast_dtype not in _LOWER:
            warnings.warn(
                f"In CPU autocast, but the target dtype {self.fast_dtype} is not supported: "
                "autocast does nothing; it knows bfloat16 and float16",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._cache_enabled = settings.state.keeps_casts if cache_enabled is None else cache_enabled
        self._outer: list[tuple[bool, Any, bool]] = []

    def __enter__(self) -> autocast:
        self._outer.append(
            (
                settings.is_autocast_enabled(self.device),
                settings.get_autocast_dtype(self.device),
                settings.state.keeps_casts,
            )
        )
        self._set(self._enabled, self.fast_dtype, self._cache_enabled)
        settings.autocast_increment_nesting()
        return self

    def __exit__(self, *_: object) -> None:
        if settings.autocast_decrement_nesting() == 0:
            settings.clear_autocast_cache()
        self._set(*self._outer.pop())

    def _set(self, enabled: bool, dtype: Any, keeps_casts: bool) -> None:
        settings.set_autocast_enabled(self.device, enabled)
        settings.set_autocast_dtype(self.device, dtype)
        settings.set_autocast_cache_enabled(keeps_casts)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


def _checked(device_type: Any, call: str) -> str:
    if isinstance(device_type, str):
        return device_type
    raise fail(
        ValueError,
        call=f"{call}(device_type={device_type!r})",
        cause=f"Expected `device_type` of type `str`, got: `{type(device_type).__name__}`",
        fix="pass the kind of device: device_type='cpu'",
    )


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None
) -> Any:
    """For ``forward`` of a custom function: remembers whether ``autocast`` was on.

    With ``cast_inputs`` the float tensors among the arguments get that dtype, and ``forward`` runs
    without autocast.
    """
    place = _checked(device_type, "custom_fwd")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    function = fwd

    @functools.wraps(function)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        inside = settings.is_autocast_enabled(place)
        ctx._dtype = settings.get_autocast_dtype(place)
        ctx._fwd_used_autocast = inside if cast_inputs is None else False
        if cast_inputs is None or not inside:
            return function(ctx, *args, **kwargs)
        with autocast(place, enabled=False):
            cast = {name: _cast(each, cast_inputs) for name, each in kwargs.items()}
            return function(ctx, *[_cast(each, cast_inputs) for each in args], **cast)

    return forward


def _cast(value: Any, dtype: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cast(each, dtype) for name, each in value.items()}
    return cast_floats(value, dtypes.of(dtype))


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """For ``backward`` of a custom function: runs it in the autocast that ``forward`` ran in."""
    place = _checked(device_type, "custom_bwd")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    function = bwd

    @functools.wraps(function)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(place, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return function(ctx, *args, **kwargs)

    return backward
