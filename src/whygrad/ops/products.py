"""Matrix and tensor products."""

from __future__ import annotations
