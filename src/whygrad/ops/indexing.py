"""``x[...]`` and ``x[...] = v`` in every form."""

from __future__ import annotations
