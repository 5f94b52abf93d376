"""How a progress bar puts things: values, rates, durations."""

from __future__ import annotations

from typing import Any

__all__ = ["duration", "logged", "throughput"]


def logged(values: dict[str, Any]) -> str:
    """``loss 0.1234  lr 0.01``"""
    parts = [
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in values.items()
    ]
    return "  ".join(parts)


def throughput(per_second: float, unit: str) -> str:
    """``1,234 samples/s``; slow loops get decimals."""
    return f"{per_second:,.0f} {unit}/s" if per_second >= 10 else f"{per_second:.2g} {unit}/s"


def duration(seconds: float) -> str:
    """``0:07``, ``12:34``, ``1:02:03``"""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
