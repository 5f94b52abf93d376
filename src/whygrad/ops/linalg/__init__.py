"""Products of matrices and tensors, solvers and decompositions."""

from whygrad.ops.linalg import (  # noqa: F401  (each declares its ops)
    bilinear,
    contraction,
    decompositions,
    determinants,
    eigen,
    einsum,
    equations,
    fused_products,
    general,
    linear,
    lu,
    matrices,
    matrix_functions,
    matrix_norms,
    older,
    products,
    reflections,
    reports,
    singular_values,
    solvers,
)
