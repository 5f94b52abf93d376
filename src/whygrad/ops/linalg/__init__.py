"""Products of matrices and tensors, solvers and decompositions."""

from whygrad.ops.linalg import (  # noqa: F401  (each declares its ops)
    bilinear,
    contraction,
    einsum,
    equations,
    fused_products,
    linear,
    matrices,
    products,
)
