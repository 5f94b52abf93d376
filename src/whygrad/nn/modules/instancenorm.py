"""Instance norms."""

from whygrad.nn.batch_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, _InstanceNorm
from whygrad.nn.lazy import LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "_InstanceNorm",
]
