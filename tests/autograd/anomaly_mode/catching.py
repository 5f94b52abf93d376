"""Looking at the error instead of raising it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from whygrad.autograd import AnomalyError

__all__ = ["caught"]


def caught(run: Callable[[], Any]) -> AnomalyError:
    """The anomaly that a call runs into."""
    with pytest.raises(AnomalyError) as error:
        run()
    return error.value
