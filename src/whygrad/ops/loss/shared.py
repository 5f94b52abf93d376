"""What every loss does around its formula: check sizes, warn, and reduce to one number."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from whygrad.errors import describe, fail
from whygrad.source import outside
from whygrad.tensor import Tensor

__all__ = [
    "check_same_size",
    "reduced",
    "reduction_from",
    "refusal",
    "warn_if_broadcast",
    "warn_user",
    "weighted",
]

_REDUCTIONS = ("none", "mean", "sum")


def reduction_from(
    reduction: str,
    size_average: bool | None = None,
    reduce: bool | None = None,
    allowed: tuple[str, ...] = _REDUCTIONS,
) -> str:
    """Check ``reduction``; its two predecessors still decide where they are given."""
    if size_average is not None or reduce is not None:
        over_all = "sum" if size_average is False else "mean"
        reduction = "none" if reduce is False else over_all
        warn_user(
            "size_average and reduce args will be deprecated, please use "
            f"reduction={reduction!r} instead."
        )
    if reduction not in allowed:
        raise fail(
            ValueError,
            call=f"a loss with reduction={reduction!r}",
            cause=f"{reduction} is not a valid value for reduction",
            fix=f"pass one of {', '.join(map(repr, allowed))}",
        )
    return reduction


def reduced(losses: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return losses.mean()
    return losses.sum() if reduction == "sum" else losses


def weighted(losses: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    return reduced(losses if weight is None else losses * weight, reduction)


def warn_user(message: str) -> None:
    """A warning that names the user's line, through however many layers it came."""
    user = outside(sys._getframe(1))
    warnings.warn_explicit(
        message,
        UserWarning,
        user.f_code.co_filename,
        user.f_lineno,
        user.f_globals.get("__name__"),
        user.f_globals.setdefault("__warningregistry__", {}),
    )


def warn_if_broadcast(input: Tensor, target: Tensor) -> None:
    """A target of another size is usually a forgotten dimension, and then the loss is nonsense."""
    if input.shape != target.shape:
        warn_user(
            f"Using a target size ({tuple(target.shape)}) that is different to the input size "
            f"({tuple(input.shape)}). This will likely lead to incorrect results due to "
            "broadcasting. Please ensure they have the same size."
        )


def check_same_size(input: Tensor, target: Tensor, name: str, cause: str) -> None:
    if input.shape != target.shape:
        raise refusal(
            ValueError,
            name,
            {"input": input, "target": target},
            cause,
            "give the target the shape of the input: target.view_as(input) or target.unsqueeze(1)",
        )


def refusal(
    kind: type[Exception], name: str, arguments: dict[str, Any], cause: str, fix: str
) -> Exception:
    """The error for a call of the loss ``name`` with these arguments."""
    shown = ", ".join(f"{label}: {describe(value)}" for label, value in arguments.items())
    return fail(kind, call=f"{name}({shown})", cause=cause, fix=fix)
