"""Norms over features and groups."""

from whygrad.nn.cross_map import CrossMapLRN2d
from whygrad.nn.normalization import GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]
