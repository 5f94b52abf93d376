"""Fixtures of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from whygrad.autograd import detect_anomaly


@pytest.fixture
def watch() -> Iterator[Any]:
    """The whole test runs in anomaly mode."""
    with detect_anomaly() as watch:
        yield watch
