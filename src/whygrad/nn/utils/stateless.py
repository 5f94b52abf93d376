"""The older place of :func:`whygrad.func.functional_call`."""

from __future__ import annotations

import warnings
from typing import Any

from whygrad.nn.modules.module import Module
from whygrad.tensor import Tensor

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call ``module`` with other parameters and buffers in the place of its own."""
    from whygrad import func

    warnings.warn(
        "`nn.utils.stateless.functional_call` is deprecated. Use `func.functional_call` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return func.functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )
