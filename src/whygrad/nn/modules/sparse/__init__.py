"""Tables of vectors, looked up by index."""

from whygrad.nn.modules.sparse.embedding import *
from whygrad.nn.modules.sparse.embedding_bag import *

__all__ = sorted(name for name in globals() if name[0].isupper())
