"""Products of matrices and tensors: matmul and its relatives, layers, einsum."""

from whygrad.ops.products import (
    bilinear,
    contraction,
    einsum,
    equations,
    fused_products,
    linear,
    products,
)
