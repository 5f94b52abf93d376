"""Convolution layers."""

from whygrad.nn.modules.conv.convolution import *
from whygrad.nn.modules.conv.convolution import _ConvNd, _ConvTransposeNd
from whygrad.nn.modules.conv.lazy import *

__all__ = sorted(name for name in globals() if name[0].isupper())
