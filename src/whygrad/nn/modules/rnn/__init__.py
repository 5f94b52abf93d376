"""Recurrent networks and their cells."""

from whygrad.nn.modules.rnn.base import *
from whygrad.nn.modules.rnn.cells import *
from whygrad.nn.modules.rnn.networks import *

__all__ = sorted(name for name in globals() if name[0].isupper())
