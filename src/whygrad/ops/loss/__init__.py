"""How far a prediction is from its target."""

from whygrad.ops.loss import (
    binary,
    classification,
    cross_entropy,
    differences,
    distributions,
    labels,
    margins,
    similarity,
)
