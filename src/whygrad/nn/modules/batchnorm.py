"""Batch norms and what they share with instance norms."""

from whygrad.nn.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, _BatchNorm
from whygrad.nn.batch_norm import _ChannelNorm as _NormBase
from whygrad.nn.lazy import LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d
from whygrad.nn.sync_batch_norm import SyncBatchNorm

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
    "_BatchNorm",
    "_NormBase",
]
