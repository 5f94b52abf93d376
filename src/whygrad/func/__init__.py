"""Functions of functions, as in ``torch.func``."""

from whygrad.func.vmap import vmap

__all__ = ["vmap"]
