"""The non-linear functions of neural networks."""

from whygrad.ops.activation import (  # noqa: F401  (each declares its ops)
    dropout,
    gelu,
    noisy,
    piecewise,
    smooth,
    softmax,
)
