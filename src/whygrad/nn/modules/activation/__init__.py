"""Activations as layers, and attention, which PyTorch has beside them."""

from whygrad.nn.modules.activation.activation import *
from whygrad.nn.modules.activation.attention import *

__all__ = sorted(name for name in globals() if name[0].isupper())
