"""Layers, each under the path that PyTorch has for it."""

from whygrad import aliases as _aliases
from whygrad.nn.modules import utils
from whygrad.nn.modules.activation import *
from whygrad.nn.modules.batchnorm import *
from whygrad.nn.modules.container import *
from whygrad.nn.modules.conv import *
from whygrad.nn.modules.dropout import *
from whygrad.nn.modules.linear import *
from whygrad.nn.modules.loss import *
from whygrad.nn.modules.module import *
from whygrad.nn.modules.normalization import *
from whygrad.nn.modules.padding import *
from whygrad.nn.modules.pooling import *
from whygrad.nn.modules.rnn import *
from whygrad.nn.modules.shape import *
from whygrad.nn.modules.sparse import *
from whygrad.nn.modules.transformer import *
from whygrad.nn.modules.upsampling import *

_aliases.load_inside(__name__)
__all__ = sorted(name for name in globals() if name[0].isupper())
