"""What concerns every test: little for the garbage collector to walk through, little to send."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

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


class _Terse:
    """A test that passes is told by its worker in two messages instead of five.

    That its fixtures were set up and taken down is news only if it went wrong, and to send and
    read such news for every test costs more than many a test.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # one of the workers of pytest-xdist
        config.pluginmanager.register(_Terse())
