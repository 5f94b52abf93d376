"""What concerns every test."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Set aside what stays to the end: two libraries and thousands of tests.

    Many tests ask the garbage collector to look for what is left behind; without this, each of its
    rounds walks through all of it again.
    """
    gc.collect()
    gc.freeze()
