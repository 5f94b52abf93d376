"""Convolution layers."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.nn.modules.conv.convolution import Conv1d as Conv1d
from whygrad.nn.modules.conv.convolution import Conv2d as Conv2d
from whygrad.nn.modules.conv.convolution import Conv3d as Conv3d
from whygrad.nn.modules.conv.convolution import ConvTranspose1d as ConvTranspose1d
from whygrad.nn.modules.conv.convolution import ConvTranspose2d as ConvTranspose2d
from whygrad.nn.modules.conv.convolution import ConvTranspose3d as ConvTranspose3d
from whygrad.nn.modules.conv.convolution import _ConvNd as _ConvNd
from whygrad.nn.modules.conv.convolution import _ConvTransposeNd as _ConvTransposeNd
from whygrad.nn.modules.conv.lazy import LazyConv1d as LazyConv1d
from whygrad.nn.modules.conv.lazy import LazyConv2d as LazyConv2d
from whygrad.nn.modules.conv.lazy import LazyConv3d as LazyConv3d
from whygrad.nn.modules.conv.lazy import LazyConvTranspose1d as LazyConvTranspose1d
from whygrad.nn.modules.conv.lazy import LazyConvTranspose2d as LazyConvTranspose2d
from whygrad.nn.modules.conv.lazy import LazyConvTranspose3d as LazyConvTranspose3d

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]
