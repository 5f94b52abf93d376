"""Windows as columns."""

from whygrad.nn.pooling import Fold, Unfold

__all__ = ["Fold", "Unfold"]
