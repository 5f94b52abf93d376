"""Linear algebra under PyTorch's short names: ``whygrad.linalg.inv``, ``.svd``, ``.norm``, …

Every function takes stacks of matrices: the last two dimensions are the matrix, the others are the
batch.
"""

from __future__ import annotations

from whygrad.ops import table
from whygrad.ops.linalg.matrices import LinAlgError

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "vecdot",
    "vector_norm",
]

cholesky = table["linalg_cholesky"].public
cross = table["linalg_cross"].public
det = table["linalg_det"].public
diagonal = table["linalg_diagonal"].public
eigh = table["linalg_eigh"].public
eigvalsh = table["linalg_eigvalsh"].public
inv = table["linalg_inv"].public
lstsq = table["linalg_lstsq"].public
matmul = table["matmul"].public
matrix_exp = table["linalg_matrix_exp"].public
matrix_norm = table["linalg_matrix_norm"].public
matrix_power = table["linalg_matrix_power"].public
matrix_rank = table["linalg_matrix_rank"].public
multi_dot = table["linalg_multi_dot"].public
norm = table["linalg_norm"].public
pinv = table["linalg_pinv"].public
qr = table["linalg_qr"].public
slogdet = table["linalg_slogdet"].public
solve = table["linalg_solve"].public
solve_triangular = table["linalg_solve_triangular"].public
svd = table["linalg_svd"].public
svdvals = table["linalg_svdvals"].public
vecdot = table["linalg_vecdot"].public
vector_norm = table["linalg_vector_norm"].public
