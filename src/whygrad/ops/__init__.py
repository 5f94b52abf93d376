"""The op table and what is made from it: public functions and tensor methods."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from whygrad.dispatch.calls import method_of
from whygrad.ops import (  # noqa: F401  (each declares its ops)
    activation,
    arithmetic,
    attention,
    comparison,
    convolution,
    creation,
    exponential,
    fourier,
    indexing,
    inplace,
    inplace_geometry,
    inplace_memory,
    inplace_random,
    inquiries,
    linalg,
    loss,
    normalization,
    operators,
    recurrent,
    reduction,
    resampling,
    shape,
    sparse,
    special,
    ties,
)
from whygrad.ops.define import aliases, table
from whygrad.tensor import Tensor

__all__ = ["functions", "table"]

_BEHIND = ("whygrad.dispatch.", "whygrad.ops.")  # the modules that make public functions

functions: dict[str, Callable[..., Any]] = {
    name: op.public for name, op in table.items() if op.public_name == name
}

for _op in table.values():
    if _op.method:
        setattr(Tensor, _op.name, method_of(_op))
    if _op.public_name is not None:  # where pickle finds it
        _space, _, _op.public.__qualname__ = f"whygrad.{_op.public_name}".rpartition(".")
        _op.public.__module__ = _space
creation.conversion.install()
operators.install()
inplace.install()
inplace_geometry.install()
inplace_memory.install()
inplace_random.install()
sparse.algebra.install()
sparse.parts.install()
for _name, _original in aliases.items():
    functions[_name] = functions[_original]
    for _suffix in ("", "_"):
        if hasattr(Tensor, _original + _suffix):
            setattr(Tensor, _name + _suffix, getattr(Tensor, _original + _suffix))

for _name, _method in vars(Tensor).items():  # where pickle finds those
    if isinstance(_method, FunctionType) and _method.__module__.startswith(_BEHIND):
        _own = vars(Tensor).get(_method.__name__) is _method  # and not an alias
        _method.__module__ = Tensor.__module__
        _method.__qualname__ = f"Tensor.{_method.__name__ if _own else _name}"

# In-place methods that PyTorch has as functions, too.
_INPLACE = (
    "abs_", "acos_", "acosh_", "addmv_", "arccos_", "arccosh_", "arcsin_", "arcsinh_",
    "arctan_", "arctanh_", "as_strided_", "asin_", "asinh_", "atan_", "atanh_", "ceil_",
    "celu_", "clamp_", "clamp_max_", "clamp_min_", "clip_", "conj_physical_", "cos_", "cosh_",
    "deg2rad_", "detach_", "erf_", "erfc_", "exp2_", "exp_", "expm1_", "fill_", "fix_",
    "floor_", "frac_", "gcd_", "i0_", "index_put_", "lcm_", "ldexp_", "log10_", "log1p_", "log2_",
    "log_", "logit_",
    "nan_to_num_", "neg_", "negative_", "rad2deg_", "reciprocal_", "relu_", "resize_as_",
    "round_", "rsqrt_", "selu_", "sigmoid_", "sin_", "sinc_", "sinh_", "sqrt_", "square_",
    "tan_", "tanh_", "threshold_", "trunc_", "xlogy_", "zero_",
)  # fmt: skip
for _name in _INPLACE:
    functions[_name] = getattr(Tensor, _name)
_WRITTEN = (
    *activation.dropout.IN_PLACE, activation.noisy.rrelu_, indexing.embedding.embedding_renorm_,
)  # fmt: skip
for _written in _WRITTEN:
    functions[_written.__name__] = _written
