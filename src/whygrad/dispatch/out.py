"""``out=``: the result of a function, written into a tensor that is already there.

One implementation for every function.  The result is computed as always, and only once it exists
and every check has passed is it written; so an ``out`` that shares memory with an input sees the
right values, and a refused call changes nothing.  A call without ``out=`` does not come by here.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.dispatch.silence import quiet
from whygrad.errors import describe, fail
from whygrad.source import caller
from whygrad.tensor import Tensor, dtypes, keys, modes
from whygrad.tensor.above import above
from whygrad.tensor.memory import share_partly

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = ["TAKES_OUT", "into"]

# The functions that take it in PyTorch; a test holds the list against PyTorch's signatures.
TAKES_OUT = frozenset((
    "abs", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr",
    "alias_copy", "all", "amax", "amin", "aminmax", "angle", "any", "arange", "argmax",
    "argmin", "argsort", "as_strided_copy", "asin", "asinh", "atan", "atan2", "atanh",
    "avg_pool2d", "avg_pool3d", "baddbmm", "bernoulli", "bitwise_and", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bmm", "bucketize",
    "cat", "ceil", "chain_matmul", "cholesky", "cholesky_inverse", "cholesky_solve", "clamp",
    "clamp_max", "clamp_min", "column_stack", "complex", "concat", "concatenate",
    "conj_physical", "copysign", "cos", "cosh", "cross", "cummax", "cummin", "cumprod",
    "cumsum", "deg2rad", "detach_copy", "diag", "diagonal_copy", "diff", "digamma", "div",
    "dot", "dstack", "empty", "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expand_copy",
    "expm1", "eye", "fft_fft", "fft_fft2", "fft_fftfreq", "fft_fftn", "fft_hfft", "fft_hfft2",
    "fft_hfftn", "fft_ifft", "fft_ifft2", "fft_ifftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn",
    "fft_irfft", "fft_irfft2", "fft_irfftn", "fft_rfft", "fft_rfft2", "fft_rfftfreq",
    "fft_rfftn", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frac",
    "frexp", "frobenius_norm", "full", "gather", "gcd", "ge", "gelu", "geqrf", "gt",
    "hardshrink", "heaviside", "histc", "histogram", "hstack", "hypot", "i0", "igamma",
    "igammac", "index_add", "index_copy", "index_reduce", "index_select", "inner", "inverse",
    "isin", "isneginf", "isposinf", "kron", "kthvalue", "lcm", "ldexp", "le", "lerp", "lgamma",
    "linalg_cholesky", "linalg_cholesky_ex", "linalg_cond", "linalg_cross", "linalg_det",
    "linalg_eig", "linalg_eigh", "linalg_eigvals", "linalg_eigvalsh",
    "linalg_householder_product", "linalg_inv", "linalg_inv_ex", "linalg_ldl_factor",
    "linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_lstsq", "linalg_lu",
    "linalg_lu_factor", "linalg_lu_factor_ex", "linalg_lu_solve", "linalg_matrix_norm",
    "linalg_matrix_power", "linalg_matrix_rank", "linalg_multi_dot", "linalg_norm",
    "linalg_pinv", "linalg_qr", "linalg_slogdet", "linalg_solve", "linalg_solve_ex",
    "linalg_solve_triangular", "linalg_svd", "linalg_svdvals", "linalg_tensorinv",
    "linalg_tensorsolve", "linalg_vecdot", "linalg_vector_norm", "linear", "linspace", "log",
    "log10", "log1p", "log2", "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "logsigmoid",
    "logspace", "logsumexp", "lt", "lu_solve", "lu_unpack", "masked_select", "matmul",
    "matrix_power", "max", "maximum", "mean", "median", "min", "minimum", "mm", "mode",
    "msort", "mul", "multinomial", "mv", "mvlgamma", "nan_to_num", "nanmean", "nanmedian",
    "nanquantile", "nansum", "narrow_copy", "native_batch_norm", "ne", "neg", "nextafter",
    "nonzero", "nonzero_static", "norm", "normal", "normalize", "nuclear_norm", "ones",
    "orgqr", "ormqr", "outer", "permute_copy", "polar", "polygamma", "pow", "prod", "qr",
    "quantile", "rad2deg", "rand", "randint", "randn", "randperm", "range", "reciprocal",
    "remainder", "renorm", "round", "rsqrt", "scatter", "scatter_add", "scatter_reduce",
    "searchsorted", "select_copy", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh",
    "slice_copy", "slice_scatter", "slogdet", "softmax", "softplus", "softshrink", "sort",
    "special_airy_ai", "special_bessel_j0", "special_bessel_j1", "special_bessel_y0",
    "special_bessel_y1", "special_chebyshev_polynomial_t", "special_chebyshev_polynomial_u",
    "special_chebyshev_polynomial_v", "special_chebyshev_polynomial_w", "special_entr",
    "special_erfcx", "special_hermite_polynomial_h", "special_hermite_polynomial_he",
    "special_i0e", "special_i1", "special_i1e", "special_laguerre_polynomial_l",
    "special_legendre_polynomial_p", "special_log_ndtr", "special_modified_bessel_i0",
    "special_modified_bessel_i1", "special_modified_bessel_k0", "special_modified_bessel_k1",
    "special_ndtr", "special_ndtri", "special_scaled_modified_bessel_k0",
    "special_scaled_modified_bessel_k1", "special_shifted_chebyshev_polynomial_t",
    "special_shifted_chebyshev_polynomial_u", "special_shifted_chebyshev_polynomial_v",
    "special_shifted_chebyshev_polynomial_w", "special_spherical_bessel_j0", "special_xlog1py",
    "special_zeta", "split_copy", "split_with_sizes_copy", "sqrt", "square", "squeeze_copy",
    "stack", "std", "sub", "sum", "svd", "t_copy", "take", "take_along_dim", "tan", "tanh",
    "tensordot", "topk", "transpose_copy", "tril", "triu", "trunc", "unbind_copy",
    "unfold_copy", "unsqueeze_copy", "var", "vdot", "view_as_complex_copy",
    "view_as_real_copy", "view_copy", "vstack", "where", "xlogy", "zeros",
))  # fmt: skip

# What PyTorch's kernels take from ``out`` itself; the conformance suite holds these against it.
_FILLS_ANY_SHAPE = frozenset(("arange", "linspace", "logspace", "range"))
_COMPUTES_IN_ITS_DTYPE = frozenset(("cumprod", "cumsum", "prod", "sum"))


def into(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the public function of ``op`` and write what it returns into ``kwargs["out"]``."""
    out = kwargs["out"]
    rest = {name: value for name, value in kwargs.items() if name != "out"}
    if out is None:
        return op.public(*args, **rest)
    call = _Call(op, out)
    inputs = [*_tensors(args), *_tensors(rest.values())]
    call.check_history(inputs)
    requires_grad = False
    created = op.family == "creation" and not inputs
    if created:
        rest, requires_grad = call.as_created(rest)
    elif op.name in _COMPUTES_IN_ITS_DTYPE and rest.get("dtype") is None:
        rest["dtype"] = call.targets[0].dtype
    for target in call.targets:
        above.check_writable(target, call.name)
        if (op.kind == "elementwise" or op.variadic) and target._keys & keys.CPU:
            call.check_overlap(target, inputs)
    if _computed_in_place(op, args, rest, out, call.name):
        return out
    result = op.public(*args, **rest)
    results = result if isinstance(result, tuple) else (result,)
    call.check_results(results)
    pairs = list(zip(call.targets, results, strict=True))
    if op.name in _FILLS_ANY_SHAPE:
        pairs = [(target, _laid_out(each, target)) for target, each in pairs]
    for target, each in pairs:
        if target.shape != each.shape:
            _resize(target, each, silent=created and op.name != "arange")
    for target, each in pairs:
        above.assign(target, each, call.name)
    if not isinstance(result, tuple):
        return out.requires_grad_() if requires_grad else out
    return type(result)(*call.targets) if hasattr(result, "_fields") else call.targets


def _computed_in_place(
    op: Op, args: tuple[Any, ...], rest: dict[str, Any], out: Any, name: str
) -> bool:
    """Let the kernel write to ``out`` itself, where nothing stands between them."""
    kernel: Any = op.forward
    if not isinstance(kernel, np.ufunc) or rest or len(args) != kernel.nin:
        return False
    if not isinstance(out, Tensor) or not above.plain_operands(out, args):
        return False
    if all(getattr(arg, "shape", None) != out.shape for arg in args):
        return False  # the result is smaller than out
    quiet.run(kernel, *[above.payload(arg) for arg in args], out=out._array)
    out._storage.bump(name, caller())
    return True


def _tensors(values: Any) -> list[Tensor]:
    found = []
    for value in values:
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, Tensor):
                found.append(each)
    return found


def _laid_out(sequence: Tensor, target: Tensor) -> Tensor:
    """A sequence fills a tensor of any shape that has room for exactly its elements."""
    return sequence.view(target.shape) if sequence.numel() == target.numel() else sequence


def _resize(target: Tensor, result: Tensor, silent: bool) -> None:
    """As PyTorch does, and with its remark where it makes one: it was hardly meant that way."""
    if target.numel() and not silent:
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(target.shape)}, which does not match the required output shape "
            f"{list(result.shape)}. If that is what you want, say so before: out.resize_(0)",
            UserWarning,
            stacklevel=4,
        )
    above.resize(target, tuple(result.shape))


class _Call:
    """What is written where, and whether that may be."""

    def __init__(self, op: Op, out: Any) -> None:
        self.op = op
        self.function = op.public_name or op.name
        self.name = f"{self.function}(out=…)"
        self.targets = tuple(out) if isinstance(out, (list, tuple)) else (out,)
        self.single = not isinstance(out, (list, tuple))
        for each in self.targets:
            if not isinstance(each, Tensor):
                raise fail(
                    TypeError,
                    call=f"{self.function}(…, out={describe(out)})",
                    cause=f"{self.function}(): argument 'out' must be Tensor, not "
                    f"{type(each).__name__}",
                    fix="pass a tensor, or a tuple of tensors for a function with several results",
                )

    def refuse(self, cause: str, fix: str, kind: type[Exception] = RuntimeError) -> Exception:
        targets = describe(self.targets[0] if self.single else list(self.targets))
        return fail(
            kind,
            call=f"{self.function}(…, out={targets})",
            cause=cause,
            fix=fix,
        )

    def check_history(self, inputs: list[Tensor]) -> None:
        bits = 0
        for each in (*inputs, *self.targets):
            bits |= each._keys
        if bits & keys.BATCHED:
            raise self.refuse(
                "vmap: batching is not defined for out=: one output cannot hold a result per "
                "sample",
                f"use the result: y = {self.function}(…)",
            )
        watched = [each if each._base is None else each._base for each in self.targets]
        watched += self.targets
        if self.op.differentiable:
            watched += inputs
        if modes.state.recording and any(each.requires_grad for each in watched):
            raise self.refuse(
                f"{self.function}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad",
                f"use the result: y = {self.function}(…), or call it inside "
                "`with whygrad.no_grad():`",
            )
        if bits & keys.FORWARD:
            raise self.refuse(
                f"Trying to use forward AD with {self.function} that does not support it because "
                "it is an out= function",
                f"use the result: y = {self.function}(…)",
                NotImplementedError,
            )

    def check_overlap(self, target: Tensor, inputs: list[Tensor]) -> None:
        for each in inputs:
            known = each._keys & keys.CPU and not each._keys & keys.LAYOUTS
            if known and share_partly(each._array, target._array):
                raise self.refuse(
                    "unsupported operation: some elements of the input tensor and the written-to "
                    f"tensor refer to a single memory location ({describe(each)} is another view "
                    "of the same memory)",
                    "clone() the input first, or write to a tensor of its own",
                )

    def as_created(self, options: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """New values are made in the dtype and on the device they are wanted in."""
        (target,) = self.targets
        dtype, device = options.get("dtype"), options.get("device")
        if dtype is not None and dtypes.of(dtype) is not target.dtype:
            raise self.refuse(
                f"dtype {dtypes.of(dtype).name} does not match dtype of out parameter "
                f"({target.dtype.name})",
                "leave dtype= out: that of out is used",
            )
        if device is not None and str(device) != str(target.device):
            raise self.refuse(
                f"device type {device} does not match device type of out parameter "
                f"({target.device})",
                "leave device= out: that of out is used",
            )
        chosen = {**options, "dtype": target.dtype, "device": target.device}
        return chosen, bool(chosen.pop("requires_grad", False))

    def check_results(self, results: tuple[Any, ...]) -> None:
        """Nothing has been written yet: the last chance to refuse."""
        if len(results) != len(self.targets) or (self.single and len(results) > 1):
            raise self.refuse(
                f"expected tuple of {len(results)} elements but got {len(self.targets)}",
                "pass one tensor per result: out=(values, indices)",
                TypeError,
            )
        for target, each in zip(self.targets, results, strict=True):
            if not dtypes.can_cast(each.dtype, target.dtype):
                raise self.refuse(
                    f"result type {each.dtype.name} can't be cast to the desired output type "
                    f"{target.dtype.name}",
                    f"make out with dtype=whygrad.{each.dtype.name}",
                )
            if (each._keys ^ target._keys) & (keys.DEVICES | keys.LAYOUTS):
                raise self.refuse(
                    "Expected all tensors to be on the same device, but the result is on "
                    f"{each.device} ({each.layout}) and out on {target.device} ({target.layout})",
                    f"make out with device='{each.device}'",
                )
