"""Pooling layers."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.nn.modules.pooling.fold import Fold as Fold
from whygrad.nn.modules.pooling.fold import Unfold as Unfold
from whygrad.nn.modules.pooling.unpooling import FractionalMaxPool2d as FractionalMaxPool2d
from whygrad.nn.modules.pooling.unpooling import FractionalMaxPool3d as FractionalMaxPool3d
from whygrad.nn.modules.pooling.unpooling import LPPool1d as LPPool1d
from whygrad.nn.modules.pooling.unpooling import LPPool2d as LPPool2d
from whygrad.nn.modules.pooling.unpooling import LPPool3d as LPPool3d
from whygrad.nn.modules.pooling.unpooling import MaxUnpool1d as MaxUnpool1d
from whygrad.nn.modules.pooling.unpooling import MaxUnpool2d as MaxUnpool2d
from whygrad.nn.modules.pooling.unpooling import MaxUnpool3d as MaxUnpool3d
from whygrad.nn.modules.pooling.unpooling import _LPPoolNd as _LPPoolNd
from whygrad.nn.modules.pooling.unpooling import _MaxUnpoolNd as _MaxUnpoolNd
from whygrad.nn.modules.pooling.windows import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from whygrad.nn.modules.pooling.windows import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from whygrad.nn.modules.pooling.windows import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from whygrad.nn.modules.pooling.windows import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from whygrad.nn.modules.pooling.windows import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from whygrad.nn.modules.pooling.windows import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from whygrad.nn.modules.pooling.windows import AvgPool1d as AvgPool1d
from whygrad.nn.modules.pooling.windows import AvgPool2d as AvgPool2d
from whygrad.nn.modules.pooling.windows import AvgPool3d as AvgPool3d
from whygrad.nn.modules.pooling.windows import MaxPool1d as MaxPool1d
from whygrad.nn.modules.pooling.windows import MaxPool2d as MaxPool2d
from whygrad.nn.modules.pooling.windows import MaxPool3d as MaxPool3d
from whygrad.nn.modules.pooling.windows import _AdaptiveAvgPoolNd as _AdaptiveAvgPoolNd
from whygrad.nn.modules.pooling.windows import _AdaptiveMaxPoolNd as _AdaptiveMaxPoolNd
from whygrad.nn.modules.pooling.windows import _AvgPoolNd as _AvgPoolNd
from whygrad.nn.modules.pooling.windows import _MaxPoolNd as _MaxPoolNd

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Unfold",
]
