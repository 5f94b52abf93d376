"""Pooling layers."""

from whygrad.nn.modules.pooling.fold import *
from whygrad.nn.modules.pooling.unpooling import *
from whygrad.nn.modules.pooling.unpooling import _LPPoolNd, _MaxUnpoolNd
from whygrad.nn.modules.pooling.windows import *
from whygrad.nn.modules.pooling.windows import (
    _AdaptiveAvgPoolNd,
    _AdaptiveMaxPoolNd,
    _AvgPoolNd,
    _MaxPoolNd,
)

__all__ = sorted(name for name in globals() if name[0].isupper())
