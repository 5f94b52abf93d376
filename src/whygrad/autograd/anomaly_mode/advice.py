"""Why an op gave NaN or Inf, and what to write instead: what the op's row says, or what follows."""

from __future__ import annotations

import math

from whygrad.autograd.anomaly_mode.findings import Finding
from whygrad.ops.undefined import TOO_LARGE, Known, first_case

__all__ = ["advice"]

_LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.40e38, "float64": 1.79e308}


def advice(finding: Finding) -> tuple[str, str]:
    """Why, and what to do about it."""
    if finding.op is None:
        return _about_data(finding)
    dtype = str(finding.dtype)
    largest = f"{_LARGEST.get(dtype, math.inf):.3g}"
    if finding.summed or finding.overflowed:
        return (
            f"the sum or the rounded value is beyond {largest}, the largest {dtype}",
            "scale the loss down, or compute in a wider dtype",
        )
    values = Known(finding.elements[0].inputs)
    values["made_nan"] = float(finding.kind == "nan")
    values["inf_in"] = float(finding.fed is not None)
    case = first_case(finding.op.undefined, values, finding.backward)
    if case is not None:
        return case.why, case.fix
    if finding.fed is not None:
        return (
            "inf went in, and inf − inf, 0 · inf and inf / inf are not numbers",
            "keep inf out of this op: write a large finite number instead, or choose with where()",
        )
    if finding.op.kind == "custom":
        return (
            f"{finding.op.name} is your own function, and its "
            f"{'backward' if finding.backward else 'forward'} computed it",
            "look there for a division by 0, a root or a logarithm",
        )
    slope = finding.elements[0].slope
    known = str(finding.op.kind) != "foreign"  # PyTorch's own, of which nothing is known here
    if known and finding.kind == "inf" and (slope is None or math.isfinite(slope)):
        return f"the result is beyond {largest}, the largest {dtype}", TOO_LARGE
    return (
        "its formula has no finite value there",
        "look at the numbers above, and keep the op away from them",
    )


def _about_data(finding: Finding) -> tuple[str, str]:
    if finding.writer is not None:
        return (
            f"it came from {finding.writer}",
            "write a finite number there, or keep these elements out of the loss with where()",
        )
    return (
        "no op in anomaly mode made it: it was in the data, or computed before the mode was on",
        "check the data with isfinite().all(), or let anomaly mode see the whole forward pass",
    )
