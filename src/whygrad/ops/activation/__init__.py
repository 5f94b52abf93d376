"""The non-linear functions of neural networks."""

from whygrad.ops.activation import (  # noqa: F401  (each declares its ops)
    dropout,
    noisy,
    piecewise,
    smooth,
    softmax,
)
