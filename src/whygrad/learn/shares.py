"""Shares as whole percents, the same in the terminal and (``page/quiz.js``) in a browser."""

from __future__ import annotations

__all__ = ["whole_percent"]


def whole_percent(share: float) -> int:
    """The nearest, a half to the even one; 0 and 100 only for nothing and everything."""
    if share in (0, 1):
        return int(share) * 100
    return min(99, max(1, round(round(share * 100, 9))))  # 9 digits: 0.285 * 100 is a bit less
