"""Why a call made a value that is not finite.

:mod:`.cause` decides; :mod:`.domains` counts how much a call was given of what its op cannot
compute, :mod:`.formulas` recognises losses that were written by hand, :mod:`.branches` values that
are left out of the loss and differentiated all the same, :mod:`.overflow` numbers that were too
large before, or only for float16.
"""

from __future__ import annotations

from whygrad.doctor.mechanism.cause import find_mechanism
from whygrad.doctor.mechanism.domains import Mechanism
from whygrad.doctor.mechanism.overflow import gradients_lost, overflow_unseen, where_halved

__all__ = ["Mechanism", "find_mechanism", "gradients_lost", "overflow_unseen", "where_halved"]
