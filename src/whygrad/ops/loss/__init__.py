"""How far a prediction is from its target."""

from whygrad.ops.loss import (  # noqa: F401  (each declares its ops)
    classification,
    cross_entropy,
    labels,
    pointwise,
)
