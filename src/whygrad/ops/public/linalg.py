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
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
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
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

cholesky = table["linalg_cholesky"].public
cholesky_ex = table["linalg_cholesky_ex"].public
cond = table["linalg_cond"].public
cross = table["linalg_cross"].public
det = table["linalg_det"].public
diagonal = table["linalg_diagonal"].public
eig = table["linalg_eig"].public
eigh = table["linalg_eigh"].public
eigvals = table["linalg_eigvals"].public
eigvalsh = table["linalg_eigvalsh"].public
householder_product = table["linalg_householder_product"].public
inv = table["linalg_inv"].public
inv_ex = table["linalg_inv_ex"].public
ldl_factor = table["linalg_ldl_factor"].public
ldl_factor_ex = table["linalg_ldl_factor_ex"].public
ldl_solve = table["linalg_ldl_solve"].public
lstsq = table["linalg_lstsq"].public
lu = table["linalg_lu"].public
lu_factor = table["linalg_lu_factor"].public
lu_factor_ex = table["linalg_lu_factor_ex"].public
lu_solve = table["linalg_lu_solve"].public
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
solve_ex = table["linalg_solve_ex"].public
solve_triangular = table["linalg_solve_triangular"].public
svd = table["linalg_svd"].public
svdvals = table["linalg_svdvals"].public
tensorinv = table["linalg_tensorinv"].public
tensorsolve = table["linalg_tensorsolve"].public
vander = table["linalg_vander"].public
vecdot = table["linalg_vecdot"].public
vector_norm = table["linalg_vector_norm"].public
