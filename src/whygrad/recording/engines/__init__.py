"""What differs between the two engines that the doctor can watch, and nothing else.

:class:`Engine` is what the rest of the doctor knows: how to see calls, how to read a tensor as an
array, how to copy one.  Hooks and patches are the same for both, because whygrad has PyTorch's
names; they are in :mod:`whygrad.recording.wrapping`.
"""

from __future__ import annotations

from whygrad.recording.engines.engine import (
    Engine,
    Handler,
    OutOfReach,
    engine_of,
    engines,
    imported_engines,
)

__all__ = ["Engine", "Handler", "OutOfReach", "engine_of", "engines", "imported_engines"]
