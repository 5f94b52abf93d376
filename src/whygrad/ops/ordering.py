"""Sorting and picking by rank: sort, topk, kthvalue, median."""

from __future__ import annotations
