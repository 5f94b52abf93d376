"""Mixed precision: ``autocast`` lets each op choose its precision, ``GradScaler`` keeps float16
gradients from vanishing.

What an op computes in stands in its row of the op table (``autocast=``).  Inside ``autocast`` the
thread adds one key to every op call, whose layer (:mod:`~whygrad.amp.casting`) casts the arguments;
outside, nothing is spent.
"""

from __future__ import annotations

from whygrad.amp import casting as _casting  # takes over the calls inside autocast
from whygrad.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from whygrad.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
