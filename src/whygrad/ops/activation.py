"""The non-linear functions of neural networks."""

from __future__ import annotations
