"""The non-linear functions of neural networks."""

from whygrad.ops.activation import (
    dropout,
    gelu,
    noisy,
    piecewise,
    smooth,
    softmax,
)
