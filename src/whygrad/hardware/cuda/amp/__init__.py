"""``whygrad.amp`` for CUDA by its old name: without a GPU both warn and do nothing."""

from __future__ import annotations

from typing import Any

from whygrad import amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """``whygrad.amp.autocast("cuda", …)``."""

    def __init__(
        self, enabled: bool = True, dtype: Any = None, cache_enabled: bool | None = None
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``whygrad.amp.GradScaler("cuda", …)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("cuda", *args, **kwargs)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """``whygrad.amp.custom_fwd`` with ``device_type="cuda"``."""
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """``whygrad.amp.custom_bwd`` with ``device_type="cuda"``."""
    return amp.custom_bwd(bwd, device_type="cuda")
