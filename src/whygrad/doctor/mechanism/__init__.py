"""Why a call made a value that is not finite.

:mod:`.cause` decides, :mod:`.domains` knows where an op has no finite value or slope,
:mod:`.formulas` recognises losses that were written by hand, :mod:`.branches` values that are left
out of the loss and differentiated all the same, :mod:`.growth` numbers that were too large before,
and :mod:`.halves` what only float16 is to blame for.
"""

from __future__ import annotations

from whygrad.doctor.mechanism.cause import find_mechanism
from whygrad.doctor.mechanism.halves import gradients_lost, overflow_unseen, where_halved
from whygrad.doctor.mechanism.shared import Mechanism

__all__ = [
    "Mechanism",
    "find_mechanism",
    "gradients_lost",
    "overflow_unseen",
    "where_halved",
]
