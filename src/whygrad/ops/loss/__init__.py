"""How far a prediction is from its target."""

from whygrad.ops.loss import (  # noqa: F401  (each declares its ops)
    binary,
    classification,
    cross_entropy,
    differences,
    distributions,
    labels,
    margins,
    similarity,
)
