"""Keywords that modules pass on to the functions that make their tensors."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail

__all__ = ["factory_kwargs"]

_KNOWN = {"device", "dtype", "memory_format"}


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """``device``, ``dtype`` and ``memory_format``, given directly or under ``factory_kwargs``."""
    if kwargs is None:
        return {}
    own = {name: value for name, value in kwargs.items() if name in _KNOWN}
    nested = dict(kwargs.get("factory_kwargs", {}))
    unexpected = kwargs.keys() - _KNOWN - {"factory_kwargs"}
    twice = own.keys() & nested.keys()
    if unexpected or twice:
        raise fail(
            TypeError,
            call=f"factory_kwargs({kwargs})",
            cause=f"unexpected kwargs {sorted(unexpected)}"
            if unexpected
            else f"{sorted(twice)[0]} specified twice, in **kwargs and in factory_kwargs",
            fix="pass device, dtype and memory_format, each once",
        )
    return nested | own
