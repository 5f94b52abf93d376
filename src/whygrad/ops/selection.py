"""Picking and placing elements by index or mask."""

from __future__ import annotations
