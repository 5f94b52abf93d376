"""One-shot checks: a question about a model or a function, answered on the spot.

Each is a function that returns a result.  A result prints as a table, has ``ok`` and ``problems``,
and raises when ``raise_if_bad()`` is called.  Nothing of the caller's is changed.
"""

from __future__ import annotations

from whygrad.doctor.checks.backward import BackwardCheck, check_backward
from whygrad.doctor.checks.initialization import InitCheck, check_init
from whygrad.doctor.checks.inspection import Inspection, inspect_batch
from whygrad.doctor.checks.nan_hooks import NanHooks, attach_nan_hooks
from whygrad.doctor.checks.overfit import Overfit, overfit_one_batch
from whygrad.doctor.checks.result import Result

__all__ = [
    "BackwardCheck",
    "InitCheck",
    "Inspection",
    "NanHooks",
    "Overfit",
    "Result",
    "attach_nan_hooks",
    "check_backward",
    "check_init",
    "inspect_batch",
    "overfit_one_batch",
]
