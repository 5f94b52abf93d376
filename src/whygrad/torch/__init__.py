"""The same questions about a PyTorch program.

``explain``, ``why_none``, ``why_zero`` and ``why_nan`` take PyTorch's tensors and modules.  What
PyTorch's graph does not tell, above all lines and cuts, comes from a recording::

    with whygrad.torch.record():
        loss = model(inputs).sum()
    print(whygrad.torch.why_none(model.weight, loss))

PyTorch is imported when this module is, and not before.
"""

from __future__ import annotations

import importlib.util

from whygrad.errors import fail

if importlib.util.find_spec("torch") is None:
    raise fail(
        ModuleNotFoundError,
        call="import whygrad.torch",
        cause="PyTorch is not installed, and this part of whygrad looks at PyTorch programs",
        fix="pip install 'whygrad[torch]'",
    )

from whygrad.torch.explanation import explain
from whygrad.torch.nan import why_nan
from whygrad.torch.none import why_none
from whygrad.torch.record import record
from whygrad.torch.zero import why_zero

__all__ = ["explain", "record", "why_nan", "why_none", "why_zero"]
