"""Linear layers."""

from whygrad.nn.attention import _OutProjection as NonDynamicallyQuantizableLinear
from whygrad.nn.lazy import LazyLinear
from whygrad.nn.linear import Bilinear, Identity, Linear

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear", "NonDynamicallyQuantizableLinear"]
