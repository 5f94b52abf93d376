"""Ops that are declared when somebody first asks for one of them.

The table has hundreds of ops, a program that trains a network uses a few dozen, and every row
costs time at import.  The modules below are imported by the first use of a name they declare: as a
function (``whygrad.histc``), as a method (``x.histc``), in a rule (``xp.histc``) or in the table.
Who looks at the whole table gets the whole table.  Which names these are stands in
:mod:`.late_names`, written by ``make stubs``; a test holds it in step.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from whygrad.ops.late_names import METHODS, NAMES

__all__ = ["METHODS", "MODULES", "Method", "activate", "home", "load", "load_all"]

MODULES = (
    "arithmetic.digits",
    "convolution.fractional",
    "convolution.lp_pool",
    "convolution.time_first",
    "convolution.unpool",
    "creation.counts",
    "creation.strided",
    "creation.windows",
    "fourier",
    "indexing.embedding_bag",
    "indexing.runs",
    "indexing.scatter_reduce",
    "linalg.decompositions",
    "linalg.determinants",
    "linalg.eigen",
    "linalg.general",
    "linalg.lu",
    "linalg.matrix_functions",
    "linalg.matrix_norms",
    "linalg.older",
    "linalg.qr",
    "linalg.reflections",
    "linalg.reports",
    "linalg.singular_values",
    "linalg.solvers",
    "loss.ctc",
    "loss.linear_cross_entropy",
    "products.grouped",
    "reduction.distances",
    "reduction.histograms",
    "reduction.quantiles",
    "reduction.statistics",
    "resampling",
    "shape.complex_parts",
    "shape.copies",
    "shape.grouping",
    "shape.placed",
    "sparse.products",
    "special",
)

_home = {name: module for module, listed in NAMES.items() for name in listed}
_publish: Callable[[], None] | None = None  # None until the ops that are always there are declared


def activate(publish: Callable[[], None]) -> None:
    """From now on a missing name is looked for; ``publish`` makes functions of new rows."""
    global _publish
    _publish = publish


def home(name: str) -> str | None:
    """The late module that declares ``name``."""
    return _home.get(name)


def load(name: str) -> bool:
    """Declare the op behind ``name``; False if no late module has such a name."""
    module = _home.get(name)
    if module is None or _publish is None:
        return False
    import_module(f"whygrad.ops.{module}")
    _publish()
    return True


def load_all() -> None:
    """Declare everything."""
    if _publish is not None:
        for module in MODULES:
            import_module(f"whygrad.ops.{module}")
        _publish()


class Method:
    """Stands on ``Tensor`` for a method of an op that is not declared yet."""

    stands_for_method = True

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        load(self.name)  # puts the method in the place of this one
        if any(vars(each).get(self.name) is self for each in owner.__mro__):
            raise AttributeError(f"{self.name} is not declared any more: run `make stubs`")
        return getattr(owner if instance is None else instance, self.name)
