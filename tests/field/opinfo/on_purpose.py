"""Differences that are meant, each with its op, a phrase of its text, and the reason.

Where the numbers themselves tell whether it is that difference and no other, a condition looks.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatch
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ARBITRARY", "UP_TO_PHASE", "WHICH_OF_EQUALS", "reason"]

# Results that are random, or memory that nobody has written.
ARBITRARY = (
    "bernoulli", "cauchy", "dropout", "empty", "exponential", "geometric", "log_normal",
    "multinomial", "normal", "rand", "rrelu", "uniform", "resize", "svd_lowrank", "pca_lowrank",
    "multi_head_attention", "fractional_max_pool", "binomial", "poisson",
)  # fmt: skip
# Eigenvectors are determined up to their phase.
UP_TO_PHASE = ("linalg.eig", "linalg.eigh")
# Ops that tell places, any of equal numbers: where their ``dim`` stands behind the tensor.
WHICH_OF_EQUALS = {
    "kthvalue": 1, "topk": 1, "mode": 0, "median": 0, "nanmedian": 0, "sort": 0, "argsort": 0,
}  # fmt: skip


class Meant(NamedTuple):
    """A difference of an op (a pattern) whose text has a phrase, where the numbers fit."""

    op: str
    phrase: str
    why: str
    fits: Callable[[Any, Any], Any] = lambda mine, theirs: True


def _zero_or_same(mine: Any, theirs: Any) -> Any:
    return (mine == 0) | np.isclose(mine, theirs)


def _the_other_half(mine: Any, theirs: Any) -> Any:
    return (mine == 0) ^ (theirs == 0)


def _six_digits(mine: Any, theirs: Any) -> Any:
    return np.isclose(mine, theirs, 0.0, 1e-6, equal_nan=True)


def _in_single(mine: Any, theirs: Any) -> Any:
    return np.isclose(mine, theirs, 1e-3, 1e-4)


def _zero_for_nan(mine: Any, theirs: Any) -> Any:
    return np.isclose(mine, theirs) | (mine == 0) & np.isnan(theirs)


ONE_RULE = "out= converts by one rule (docs/differences.md)"
OWN_OUT = "out= may be an argument itself (docs/differences.md)"
NOT_HERE = "refused (docs/differences.md)"

ON_PURPOSE = (
    Meant("*", "Expected out tensor to have dtype", ONE_RULE),
    Meant("complex", "Expected object of scalar type ComplexDouble", ONE_RULE),
    Meant("multinomial", "expects Long tensor out", ONE_RULE),
    Meant("cat", "the written-to tensor refer to a single memory location", OWN_OUT),
    Meant("gather", "unsupported operation", OWN_OUT),
    Meant("kthvalue", "unsupported operation", OWN_OUT),
    Meant("masked_select", "unsupported operation", OWN_OUT),
    Meant("take", "unsupported operation", OWN_OUT),
    Meant("*", "takes no number there", "a number is as good as a tensor without dimensions"),
    Meant(
        "as_strided_scatter",
        "gradient 0",
        "what was replaced has no influence, the rest has (docs/differences.md)",
        _the_other_half,
    ),
    Meant(
        "nn.functional.linear_cross_entropy",
        "PyTorch None",
        "never in chunks, so differentiable to any order (docs/differences.md)",
    ),
    Meant("special.bessel_*", "result 0", "SciPy's have all digits, PyTorch's six", _six_digits),
    Meant(
        "nn.functional.max_unpool*",
        "gradient 0",
        "an element that another one overwrote has no influence (docs/differences.md)",
        _zero_or_same,
    ),
    Meant("cov", "tangent", "weights in float32 are rounded in both libraries", _in_single),
    Meant("*_reduce", "a factor is 0", NOT_HERE),
    Meant("to_sparse", "hybrid tensors", NOT_HERE),
    Meant("linalg.norm", "second gradient 0", "0 at 0 at every order", _zero_for_nan),
    Meant("istft", "PyTorch None", "the window has a gradient"),
    Meant(
        "to_sparse",
        "does not support automatic differentiation for outputs with complex",
        "sparse tensors of complex numbers have gradients",
    ),
    Meant("nn.functional.interpolate", "not implemented for uint8", NOT_HERE),
    Meant("nn.functional.upsample_bilinear", "not implemented for uint8", NOT_HERE),
    Meant("nn.functional.avg_pool*", "integer tensors", NOT_HERE),
    Meant("nn.functional.local_response_norm", "infer output dtype", NOT_HERE),
)


def reason(name: str, text: str, mine: Any = None, theirs: Any = None) -> str:
    """Why an op may differ in this; empty if it may not."""
    for each in ON_PURPOSE:
        if each.phrase in text and fnmatch(name, each.op) and np.all(each.fits(mine, theirs)):
            return each.why
    return ""
