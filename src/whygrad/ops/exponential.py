"""Exponentials, logarithms, trigonometry and special functions."""

from __future__ import annotations
