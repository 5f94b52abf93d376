"""Who made the NaN?

Anomaly mode looks at every value on the way forward and at every gradient on the way back.  A
number that is not finite is only *noted* where it appears, because most of them are harmless: a
mask full of −inf, a logarithm whose result ``where`` throws away.  It becomes an error when it
arrives where it does damage, at the loss or at a gradient somebody asked for, and then the error
tells who made it: the op that got finite numbers and returned something else, not the ones that
passed it on.

:mod:`.finite` looks at numbers, :mod:`.examination` says who is to blame for a result and
:mod:`.findings` what was found; :mod:`.watch` looks forward, :mod:`.walk` and :mod:`.evidence`
backward; :mod:`.advice`, :mod:`.selection` and :mod:`.wording` make the sentences.
:mod:`.contents` notices what NumPy wrote to saved memory.
"""

from __future__ import annotations

from whygrad.autograd.anomaly_mode.switch import (
    detect_anomaly,
    report,
    set_anomaly_enabled,
    set_detect_anomaly,
)
from whygrad.autograd.anomaly_mode.wording import AnomalyError

__all__ = [
    "AnomalyError",
    "detect_anomaly",
    "report",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]
