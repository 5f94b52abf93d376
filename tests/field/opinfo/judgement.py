"""What counts as a difference between a result here and PyTorch's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import whygrad
from tests.field.opinfo.on_purpose import reason

__all__ = ["Difference", "Judge", "Verdicts", "short"]

TOLERANCE = {"e": (2e-3, 2e-3), "f": (2e-4, 2e-5), "F": (2e-4, 2e-5)}
EXACT = (1e-7, 1e-9)


class Difference(Exception):
    """What whygrad does otherwise."""


class Verdicts:
    """Differences on purpose: op, text and reason, with how often each was met."""

    def __init__(self) -> None:
        self.excused: Counter[tuple[str, str, str]] = Counter()


class Judge:
    """Tells differences of one op from those on purpose, which it counts."""

    def __init__(self, name: str, dtype: torch.dtype, verdicts: Verdicts) -> None:
        self.name = name
        self.dtype = dtype
        self.verdicts = verdicts

    def differ(self, text: str, mine: Any = None, theirs: Any = None) -> None:
        """Raise, unless it is on purpose."""
        why = reason(self.name, text, *map(_as_numpy, (mine, theirs)))
        if not why:
            raise Difference(text)
        self.excuse(text, why)

    def excuse(self, text: str, why: str) -> None:
        self.verdicts.excused[self.name, text, why] += 1

    def compare(
        self,
        mine: list[Any],
        theirs: list[Any],
        what: str,
        slack: int = 1,
        exact: Callable[[], list[Any]] | None = None,
    ) -> bool:
        """Whether all of it agrees; where it does not, PyTorch's ``exact`` results may decide."""
        if len(mine) != len(theirs):
            raise Difference(f"{what}: {len(mine)} results, PyTorch {len(theirs)}")
        same = True
        for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            text = _difference(a, b, what, slack)
            if not text:
                continue
            same = False
            if exact is not None and _is_nearer(a, b, exact()[place]):
                self.excuse(f"{what} {place}", "nearer to the result in double precision")
            else:
                self.differ(f"{what} {place}: {text}", a, b)
        return same


def _difference(a: Any, b: Any, what: str, slack: int) -> str:
    if b is None or a is None:
        present = b if a is None else a
        if present is None or ("result" not in what and _is_zero(present)):
            return ""  # a formula may tell "no path" from zeros, or not
        return f"{short(a)}, PyTorch {short(b)}"
    if isinstance(b, torch.Tensor):
        if not isinstance(a, whygrad.Tensor):
            return f"{type(a).__name__}, PyTorch a tensor"
        if a.dtype.name != str(b.dtype).removeprefix("torch."):
            return f"{a.dtype}, PyTorch {b.dtype}"
        if tuple(a.shape) != tuple(b.shape):
            return f"shape {tuple(a.shape)}, PyTorch {tuple(b.shape)}"
        if "result" in what and a.requires_grad != b.requires_grad:
            return f"requires_grad {a.requires_grad}, PyTorch {b.requires_grad}"
    x, y = _as_numpy(a), _as_numpy(b)
    if x.dtype.kind not in "biufc":
        same = str(a).removeprefix("whygrad.") == str(b).removeprefix("torch.")
        return "" if same else f"{a}, PyTorch {b}"
    if x.dtype.kind in "biu" and y.dtype.kind in "biu":
        return "" if np.array_equal(x, y) else f"{short(x)}, PyTorch {short(y)}"
    relative, absolute = TOLERANCE.get(y.dtype.char, EXACT)
    if y.dtype.char in TOLERANCE:  # terms as large as the largest may have cancelled
        absolute *= max(1.0, np.abs(y[np.isfinite(y)]).max(initial=0.0))
    if np.allclose(x, y, relative * slack, absolute * slack, equal_nan=True):
        return ""
    return f"{short(x)}, PyTorch {short(y)}"


def _is_nearer(a: Any, b: Any, exact: Any) -> bool:
    """Whether ``a`` errs no more than ``b`` does."""
    if not all(isinstance(each, (torch.Tensor, whygrad.Tensor)) for each in (a, b, exact)):
        return False
    x, y, truth = map(_as_numpy, (a, b, exact))
    if not x.shape == y.shape == truth.shape or not np.isfinite(truth).all():
        return False
    if not np.isfinite(y).all():
        return np.allclose(x, truth, *TOLERANCE[x.dtype.char])
    return bool(np.abs(x - truth).max() <= np.abs(y - truth).max())


def _is_zero(value: Any) -> bool:
    return not (np.abs(_as_numpy(value)) > EXACT[1]).any()


def _as_numpy(value: Any) -> Any:
    for library in (torch, whygrad):
        if isinstance(value, library.Tensor):
            dense = value.detach()
            dense = dense if dense.layout is library.strided else dense.to_dense()
            return (dense.float() if dense.dtype is library.bfloat16 else dense).numpy(force=True)
    return np.asarray(value)


def short(value: Any) -> str:
    return str(value).replace("\n", "")[:90]
