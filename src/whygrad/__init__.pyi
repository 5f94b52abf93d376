"""whygrad: an autograd engine shaped like PyTorch that can say why.

``import whygrad`` loads the engine and NumPy, nothing heavier.  Functions come from the op table
(:mod:`whygrad.ops`); what is listed here by hand is everything else.
"""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack, overload

from whygrad import amp as amp
from whygrad import autograd as autograd
from whygrad import data as data
from whygrad import dispatch as dispatch
from whygrad import distributions as distributions
from whygrad import doctor as doctor
from whygrad import files as files
from whygrad import func as func
from whygrad import nn as nn
from whygrad import optim as optim
from whygrad import scalar as scalar
from whygrad import testing as testing
from whygrad import training as training
from whygrad import utils as utils
from whygrad import why as why
from whygrad.amp.autocast_mode import autocast as autocast
from whygrad.amp.grad_scaler import GradScaler as GradScaler
from whygrad.amp.state import autocast_decrement_nesting as autocast_decrement_nesting
from whygrad.amp.state import autocast_increment_nesting as autocast_increment_nesting
from whygrad.amp.state import clear_autocast_cache as clear_autocast_cache
from whygrad.amp.state import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from whygrad.amp.state import get_autocast_dtype as get_autocast_dtype
from whygrad.amp.state import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from whygrad.amp.state import is_autocast_cache_enabled as is_autocast_cache_enabled
from whygrad.amp.state import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from whygrad.amp.state import is_autocast_enabled as is_autocast_enabled
from whygrad.amp.state import set_autocast_cache_enabled as set_autocast_cache_enabled
from whygrad.amp.state import set_autocast_cpu_dtype as set_autocast_cpu_dtype
from whygrad.amp.state import set_autocast_cpu_enabled as set_autocast_cpu_enabled
from whygrad.amp.state import set_autocast_dtype as set_autocast_dtype
from whygrad.amp.state import set_autocast_enabled as set_autocast_enabled
from whygrad.amp.state import set_autocast_gpu_dtype as set_autocast_gpu_dtype
from whygrad.autograd.anomaly_mode.switch import set_anomaly_enabled as set_anomaly_enabled
from whygrad.autograd.transforms.vmap import vmap as vmap
from whygrad.compat import compiler as compiler
from whygrad.compat import jit as jit
from whygrad.compat import multiprocessing as multiprocessing
from whygrad.compat import types as types
from whygrad.compat import version as version
from whygrad.compat.environment import (
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
)
from whygrad.compat.environment import compile as compile
from whygrad.compat.environment import get_deterministic_debug_mode as get_deterministic_debug_mode
from whygrad.compat.environment import get_device_module as get_device_module
from whygrad.compat.environment import get_float32_matmul_precision as get_float32_matmul_precision
from whygrad.compat.environment import get_num_interop_threads as get_num_interop_threads
from whygrad.compat.environment import get_num_threads as get_num_threads
from whygrad.compat.environment import (
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
)
from whygrad.compat.environment import is_warn_always_enabled as is_warn_always_enabled
from whygrad.compat.environment import set_deterministic_debug_mode as set_deterministic_debug_mode
from whygrad.compat.environment import set_float32_matmul_precision as set_float32_matmul_precision
from whygrad.compat.environment import set_flush_denormal as set_flush_denormal
from whygrad.compat.environment import set_num_interop_threads as set_num_interop_threads
from whygrad.compat.environment import set_num_threads as set_num_threads
from whygrad.compat.environment import set_warn_always as set_warn_always
from whygrad.compat.environment import use_deterministic_algorithms as use_deterministic_algorithms
from whygrad.dispatch import overrides as overrides
from whygrad.dispatch.overrides import DisableTorchFunction as DisableTorchFunction
from whygrad.dispatch.overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from whygrad.files import load as load
from whygrad.files import save as save
from whygrad.files import serialization as serialization
from whygrad.hardware import accelerator as accelerator
from whygrad.hardware import backends as backends
from whygrad.hardware import cpu as cpu
from whygrad.hardware import cuda as cuda
from whygrad.hardware import mps as mps
from whygrad.hardware import xpu as xpu
from whygrad.hardware.cuda import OutOfMemoryError as OutOfMemoryError
from whygrad.nn.any_convolution import convolution as convolution
from whygrad.ops.creation.conversion import is_tensor as is_tensor
from whygrad.ops.creation.creation import Options
from whygrad.ops.creation.sampling import RandomOptions
from whygrad.ops.normalization.native import Normalized
from whygrad.ops.public import fft as fft
from whygrad.ops.public import linalg as linalg
from whygrad.ops.public import return_types
from whygrad.ops.public import sparse as sparse
from whygrad.ops.public import special as special
from whygrad.ops.public.legacy import TensorType
from whygrad.ops.public.legacy import set_default_tensor_type as set_default_tensor_type
from whygrad.ops.public.legacy import typename as typename
from whygrad.ops.public.storages import StorageType
from whygrad.ops.public.storages import TypedStorage as TypedStorage
from whygrad.ops.public.storages import UntypedStorage as UntypedStorage
from whygrad.random import Generator as Generator
from whygrad.random import fork_rng as fork_rng
from whygrad.random import get_rng_state as get_rng_state
from whygrad.random import initial_seed as initial_seed
from whygrad.random import manual_seed as manual_seed
from whygrad.random import seed as seed
from whygrad.random import set_rng_state as set_rng_state
from whygrad.random import thread_safe_generator as thread_safe_generator
from whygrad.scalar.value import Value as Value
from whygrad.tensor._types import DeviceLike, DTypeLike, Ints, Number, Operand
from whygrad.tensor.devices import Device as device
from whygrad.tensor.devices import Layout
from whygrad.tensor.devices import Layout as layout
from whygrad.tensor.devices import get_default_device as get_default_device
from whygrad.tensor.devices import set_default_device as set_default_device
from whygrad.tensor.dtypes import DType as DType
from whygrad.tensor.dtypes import DType as dtype
from whygrad.tensor.dtypes import can_cast as can_cast
from whygrad.tensor.dtypes import finfo as finfo
from whygrad.tensor.dtypes import get_default_dtype as get_default_dtype
from whygrad.tensor.dtypes import iinfo as iinfo
from whygrad.tensor.dtypes import promote_types as promote_types
from whygrad.tensor.dtypes import result_type as result_type
from whygrad.tensor.dtypes import set_default_dtype as set_default_dtype
from whygrad.tensor.memory import MemoryFormat
from whygrad.tensor.memory import MemoryFormat as memory_format
from whygrad.tensor.memory import Size as Size
from whygrad.tensor.modes import enable_grad as enable_grad
from whygrad.tensor.modes import inference_mode as inference_mode
from whygrad.tensor.modes import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from whygrad.tensor.modes import is_anomaly_enabled as is_anomaly_enabled
from whygrad.tensor.modes import is_grad_enabled as is_grad_enabled
from whygrad.tensor.modes import is_inference_mode_enabled as is_inference_mode_enabled
from whygrad.tensor.modes import no_grad as no_grad
from whygrad.tensor.modes import set_grad_enabled as set_grad_enabled
from whygrad.tensor.printing import get_printoptions as get_printoptions
from whygrad.tensor.printing import printoptions as printoptions
from whygrad.tensor.printing import set_printoptions as set_printoptions
from whygrad.tensor.tensor import Tensor as Tensor
from whygrad.training.gradient_flow import grad_flow as grad_flow
from whygrad.training.model_summary import summary as summary
from whygrad.training.progress import track as track
from whygrad.why.explanation import explain as explain
from whygrad.why.nan.answers import why_nan as why_nan
from whygrad.why.none import why_none as why_none
from whygrad.why.zero.answers import why_zero as why_zero

__all__ = [
    "BFloat16Storage",
    "BFloat16Tensor",
    "BoolStorage",
    "BoolTensor",
    "ByteStorage",
    "ByteTensor",
    "CharStorage",
    "CharTensor",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DType",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DoubleStorage",
    "DoubleTensor",
    "FloatStorage",
    "FloatTensor",
    "Generator",
    "GradScaler",
    "HalfStorage",
    "HalfTensor",
    "IntStorage",
    "IntTensor",
    "LongStorage",
    "LongTensor",
    "OutOfMemoryError",
    "ShortStorage",
    "ShortTensor",
    "Size",
    "Tensor",
    "TypedStorage",
    "UntypedStorage",
    "Value",
    "abs",
    "abs_",
    "absolute",
    "accelerator",
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addmv_",
    "addr",
    "adjoint",
    "affine_grid",
    "affine_grid_generator",
    "alias_copy",
    "all",
    "allclose",
    "alpha_dropout",
    "alpha_dropout_",
    "amax",
    "amin",
    "aminmax",
    "amp",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan2",
    "arctan_",
    "arctanh",
    "arctanh_",
    "are_deterministic_algorithms_enabled",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_strided",
    "as_strided_",
    "as_strided_copy",
    "as_strided_scatter",
    "as_tensor",
    "asarray",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan_",
    "atanh",
    "atanh_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "backends",
    "baddbmm",
    "bartlett_window",
    "batch_norm",
    "bernoulli",
    "bfloat16",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "bincount",
    "binomial",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman_window",
    "block_diag",
    "bmm",
    "bool",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "can_cast",
    "cartesian_prod",
    "cast",
    "cat",
    "cdist",
    "cdouble",
    "ceil",
    "ceil_",
    "celu",
    "celu_",
    "cfloat",
    "chain_matmul",
    "channel_shuffle",
    "channels_last",
    "channels_last_3d",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clear_autocast_cache",
    "clip",
    "clip_",
    "clone",
    "coalesce",
    "col2im",
    "col_indices_copy",
    "column_stack",
    "combinations",
    "compile",
    "compiler",
    "complex",
    "complex64",
    "complex128",
    "concat",
    "concatenate",
    "conj",
    "conj_physical",
    "conj_physical_",
    "constant_pad_nd",
    "contiguous",
    "contiguous_format",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "copysign",
    "corrcoef",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "cosine_embedding_loss",
    "cosine_similarity",
    "count_nonzero",
    "cov",
    "cpu",
    "cross",
    "cross_entropy",
    "crow_indices_copy",
    "ctc_loss",
    "cuda",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "data",
    "default_generator",
    "deg2rad",
    "deg2rad_",
    "det",
    "detach",
    "detach_",
    "detach_copy",
    "device",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "diff",
    "digamma",
    "dispatch",
    "dist",
    "distributions",
    "div",
    "divide",
    "doctor",
    "dot",
    "double",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "dropout_",
    "dsmm",
    "dsplit",
    "dstack",
    "dtype",
    "e",
    "einsum",
    "elu",
    "embedding",
    "embedding_bag",
    "embedding_renorm_",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "enable_grad",
    "eq",
    "equal",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expand",
    "expand_as",
    "expand_copy",
    "explain",
    "expm1",
    "expm1_",
    "eye",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "fft",
    "files",
    "fill",
    "fill_",
    "finfo",
    "fix",
    "fix_",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float",
    "float16",
    "float32",
    "float64",
    "float_power",
    "floor",
    "floor_",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "fork_rng",
    "frac",
    "frac_",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "frexp",
    "frobenius_norm",
    "from_dlpack",
    "from_file",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "func",
    "gather",
    "gaussian_nll_loss",
    "gcd",
    "gcd_",
    "ge",
    "gelu",
    "geqrf",
    "ger",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "get_default_device",
    "get_default_dtype",
    "get_deterministic_debug_mode",
    "get_device",
    "get_device_module",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "get_printoptions",
    "get_rng_state",
    "glu",
    "grad_flow",
    "gradient",
    "greater",
    "greater_equal",
    "grid_sample",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "group_norm",
    "grouped_mm",
    "gru",
    "gru_cell",
    "gt",
    "gumbel_softmax",
    "half",
    "hamming_window",
    "hann_window",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "has_spectral",
    "heaviside",
    "hinge_embedding_loss",
    "histc",
    "histogram",
    "histogramdd",
    "hsmm",
    "hsplit",
    "hspmm",
    "hstack",
    "huber_loss",
    "hypot",
    "i0",
    "i0_",
    "igamma",
    "igammac",
    "iinfo",
    "im2col",
    "imag",
    "imaginary_part",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_select",
    "indices_copy",
    "inf",
    "inference_mode",
    "initial_seed",
    "inner",
    "instance_norm",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "interpolate",
    "inverse",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_complex",
    "is_conj",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_distributed",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "is_tensor",
    "is_warn_always_enabled",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "istft",
    "jit",
    "kaiser_window",
    "kl_div",
    "kron",
    "kthvalue",
    "l1_loss",
    "layer_norm",
    "layout",
    "lcm",
    "lcm_",
    "ldexp",
    "ldexp_",
    "le",
    "leaky_relu",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "linalg",
    "linear",
    "linear_cross_entropy",
    "linspace",
    "load",
    "lobpcg",
    "local_response_norm",
    "log",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log10",
    "log10_",
    "log_",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logit_",
    "logsigmoid",
    "logspace",
    "logsumexp",
    "long",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "lstm",
    "lstm_cell",
    "lt",
    "lu",
    "lu_solve",
    "lu_unpack",
    "manual_seed",
    "margin_ranking_loss",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "max",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "maximum",
    "mean",
    "median",
    "memory_format",
    "meshgrid",
    "min",
    "minimum",
    "mish",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "mps",
    "mse_loss",
    "msort",
    "mul",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "multinomial",
    "multiply",
    "multiprocessing",
    "mv",
    "mvlgamma",
    "nan",
    "nan_to_num",
    "nan_to_num_",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "narrow_copy",
    "native_batch_norm",
    "native_channel_shuffle",
    "native_dropout",
    "native_group_norm",
    "native_layer_norm",
    "ne",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_tensor",
    "new_zeros",
    "newaxis",
    "nextafter",
    "nll_loss",
    "nn",
    "no_grad",
    "nonzero",
    "nonzero_static",
    "norm",
    "norm_except_dim",
    "normal",
    "normalize",
    "not_equal",
    "nuclear_norm",
    "numel",
    "one_hot",
    "ones",
    "ones_like",
    "optim",
    "orgqr",
    "ormqr",
    "outer",
    "overrides",
    "pad",
    "pairwise_distance",
    "pdist",
    "permute",
    "permute_copy",
    "pi",
    "pinverse",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson",
    "poisson_nll_loss",
    "polar",
    "polygamma",
    "positive",
    "pow",
    "prelu",
    "preserve_format",
    "printoptions",
    "prod",
    "promote_types",
    "put",
    "qr",
    "quantile",
    "rad2deg",
    "rad2deg_",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "range",
    "ravel",
    "real",
    "real_part",
    "reciprocal",
    "reciprocal_",
    "relu",
    "relu6",
    "relu_",
    "remainder",
    "renorm",
    "repeat",
    "repeat_interleave",
    "reshape",
    "reshape_as",
    "resize_as_",
    "resolve_conj",
    "resolve_neg",
    "result_type",
    "rms_norm",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
    "roll",
    "rot90",
    "round",
    "round_",
    "row_stack",
    "rrelu",
    "rrelu_",
    "rsqrt",
    "rsqrt_",
    "rsub",
    "saddmm",
    "save",
    "scalar",
    "scalar_tensor",
    "scaled_dot_product_attention",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "seed",
    "select",
    "select_copy",
    "select_scatter",
    "selu",
    "selu_",
    "serialization",
    "set_anomaly_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_grad_enabled",
    "set_num_interop_threads",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "set_warn_always",
    "sgn",
    "short",
    "sigmoid",
    "sigmoid_",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sin_",
    "sinc",
    "sinc_",
    "sinh",
    "sinh_",
    "slice",
    "slice_copy",
    "slice_scatter",
    "slogdet",
    "smm",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "sort",
    "sparse",
    "sparse_coo",
    "sparse_coo_tensor",
    "sparse_csr",
    "sparse_csr_tensor",
    "sparse_mask",
    "special",
    "split",
    "split_copy",
    "split_with_sizes",
    "split_with_sizes_copy",
    "spmm",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "squeeze",
    "squeeze_copy",
    "sspaddmm",
    "stack",
    "std",
    "std_mean",
    "stft",
    "strided",
    "sub",
    "subtract",
    "sum",
    "sum_to_size",
    "summary",
    "svd",
    "swapaxes",
    "swapdims",
    "t",
    "t_copy",
    "take",
    "take_along_dim",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
    "tanhshrink",
    "tensor",
    "tensor_split",
    "tensordot",
    "testing",
    "thread_safe_generator",
    "threshold",
    "threshold_",
    "tile",
    "to",
    "to_dense",
    "to_sparse",
    "to_sparse_coo",
    "to_sparse_csr",
    "topk",
    "trace",
    "track",
    "training",
    "transpose",
    "transpose_copy",
    "trapezoid",
    "trapz",
    "triangular_solve",
    "tril",
    "tril_indices",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "trunc_",
    "type_as",
    "typename",
    "types",
    "uint8",
    "unbind",
    "unbind_copy",
    "unflatten",
    "unfold",
    "unfold_copy",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_copy",
    "use_deterministic_algorithms",
    "utils",
    "values",
    "values_copy",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "version",
    "view",
    "view_as",
    "view_as_complex",
    "view_as_complex_copy",
    "view_as_real",
    "view_as_real_copy",
    "view_copy",
    "view_dtype",
    "vmap",
    "vsplit",
    "vstack",
    "where",
    "why",
    "why_nan",
    "why_none",
    "why_zero",
    "xlogy",
    "xlogy_",
    "xpu",
    "zero_",
    "zeros",
    "zeros_like",
]

BFloat16Storage: StorageType

BFloat16Tensor: TensorType

BoolStorage: StorageType

BoolTensor: TensorType

ByteStorage: StorageType

ByteTensor: TensorType

CharStorage: StorageType

CharTensor: TensorType

ComplexDoubleStorage: StorageType

ComplexFloatStorage: StorageType

DoubleStorage: StorageType

DoubleTensor: TensorType

FloatStorage: StorageType

FloatTensor: TensorType

HalfStorage: StorageType

HalfTensor: TensorType

IntStorage: StorageType

IntTensor: TensorType

LongStorage: StorageType

LongTensor: TensorType

ShortStorage: StorageType

ShortTensor: TensorType

def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = |x|;  ∂y/∂x = sgn x"""

def abs_(input: Tensor) -> Tensor:
    """In-place abs: y = |x|;  ∂y/∂x = sgn x"""

def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = |x|;  ∂y/∂x = sgn x"""

def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arccos x;  ∂y/∂x = −1/√(1 − x²)"""

def acos_(input: Tensor) -> Tensor:
    """In-place acos: y = arccos x;  ∂y/∂x = −1/√(1 − x²)"""

def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arcosh x;  ∂y/∂x = 1/√(x² − 1)"""

def acosh_(input: Tensor) -> Tensor:
    """In-place acosh: y = arcosh x;  ∂y/∂x = 1/√(x² − 1)"""

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of ``output_size`` windows; None keeps a size.

    y = mean of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of ``output_size`` windows; None keeps a size.

    y = mean of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of ``output_size`` windows; None keeps a size.

    y = mean of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool1d(
    input: Tensor, output_size: Any, return_indices: builtins.bool = False
) -> Any:
    """The largest element of each of ``output_size`` windows; None keeps a size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: builtins.bool = False
) -> tuple[Tensor, ...]:
    """The largest element and its place of each of ``output_size`` windows; None keeps a
    size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool2d(
    input: Tensor, output_size: Any, return_indices: builtins.bool = False
) -> Any:
    """The largest element of each of ``output_size`` windows; None keeps a size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: builtins.bool = False
) -> tuple[Tensor, ...]:
    """The largest element and its place of each of ``output_size`` windows; None keeps a
    size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool3d(
    input: Tensor, output_size: Any, return_indices: builtins.bool = False
) -> Any:
    """The largest element of each of ``output_size`` windows; None keeps a size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: builtins.bool = False
) -> tuple[Tensor, ...]:
    """The largest element and its place of each of ``output_size`` windows; None keeps a
    size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def add(input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """y = a + b;  ∂y/∂a = 1,  ∂y/∂b = 1"""

def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """beta·input + alpha·Σ batch1 @ batch2, the sum over the batch as one long product.

    y = β·input + α·Σₙ aₙ·bₙ
    """

def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """y = x + value·a/b;  ∂y/∂x = 1,  ∂y/∂a = value/b,  ∂y/∂b = −value·a/b²"""

def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """y = x + value·a·b;  ∂y/∂x = 1,  ∂y/∂a = value·b,  ∂y/∂b = value·a"""

def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b = α·aᵀ·incoming"""

def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b = α·aᵀ·incoming"""

def addmv_(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """In-place addmv: y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b
    = α·aᵀ·incoming
    """

def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """beta·input + alpha·(vec1 ⊗ vec2)

    y = β·input + α·a⊗b
    """

def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated.

    y = xᴴ over the last two dimensions
    """

def affine_grid(theta: Tensor, size: Ints, align_corners: builtins.bool | None = None) -> Tensor:
    """The places that ``theta`` (N, 2, 3) makes of the pixels of an image of ``size`` (N, C,
    H, W).

    For :func:`grid_sample`; ``theta`` (N, 3, 4) and a size (N, C, D, H, W) are for
    volumes.

    y = θ·(x, y, 1) for the center (x, y) of every pixel
    """

def affine_grid_generator(
    theta: Tensor, size: Ints, align_corners: builtins.bool | None = None
) -> Tensor:
    """The places that ``theta`` (N, 2, 3) makes of the pixels of an image of ``size`` (N, C,
    H, W).

    For :func:`grid_sample`; ``theta`` (N, 3, 4) and a size (N, C, D, H, W) are for
    volumes.

    y = θ·(x, y, 1) for the center (x, y) of every pixel
    """

def alias_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``alias``, with memory of its own.

    y = what alias shows, copied
    """

def all(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = whether every element over dim is nonzero"""

def allclose(
    input: Tensor,
    other: Tensor,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
) -> builtins.bool:
    """Whether every element of ``isclose`` is true.

    whether |a − b| ≤ atol + rtol·|b| everywhere, as a Python bool
    """

def alpha_dropout(
    input: Tensor,
    p: builtins.float = 0.5,
    training: builtins.bool = False,
    inplace: builtins.bool = False,
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks with SELU.

    y = a·(x or −1.758…, with probability p) + b, a and b such that mean and variance stay
    """

def alpha_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """Alpha dropout of ``input`` itself."""

def amax(
    input: Tensor, dim: Ints = (), keepdim: builtins.bool = False, *, out: Tensor | None = None
) -> Tensor:
    """y = max x over dim;  ∂y/∂x = 1 at the maximum"""

def amin(
    input: Tensor, dim: Ints = (), keepdim: builtins.bool = False, *, out: Tensor | None = None
) -> Tensor:
    """y = min x over dim;  ∂y/∂x = 1 at the minimum"""

def aminmax(
    input: Tensor,
    *,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.aminmax:
    """The smallest and the largest element, as a named tuple ``(min, max)``.

    (min x, max x) over dim;  ∂y/∂x = 1 at the minimum and at the maximum
    """

def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = the direction of x in the complex plane: 0 or π for a real x;  ∂x =
    incoming·i·x/|x|²
    """

def any(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = whether some element over dim is nonzero"""

def arange(
    start: Operand = 0,
    end: Operand | None = None,
    step: Operand = 1,
    *,
    out: Tensor | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """``start, start + step, …`` up to but without ``end``; ``arange(end)`` starts at 0.

    y[i] = start + i·step, below end
    """

def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arccos x;  ∂y/∂x = −1/√(1 − x²)"""

def arccos_(input: Tensor) -> Tensor:
    """In-place acos: y = arccos x;  ∂y/∂x = −1/√(1 − x²)"""

def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arcosh x;  ∂y/∂x = 1/√(x² − 1)"""

def arccosh_(input: Tensor) -> Tensor:
    """In-place acosh: y = arcosh x;  ∂y/∂x = 1/√(x² − 1)"""

def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arcsin x;  ∂y/∂x = 1/√(1 − x²)"""

def arcsin_(input: Tensor) -> Tensor:
    """In-place asin: y = arcsin x;  ∂y/∂x = 1/√(1 − x²)"""

def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arsinh x;  ∂y/∂x = 1/√(x² + 1)"""

def arcsinh_(input: Tensor) -> Tensor:
    """In-place asinh: y = arsinh x;  ∂y/∂x = 1/√(x² + 1)"""

def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arctan x;  ∂y/∂x = 1/(1 + x²)"""

def arctan2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the angle of the point (b, a);  ∂y/∂a = b/(a² + b²),  ∂y/∂b = −a/(a² + b²)"""

def arctan_(input: Tensor) -> Tensor:
    """In-place atan: y = arctan x;  ∂y/∂x = 1/(1 + x²)"""

def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = artanh x;  ∂y/∂x = 1/(1 − x²)"""

def arctanh_(input: Tensor) -> Tensor:
    """In-place atanh: y = artanh x;  ∂y/∂x = 1/(1 − x²)"""

def argmax(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = position of the first maximum (along dim)"""

def argmin(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = position of the first minimum (along dim)"""

def argsort(
    input: Tensor,
    dim: builtins.int = -1,
    descending: builtins.bool = False,
    *,
    stable: builtins.bool | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """y = the positions that put x in order along dim"""

def argwhere(input: Tensor) -> Tensor:
    """Coordinates of the elements that are not 0, one row each.

    y = the coordinates of the elements that are not 0, one row each
    """

def as_strided(
    input: Tensor,
    size: Ints,
    stride: builtins.int | Sequence[builtins.int],
    storage_offset: Any = None,
) -> Tensor:
    """y = the memory of x with any geometry;  ∂x = Σ incoming over the elements that show x"""

def as_strided_(
    input: Tensor,
    size: Ints,
    stride: builtins.int | Sequence[builtins.int],
    storage_offset: Any = None,
) -> Tensor:
    """Become what as_strided() returns."""

def as_strided_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``as_strided``, with memory of its own.

    y = what as_strided shows, copied
    """

def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Ints,
    stride: builtins.int | Sequence[builtins.int],
    storage_offset: builtins.int | None = None,
) -> Tensor:
    """``input`` with ``src`` where ``as_strided`` would look.

    y = x with src where as_strided would look;  ∂x = incoming, 0 where src is
    """

def as_tensor(
    data: Any, dtype: DTypeLike | None = None, device: DeviceLike | None = None
) -> Tensor:
    """``data`` as a tensor, without a copy where memory can be shared, with its graph if
    any.

    y = the data, shared where possible
    """

def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    copy: builtins.bool | None = None,
    requires_grad: builtins.bool | None = None,
) -> Tensor:
    """Anything array-like as a tensor; ``copy`` says whether memory must or must not be
    shared.

    ``requires_grad`` is as it was unless given.  ``False`` cuts the result off from what
    ``obj``
    was computed from; a leaf that is returned as it is stops to require grad.

    y = the data, shared where possible or as copy= says
    """

def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arcsin x;  ∂y/∂x = 1/√(1 − x²)"""

def asin_(input: Tensor) -> Tensor:
    """In-place asin: y = arcsin x;  ∂y/∂x = 1/√(1 − x²)"""

def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arsinh x;  ∂y/∂x = 1/√(x² + 1)"""

def asinh_(input: Tensor) -> Tensor:
    """In-place asinh: y = arsinh x;  ∂y/∂x = 1/√(x² + 1)"""

def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arctan x;  ∂y/∂x = 1/(1 + x²)"""

def atan2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the angle of the point (b, a);  ∂y/∂a = b/(a² + b²),  ∂y/∂b = −a/(a² + b²)"""

def atan_(input: Tensor) -> Tensor:
    """In-place atan: y = arctan x;  ∂y/∂x = 1/(1 + x²)"""

def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = artanh x;  ∂y/∂x = 1/(1 − x²)"""

def atanh_(input: Tensor) -> Tensor:
    """In-place atanh: y = artanh x;  ∂y/∂x = 1/(1 − x²)"""

@overload
def atleast_1d(tensor: Tensor, /) -> Tensor:
    """0-d tensors with one dimension; others as they are.

    y = x with at least one dimension
    """

@overload
def atleast_1d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """0-d tensors with one dimension; others as they are.

    y = x with at least one dimension
    """

@overload
def atleast_1d(first: Tensor, second: Tensor, /, *others: Tensor) -> tuple[Tensor, ...]:
    """0-d tensors with one dimension; others as they are.

    y = x with at least one dimension
    """

@overload
def atleast_2d(tensor: Tensor, /) -> Tensor:
    """Tensors with at least two dimensions; a vector becomes a row.

    y = x with at least two dimensions
    """

@overload
def atleast_2d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """Tensors with at least two dimensions; a vector becomes a row.

    y = x with at least two dimensions
    """

@overload
def atleast_2d(first: Tensor, second: Tensor, /, *others: Tensor) -> tuple[Tensor, ...]:
    """Tensors with at least two dimensions; a vector becomes a row.

    y = x with at least two dimensions
    """

@overload
def atleast_3d(tensor: Tensor, /) -> Tensor:
    """Tensors with at least three dimensions; a matrix gets a last one of size 1.

    y = x with at least three dimensions
    """

@overload
def atleast_3d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """Tensors with at least three dimensions; a matrix gets a last one of size 1.

    y = x with at least three dimensions
    """

@overload
def atleast_3d(first: Tensor, second: Tensor, /, *others: Tensor) -> tuple[Tensor, ...]:
    """Tensors with at least three dimensions; a matrix gets a last one of size 1.

    y = x with at least three dimensions
    """

def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    ceil_mode: builtins.bool = False,
    count_include_pad: builtins.bool = True,
) -> Tensor:
    """The mean of every window of the last dimension; see :func:`avg_pool2d`.

    y = Σ of every window / its number of elements
    """

def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    ceil_mode: builtins.bool = False,
    count_include_pad: builtins.bool = True,
    divisor_override: builtins.int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of every window of the last 2 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``count_include_pad`` counts the zeros of the border; ``divisor_override``
    replaces the
    count.

    y = Σ of every window / its number of elements
    """

def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    ceil_mode: builtins.bool = False,
    count_include_pad: builtins.bool = True,
    divisor_override: builtins.int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of every window of the last 3 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``count_include_pad`` counts the zeros of the border; ``divisor_override``
    replaces the
    count.

    y = Σ of every window / its number of elements
    """

def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b = α·aᵀ·incoming"""

def bartlett_window(
    window_length: builtins.int, periodic: builtins.bool = True, **options: Unpack[Options]
) -> Tensor:
    """A triangle.

    y[n] = 1 − |2n/N − 1|
    """

def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    cudnn_enabled: builtins.bool = False,
) -> Tensor:
    """Mean 0 and variance 1 per channel, then ``weight`` and ``bias`` per channel.

    In training the batch's own mean and variance count, and the running ones move towards
    them by
    ``momentum``; otherwise the running ones count.  ``cudnn_enabled`` is there for
    PyTorch's sake.

    x̂ = (x − mean)/√(var + ε) per channel, y = x̂·weight + bias;  ∂x = (incoming −
    mean(incoming) − x̂·mean(incoming·x̂))·weight/√(var + ε),  ∂weight = Σ incoming·x̂,
    ∂bias = Σ incoming
    """

def bernoulli(
    input: Tensor,
    p: builtins.float | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """1 with probability ``input`` (or ``p`` for all), else 0, in the dtype of ``input``.

    y ~ 1 with probability x, else 0
    """

bfloat16: DType

def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x₁ᵀ·A·x₂ + b, with one matrix A per output in ``weight`` (outputs, size 1, size 2).

    y = x₁ᵀ·A·x₂ + b, one matrix A per output
    """

def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """y = −(t·log x + (1 − t)·log(1 − x)), then mean or sum;  ∂y/∂x = (x − t) / (x·(1 − x)),
    ∂y/∂t = log(1 − x) − log x
    """

def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """y = (1 − t)·x + (1 + (w − 1)·t)·log(1 + exp(−x)), then mean or sum, w = pos_weight;
    ∂y/∂x = σ(x) − t (for w = 1),  ∂y/∂t = −x + (w − 1)·log(1 + exp(−x))
    """

def bincount(input: Tensor, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
    """y[k] = the number of elements equal to k, or the sum of their weights"""

def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of ``count`` attempts succeed, each with probability ``prob``.

    y ~ B(count, prob)
    """

def bitwise_and(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the bits set in both a and b"""

def bitwise_left_shift(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = a·2ᵇ, bits beyond the width are lost"""

def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = every bit of x flipped; for bools, not x"""

def bitwise_or(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the bits set in a or b"""

def bitwise_right_shift(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = a / 2ᵇ rounded down"""

def bitwise_xor(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the bits set in exactly one of a and b"""

def blackman_window(
    window_length: builtins.int, periodic: builtins.bool = True, **options: Unpack[Options]
) -> Tensor:
    """Three cosines, with side lobes lower than Hann's.

    y[n] = 0.42 − 0.5·cos(2πn/N) + 0.08·cos(4πn/N)
    """

def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """y = x₁, x₂, … as blocks on the diagonal, else 0;  ∂xᵢ = its block of incoming"""

def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of two equally long stacks of matrices.

    yₙ = aₙ·bₙ for two stacks of matrices
    """

bool: DType

def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that these shapes have in common once they are broadcast.

    the common shape after broadcasting
    """

def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape.

    y₁, y₂, … = x₁, x₂, … expanded to their common shape
    """

def broadcast_to(input: Tensor, size: Ints) -> Tensor:
    """``expand`` under NumPy's name.

    y = x expanded to a shape, no copy
    """

def bucketize(
    input: Tensor,
    boundaries: Tensor,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The number of the bin between ``boundaries`` into which each element falls.

    y = the number of boundaries below x (with right: at or below x)
    """

def cartesian_prod(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Every combination of one element from each vector, one per row.

    y = all combinations of elements, one per row
    """

def cast(input: Tensor, dtype: DTypeLike) -> Tensor:
    """y = x rounded to another dtype;  ∂x = incoming rounded back"""

def cat(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """y = x₁, x₂, … one after the other along dim;  ∂xᵢ = its part of incoming"""

def cdist(
    x1: Tensor,
    x2: Tensor,
    p: builtins.float = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """y[i, j] = |aᵢ − bⱼ| in the p-norm;  ∂y/∂a = sign(aᵢ − bⱼ)·|aᵢ − bⱼ|ᵖ⁻¹·y^(1−p),  ∂b =
    −∂a
    """

cdouble: DType

def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = ⌈x⌉;  ∂y/∂x = 0"""

def ceil_(input: Tensor) -> Tensor:
    """In-place ceil: y = ⌈x⌉;  ∂y/∂x = 0"""

def celu(input: Tensor, alpha: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """y = x if x > 0 else α·(exp(x/α) − 1);  ∂y/∂x = 1 or exp(x/α)"""

def celu_(input: Tensor, alpha: builtins.float = 1.0) -> Tensor:
    """In-place celu: y = x if x > 0 else α·(exp(x/α) − 1);  ∂y/∂x = 1 or exp(x/α)"""

cfloat: DType

def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """``linalg.multi_dot`` with the matrices as arguments.

    y = a·b·c·…
    """

def channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """Deal the channels (dimension 1) out to ``groups`` in turn.

    y = the channels of x, one of each group in turn
    """

channels_last: MemoryFormat

channels_last_3d: MemoryFormat

def cholesky(input: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """``linalg.cholesky`` under its older name.

    y·yᵀ = x, y lower triangular
    """

def cholesky_inverse(
    L: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The inverse of A, given its Cholesky factor.

    y = (L·Lᵀ)⁻¹
    """

def cholesky_solve(
    B: Tensor, L: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The X with ``A @ X = B``, given the Cholesky factor of A.

    y = (L·Lᴴ)⁻¹·b by two triangular solves
    """

def chunk(input: Tensor, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces of one size (the last may be smaller).

    y₁, y₂, … = pieces of equal size, same memory
    """

def clamp(
    input: Tensor,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; a bound gets the
    gradient where it is the value
    """

def clamp_(input: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """In-place clamp: y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; a
    bound gets the gradient where it is the value
    """

def clamp_max(input: Tensor, max: Operand, *, out: Tensor | None = None) -> Tensor:
    """The smaller of ``input`` and an upper bound.

    y = min(x, high);  ∂y/∂x = 1 for x ≤ high, else 0
    """

def clamp_max_(input: Tensor, max: Operand) -> Tensor:
    """In-place clamp_max: y = min(x, high);  ∂y/∂x = 1 for x ≤ high, else 0"""

def clamp_min(input: Tensor, min: Operand, *, out: Tensor | None = None) -> Tensor:
    """The larger of ``input`` and a lower bound.

    y = max(x, low);  ∂y/∂x = 1 for x ≥ low, else 0
    """

def clamp_min_(input: Tensor, min: Operand) -> Tensor:
    """In-place clamp_min: y = max(x, low);  ∂y/∂x = 1 for x ≥ low, else 0"""

def clip(
    input: Tensor,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; a bound gets the
    gradient where it is the value
    """

def clip_(input: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """In-place clamp: y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; a
    bound gets the gradient where it is the value
    """

def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """y = a copy of x;  ∂y/∂x = 1"""

def coalesce(input: Tensor) -> Tensor:
    """Coordinates sorted and each once; the values of repeats added up.

    y = x with repeated coordinates added up;  ∂y/∂x = 1
    """

def col2im(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: builtins.int | Sequence[builtins.int] = 1,
) -> Tensor:
    """y = the columns of x added where their windows lie;  ∂x = the windows of incoming as
    columns
    """

def col_indices_copy(input: Tensor) -> Tensor:
    """``col_indices()`` of a sparse tensor, with memory of its own.

    y = the col indices of a sparse x, copied
    """

def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join side by side, vectors as columns.

    y = x₁, x₂, … side by side, vectors as columns
    """

def combinations(
    input: Tensor, r: builtins.int = 2, with_replacement: builtins.bool = False
) -> Tensor:
    """Every choice of ``r`` elements of a vector, in order, as rows.

    y = every choice of r elements
    """

def complex(real: Any, imag: Any, *, out: Tensor | None = None) -> Tensor:
    """y = a + i·b;  ∂a = Re incoming,  ∂b = Im incoming"""

complex128: DType

complex64: DType

def concat(
    tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Tensor | None = None
) -> Tensor:
    """Another name of ``cat``.

    y = x₁, x₂, … one after the other along dim
    """

def concatenate(
    tensors: Sequence[Tensor],
    axis: builtins.int = 0,
    *,
    dim: builtins.int | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """``cat`` under NumPy's name.

    y = x₁, x₂, … one after the other along axis
    """

def conj(input: Tensor) -> Tensor:
    """The conjugate of a complex tensor; a real tensor is its own.

    y = Re x − i·Im x
    """

def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = Re x − i·Im x as a copy;  ∂x = the conjugate of incoming"""

def conj_physical_(input: Tensor) -> Tensor:
    """In-place conj_physical: y = Re x − i·Im x as a copy;  ∂x = the conjugate of incoming"""

def constant_pad_nd(input: Tensor, pad: Sequence[builtins.int], value: Operand = 0) -> Tensor:
    """``nn.functional.pad`` with a constant.

    y = x with a constant around it
    """

def contiguous(input: Tensor, memory_format: MemoryFormat = ...) -> Tensor:
    """This tensor itself if its elements lie in row-major order, else a copy that does.

    y = x in row-major order: x itself, or a copy
    """

contiguous_format: MemoryFormat

def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: builtins.int | Sequence[builtins.int] = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: builtins.int = 1,
) -> Tensor:
    """Each output is a kernel's weighted sum of a window of the input (1D).

    ``input`` is (samples, channels, *sizes), ``weight`` (channels out, channels in /
    groups,
    *kernel).  ``padding`` is a number of zeros on either side, ``"valid"`` for none, or
    ``"same"``
    for an output as large as the input.

    y[n, o, p] = Σ x[n, c, p·stride + k·dilation − padding]·W[o, c, k] + b[o]
    """

def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: builtins.int | Sequence[builtins.int] = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: builtins.int = 1,
) -> Tensor:
    """Each output is a kernel's weighted sum of a window of the input (2D).

    ``input`` is (samples, channels, *sizes), ``weight`` (channels out, channels in /
    groups,
    *kernel).  ``padding`` is a number of zeros on either side, ``"valid"`` for none, or
    ``"same"``
    for an output as large as the input.

    y[n, o, p] = Σ x[n, c, p·stride + k·dilation − padding]·W[o, c, k] + b[o]
    """

def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: builtins.int | Sequence[builtins.int] = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: builtins.int = 1,
) -> Tensor:
    """Each output is a kernel's weighted sum of a window of the input (3D).

    ``input`` is (samples, channels, *sizes), ``weight`` (channels out, channels in /
    groups,
    *kernel).  ``padding`` is a number of zeros on either side, ``"valid"`` for none, or
    ``"same"``
    for an output as large as the input.

    y[n, o, p] = Σ x[n, c, p·stride + k·dilation − padding]·W[o, c, k] + b[o]
    """

def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: builtins.int = 0) -> Tensor:
    """``conv1d`` of (time, samples, channels) with a weight (kernel, channels in, channels
    out).

    y[t, n, o] = Σ x[t + k − pad, n, c]·W[k, c, o] + b[o]
    """

def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: builtins.int | Sequence[builtins.int] = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: builtins.int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Each input adds its multiple of the kernel to the output (1D).

    The adjoint of ``conv1d``: ``weight`` is (channels in, channels out / groups,
    *kernel),
    ``stride`` spreads the input, ``padding`` crops the output and ``output_padding``
    extends it at
    the end.

    y[n, c, p·stride + k·dilation − padding] += x[n, o, p]·W[o, c, k], then + b[c]
    """

def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: builtins.int | Sequence[builtins.int] = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: builtins.int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Each input adds its multiple of the kernel to the output (2D).

    The adjoint of ``conv2d``: ``weight`` is (channels in, channels out / groups,
    *kernel),
    ``stride`` spreads the input, ``padding`` crops the output and ``output_padding``
    extends it at
    the end.

    y[n, c, p·stride + k·dilation − padding] += x[n, o, p]·W[o, c, k], then + b[c]
    """

def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: builtins.int | Sequence[builtins.int] = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: builtins.int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Each input adds its multiple of the kernel to the output (3D).

    The adjoint of ``conv3d``: ``weight`` is (channels in, channels out / groups,
    *kernel),
    ``stride`` spreads the input, ``padding`` crops the output and ``output_padding``
    extends it at
    the end.

    y[n, c, p·stride + k·dilation − padding] += x[n, o, p]·W[o, c, k], then + b[c]
    """

def copysign(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = |a| with the sign of b;  ∂y/∂a = ±1 (0 at a = 0),  ∂y/∂b = 0"""

def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlation of the rows over the columns.

    y = cov x divided by the standard deviations of rows and columns
    """

def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = cos x;  ∂y/∂x = −sin x"""

def cos_(input: Tensor) -> Tensor:
    """In-place cos: y = cos x;  ∂y/∂x = −sin x"""

def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = cosh x;  ∂y/∂x = sinh x"""

def cosh_(input: Tensor) -> Tensor:
    """In-place cosh: y = cosh x;  ∂y/∂x = sinh x"""

def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: builtins.float = 0,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 − cosine for pairs that belong together (1), cosine above margin for the others
    (−1).

    y = 1 − cos(a, b) where t = 1, max(0, cos(a, b) − margin) where t = −1, then mean or
    sum
    """

def cosine_similarity(
    x1: Tensor, x2: Tensor, dim: builtins.int = 1, eps: builtins.float = 1e-08
) -> Tensor:
    """The cosine of the angle between vectors along ``dim``.

    y = Σ a·b / (|a|·|b|) over dim, each length held above eps
    """

def count_nonzero(input: Tensor, dim: Ints | None = None) -> Tensor:
    """y = how many elements over dim are not 0"""

def cov(
    input: Tensor,
    *,
    correction: builtins.int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance of the rows, which are variables, over the columns, which are
    observations.

    ``fweights`` says how often an observation was made, ``aweights`` how much it counts.

    y = Σ w·(xᵢ − mean)(xⱼ − mean) / (Σ w − correction)
    """

def cross(
    input: Tensor, other: Tensor, dim: builtins.int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """``linalg.cross``; without ``dim``, along the first dimension of size 3.

    y = a × b
    """

def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: builtins.bool | None = None,
    ignore_index: builtins.int = -100,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
    label_smoothing: builtins.float = 0.0,
) -> Tensor:
    """y = −Σ q·log softmax(x) over classes, q the weights the target gives them, then mean
    or sum;  ∂x = (softmax(x)·Σq − q)·incoming, for a plain mean (softmax(x) −
    one_hot(target)) / batch
    """

def crow_indices_copy(input: Tensor) -> Tensor:
    """``crow_indices()`` of a sparse tensor, with memory of its own.

    y = the crow indices of a sparse x, copied
    """

def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: builtins.int = 0,
    reduction: Any = "mean",
    zero_infinity: builtins.bool = False,
) -> Tensor:
    """−log of the probability of the targets, over all ways to spread them over time.

    ``log_probs`` is (time, batch, classes) or (time, classes), from ``log_softmax``;
    ``targets``
    is (batch, longest), or all of them in one row.  ``mean`` divides each loss by the
    length of its
    target first.  ``zero_infinity`` makes losses of impossible targets, and their
    gradients, 0.

    y = −log p(targets), p = Σ over all ways to spread the targets over time;  ∂log_probs
    = exp(log_probs) − expected counts
    """

def cummax(input: Tensor, dim: Ints, *, out: Sequence[Tensor] | None = None) -> return_types.cummax:
    """values_t = max of x up to t, at indices; as a named tuple ``(values, indices)``.

    values_t = max of x up to t, at indices
    """

def cummin(input: Tensor, dim: Ints, *, out: Sequence[Tensor] | None = None) -> return_types.cummin:
    """values_t = min of x up to t, at indices; as a named tuple ``(values, indices)``.

    values_t = min of x up to t, at indices
    """

def cumprod(
    input: Tensor, dim: Ints, *, dtype: DTypeLike | None = None, out: Tensor | None = None
) -> Tensor:
    """y_t = Π_{s≤t} x_s;  ∂x_t = s_t·y_{t−1} with s_t = incoming_t + x_{t+1}·s_{t+1}"""

def cumsum(
    input: Tensor, dim: Ints, *, dtype: DTypeLike | None = None, out: Tensor | None = None
) -> Tensor:
    """y_t = Σ_{s≤t} x_s;  ∂x_t = Σ_{s≥t} incoming_s"""

def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: builtins.int = -1
) -> Tensor:
    """The area under ``y`` up to each point after the first.

    running Σ (y_t + y_{t+1})·(x_{t+1} − x_t)/2
    """

default_generator: Generator

def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x·π/180;  ∂y/∂x = π/180"""

def deg2rad_(input: Tensor) -> Tensor:
    """In-place deg2rad: y = x·π/180;  ∂y/∂x = π/180"""

def det(input: Tensor) -> Tensor:
    """``linalg.det``.

    y = det x
    """

def detach(input: Tensor) -> Tensor:
    """The same memory, cut off from the graph.

    y = x, cut off from the graph
    """

def detach_(input: Tensor) -> Tensor:
    """Forget how this tensor was computed: it becomes a leaf."""

def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy outside the graph.

    y = x copied, cut off from the graph
    """

def diag(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """A vector as the diagonal of a matrix, or a copy of the diagonal of a matrix.

    y = a matrix with diagonal x, or the diagonal of x
    """

def diag_embed(
    input: Tensor, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1
) -> Tensor:
    """Matrices over ``dim1`` and ``dim2`` with the last dimension of the input as diagonal.

    y = 0, with x on the diagonals of the matrices over dim1, dim2
    """

def diagflat(input: Tensor, offset: builtins.int = 0) -> Tensor:
    """All elements as the diagonal of a matrix.

    y = a matrix with all elements of x on its diagonal
    """

def diagonal(
    input: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
) -> Tensor:
    """y = the diagonal of x over dim1, dim2, same memory;  ∂x = incoming on the diagonal,
    else 0
    """

def diagonal_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``diagonal``, with memory of its own.

    y = what diagonal shows, copied
    """

def diagonal_scatter(
    input: Tensor,
    src: Tensor,
    offset: builtins.int = 0,
    dim1: builtins.int = 0,
    dim2: builtins.int = 1,
) -> Tensor:
    """``input`` with ``src`` on its diagonal.

    y = x with src on its diagonal
    """

def diff(
    input: Tensor,
    n: builtins.int = 1,
    dim: builtins.int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along ``dim``, taken ``n`` times.

    y_t = x_{t+1} − x_t, n times over
    """

def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = ψ(x) = Γ′(x)/Γ(x);  ∂y/∂x = ψ′(x), polygamma of order 1"""

def dist(input: Tensor, other: Tensor, p: builtins.float = 2) -> Tensor:
    """The p-norm of the difference of two tensors.

    y = |a − b| in the p-norm
    """

def div(
    input: Operand, other: Operand, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""

def divide(
    input: Operand, other: Operand, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""

def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The scalar product of two vectors.

    y = Σ a·b for two vectors
    """

double: DType

def dropout(
    input: Tensor,
    p: builtins.float = 0.5,
    training: builtins.bool = True,
    inplace: builtins.bool = False,
) -> Tensor:
    """Each element is 0 with probability ``p``, and the others grow so that the mean stays.

    y = x·noise, noise 0 with probability p and 1/(1 − p) otherwise
    """

def dropout1d(
    input: Tensor,
    p: builtins.float = 0.5,
    training: builtins.bool = True,
    inplace: builtins.bool = False,
) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L).

    y = x·noise, noise per sample and channel
    """

def dropout2d(
    input: Tensor,
    p: builtins.float = 0.5,
    training: builtins.bool = True,
    inplace: builtins.bool = False,
) -> Tensor:
    """Dropout of whole channels of (N, C, H, W).

    y = x·noise, noise per sample and channel
    """

def dropout3d(
    input: Tensor,
    p: builtins.float = 0.5,
    training: builtins.bool = True,
    inplace: builtins.bool = False,
) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W).

    y = x·noise, noise per sample and channel
    """

def dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """Drop elements of ``input`` itself."""

def dsmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices, without broadcasting.

    y = a·b for two matrices
    """

def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split along dimension 2.

    y₁, y₂, … = pieces of x along the third dimension, same memory
    """

def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join along the third dimension.

    y = x₁, x₂, … along the third dimension
    """

e: builtins.float

def einsum(*args: Any) -> Tensor:
    """Σ Π operands as the equation says: ``einsum("bij,bjk->bik", a, b)``.

    y = Σ Π operands over the letters that the result leaves out
    """

def elu(input: Tensor, alpha: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """y = x if x > 0 else α·(eˣ − 1);  ∂y/∂x = 1 or α·eˣ"""

def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: builtins.int | None = None,
    max_norm: builtins.float | None = None,
    norm_type: builtins.float = 2.0,
    scale_grad_by_freq: builtins.bool = False,
    sparse: builtins.bool = False,
) -> Tensor:
    """y = the rows of weight at index;  ∂weight = incoming added up at index, 0 at padding"""

def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: builtins.float | None = None,
    norm_type: builtins.float = 2.0,
    scale_grad_by_freq: builtins.bool = False,
    mode: str = "mean",
    sparse: builtins.bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: builtins.bool = False,
    padding_idx: builtins.int | None = None,
) -> Tensor:
    """The ``sum``, ``mean`` or ``max`` of the rows of ``weight`` in every bag of indices.

    Each row of a 2-D ``input`` is a bag; a 1-D one is cut into bags that start at
    ``offsets``,
    the last of which is the end if ``include_last_offset``.  ``per_sample_weights`` scale
    the rows
    of a ``sum``.  Rows at ``padding_idx`` do not count.  The other options are those of
    ``embedding``.

    y = sum, mean or max of the rows in each bag;  ∂weight = incoming at every row of the
    bag
    """

def embedding_renorm_(
    input: Tensor, indices: Tensor, max_norm: builtins.float, norm_type: builtins.float
) -> Tensor:
    """Bring the rows of ``input`` at ``indices`` that are longer than ``max_norm`` down to
    it.
    """

def empty(*size: Ints, out: Tensor | None = None, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found: fill it before reading.

    y = memory as it is found
    """

def empty_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found, shaped like ``input``.

    y = memory as it is found, shaped like x
    """

def empty_permuted(size: Ints, physical_layout: Any, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found, its dimensions from slowest to fastest in the given order.

    y = memory as it is found, its dimensions laid out in the given order
    """

def empty_strided(
    size: Ints, stride: builtins.int | Sequence[builtins.int], **options: Unpack[Options]
) -> Tensor:
    """Memory as it is found, with the given strides.

    y = memory as it is found, with the given strides
    """

def eq(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a = b"""

def equal(input: Tensor, other: Tensor) -> builtins.bool:
    """Whether two tensors have the same shape and the same elements.

    whether shapes and elements agree, as a Python bool
    """

def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 2/√π·∫₀ˣ e^(−t²) dt;  ∂y/∂x = 2/√π·e^(−x²)"""

def erf_(input: Tensor) -> Tensor:
    """In-place erf: y = 2/√π·∫₀ˣ e^(−t²) dt;  ∂y/∂x = 2/√π·e^(−x²)"""

def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1 − erf x;  ∂y/∂x = −2/√π·e^(−x²)"""

def erfc_(input: Tensor) -> Tensor:
    """In-place erfc: y = 1 − erf x;  ∂y/∂x = −2/√π·e^(−x²)"""

def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """erf y = x;  ∂y/∂x = √π/2·e^(y²)"""

def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = eˣ;  ∂y/∂x = y"""

def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 2ˣ;  ∂y/∂x = y·ln 2"""

def exp2_(input: Tensor) -> Tensor:
    """In-place exp2: y = 2ˣ;  ∂y/∂x = y·ln 2"""

def exp_(input: Tensor) -> Tensor:
    """In-place exp: y = eˣ;  ∂y/∂x = y"""

def expand(input: Tensor, *sizes: Ints, size: Ints | None = None) -> Tensor:
    """y = x repeated along new or size-1 dimensions, no copy;  ∂x = Σ incoming over the
    copies
    """

def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``expand`` to the shape of ``other``.

    y = x expanded to the shape of another tensor
    """

def expand_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``expand``, with memory of its own.

    y = what expand shows, copied
    """

def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = eˣ − 1;  ∂y/∂x = y + 1"""

def expm1_(input: Tensor) -> Tensor:
    """In-place expm1: y = eˣ − 1;  ∂y/∂x = y + 1"""

def eye(
    n: builtins.int,
    m: builtins.int | None = None,
    *,
    out: Tensor | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere.

    y[i, j] = 1 where i = j, else 0
    """

def feature_alpha_dropout(
    input: Tensor,
    p: builtins.float = 0.5,
    training: builtins.bool = False,
    inplace: builtins.bool = False,
) -> Tensor:
    """Alpha dropout of whole channels (dimension 1).

    alpha_dropout of whole channels
    """

def feature_alpha_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """Alpha dropout of whole channels of ``input`` itself."""

def feature_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """Dropout of whole channels (dimension 1).

    y = x·noise, noise per sample and channel
    """

def feature_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """Drop whole channels of ``input`` itself."""

def fill(input: Tensor, value: Operand) -> Tensor:
    """y = value everywhere;  ∂y/∂x = 0,  ∂y/∂value = 1 (summed over x)"""

def fill_(input: Tensor, value: Operand) -> Tensor:
    """In-place fill: y = value everywhere;  ∂y/∂x = 0,  ∂y/∂value = 1 (summed over x)"""

def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x without its fraction;  ∂y/∂x = 0"""

def fix_(input: Tensor) -> Tensor:
    """In-place trunc: y = x without its fraction;  ∂y/∂x = 0"""

def flatten(input: Tensor, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
    """Merge the dimensions from ``start_dim`` to ``end_dim`` into one.

    y = x with a range of dimensions merged into one
    """

def flip(input: Tensor, *dims: Ints) -> Tensor:
    """y = x backwards along dims;  ∂x = incoming backwards along dims"""

def fliplr(input: Tensor) -> Tensor:
    """Left becomes right: reversed along dimension 1.

    y = x from right to left
    """

def flipud(input: Tensor) -> Tensor:
    """Top becomes bottom: reversed along dimension 0.

    y = x from bottom to top
    """

float: DType

float16: DType

float32: DType

float64: DType

def float_power(input: Tensor, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """``pow`` in double precision, whatever the dtypes are.

    y = aᵇ in float64
    """

def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = ⌊x⌋;  ∂y/∂x = 0"""

def floor_(input: Tensor) -> Tensor:
    """In-place floor: y = ⌊x⌋;  ∂y/∂x = 0"""

def floor_divide(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = ⌊a/b⌋;  ∂y/∂a = 0,  ∂y/∂b = 0"""

def fmax(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = max(a, b), the other one where one is NaN;  ∂y/∂a = 1 where y is a, else 0"""

def fmin(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = min(a, b), the other one where one is NaN;  ∂y/∂a = 1 where y is a, else 0"""

def fmod(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = a − b·trunc(a/b), with the sign of a;  ∂y/∂a = 1,  ∂y/∂b = −trunc(a/b)"""

def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x − trunc x;  ∂y/∂x = 1"""

def frac_(input: Tensor) -> Tensor:
    """In-place frac: y = x − trunc x;  ∂y/∂x = 1"""

def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: builtins.bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last 2
    dimensions.

    y = max of every window, windows begin at random places;  ∂x = incoming there
    """

def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: builtins.bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last 2
    dimensions.

    y = max of every window, windows begin at random places;  ∂x = incoming there
    """

def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: builtins.bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last 3
    dimensions.

    y = max of every window, windows begin at random places;  ∂x = incoming there
    """

def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: builtins.bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last 3
    dimensions.

    y = max of every window, windows begin at random places;  ∂x = incoming there
    """

def frexp(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.frexp:
    """The mantissa, between ½ and 1 in size, and the power of two that was taken out.

    x = mantissa·2^exponent with ½ ≤ |mantissa| < 1;  ∂mantissa/∂x = 2^−exponent
    """

def frobenius_norm(
    input: Tensor, dim: Ints, keepdim: builtins.bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The root of the sum of squares over ``dim``.

    y = √Σ x² over dim
    """

def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor over the memory of another library's array (PyTorch, NumPy, …), without a
    copy.

    y = another library's memory
    """

def from_file(
    filename: Any,
    shared: builtins.bool | None = None,
    size: builtins.int | None = 0,
    **options: Unpack[Options],
) -> Tensor:
    """The numbers of a file as a 1-d tensor; ``shared``: what is written to it goes to the
    file.

    A shared file that is too short is made longer.

    y = the numbers of a file
    """

def from_numpy(ndarray: Any) -> Tensor:
    """A tensor over the array's own memory: writing to one writes to the other.

    y = the array's own memory
    """

def frombuffer(
    buffer: Any,
    *,
    dtype: DTypeLike,
    count: builtins.int = -1,
    offset: builtins.int = 0,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A 1-d tensor over the memory of a buffer: bytes, bytearray, array, memoryview, …

    y = the memory of a buffer
    """

def full(
    size: Ints, fill_value: Operand, *, out: Tensor | None = None, **options: Unpack[Options]
) -> Tensor:
    """``fill_value`` everywhere, in its own kind of dtype.

    y = value
    """

def full_like(input: Tensor, fill_value: Operand, **options: Unpack[Options]) -> Tensor:
    """``fill_value`` everywhere, shaped like ``input`` and of its dtype.

    y = value, shaped like x
    """

def gather(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    *,
    sparse_grad: builtins.bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """y = x at index along dim;  ∂x = incoming added up at index"""

def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | builtins.float,
    full: builtins.bool = False,
    eps: builtins.float = 1e-06,
    reduction: str = "mean",
) -> Tensor:
    """How surprising the targets are for normal distributions of this mean and variance.

    y = (log v + (x − t)²/v)/2, plus log(2π)/2 if full, v = var held above eps, then mean
    or sum
    """

def gcd(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the greatest common divisor of |a| and |b|"""

def gcd_(input: Operand, other: Operand) -> Tensor:
    """In-place gcd: y = the greatest common divisor of |a| and |b|"""

def ge(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a ≥ b"""

def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """y = x·Φ(x);  ∂y/∂x = Φ(x) + x·φ(x)   (Φ normal distribution, φ its density; or, with
    approximate='tanh', Φ(x) ≈ ½(1 + tanh(√(2/π)·(x + 0.044715·x³))))
    """

def geqrf(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.geqrf:
    """A QR decomposition with Q kept as reflections; ``linalg.qr`` multiplies it out.

    a, tau = R above the diagonal, the vectors of the reflections below it, their factors;
    no gradient
    """

def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every element of one vector times every element of another.

    yᵢⱼ = aᵢ·bⱼ for two vectors
    """

def get_device(input: Tensor) -> builtins.int:
    """The number of the GPU: -1, for none.

    the number of a GPU, −1 for none
    """

def glu(input: Tensor, dim: builtins.int = -1) -> Tensor:
    """Split in two along ``dim``; the second half gates the first.

    y = a·σ(b) with a, b the halves of x along dim
    """

def gradient(
    input: Tensor, *, spacing: Any = None, dim: Ints | None = None, edge_order: builtins.int = 1
) -> list[Tensor]:
    """Slopes along each dimension: central differences inside, one-sided ones at the
    borders.

    ``spacing`` is the distance of neighbours, one for all or one per dimension, or a list
    of
    tensors with the coordinates themselves.

    y = (x[i+1] − x[i−1]) / 2h inside, one-sided at the borders, along each dimension
    """

def greater(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a > b"""

def greater_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a ≥ b"""

def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: builtins.bool | None = None,
) -> Tensor:
    """``input`` (N, C, H, W) read at the places ``grid`` (N, …, 2); 5-D input has places in
    3-D.

    ``mode`` is ``bilinear``, ``nearest`` or ``bicubic``; ``padding_mode`` says what is
    outside:
    ``zeros``, the ``border``, or the inside by ``reflection``.  With ``align_corners`` ±1
    are the
    centers of the outermost pixels, else their outer edges.

    y = the image read at the places of the grid, interpolated
    """

def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: builtins.int,
    padding_mode: builtins.int,
    align_corners: builtins.bool,
) -> Tensor:
    """:func:`grid_sample` with numbers for its modes.

    y = the image read at the places of the grid, interpolated
    """

def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: builtins.int,
    padding_mode: builtins.int,
    align_corners: builtins.bool,
) -> Tensor:
    """:func:`grid_sample` with numbers for its modes.

    y = the image read at the places of the grid, interpolated
    """

def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: builtins.int,
    padding_mode: builtins.int,
    align_corners: builtins.bool,
) -> Tensor:
    """:func:`grid_sample` with numbers for its modes.

    y = the image read at the places of the grid, interpolated
    """

def group_norm(
    input: Tensor,
    num_groups: builtins.int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: builtins.float = 1e-05,
) -> Tensor:
    """Mean 0 and variance 1 over each group of channels, sample by sample.

    x̂ = (x − mean)/√(var + ε) per sample and group of channels, y = x̂·weight + bias;
    with w = incoming·weight: ∂x = (w − mean(w) − x̂·mean(w·x̂))/√(var + ε),  ∂weight = Σ
    incoming·x̂,  ∂bias = Σ incoming
    """

def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Tensor:
    """One matrix product per group.

    A matrix with two dimensions is cut where ``offs`` says that groups end: ``mat_a``
    into rows or
    ``mat_b`` into columns if the other has a matrix per group, both along what is summed
    if
    neither has.  What lies behind the last group is left out, and 0 in the result.

    y = a[group]·b[group], group by group
    """

def gru(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Layers of GRU: the hidden states, and the last ones.

    h = (1 − z)·n + z·h, step by step
    """

def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a GRU: the next hidden state.

    h = (1 − z)·n + z·h
    """

def gt(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a > b"""

def gumbel_softmax(
    logits: Tensor,
    tau: builtins.float = 1,
    hard: builtins.bool = False,
    eps: builtins.float = 1e-10,
    dim: builtins.int = -1,
) -> Tensor:
    """A category drawn with the probabilities ``softmax(logits)``, in a way gradients can
    follow.

    ``tau`` is the temperature: the lower, the closer to a single 1.  ``hard`` rounds the
    result to
    exactly that and keeps the gradient of the soft one.

    y = softmax((x + g)/τ) along dim, g ~ Gumbel;  hard: its one-hot maximum, with y's
    gradient
    """

half: DType

def hamming_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    alpha: builtins.float = 0.54,
    beta: builtins.float = 0.46,
    **options: Unpack[Options],
) -> Tensor:
    """A raised cosine that does not reach 0.

    y[n] = alpha − beta·cos(2πn/N)
    """

def hann_window(
    window_length: builtins.int, periodic: builtins.bool = True, **options: Unpack[Options]
) -> Tensor:
    """A raised cosine.

    y[n] = ½ − ½·cos(2πn/N)
    """

def hardshrink(input: Tensor, lambd: builtins.float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """y = 0 if −λ ≤ x ≤ λ else x;  ∂y/∂x = 0 or 1"""

def hardsigmoid(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """y = x/6 + ½ held between 0 and 1;  ∂y/∂x = 1/6 between them, 0 outside"""

def hardswish(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """y = x·hardsigmoid(x);  ∂y/∂x = 0 up to −3, x/3 + ½ in between, 1 from 3 on"""

def hardtanh(
    input: Tensor,
    min_val: builtins.float = -1.0,
    max_val: builtins.float = 1.0,
    inplace: builtins.bool = False,
) -> Tensor:
    """y = x held between min and max;  ∂y/∂x = 1 between them, 0 outside"""

has_lapack: builtins.bool

has_mkl: builtins.bool

has_openmp: builtins.bool

has_spectral: builtins.bool

def heaviside(input: Operand, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 0 for x < 0, values at x = 0, 1 for x > 0;  ∂y/∂x = 0,  ∂y/∂values = 1 at x = 0"""

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: builtins.float = 1.0,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Distances should be 0 where the target is 1, and at least ``margin`` where it is −1.

    y = x where t = 1, max(0, margin − x) where t = −1, then mean or sum
    """

def histc(
    input: Tensor,
    bins: builtins.int = 100,
    min: builtins.float = 0,
    max: builtins.float = 0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = the number of elements per bin; those out of range count nowhere"""

def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: builtins.bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.histogram:
    """How many elements fall into each bin, and the borders of the bins.

    y, edges = the number (or weight) of elements per bin, the borders of the bins
    """

def histogramdd(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: builtins.bool = False,
) -> return_types.histogramdd:
    """The counts of points, the last dimension their coordinates, in a grid of boxes.

    y, edges = the number (or weight) of points per box of a grid, the borders of the
    boxes
    """

def hsmm(input: Tensor, mat: Tensor) -> Tensor:
    """A sparse matrix times a dense one, the result sparse.

    y = a·b, sparse
    """

def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split along dimension 1, or 0 for vectors.

    y₁, y₂, … = pieces of x from left to right, same memory
    """

def hspmm(input: Tensor, mat: Tensor) -> Tensor:
    """A sparse matrix times a dense one, the result sparse.

    y = a·b, sparse
    """

def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join side by side: along dimension 1, or 0 for vectors.

    y = x₁, x₂, … side by side
    """

def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: builtins.float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """y = (a − b)²/2 where |a − b| ≤ δ, else δ·(|a − b| − δ/2), then mean or sum;  ∂y/∂a = a
    − b held between −δ and δ
    """

def hypot(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = √(a² + b²);  ∂y/∂a = a/y,  ∂y/∂b = b/y"""

def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = I₀(x), the modified Bessel function of order 0;  ∂y/∂x = I₁(x)"""

def i0_(input: Tensor) -> Tensor:
    """In-place i0: y = I₀(x), the modified Bessel function of order 0;  ∂y/∂x = I₁(x)"""

def igamma(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the regularised lower incomplete gamma function;  ∂y/∂b = bᵃ⁻¹·e⁻ᵇ/Γ(a)"""

def igammac(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the regularised upper incomplete gamma function;  ∂y/∂b = −bᵃ⁻¹·e⁻ᵇ/Γ(a)"""

def im2col(
    input: Tensor,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: builtins.int | Sequence[builtins.int] = 1,
) -> Tensor:
    """y = every window of x as a column;  ∂x = the columns of incoming added where they were"""

def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, as a view.

    y = Im x of a complex x
    """

def imaginary_part(input: Tensor) -> Tensor:
    """y = Im x of a complex x, same memory;  ∂x = i·incoming"""

def index_add(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``input`` with ``alpha`` · the slices of ``source`` added at ``index`` along ``dim``.

    y = x with alpha·source added at index along dim;  ∂x = incoming,  ∂source = alpha ·
    incoming at index
    """

def index_copy(
    input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """``input`` with the slices of ``source`` written at ``index`` along ``dim``.

    y = x with source written at index along dim;  ∂x = incoming, 0 where written,
    ∂source = incoming at index
    """

def index_fill(input: Tensor, dim: builtins.int, index: Tensor, value: Operand) -> Tensor:
    """``input`` with one value in all slices at ``index`` along ``dim``.

    y = x with value in the slices at index along dim;  ∂x = incoming, 0 in these slices,
    ∂value = Σ incoming over them
    """

def index_put(
    input: Tensor, indices: Any, values: Tensor, accumulate: builtins.bool = False
) -> Tensor:
    """y = x with value written (or added) at position;  ∂x = incoming, 0 where written,
    ∂value = incoming at position
    """

def index_put_(
    input: Tensor, indices: Any, values: Tensor, accumulate: builtins.bool = False
) -> Tensor:
    """In-place index_put: y = x with value written (or added) at position;  ∂x = incoming, 0
    where written,  ∂value = incoming at position
    """

def index_reduce(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: builtins.bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """Combine the slices of ``source`` into the slices of ``input`` that ``index`` names.

    y = input combined with the slices of source at index along dim: prod, mean, amax or
    amin
    """

def index_select(
    input: Tensor, dim: builtins.int, index: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """y = the slices of x at index along dim;  ∂x = incoming added up at index"""

def indices_copy(input: Tensor) -> Tensor:
    """``indices()`` of a sparse tensor, with memory of its own.

    y = the indices of a sparse x, copied
    """

inf: builtins.float

def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum products over the last dimension of both.

    y = Σ a·b over the last dimension of both
    """

def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    cudnn_enabled: builtins.bool = False,
) -> Tensor:
    """Mean 0 and variance 1 over each channel of each sample.

    ``use_input_stats=False`` uses the running statistics instead.  ``cudnn_enabled`` is
    there for
    PyTorch's sake.

    x̂ = (x − mean)/√(var + ε) per sample and channel, y = x̂·weight + bias
    """

int: DType

int16: DType

int32: DType

int64: DType

int8: DType

def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: builtins.bool | None = None,
    recompute_scale_factor: builtins.bool | None = None,
    antialias: builtins.bool = False,
) -> Tensor:
    """A signal, image or volume (samples, channels, *sizes) brought to another size.

    Give ``size`` or ``scale_factor``, one number or one per dimension.  ``mode`` is
    ``nearest``,
    ``nearest-exact``, ``linear`` (3-D input), ``bilinear`` or ``bicubic`` (4-D),
    ``trilinear``
    (5-D) or ``area``.  ``align_corners`` puts the outermost elements of input and output
    at the
    same place, not their outer edges.  ``antialias`` averages where the output is
    smaller.

    y = x brought to another size: the nearest element, or a mean of those around
    """

def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``linalg.inv`` under its older name.

    y = x⁻¹
    """

def is_complex(input: Tensor) -> builtins.bool:
    """Whether the elements are complex.

    whether x holds complex numbers
    """

def is_conj(input: Tensor) -> builtins.bool:
    """Whether a conjugate has been put off: never.

    always False: nothing is put off
    """

def is_distributed(input: Tensor) -> builtins.bool:
    """Whether the tensor is spread over several processes: it is not.

    always False
    """

def is_floating_point(input: Tensor) -> builtins.bool:
    """Whether the elements are float16, bfloat16, float32 or float64.

    whether x holds floats
    """

def is_inference(input: Tensor) -> builtins.bool:
    """Whether the tensor was made inside ``inference_mode``.

    whether x was made in inference mode
    """

def is_neg(input: Tensor) -> builtins.bool:
    """Whether a negative has been put off: never.

    always False: nothing is put off
    """

def is_nonzero(input: Tensor) -> builtins.bool:
    """Whether the only element is not 0.

    whether the only element is not 0
    """

def is_same_size(input: Tensor, other: Tensor) -> builtins.bool:
    """Whether both have the same shape.

    whether two shapes are equal
    """

def is_signed(input: Tensor) -> builtins.bool:
    """Whether the dtype has numbers below 0.

    whether the dtype has negative numbers
    """

def is_storage(obj: Any) -> builtins.bool:
    """Whether ``obj`` is the memory of a tensor.

    whether it is the memory of a tensor
    """

def isclose(
    input: Tensor,
    other: Tensor,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
) -> Tensor:
    """y = whether |a − b| ≤ atol + rtol·|b|"""

def isfinite(input: Tensor) -> Tensor:
    """y = whether x is a number other than ±∞"""

def isin(
    elements: Tensor,
    test_elements: Tensor,
    *,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """y = whether each element occurs among the test elements"""

def isinf(input: Tensor) -> Tensor:
    """y = whether x is +∞ or −∞"""

def isnan(input: Tensor) -> Tensor:
    """y = whether x is not a number"""

def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = whether x is −∞"""

def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = whether x is +∞"""

def isreal(input: Tensor) -> Tensor:
    """y = whether x has no imaginary part"""

def istft(
    input: Tensor,
    n_fft: builtins.int,
    hop_length: builtins.int | None = None,
    win_length: builtins.int | None = None,
    window: Tensor | None = None,
    center: builtins.bool = True,
    normalized: builtins.bool = False,
    onesided: builtins.bool | None = None,
    length: builtins.int | None = None,
    return_complex: builtins.bool = False,
) -> Tensor:
    """The signal whose short-time spectrum ``input`` is: what overlaps is averaged.

    x = the windows' average of the inverse transforms of y
    """

def kaiser_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    beta: builtins.float = 12.0,
    **options: Unpack[Options],
) -> Tensor:
    """A Bessel function of half a circle; ``beta`` says how narrow.

    y[n] = I₀(beta·√(1 − (2n/N − 1)²)) / I₀(beta)
    """

def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
    log_target: builtins.bool = False,
) -> Tensor:
    """How many nats the log-probabilities ``input`` waste on what is distributed as
    ``target``.

    y = t·(log t − x) per element, then sum, mean, or sum per example (batchmean)
    """

def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every element of ``input`` times the whole of ``other``, laid out as blocks.

    y = the blocks aᵢⱼ·b
    """

def kthvalue(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = -1,
    keepdim: builtins.bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.kthvalue:
    """The ``k``-th smallest element along ``dim``, as a named tuple ``(values, indices)``.

    values = the k-th smallest x along dim, at indices;  ∂values/∂x = 1 at indices
    """

def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """y = |a − b|, then mean or sum;  ∂y/∂a = sign(a − b),  ∂y/∂b = −sign(a − b)"""

def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[builtins.int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: builtins.float = 1e-05,
) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, which ``normalized_shape`` repeats.

    x̂ = (x − mean)/√(var + ε) over the last dimensions, y = x̂·weight + bias;  with w =
    incoming·weight: ∂x = (w − mean(w) − x̂·mean(w·x̂))/√(var + ε),  ∂weight =
    incoming·x̂,  ∂bias = incoming
    """

def lcm(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the least common multiple of |a| and |b|"""

def lcm_(input: Operand, other: Operand) -> Tensor:
    """In-place lcm: y = the least common multiple of |a| and |b|"""

def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input`` times two to the power of ``other``.

    y = a·2ᵇ
    """

def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """In-place ldexp: y = a·2ᵇ"""

def le(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a ≤ b"""

def leaky_relu(
    input: Tensor, negative_slope: builtins.float = 0.01, inplace: builtins.bool = False
) -> Tensor:
    """y = x if x > 0 else slope·x;  ∂y/∂x = 1 or slope"""

def lerp(input: Tensor, end: Operand, weight: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = x + w·(end − x);  ∂y/∂x = 1 − w,  ∂y/∂end = w,  ∂y/∂w = end − x"""

def less(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a < b"""

def less_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a ≤ b"""

def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = ln |Γ(x)|;  ∂y/∂x = ψ(x), the digamma function"""

def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """y = x·Wᵀ + b;  ∂x = incoming·W,  ∂W = incomingᵀ·x,  ∂b = incoming"""

def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: builtins.int | None = None,
    label_smoothing: builtins.float = 0.0,
    options: Any = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    ``linear_weight`` is (classes, …, features); dimensions between are those of a target
    with
    several classes per sample.  ``options``, which tells PyTorch how to save memory,
    changes
    nothing here.

    y = cross_entropy(x·Wᵀ + b, target)
    """

def linspace(
    start: Operand,
    end: Operand,
    steps: builtins.int,
    *,
    out: Tensor | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """``steps`` numbers from ``start`` to ``end``, both included.

    y[i] = start + i·(end − start)/(steps − 1)
    """

def lobpcg(
    A: Tensor,
    k: builtins.int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: builtins.int | None = None,
    iK: Tensor | None = None,
    niter: builtins.int | None = None,
    tol: builtins.float | None = None,
    largest: builtins.bool | None = None,
    method: str | None = None,
    **details: Any,
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) eigenvalues of a symmetric A, and their eigenvectors.

    ``B`` makes it the generalised problem A·x = λ·B·x.  Computed exactly, by
    ``linalg.eigh``:
    what would guide an iteration is taken and not needed.

    a·y = y·λ for the largest λ
    """

def local_response_norm(
    input: Tensor,
    size: builtins.int,
    alpha: builtins.float = 0.0001,
    beta: builtins.float = 0.75,
    k: builtins.float = 1.0,
) -> Tensor:
    """Divide by (k + alpha·mean of the squares of ``size`` neighbouring channels) to
    ``beta``.

    y = x / (k + α·mean(x² of neighbouring channels))^β
    """

def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = ln x;  ∂y/∂x = 1/x"""

def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log₁₀ x;  ∂y/∂x = 1/(x·ln 10)"""

def log10_(input: Tensor) -> Tensor:
    """In-place log10: y = log₁₀ x;  ∂y/∂x = 1/(x·ln 10)"""

def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = ln(1 + x);  ∂y/∂x = 1/(1 + x)"""

def log1p_(input: Tensor) -> Tensor:
    """In-place log1p: y = ln(1 + x);  ∂y/∂x = 1/(1 + x)"""

def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log₂ x;  ∂y/∂x = 1/(x·ln 2)"""

def log2_(input: Tensor) -> Tensor:
    """In-place log2: y = log₂ x;  ∂y/∂x = 1/(x·ln 2)"""

def log_(input: Tensor) -> Tensor:
    """In-place log: y = ln x;  ∂y/∂x = 1/x"""

def log_softmax(
    input: Tensor,
    dim: builtins.int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = x − log Σ exp(x) over dim;  ∂x = incoming − exp(y)·Σ incoming"""

def logaddexp(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = ln(eᵃ + eᵇ);  ∂y/∂a = 1/(1 + eᵇ⁻ᵃ),  ∂y/∂b = 1/(1 + eᵃ⁻ᵇ)"""

def logaddexp2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = log₂(2ᵃ + 2ᵇ);  ∂y/∂a = 1/(1 + 2ᵇ⁻ᵃ),  ∂y/∂b = 1/(1 + 2ᵃ⁻ᵇ)"""

def logcumsumexp(input: Tensor, dim: Ints, *, out: Tensor | None = None) -> Tensor:
    """y_t = log Σ_{s≤t} exp x_s;  ∂x_t = Σ_{s≥t} incoming_s·exp(x_t − y_s)"""

def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant: −inf if that is zero, nan if it is negative.

    y = log det x
    """

def logical_and(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a and b are both nonzero"""

def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = whether x is zero"""

def logical_or(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a or b is nonzero"""

def logical_xor(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether exactly one of a and b is nonzero"""

def logit(input: Tensor, eps: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """y = ln(x/(1 − x)), x clamped to [eps, 1 − eps];  ∂y/∂x = 1/(x·(1 − x)), 0 where
    clamped
    """

def logit_(input: Tensor, eps: builtins.float | None = None) -> Tensor:
    """In-place logit: y = ln(x/(1 − x)), x clamped to [eps, 1 − eps];  ∂y/∂x = 1/(x·(1 −
    x)), 0 where clamped
    """

def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log σ(x) = min(x, 0) − log(1 + exp(−|x|));  ∂y/∂x = σ(−x)"""

def logspace(
    start: Operand,
    end: Operand,
    steps: builtins.int,
    base: builtins.float = 10.0,
    *,
    out: Tensor | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """``steps`` numbers from ``base**start`` to ``base**end``, in equal ratios.

    y[i] = base^(start + i·(end − start)/(steps − 1))
    """

def logsumexp(
    input: Tensor, dim: Ints, keepdim: builtins.bool = False, *, out: Tensor | None = None
) -> Tensor:
    """y = log Σ exp x over dim, computed without overflow;  ∂y/∂x = exp(x − y)"""

long: DType

def lp_pool1d(
    input: Tensor,
    norm_type: builtins.float,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    ceil_mode: builtins.bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) over every window of the last 1 dimensions.

    y = (Σ xᵖ)^(1/p) over every window
    """

def lp_pool2d(
    input: Tensor,
    norm_type: builtins.float,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    ceil_mode: builtins.bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) over every window of the last 2 dimensions.

    y = (Σ xᵖ)^(1/p) over every window
    """

def lp_pool3d(
    input: Tensor,
    norm_type: builtins.float,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    ceil_mode: builtins.bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) over every window of the last 3 dimensions.

    y = (Σ xᵖ)^(1/p) over every window
    """

def lstm(*args: Any, **options: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Layers of LSTM: the hidden states, and the last hidden states and cells.

    cell = f·cell + i·g, h = o·tanh(cell), step by step
    """

def lstm_cell(
    input: Tensor,
    hx: Any,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the next hidden state and cell.

    cell = f·cell + i·g, h = o·tanh(cell)
    """

def lt(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a < b"""

def lu(
    A: Tensor, pivot: builtins.bool = True, get_infos: builtins.bool = False
) -> tuple[Tensor, ...]:
    """The older form of ``linalg.lu_factor``, which takes a singular matrix, too.

    x = P·L·U, L and U packed in one matrix
    """

def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``linalg.lu_solve`` with its arguments in the older order.

    y = U⁻¹·L⁻¹·Pᵀ·b
    """

def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: builtins.bool = True,
    unpack_pivots: builtins.bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.lu_unpack:
    """P, L and U from what ``linalg.lu_factor`` returned.

    P, L, U from the packed factors
    """

def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: builtins.float = 0,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """input1 should be larger by ``margin`` where target is 1, smaller where it is −1.

    y = max(0, margin − t·(a − b)), then mean or sum
    """

def masked_fill(input: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """``input`` with ``value`` (a number or a 0-d tensor) wherever the mask is True.

    y = value where the mask is True, x elsewhere;  ∂x = incoming, 0 under the mask
    """

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source``, in order, at the places where the mask is
    True.

    y = x with source written under the mask, in order;  ∂x = incoming, 0 under the mask,
    ∂source = incoming under the mask
    """

def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of ``input`` under a mask, in a row.

    y = the elements of x under the mask, in a row;  ∂x = incoming under the mask, else 0
    """

def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = a·b over the last dimension of a and the rows of b, batches broadcast;  ∂a =
    incoming·bᵀ,  ∂b = aᵀ·incoming
    """

def matrix_exp(input: Tensor) -> Tensor:
    """``linalg.matrix_exp``.

    y = Σ xᵏ/k!
    """

def matrix_power(input: Tensor, n: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """``linalg.matrix_power``.

    y = xⁿ
    """

@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``max(x)``: the maximum of all elements.  ``max(x, dim)``: along a dimension, as
    ``(values, indices)``.  ``max(x, other)``: the larger or smaller of each pair.

    values = max x along dim, at indices;  ∂values/∂x = 1 at indices
    """

@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``max(x)``: the maximum of all elements.  ``max(x, dim)``: along a dimension, as
    ``(values, indices)``.  ``max(x, other)``: the larger or smaller of each pair.

    values = max x along dim, at indices;  ∂values/∂x = 1 at indices
    """

@overload
def max(
    input: Tensor,
    dim: builtins.int,
    keepdim: builtins.bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.max:
    """``max(x)``: the maximum of all elements.  ``max(x, dim)``: along a dimension, as
    ``(values, indices)``.  ``max(x, other)``: the larger or smaller of each pair.

    values = max x along dim, at indices;  ∂values/∂x = 1 at indices
    """

def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> Any:
    """The largest element of every window of the last 1 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of every window of the last 1 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> Any:
    """The largest element of every window of the last 2 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of every window of the last 2 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> Any:
    """The largest element of every window of the last 3 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of every window of the last 3 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values put where ``max_pool1d`` found them, zeros elsewhere.

    ``indices`` are what the pooling returned with ``return_indices=True``; several sizes
    can lead
    to the same pooled size, ``output_size`` says which one it was.

    y[indices] = x, 0 elsewhere;  ∂x = incoming[indices]
    """

def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values put where ``max_pool2d`` found them, zeros elsewhere.

    ``indices`` are what the pooling returned with ``return_indices=True``; several sizes
    can lead
    to the same pooled size, ``output_size`` says which one it was.

    y[indices] = x, 0 elsewhere;  ∂x = incoming[indices]
    """

def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: builtins.int | Sequence[builtins.int] | None = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values put where ``max_pool3d`` found them, zeros elsewhere.

    ``indices`` are what the pooling returned with ``return_indices=True``; several sizes
    can lead
    to the same pooled size, ``output_size`` says which one it was.

    y[indices] = x, 0 elsewhere;  ∂x = incoming[indices]
    """

def maximum(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = max(a, b);  ∂y/∂a = 1 where a > b, ½ where a = b, 0 where a < b"""

def mean(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """y = Σ x / n over dim;  ∂y/∂x = 1/n"""

@overload
def median(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """values = the lower median along dim, at indices.  Without ``dim`` one number, with it
    a named tuple ``(values, indices)``.

    values = the lower median along dim, at indices
    """

@overload
def median(
    input: Tensor,
    dim: builtins.int,
    keepdim: builtins.bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.median:
    """values = the lower median along dim, at indices.  Without ``dim`` one number, with it
    a named tuple ``(values, indices)``.

    values = the lower median along dim, at indices
    """

def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid: each vector expanded along the dimensions of the others.

    y₁, y₂, … = x₁, x₂, … expanded over a common grid
    """

@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``min(x)``: the minimum of all elements.  ``min(x, dim)``: along a dimension, as
    ``(values, indices)``.  ``min(x, other)``: the larger or smaller of each pair.

    values = min x along dim, at indices;  ∂values/∂x = 1 at indices
    """

@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``min(x)``: the minimum of all elements.  ``min(x, dim)``: along a dimension, as
    ``(values, indices)``.  ``min(x, other)``: the larger or smaller of each pair.

    values = min x along dim, at indices;  ∂values/∂x = 1 at indices
    """

@overload
def min(
    input: Tensor,
    dim: builtins.int,
    keepdim: builtins.bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.min:
    """``min(x)``: the minimum of all elements.  ``min(x, dim)``: along a dimension, as
    ``(values, indices)``.  ``min(x, other)``: the larger or smaller of each pair.

    values = min x along dim, at indices;  ∂values/∂x = 1 at indices
    """

def minimum(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = min(a, b);  ∂y/∂a = 1 where a < b, ½ where a = b, 0 where a > b"""

def mish(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """y = x·t with t = tanh(log(1 + eˣ));  ∂y/∂x = t + x·σ(x)·(1 − t²)"""

def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices, without broadcasting.

    y = a·b for two matrices
    """

def mode(
    input: Tensor,
    dim: builtins.int = -1,
    keepdim: builtins.bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.mode:
    """The most common element along ``dim``, as a named tuple ``(values, indices)``.

    values = the most common element along dim, the smallest of several
    """

def moveaxis(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """``movedim`` under NumPy's name.

    y = x with some dimensions moved, the others in order
    """

def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Move dimensions to new places; the others keep their order.

    y = x with some dimensions moved, the others in order
    """

def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """y = (a − b)², then mean or sum;  ∂y/∂a = 2·(a − b),  ∂y/∂b = −2·(a − b)"""

def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sorted along the first dimension.

    y = x sorted along its first dimension
    """

def mul(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = a·b;  ∂y/∂a = b,  ∂y/∂b = a"""

def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: builtins.int = 1,
    margin: builtins.float = 1.0,
    weight: Tensor | None = None,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The right class should lead every other one by ``margin``.

    y = Σ max(0, margin − x[t] + x[i])^p / classes over the classes i ≠ t, times
    weight[t], then mean or sum
    """

def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Each class that is listed should lead every class that is not by 1.

    The list of an example ends at its first −1.

    y = Σ max(0, 1 − x[j] + x[i]) / classes over listed classes j and classes i not
    listed, then mean or sum
    """

def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of logits, averaged over the classes (the last dimension).

    y = −Σ weight·(t·log σ(x) + (1 − t)·log σ(−x)) / classes, then mean or sum
    """

def multinomial(
    input: Tensor,
    num_samples: builtins.int,
    replacement: builtins.bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Indices drawn per row with the probabilities (or weights) in ``input``.

    y ~ index i with probability x[i]/Σx
    """

def multiply(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = a·b;  ∂y/∂a = b,  ∂y/∂b = a"""

def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A matrix times a vector.

    y = A·v for a matrix and a vector
    """

def mvlgamma(input: Tensor, p: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension ``p``.

    y = p(p − 1)/4·log π + Σ log Γ(x − j/2), j < p
    """

nan: builtins.float

def nan_to_num(
    input: Tensor,
    nan: builtins.float | None = None,
    posinf: builtins.float | None = None,
    neginf: builtins.float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = x with NaN and infinities replaced;  ∂y/∂x = 1 where x is finite, else 0"""

def nan_to_num_(
    input: Tensor,
    nan: builtins.float | None = None,
    posinf: builtins.float | None = None,
    neginf: builtins.float | None = None,
) -> Tensor:
    """In-place nan_to_num: y = x with NaN and infinities replaced;  ∂y/∂x = 1 where x is
    finite, else 0
    """

def nanmean(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of the elements that are not NaN.

    y = Σ x / n over the elements that are not NaN
    """

@overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """values = the lower median along dim without NaN, at indices.  Without ``dim`` one
    number, with it a named tuple ``(values, indices)``.

    values = the lower median along dim without NaN, at indices
    """

@overload
def nanmedian(
    input: Tensor,
    dim: builtins.int,
    keepdim: builtins.bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.nanmedian:
    """values = the lower median along dim without NaN, at indices.  Without ``dim`` one
    number, with it a named tuple ``(values, indices)``.

    values = the lower median along dim without NaN, at indices
    """

def nanquantile(
    input: Tensor,
    q: Operand,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """``quantile`` of what is not nan.

    y = the quantile of the elements that are not nan
    """

def nansum(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """y = Σ x over dim, NaN counted as 0;  ∂y/∂x = 1, or 0 where x is NaN"""

def narrow(input: Tensor, dim: builtins.int, start: Operand, length: builtins.int) -> Tensor:
    """The positions ``start … start + length − 1`` of a dimension.

    y = a range of positions of dim
    """

def narrow_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``narrow``, with memory of its own.

    y = what narrow shows, copied
    """

def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    *,
    out: Sequence[Tensor] | None = None,
) -> Normalized:
    """``batch_norm``, and in training the mean and inverse deviation of each channel.

    y, mean, 1/σ = batch_norm and its statistics
    """

def native_channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """Deal the channels (dimension 1) out to ``groups`` in turn.

    y = the channels of x, one of each group in turn
    """

def native_dropout(
    input: Tensor, p: builtins.float, train: builtins.bool | None
) -> tuple[Tensor, Tensor]:
    """Dropout, and which elements it kept.

    y, kept = x·noise, and where noise is not 0
    """

def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: builtins.int,
    C: builtins.int,
    HxW: builtins.int,
    group: builtins.int,
    eps: builtins.float,
) -> Normalized:
    """``group_norm``, and the mean and inverse deviation of each group.

    y, mean, 1/σ = group_norm and its statistics
    """

def native_layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: builtins.float,
) -> Normalized:
    """``layer_norm``, and the mean and inverse deviation of each row.

    y, mean, 1/σ = layer_norm and its statistics
    """

def ne(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a ≠ b"""

def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = −x;  ∂y/∂x = −1"""

def neg_(input: Tensor) -> Tensor:
    """In-place neg: y = −x;  ∂y/∂x = −1"""

def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = −x;  ∂y/∂x = −1"""

def negative_(input: Tensor) -> Tensor:
    """In-place neg: y = −x;  ∂y/∂x = −1"""

def new_empty(input: Tensor, *size: Ints, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found, with dtype and device of ``input``.

    y = memory as it is found, with dtype and device of x
    """

def new_empty_strided(
    input: Tensor,
    size: Ints,
    stride: builtins.int | Sequence[builtins.int],
    **options: Unpack[Options],
) -> Tensor:
    """``empty_strided`` with dtype and device of ``input``.

    y = memory as it is found, with the given strides and the dtype of x
    """

def new_full(input: Tensor, size: Ints, fill_value: Operand, **options: Unpack[Options]) -> Tensor:
    """``fill_value`` everywhere, with dtype and device of ``input``.

    y = value in the given shape, with dtype and device of x
    """

def new_ones(input: Tensor, *size: Ints, **options: Unpack[Options]) -> Tensor:
    """Ones, with dtype and device of ``input``.

    y = 1 in the given shape, with dtype and device of x
    """

def new_tensor(input: Tensor, data: Any, **options: Unpack[Options]) -> Tensor:
    """A copy of ``data``, with dtype and device of ``input``.

    y = a copy of the data, with dtype and device of x
    """

def new_zeros(input: Tensor, *size: Ints, **options: Unpack[Options]) -> Tensor:
    """Zeros, with dtype and device of ``input``.

    y = 0 in the given shape, with dtype and device of x
    """

newaxis: None

def nextafter(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = the next number after a in the direction of b;  ∂y/∂a = 1 (0 at a = b),  ∂y/∂b = 0"""

def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: builtins.bool | None = None,
    ignore_index: builtins.int = -100,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """y = −weight[t]·x[t] per target t, then mean (over the total weight) or sum;  ∂x =
    −q·incoming
    """

@overload
def nonzero(
    input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None
) -> Tensor:
    """Coordinates of the elements that are not 0: one row each, or one tensor per dimension.

    y = the coordinates of the elements that are not 0, one row each
    """

@overload
def nonzero(
    input: Tensor, *, as_tuple: Literal[True], out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """Coordinates of the elements that are not 0: one row each, or one tensor per dimension.

    y = the coordinates of the elements that are not 0, one row each
    """

def nonzero_static(
    input: Tensor, *, size: builtins.int, fill_value: builtins.int = -1, out: Tensor | None = None
) -> Tensor:
    """y = the coordinates of the first elements that are not 0, as many rows as asked for"""

def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = (Σ |x|ᵖ)^(1/p);  ∂y/∂x = sign x·|x|ᵖ⁻¹·y^(1−p)"""

def norm_except_dim(v: Tensor, pow: builtins.int = 2, dim: builtins.int = 0) -> Tensor:
    """The norm over all dimensions but one, which keep size 1; −1: over all.

    y = the norm over all dimensions but one
    """

def normal(
    mean: Any,
    std: Any = 1.0,
    size: Ints | None = None,
    *,
    out: Tensor | None = None,
    **options: Any,
) -> Tensor:
    """Normal numbers: per element of ``mean`` and ``std``, or ``size`` of them.

    y ~ N(mean, std²)
    """

def normalize(
    input: Tensor,
    p: builtins.float = 2.0,
    dim: builtins.int | tuple[builtins.int, ...] = 1,
    eps: builtins.float = 1e-12,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Divide by the p-norm along ``dim``, or by ``eps`` where the norm is smaller.

    y = x / max(‖x‖ₚ, ε) along dim
    """

def not_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = whether a ≠ b"""

def nuclear_norm(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The sum of the singular values.

    y = Σ of the singular values
    """

def numel(input: Tensor) -> builtins.int:
    """The number of elements.

    the number of elements
    """

def one_hot(tensor: Tensor, num_classes: builtins.int = -1) -> Tensor:
    """y = 1 at the class each element names, 0 at the others, along a new last dimension"""

def ones(*size: Ints, out: Tensor | None = None, **options: Unpack[Options]) -> Tensor:
    """All ones.

    y = 1
    """

def ones_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """y = 1, shaped like x"""

def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``linalg.householder_product`` under its older name.

    y = Π (1 − tau·v·vᴴ), its first columns
    """

def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: builtins.bool = True,
    transpose: builtins.bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Q·other (or other·Q, or with Qᴴ), Q given by its reflections.

    y = Q·other, Q given by its reflections
    """

def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every element of one vector times every element of another.

    yᵢⱼ = aᵢ·bⱼ for two vectors
    """

def pad(
    input: Tensor, pad: Sequence[builtins.int], mode: str = "constant", value: Operand | None = None
) -> Tensor:
    """A border around the last dimensions, given from the last one backwards as (before,
    after).

    Negative numbers crop.  ``mode`` is ``constant`` (with ``value``), ``reflect`` (the
    border
    mirrors the inside), ``replicate`` (repeats the edge) or ``circular`` (continues at
    the other
    end).

    y = x with a border: constant, reflected, replicated or circular
    """

def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: builtins.float = 2.0,
    eps: builtins.float = 1e-06,
    keepdim: builtins.bool = False,
) -> Tensor:
    """The p-norm of x1 − x2 + eps along the last dimension.

    y = |a − b + ε| in the p-norm of the last dimension
    """

def pdist(input: Tensor, p: builtins.float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows, as one vector: (0, 1), (0, 2), …, (1, 2), …

    y = |xᵢ − xⱼ| in the p-norm, for i < j
    """

def permute(input: Tensor, *order: Ints, dims: Ints | None = None) -> Tensor:
    """y = x with its dimensions in another order;  ∂x = incoming in the old order"""

def permute_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``permute``, with memory of its own.

    y = what permute shows, copied
    """

pi: builtins.float

def pinverse(input: Tensor, rcond: Any = 1e-15) -> Tensor:
    """``linalg.pinv`` under its older name.

    y = x⁺
    """

def pixel_shuffle(input: Tensor, upscale_factor: builtins.int) -> Tensor:
    """(…, C·r², H, W) as (…, C, H·r, W·r): r² channels fill a square of pixels.

    y[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w]
    """

def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int) -> Tensor:
    """(…, C, H·r, W·r) as (…, C·r², H, W): the inverse of ``pixel_shuffle``.

    y[c·r² + i·r + j, h, w] = x[c, h·r + i, w·r + j]
    """

def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """How often something happens that happens ``input`` times on average.

    y ~ Poisson(x)
    """

def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: builtins.bool = True,
    full: builtins.bool = False,
    size_average: builtins.bool | None = None,
    eps: builtins.float = 1e-08,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How surprising the counts ``target`` are, given their rates (or logarithms of rates).

    y = exp(x) − t·x, or x − t·log(x + ε) if x is no logarithm, plus Stirling's log t! if
    full, then mean or sum
    """

def polar(abs: Any, angle: Any, *, out: Tensor | None = None) -> Tensor:
    """y = a·(cos b + i·sin b);  ∂a = how far incoming goes along y, ∂b = how far across it"""

def polygamma(n: builtins.int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = the n-th derivative of ψ;  ∂y/∂x = polygamma of order n + 1"""

def positive(input: Tensor) -> Tensor:
    """The tensor itself; what ``+x`` means.

    y = x
    """

def pow(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = aᵇ;  ∂y/∂a = b·aᵇ⁻¹ (0 where b = 0),  ∂y/∂b = y·log a (0 where a = 0 and b ≥ 0)"""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """y = x if x > 0 else weight·x;  ∂y/∂x = 1 or weight,  ∂y/∂weight = 0 or x"""

preserve_format: MemoryFormat

def prod(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """y = Π x over dim;  ∂y/∂x_j = Π_{k≠j} x_k"""

def put(input: Tensor, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
    """``input`` with ``source`` written (or added) at ``index``, counted as one row.

    y = x with source written (or added) at index, x seen as one row;  ∂x = incoming, 0
    where written,  ∂source = incoming at index
    """

def qr(
    input: Tensor, some: builtins.bool = True, *, out: Sequence[Tensor] | None = None
) -> return_types.linalg_qr:
    """The older form of ``linalg.qr``.

    q·r = x, qᵀ·q = 1, r upper triangular
    """

def quantile(
    input: Tensor,
    q: Operand,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """The ``q``-th quantiles along ``dim``; with a list of them, they come first.

    y = the value with a share q of the elements below it, between two neighbours by lerp
    """

def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x·180/π;  ∂y/∂x = 180/π"""

def rad2deg_(input: Tensor) -> Tensor:
    """In-place rad2deg: y = x·180/π;  ∂y/∂x = 180/π"""

def rand(*size: Ints, out: Tensor | None = None, **options: Unpack[RandomOptions]) -> Tensor:
    """Uniform in [0, 1).

    y ~ U[0, 1)
    """

def rand_like(input: Tensor, **options: Unpack[RandomOptions]) -> Tensor:
    """Uniform in [0, 1), shaped like ``input``.

    y ~ U[0, 1), shaped like x
    """

def randint(*bounds: Any, out: Tensor | None = None, **options: Any) -> Tensor:
    """``randint(low=0, high, size)``: whole numbers from low up to but without high.

    y ~ U{low, …, high − 1}
    """

def randint_like(
    input: Tensor,
    low: builtins.int,
    high: builtins.int | None = None,
    **options: Unpack[RandomOptions],
) -> Tensor:
    """Whole numbers from low up to but without high, shaped like ``input``.

    y ~ U{low, …, high − 1}, shaped like x
    """

def randn(*size: Ints, out: Tensor | None = None, **options: Unpack[RandomOptions]) -> Tensor:
    """Normal with mean 0 and variance 1.

    y ~ N(0, 1)
    """

def randn_like(input: Tensor, **options: Unpack[RandomOptions]) -> Tensor:
    """Standard normal, shaped like ``input``.

    y ~ N(0, 1), shaped like x
    """

def randperm(
    n: builtins.int, *, out: Tensor | None = None, **options: Unpack[RandomOptions]
) -> Tensor:
    """The numbers 0 … n − 1 in random order.

    y = a random order of 0 … n − 1
    """

def range(
    start: Operand,
    end: Operand | None = None,
    step: Operand = 1,
    *,
    out: Tensor | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Numbers from ``start`` to ``end``, the end included; ``arange`` leaves it out.

    y[i] = start + i·step, up to end
    """

def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension; a copy only if they do not lie in row-major order.

    y = x in one dimension, a view if possible, else a copy
    """

def real(input: Tensor) -> Tensor:
    """The real part as a view; a real tensor is its own.

    y = Re x
    """

def real_part(input: Tensor) -> Tensor:
    """y = Re x of a complex x, same memory;  ∂x = incoming, without an imaginary part"""

def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1/x;  ∂y/∂x = −y²"""

def reciprocal_(input: Tensor) -> Tensor:
    """In-place reciprocal: y = 1/x;  ∂y/∂x = −y²"""

def relu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """y = max(x, 0);  ∂y/∂x = 1 if y > 0 else 0"""

def relu6(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """x held between 0 and 6.

    y = min(max(x, 0), 6)
    """

def relu_(input: Tensor) -> Tensor:
    """In-place relu: y = max(x, 0);  ∂y/∂x = 1 if y > 0 else 0"""

def remainder(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = a − b·⌊a/b⌋, with the sign of b;  ∂y/∂a = 1,  ∂y/∂b = −⌊a/b⌋"""

def renorm(
    input: Tensor,
    p: builtins.float,
    dim: builtins.int,
    maxnorm: builtins.float,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Slices along ``dim`` whose p-norm exceeds ``maxnorm`` are scaled down to it.

    y = x·min(1, maxnorm/|x|) per slice along dim
    """

def repeat(input: Tensor, *sizes: Ints, repeats: Any = None) -> Tensor:
    """y = copies of x side by side;  ∂x = Σ incoming over the copies"""

def repeat_interleave(
    input: Tensor,
    repeats: Any = None,
    dim: Ints | None = None,
    *,
    output_size: builtins.int | None = None,
) -> Tensor:
    """Each element (or each position of ``dim``) several times in a row.

    y = each element of x several times in a row
    """

def reshape(input: Tensor, *shape: Ints, size: Ints | None = None) -> Tensor:
    """The elements in another shape: a view when strides allow it, a copy otherwise.

    y = x in another shape, a view if possible, else a copy
    """

def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """``reshape`` to the shape of ``other``.

    y = x in the shape of another tensor
    """

def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Take the size of another tensor."""

def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: a conjugate is computed at once here, never put off.

    y = x
    """

def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: a negative is computed at once here, never put off.

    y = x
    """

def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[builtins.int],
    weight: Tensor | None = None,
    eps: builtins.float | None = None,
) -> Tensor:
    """Root mean square 1 over the last dimensions, which ``normalized_shape`` repeats.

    ``eps`` is the precision of the dtype unless given.

    x̂ = x/√(mean(x²) + ε) over the last dimensions, y = x̂·weight;  with w =
    incoming·weight: ∂x = (w − x̂·mean(w·x̂))/√(mean(x²) + ε),  ∂weight = incoming·x̂
    """

def rnn_relu(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Layers of a plain recurrent network with relu: the hidden states, and the last ones.

    h = relu(W·x + b + V·h + c), step by step
    """

def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a plain recurrent network with relu.

    h = relu(W·x + b + V·h + c)
    """

def rnn_tanh(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Layers of a plain recurrent network with tanh: the hidden states, and the last ones.

    h = tanh(W·x + b + V·h + c), step by step
    """

def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a plain recurrent network with tanh.

    h = tanh(W·x + b + V·h + c)
    """

def roll(input: Tensor, shifts: Ints, dims: Ints = ()) -> Tensor:
    """y = x moved on along dims, in a circle;  ∂x = incoming moved back"""

def rot90(input: Tensor, k: builtins.int = 1, dims: Ints = (0, 1)) -> Tensor:
    """Turn by k quarter turns in the plane of two dimensions, from the first to the second.

    y = x turned by quarter turns
    """

def round(input: Tensor, *, decimals: builtins.int = 0, out: Tensor | None = None) -> Tensor:
    """y = x to the nearest multiple of 10^−decimals, halves to even;  ∂y/∂x = 0"""

def round_(input: Tensor, *, decimals: builtins.int = 0) -> Tensor:
    """In-place round: y = x to the nearest multiple of 10^−decimals, halves to even;  ∂y/∂x
    = 0
    """

def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join one below the other, vectors as rows.

    y = x₁, x₂, … one below the other
    """

def rrelu(
    input: Tensor,
    lower: builtins.float = 0.125,
    upper: builtins.float = 0.3333333333333333,
    training: builtins.bool = False,
    inplace: builtins.bool = False,
) -> Tensor:
    """x where positive, slope·x elsewhere: a slope drawn per element, or the average one.

    y = x if x > 0 else slope·x, slope ~ U(lower, upper) in training, else their average
    """

def rrelu_(
    input: Tensor,
    lower: builtins.float = 0.125,
    upper: builtins.float = 0.3333333333333333,
    training: builtins.bool = False,
) -> Tensor:
    """``rrelu`` written into ``input`` itself."""

def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1/√x;  ∂y/∂x = −y³/2"""

def rsqrt_(input: Tensor) -> Tensor:
    """In-place rsqrt: y = 1/√x;  ∂y/∂x = −y³/2"""

def rsub(input: Tensor, other: Operand, *, alpha: Number = 1) -> Tensor:
    """``other − alpha·input``.

    y = b − alpha·a
    """

def saddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """``beta·input + alpha·(mat1 @ mat2)`` with ``input`` and ``mat1`` sparse, the result
    too.

    y = beta·x + alpha·a·b, sparse
    """

def scalar_tensor(s: Any, **options: Unpack[Options]) -> Tensor:
    """One number as a 0-d tensor of the default dtype.

    y = a number
    """

def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: builtins.float = 0.0,
    is_causal: builtins.bool = False,
    *,
    scale: builtins.float | None = None,
    enable_gqa: builtins.bool = False,
) -> Tensor:
    """Mix the rows of ``value`` for each query, by how well it matches the rows of ``key``.

    ``attn_mask`` is True where a query may look, or is added to the scores; ``is_causal``
    lets
    query i see the keys up to i.  A query that may look nowhere gets zeros.

    p = softmax(scale·q·kᵀ + mask), y = p·v;  ∂v = pᵀ·incoming,  ∂s = p·(incoming·vᵀ − Σ
    incoming·y),  ∂q = scale·∂s·k,  ∂k = scale·∂sᵀ·q
    """

def scatter(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    src: Operand | None = None,
    *,
    value: Operand | None = None,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """``input`` with ``src`` (a tensor or a number) written at ``index`` along ``dim``.

    y = x with source written at index along dim;  ∂x = incoming, 0 where written,
    ∂source = incoming at index
    """

def scatter_add(
    input: Tensor, dim: Ints, index: Operand, src: Operand, *, out: Tensor | None = None
) -> Tensor:
    """y = x with source added at index along dim;  ∂x = incoming,  ∂source = incoming at
    index
    """

def scatter_reduce(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: builtins.bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """Combine ``input`` with everything in ``src`` that ``index`` sends to the same place.

    y = input combined with src at index along dim: sum, mean, prod, amax or amin
    """

def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """y = where x would go in the sorted sequence: before equal elements, or after them
    (right)
    """

def select(input: Tensor, dim: builtins.int, index: Operand) -> Tensor:
    """One position of a dimension, which disappears.

    y = x at one position of dim
    """

def select_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``select``, with memory of its own.

    y = what select shows, copied
    """

def select_scatter(input: Tensor, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
    """``input`` with ``src`` at one position of a dimension.

    y = x with src at one position of dim
    """

def selu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """y = λ·(x if x > 0 else α·(eˣ − 1)) with fixed λ, α;  ∂y/∂x = λ or λ·α·eˣ"""

def selu_(input: Tensor) -> Tensor:
    """In-place selu: y = λ·(x if x > 0 else α·(eˣ − 1)) with fixed λ, α;  ∂y/∂x = λ or
    λ·α·eˣ
    """

def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x/|x|, 0 at 0;  ∂y/∂x = 0 for real x, what turns it for complex x"""

short: DType

def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1/(1 + e⁻ˣ);  ∂y/∂x = y·(1 − y)"""

def sigmoid_(input: Tensor) -> Tensor:
    """In-place sigmoid: y = 1/(1 + e⁻ˣ);  ∂y/∂x = y·(1 − y)"""

def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = −1, 0 or 1;  ∂y/∂x = 0"""

def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = whether x is negative, −0 included"""

def silu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """y = x·σ(x);  ∂y/∂x = σ(x)·(1 + x·(1 − σ(x)))"""

def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = sin x;  ∂y/∂x = cos x"""

def sin_(input: Tensor) -> Tensor:
    """In-place sin: y = sin x;  ∂y/∂x = cos x"""

def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = sin(πx)/(πx), 1 at 0;  ∂y/∂x = (cos(πx) − y)/x, 0 at 0"""

def sinc_(input: Tensor) -> Tensor:
    """In-place sinc: y = sin(πx)/(πx), 1 at 0;  ∂y/∂x = (cos(πx) − y)/x, 0 at 0"""

def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = sinh x;  ∂y/∂x = cosh x"""

def sinh_(input: Tensor) -> Tensor:
    """In-place sinh: y = sinh x;  ∂y/∂x = cosh x"""

def slice(x: Tensor, index: Operand, /) -> Tensor:
    """y = x[index], index of integers, slices, None and Ellipsis;  ∂x = incoming at index,
    else 0
    """

def slice_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``slice``, with memory of its own.

    y = what slice shows, copied
    """

def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: builtins.int = 0,
    start: builtins.int | None = None,
    end: builtins.int | None = None,
    step: builtins.int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``input`` with ``src`` at the positions ``start:end:step`` of a dimension.

    y = x with src at start:end:step of dim
    """

def slogdet(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.slogdet:
    """``linalg.slogdet``.

    sign, logabsdet = sign det x, log |det x|
    """

def smm(input: Tensor, mat: Tensor) -> Tensor:
    """A sparse matrix times a dense one, the result sparse.

    y = a·b, sparse
    """

def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
    beta: builtins.float = 1.0,
) -> Tensor:
    """y = (a − b)²/(2β) where |a − b| < β, else |a − b| − β/2, then mean or sum;  ∂y/∂a = (a
    − b)/β held between −1 and 1
    """

def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy for logits with targets −1 and 1.

    y = log(1 + exp(−t·x)), then mean or sum
    """

def softmax(
    input: Tensor,
    dim: builtins.int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = exp(x) / Σ exp(x) over dim;  ∂x = y·(incoming − Σ incoming·y)"""

def softmin(
    input: Tensor, dim: builtins.int | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Softmax of −x: the smallest number gets the largest share.

    y = softmax(−x)
    """

def softplus(
    input: Tensor,
    beta: Number = 1.0,
    threshold: builtins.float = 20.0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = log(1 + exp(β·x)) / β, and x itself where β·x > threshold;  ∂y/∂x = σ(β·x) or 1"""

def softshrink(input: Tensor, lambd: builtins.float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """y = x moved by λ towards 0;  ∂y/∂x = 0 if −λ ≤ x ≤ λ else 1"""

def softsign(input: Tensor) -> Tensor:
    """y = x / (1 + |x|);  ∂y/∂x = 1 / (1 + |x|)²"""

def sort(
    input: Tensor,
    dim: builtins.int = -1,
    descending: builtins.bool = False,
    *,
    stable: builtins.bool | None = None,
    out: Sequence[Tensor] | None = None,
) -> return_types.sort:
    """The elements in order along ``dim``, as a named tuple ``(values, indices)``.

    values = x in order along dim, taken from indices;  ∂x = incoming put back at indices
    """

sparse_coo: Layout

def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Ints | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
    check_invariants: builtins.bool | None = None,
    is_coalesced: builtins.bool | None = None,
) -> Tensor:
    """A tensor from coordinates: ``indices`` has one row per dimension, one column per
    value.

    A coordinate may appear several times; its values add up.  ``sparse_coo_tensor(size)``
    alone
    is a tensor of zeros.  ``pin_memory`` and ``check_invariants`` are taken as in PyTorch
    and
    change nothing: indices are always checked.

    y = values at coordinates, repeats added up;  ∂values = incoming at the coordinates
    """

sparse_csr: Layout

def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Ints | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
    check_invariants: builtins.bool | None = None,
) -> Tensor:
    """A matrix by rows: row ``i`` owns values ``crow_indices[i]`` to ``crow_indices[i +
    1]``.

    ``pin_memory`` and ``check_invariants`` are taken as in PyTorch and change nothing:
    indices
    are always checked.

    y = values by compressed rows;  ∂values = incoming at the coordinates
    """

def sparse_mask(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``input`` at the coordinates that ``mask`` stores.

    y = x at the coordinates of mask;  ∂x = incoming at those, 0 elsewhere
    """

def split(
    tensor: Tensor, split_size_or_sections: Ints, dim: builtins.int = 0
) -> tuple[Tensor, ...]:
    """Pieces of one size (the last may be smaller), or of a list of sizes.

    y₁, y₂, … = pieces of x along dim, same memory
    """

def split_copy(
    input: Tensor, *args: Any, out: Sequence[Tensor] | None = None, **kwargs: Any
) -> tuple[Tensor, ...]:
    """``split``, with memory of its own.

    y = what split shows, copied
    """

def split_with_sizes(
    input: Tensor, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
) -> tuple[Tensor, ...]:
    """y₁, y₂, … = pieces of x along dim, same memory;  ∂x = the pieces of incoming joined"""

def split_with_sizes_copy(
    input: Tensor, *args: Any, out: Sequence[Tensor] | None = None, **kwargs: Any
) -> tuple[Tensor, ...]:
    """``split_with_sizes``, with memory of its own.

    y = what split_with_sizes shows, copied
    """

def spmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices, without broadcasting.

    y = a·b for two matrices
    """

def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = √x;  ∂y/∂x = 1/(2y)"""

def sqrt_(input: Tensor) -> Tensor:
    """In-place sqrt: y = √x;  ∂y/∂x = 1/(2y)"""

def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a tensor with itself.

    y = x²;  ∂y/∂x = 2x
    """

def square_(input: Tensor) -> Tensor:
    """In-place square: y = x²;  ∂y/∂x = 2x"""

def squeeze(input: Tensor, dim: Ints | None = None) -> Tensor:
    """y = x without its dimensions of size 1;  ∂x = incoming in the shape of x"""

def squeeze_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``squeeze``, with memory of its own.

    y = what squeeze shows, copied
    """

def sspaddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """``beta·input + alpha·(mat1 @ mat2)`` with ``input`` and ``mat1`` sparse, the result
    too.

    y = beta·x + alpha·a·b, sparse
    """

def stack(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """y = x₁, x₂, … along a new dimension;  ∂xᵢ = incoming at position i"""

def std(
    input: Tensor,
    dim: Ints | None = None,
    unbiased: builtins.bool | None = None,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """y = √var(x);  ∂y/∂x = (x − mean) / ((n − correction)·y)"""

def std_mean(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
    """(std x, mean x)"""

def stft(
    input: Tensor,
    n_fft: builtins.int,
    hop_length: builtins.int | None = None,
    win_length: builtins.int | None = None,
    window: Tensor | None = None,
    center: builtins.bool = True,
    pad_mode: str = "reflect",
    normalized: builtins.bool = False,
    onesided: builtins.bool | None = None,
    return_complex: builtins.bool | None = None,
    align_to_window: builtins.bool | None = None,
) -> Tensor:
    """The spectrum of every stretch of ``n_fft`` points, ``hop_length`` apart: (…, freq,
    time).

    y[f, t] = Σ w[j]·x[t·hop + j]·e^(−2πijf/n)
    """

strided: Layout

def sub(input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """y = a − b;  ∂y/∂a = 1,  ∂y/∂b = −1"""

def subtract(
    input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor:
    """y = a − b;  ∂y/∂a = 1,  ∂y/∂b = −1"""

def sum(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """y = Σ x over dim;  ∂y/∂x = 1"""

def sum_to_size(input: Tensor, *size: Ints) -> Tensor:
    """The sum over the dimensions that broadcasting ``size`` to this shape would repeat.

    y = Σ x over the dimensions that broadcasting would repeat
    """

def svd(
    input: Tensor,
    some: builtins.bool = True,
    compute_uv: builtins.bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.svd:
    """The older form of ``linalg.svd``: reduced by default, and V instead of its transpose.

    x = u·diag s·vᵀ
    """

def swapaxes(input: Tensor, axis0: builtins.int, axis1: builtins.int) -> Tensor:
    """``transpose`` under NumPy's name.

    y = x with two dimensions exchanged
    """

def swapdims(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """Another name of ``transpose``.

    y = x with two dimensions exchanged
    """

def t(input: Tensor) -> Tensor:
    """The transposed matrix; vectors and 0-d tensors as they are.

    y = xᵀ
    """

def t_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``t``, with memory of its own.

    y = what t shows, copied
    """

def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements at ``index``, counted as if ``input`` were one row.

    y = the elements of x at index, x seen as one row;  ∂x = incoming added up at index
    """

def take_along_dim(
    input: Tensor, indices: Tensor, dim: builtins.int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """``gather`` with broadcasting, and with negative indices.

    y = x at indices along dim, with broadcasting;  ∂x = incoming added up at indices
    """

def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = tan x;  ∂y/∂x = 1 + y²"""

def tan_(input: Tensor) -> Tensor:
    """In-place tan: y = tan x;  ∂y/∂x = 1 + y²"""

def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = tanh x;  ∂y/∂x = 1 − y²"""

def tanh_(input: Tensor) -> Tensor:
    """In-place tanh: y = tanh x;  ∂y/∂x = 1 − y²"""

def tanhshrink(input: Tensor) -> Tensor:
    """What tanh takes away: x − tanh(x).

    y = x − tanh x
    """

def tensor(data: Any, **options: Unpack[Options]) -> Tensor:
    """A new tensor that owns a copy of ``data``: numbers, nested lists, an array or a
    tensor.

    y = a copy of the data
    """

def tensor_split(
    input: Tensor, indices_or_sections: Any, dim: builtins.int = 0
) -> tuple[Tensor, ...]:
    """A number of nearly equal pieces, or pieces that begin at the given indices.

    y₁, y₂, … = nearly equal pieces, or pieces from index to index, same memory
    """

def tensordot(a: Tensor, b: Tensor, dims: Any = 2, *, out: Tensor | None = None) -> Tensor:
    """Sum products over the last ``dims`` dimensions of ``a`` and the first of ``b``, or
    over
    two lists of dimensions.

    y = Σ a·b over pairs of dimensions
    """

def threshold(
    input: Tensor, threshold: builtins.float, value: builtins.float, inplace: builtins.bool = False
) -> Tensor:
    """y = x if x > threshold else value;  ∂y/∂x = 1 or 0"""

def threshold_(input: Tensor, threshold: builtins.float, value: builtins.float) -> Tensor:
    """In-place threshold: y = x if x > threshold else value;  ∂y/∂x = 1 or 0"""

def tile(input: Tensor, *dims: Ints) -> Tensor:
    """``repeat`` that fills up missing numbers with ones in front.

    y = copies of x side by side
    """

def to(
    input: Tensor,
    *target: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    non_blocking: builtins.bool = False,
    copy: builtins.bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """``to(dtype)``, ``to(device, dtype)``, ``to(other)``: the tensor itself if nothing
    changes.

    ``non_blocking`` is taken as in PyTorch and changes nothing here.

    y = x with another dtype or on another device
    """

def to_dense(input: Tensor, dtype: DTypeLike | None = None) -> Tensor:
    """The tensor with every element stored, zeros included; a strided tensor is itself.

    y = x with its zeros written out;  ∂x = incoming at the stored coordinates
    """

def to_sparse(
    input: Tensor, sparse_dim: builtins.int | None = None, *, layout: Layout | None = None
) -> Tensor:
    """Only the elements that are not zero, by coordinates (or in another ``layout``).

    y = the elements of x that are not 0;  ∂x = incoming at those, 0 elsewhere
    """

def to_sparse_coo(input: Tensor) -> Tensor:
    """The tensor by coordinates.

    y = x by coordinates;  ∂x = incoming at the stored ones, 0 elsewhere
    """

def to_sparse_csr(input: Tensor, dense_dim: builtins.int | None = None) -> Tensor:
    """The matrix by compressed rows.

    y = x by compressed rows;  ∂x = incoming at the stored ones, 0 elsewhere
    """

def topk(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = -1,
    largest: builtins.bool = True,
    sorted: builtins.bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.topk:
    """The ``k`` largest or smallest along ``dim``, best first, as ``(values, indices)``.

    values = the k largest (smallest) x along dim, at indices;  ∂x = incoming put back
    there
    """

def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal.

    y = Σ xᵢᵢ
    """

def transpose(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """y = x with two dimensions exchanged;  ∂x = incoming with the same two exchanged"""

def transpose_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``transpose``, with memory of its own.

    y = what transpose shows, copied
    """

def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: builtins.int = -1
) -> Tensor:
    """The area under ``y``, with straight lines between its points.

    Σ (y_t + y_{t+1})·(x_{t+1} − x_t)/2
    """

def trapz(y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: builtins.int = -1) -> Tensor:
    """The area under ``y``, with straight lines between its points.

    Σ (y_t + y_{t+1})·(x_{t+1} − x_t)/2
    """

def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: builtins.bool = True,
    transpose: builtins.bool = False,
    unitriangular: builtins.bool = False,
) -> return_types.triangular_solve:
    """The older form of ``linalg.solve_triangular``, which also returns a copy of A.

    y = a⁻¹·b for triangular a
    """

def tril(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """y = x on and below a diagonal, else 0;  ∂x = incoming there, else 0"""

def tril_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = 0,
    *,
    dtype: DTypeLike = ...,
    device: DeviceLike | None = None,
    layout: Layout | None = None,
) -> Tensor:
    """Row and column numbers of the lower triangle of a matrix, one column per element.

    y = positions of a triangle: row numbers, column numbers
    """

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: builtins.float = 1.0,
    p: builtins.float = 2,
    eps: builtins.float = 1e-06,
    swap: builtins.bool = False,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How much too near the negative is, compared with the positive, in the p-norm.

    y = max(0, margin + |a − p| − |a − n|), then mean or sum; swap: n is measured from p
    where that is nearer
    """

def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: builtins.float = 1.0,
    swap: builtins.bool = False,
    reduction: str = "mean",
) -> Tensor:
    """``triplet_margin_loss`` with a distance of one's own.

    y = max(0, margin + distance(a, p) − distance(a, n)), then mean or sum
    """

def triu(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """y = x on and above a diagonal, else 0;  ∂x = incoming there, else 0"""

def triu_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = 0,
    *,
    dtype: DTypeLike = ...,
    device: DeviceLike | None = None,
    layout: Layout | None = None,
) -> Tensor:
    """Row and column numbers of the upper triangle of a matrix, one column per element.

    y = positions of a triangle: row numbers, column numbers
    """

def true_divide(
    input: Operand, other: Operand, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""

def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x without its fraction;  ∂y/∂x = 0"""

def trunc_(input: Tensor) -> Tensor:
    """In-place trunc: y = x without its fraction;  ∂y/∂x = 0"""

def type_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the dtype of ``other``.

    y = x in the dtype of another tensor
    """

uint8: DType

def unbind(input: Tensor, dim: builtins.int = 0) -> tuple[Tensor, ...]:
    """y₁, y₂, … = x at each position of dim, same memory;  ∂x = the pieces of incoming
    stacked
    """

def unbind_copy(
    input: Tensor, *args: Any, out: Sequence[Tensor] | None = None, **kwargs: Any
) -> tuple[Tensor, ...]:
    """``unbind``, with memory of its own.

    y = what unbind shows, copied
    """

def unflatten(input: Tensor, dim: builtins.int, sizes: Ints) -> Tensor:
    """Split one dimension into several.

    y = x with one dimension split into several, same memory
    """

def unfold(
    input: Tensor, dimension: builtins.int, size: builtins.int, step: builtins.int
) -> Tensor:
    """y = windows of x along a dimension, same memory;  ∂x = Σ incoming over the windows"""

def unfold_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``unfold``, with memory of its own.

    y = what unfold shows, copied
    """

@overload
def unique(
    input: Tensor, sorted: builtins.bool = True, *, dim: builtins.int | None = None
) -> Tensor:
    """y = the distinct elements (or slices along dim) in order, on request where each
    element went and how often each occurs
    """

@overload
def unique(
    input: Tensor,
    sorted: builtins.bool = True,
    *,
    return_inverse: Literal[True],
    dim: builtins.int | None = None,
) -> tuple[Tensor, Tensor]:
    """y = the distinct elements (or slices along dim) in order, on request where each
    element went and how often each occurs
    """

@overload
def unique(
    input: Tensor,
    sorted: builtins.bool = True,
    *,
    return_counts: Literal[True],
    dim: builtins.int | None = None,
) -> tuple[Tensor, Tensor]:
    """y = the distinct elements (or slices along dim) in order, on request where each
    element went and how often each occurs
    """

@overload
def unique(
    input: Tensor,
    sorted: builtins.bool = True,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
) -> Any:
    """y = the distinct elements (or slices along dim) in order, on request where each
    element went and how often each occurs
    """

def unique_consecutive(
    input: Tensor,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
) -> Any:
    """y = x without elements (or slices along dim) that repeat the one before, on request
    where each went and how long each run is
    """

def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Positions in a flattened array as one tensor of coordinates per dimension.

    y₁, y₂, … = the coordinates of flat positions
    """

def unsafe_chunk(input: Tensor, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces of one size (the last may be smaller).

    y₁, y₂, … = pieces of equal size, same memory
    """

def unsafe_split(
    tensor: Tensor, split_size_or_sections: Ints, dim: builtins.int = 0
) -> tuple[Tensor, ...]:
    """Pieces of one size (the last may be smaller), or of a list of sizes.

    y₁, y₂, … = pieces of x along dim, same memory
    """

def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
) -> tuple[Tensor, ...]:
    """y₁, y₂, … = pieces of x along dim, same memory;  ∂x = the pieces of incoming joined"""

def unsqueeze(input: Tensor, dim: Ints) -> Tensor:
    """y = x with a new dimension of size 1 at dim;  ∂x = incoming without it"""

def unsqueeze_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``unsqueeze``, with memory of its own.

    y = what unsqueeze shows, copied
    """

def values(input: Tensor) -> Tensor:
    """The stored values of a coalesced tensor, one per coordinate.

    y = the stored values of x;  ∂x = incoming at the stored coordinates
    """

def values_copy(input: Tensor) -> Tensor:
    """``values()`` of a sparse tensor, with memory of its own.

    y = the values of a sparse x, copied
    """

def vander(x: Tensor, N: builtins.int | None = None, increasing: builtins.bool = False) -> Tensor:
    """Powers of the elements of a vector, one row each, the highest power first.

    y[i, j] = xᵢ^(N−1−j), or xᵢʲ
    """

def var(
    input: Tensor,
    dim: Ints | None = None,
    unbiased: builtins.bool | None = None,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """y = Σ (x − mean)² / (n − correction);  ∂y/∂x = 2 (x − mean) / (n − correction)"""

def var_mean(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
    """(var x, mean x)"""

def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The scalar product of two vectors, the first one conjugated.

    y = Σ ā·b for two vectors
    """

def view(
    input: Tensor, *shape: Ints, size: Ints | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """y = x in another shape, same memory;  ∂x = incoming in the shape of x"""

def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``view`` in the shape of ``other``.

    y = x in the shape of another tensor, same memory
    """

def view_as_complex(input: Tensor) -> Tensor:
    """y = x[…, 0] + i·x[…, 1], same memory;  ∂x[…, 0], ∂x[…, 1] = Re, Im of incoming"""

def view_as_complex_copy(
    input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any
) -> Tensor:
    """``view_as_complex``, with memory of its own.

    y = what view_as_complex shows, copied
    """

def view_as_real(input: Tensor) -> Tensor:
    """y[…, 0], y[…, 1] = Re x, Im x, same memory;  ∂x = incoming[…, 0] + i·incoming[…, 1]"""

def view_as_real_copy(
    input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any
) -> Tensor:
    """``view_as_real``, with memory of its own.

    y = what view_as_real shows, copied
    """

def view_copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``view``, with memory of its own.

    y = what view shows, copied
    """

def view_dtype(input: Tensor, dtype: DTypeLike) -> Tensor:
    """y = the bits of x read as another dtype;  no gradient"""

def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split along dimension 0.

    y₁, y₂, … = pieces of x from top to bottom, same memory
    """

def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join one below the other, vectors as rows.

    y = x₁, x₂, … one below the other
    """

@overload
def where(condition: Tensor, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """``input`` where the condition holds, else ``other``; alone: where the condition holds.

    y = a where the condition holds, b elsewhere;  ∂a = incoming there,  ∂b = incoming
    elsewhere
    """

@overload
def where(
    condition: Tensor, input: Operand, other: Operand, *, out: Tensor | None = None
) -> Tensor:
    """``input`` where the condition holds, else ``other``; alone: where the condition holds.

    y = a where the condition holds, b elsewhere;  ∂a = incoming there,  ∂b = incoming
    elsewhere
    """

def xlogy(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """y = a·ln b, 0 where a = 0;  ∂y/∂a = ln b,  ∂y/∂b = a/b"""

def xlogy_(input: Operand, other: Operand) -> Tensor:
    """In-place xlogy: y = a·ln b, 0 where a = 0;  ∂y/∂a = ln b,  ∂y/∂b = a/b"""

def zero_(input: Tensor) -> Tensor:
    """Write zeros."""

def zeros(*size: Ints, out: Tensor | None = None, **options: Unpack[Options]) -> Tensor:
    """All zeros.

    y = 0
    """

def zeros_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """y = 0, shaped like x"""

__version__: str
