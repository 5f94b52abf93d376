"""Products of matrices and tensors, solvers and decompositions."""

from whygrad.ops.linalg import (
    bilinear,
    contraction,
    einsum,
    equations,
    fused_products,
    linear,
    matrices,
    products,
)
