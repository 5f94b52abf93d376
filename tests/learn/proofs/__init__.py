"""Programs that prove what quizzes and cards claim.

Each is a function marked with the ids of the questions or cards that it proves.  It runs the
engine, or PyTorch where the claim is about PyTorch, and asserts; ``tests/learn/test_proofs.py``
runs them all and finds the questions that nobody has proved.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

__all__ = ["Proof", "all_proofs", "proves"]

Proof = Callable[[], None]
_proofs: dict[str, list[Proof]] = {}


def proves(*ids: str) -> Callable[[Proof], Proof]:
    """Marks a function as the proof of these questions or cards."""

    def mark(function: Proof) -> Proof:
        for each in ids:
            _proofs.setdefault(each, []).append(function)
        return function

    return mark


def all_proofs() -> dict[str, list[Proof]]:
    """The proofs of each id, from all files of this folder."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return _proofs
