"""Losses as layers."""

from whygrad.nn.modules.loss.adaptive import *
from whygrad.nn.modules.loss.common import *
from whygrad.nn.modules.loss.common import _Loss, _WeightedLoss
from whygrad.nn.modules.loss.linear_cross_entropy import *
from whygrad.nn.modules.loss.margin import *

__all__ = sorted(name for name in globals() if name[0].isupper())
