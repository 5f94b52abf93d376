"""Pooling."""

from whygrad.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from whygrad.nn.pooling import _AdaptiveAvgPool as _AdaptiveAvgPoolNd
from whygrad.nn.pooling import _AdaptiveMaxPool as _AdaptiveMaxPoolNd
from whygrad.nn.pooling import _AvgPool as _AvgPoolNd
from whygrad.nn.pooling import _MaxPool as _MaxPoolNd
from whygrad.nn.unpooling import (
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    LPPool1d,
    LPPool2d,
    LPPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from whygrad.nn.unpooling import _LPPool as _LPPoolNd
from whygrad.nn.unpooling import _MaxUnpool as _MaxUnpoolNd

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
    "_AdaptiveAvgPoolNd",
    "_AdaptiveMaxPoolNd",
    "_AvgPoolNd",
    "_LPPoolNd",
    "_MaxPoolNd",
    "_MaxUnpoolNd",
]
