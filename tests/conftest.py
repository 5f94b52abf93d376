"""What concerns every test: the garbage collector has little to walk through."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

_LONG = 0.03  # seconds, for one round of the garbage collector through everything


class _Attic:
    """Where that is put which stays to the end: two libraries, the tests, what they import.

    Many tests ask the garbage collector to look for what is left behind, and each of its rounds
    walks through all that was not set aside.  So once a round has taken long, what is still there
    after the test is set aside too.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._begun = 0.0

    def listen(self, phase: str, info: Mapping[str, Any]) -> None:
        """A callback of the collector."""
        if info["generation"] == 2:
            now = time.thread_time()
            self.wanted |= phase == "stop" and now - self._begun > _LONG
            self._begun = now

    def fill(self) -> None:
        gc.collect()
        gc.freeze()
        self.wanted = False


_attic = _Attic()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Without the collector: next to nothing of what is made here goes away again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    _attic.fill()
    gc.callbacks.append(_attic.listen)


def pytest_runtest_logfinish() -> None:
    if _attic.wanted:
        _attic.fill()
