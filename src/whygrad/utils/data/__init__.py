"""PyTorch's name for :mod:`whygrad.data`: ``from whygrad.utils.data import DataLoader``.

The modules inside it, ``whygrad.utils.data.dataset``, are found by :mod:`whygrad.aliases`.
"""

from whygrad.data import dataset
from whygrad.data import loader as dataloader
from whygrad.data import samplers as sampler
from whygrad.data import shares as distributed
from whygrad.data.collate import *
from whygrad.data.dataset import *
from whygrad.data.loader import *
from whygrad.data.samplers import *
from whygrad.data.shares import *

__all__ = sorted(name for name in globals() if not name.startswith("_"))
