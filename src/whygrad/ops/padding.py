"""Adding a border."""

from __future__ import annotations
