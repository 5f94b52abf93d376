"""Lengths of time in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

__all__ = ["in_words"]

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def in_words(length: timedelta, words: Mapping[str, str]) -> str:
    """``10 min``, ``8 days``, ``3.5 months``; ``words`` are those of the interface."""
    seconds = max(length.total_seconds(), 0)
    minutes = round(seconds / _MINUTE)
    if minutes < 1:
        return words["under_a_minute"]
    if minutes < 60:
        return words["minutes"].format(count=minutes)
    hours = round(seconds / _HOUR)
    if hours < 24:
        return words["hours"].format(count=hours)
    days = round(seconds / _DAY)
    if days == 1:
        return words["one_day"]
    if days < 60:
        return words["days"].format(count=days)
    if days < 730:
        return words["months"].format(count=f"{days / 30.44:.1f}")
    return words["years"].format(count=f"{days / 365.25:.1f}")
