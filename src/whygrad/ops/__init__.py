"""The op table and what is made from it: public functions and tensor methods."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from whygrad.dispatch.calls import method_of
from whygrad.ops import (
    activation,
    arithmetic,
    attention,
    comparison,
    convolution,
    creation,
    exponential,
    indexing,
    inquiries,
    late,
    loss,
    normalization,
    operators,
    products,
    recurrent,
    reduction,
    shape,
    sparse,
    ties,
)
from whygrad.ops.define import Op, aliases, table
from whygrad.ops.inplace import geometry, memory, random, writing
from whygrad.tensor import Tensor
from whygrad.tensor.above import above

__all__ = ["functions", "table"]

_BEHIND = ("whygrad.dispatch.", "whygrad.ops.")  # the modules that make public functions
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


class _Functions(dict[str, Callable[..., Any]]):
    """Public functions by name; a late one is declared when it is first asked for."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        if late.load(name) and dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        raise KeyError(name)


functions = _Functions()
_published: set[str] = set()


def _publish() -> None:
    """Make functions and methods of the rows that have none yet."""
    for op in list(dict.values(table)):
        if op.name not in _published:
            _published.add(op.name)
            _publish_op(op)
    for name, original in aliases.items():
        if dict.__contains__(functions, original) and not dict.__contains__(functions, name):
            functions[name] = functions[original]
            for suffix in ("", "_"):
                method = vars(Tensor).get(original + suffix)
                if method is not None:
                    setattr(Tensor, name + suffix, method)
    for name in _INPLACE:
        method = vars(Tensor).get(name)
        known = dict.__contains__(functions, name)  # a watched method is not what it was
        if method is not None and not known and not isinstance(method, late.Method):
            functions[name] = method
    _name_methods()


def _publish_op(op: Op) -> None:
    if op.public_name == op.name:
        functions[op.name] = op.public
    if op.method:
        setattr(Tensor, op.name, method_of(op))
    written = vars(Tensor).get(f"{op.name}_")
    if op.inplace and not isinstance(written, FunctionType):  # float_power_ is written by hand
        setattr(Tensor, f"{op.name}_", writing.twin(op))
    if op.public_name is not None:  # where pickle finds it
        space, _, op.public.__qualname__ = f"whygrad.{op.public_name}".rpartition(".")
        op.public.__module__ = space


def _name_methods() -> None:
    """Where pickle finds them."""
    for name, method in vars(Tensor).items():
        if isinstance(method, FunctionType) and method.__module__.startswith(_BEHIND):
            if method.__name__ == name[1:].rstrip("_"):  # _getitem is __getitem__
                method.__name__ = name
            own = vars(Tensor).get(method.__name__) is method  # and not an alias
            method.__module__ = Tensor.__module__
            method.__qualname__ = f"Tensor.{method.__name__ if own else name}"


for _name in late.METHODS:
    setattr(Tensor, _name, late.Method(_name))
for _op in table.values():
    _published.add(_op.name)
    _publish_op(_op)
creation.conversion.install()
operators.install()
writing.install()
geometry.install()
memory.install()
random.install()
sparse.algebra.install()
sparse.parts.install()
_publish()
_WRITTEN = (
    *activation.dropout.IN_PLACE, activation.noisy.rrelu_, indexing.embedding.embedding_renorm_,
)  # fmt: skip
for _written in _WRITTEN:
    functions[_written.__name__] = _written
late.activate(_publish)

# What tensors and the dispatcher have done for them by ops.
above.provide("whygrad.ops", "functions")
above.provide("whygrad.ops.geometry", "normalize_dim")
above.provide("whygrad.ops.inplace.geometry", "resize")
above.provide(
    "whygrad.ops.inplace.writing", "assign", "check_writable", "payload", "plain_operands"
)
above.provide("whygrad.ops.public.legacy", "old_style")
above.provide("whygrad.ops.public.storages", "TypedStorage", "storage_type_of")
above.provide("whygrad.ops.shape.axes", "imag", "matrix_transpose", "real")
