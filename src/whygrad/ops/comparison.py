"""Questions about elements: comparisons, logic, bits."""

from __future__ import annotations
