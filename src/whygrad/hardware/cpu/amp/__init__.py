"""``whygrad.amp`` for the CPU by its old name."""

from __future__ import annotations

from typing import Any

from whygrad import amp

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):
    """``whygrad.amp.autocast("cpu", …)``."""

    def __init__(
        self, enabled: bool = True, dtype: Any = None, cache_enabled: bool | None = None
    ) -> None:
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``whygrad.amp.GradScaler("cpu", …)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("cpu", *args, **kwargs)
