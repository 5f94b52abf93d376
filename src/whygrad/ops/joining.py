"""Putting tensors together and taking them apart."""

from __future__ import annotations
