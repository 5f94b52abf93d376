"""Options of the loss that contains a linear layer."""

from whygrad.nn.linear_cross_entropy import LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyOptions"]
