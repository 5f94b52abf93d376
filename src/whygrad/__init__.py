"""whygrad: an autograd engine shaped like PyTorch that can say why.

``import whygrad`` loads the engine and NumPy, nothing heavier.  Functions come from the op table
(:mod:`whygrad.ops`); what is listed here by hand is everything else.
"""

from __future__ import annotations

import importlib
from math import e, inf, nan, pi
from typing import Any

from whygrad import aliases as _aliases
from whygrad import autograd, dispatch
from whygrad.fast import install as _install_fast_kernels
from whygrad.ops import functions as _functions
from whygrad.ops import late as _late
from whygrad.ops.creation.conversion import is_tensor
from whygrad.random import (
    Generator,
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
    thread_safe_generator,
)
from whygrad.tensor import Tensor, dtypes
from whygrad.tensor.devices import Device as device
from whygrad.tensor.devices import Layout as layout
from whygrad.tensor.devices import (
    get_default_device,
    set_default_device,
    sparse_coo,
    sparse_csr,
    strided,
)
from whygrad.tensor.dtypes import (
    DType,
    can_cast,
    finfo,
    get_default_dtype,
    iinfo,
    promote_types,
    result_type,
    set_default_dtype,
)
from whygrad.tensor.memory import MemoryFormat as memory_format
from whygrad.tensor.memory import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
)
from whygrad.tensor.modes import (
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from whygrad.tensor.printing import get_printoptions, printoptions, set_printoptions

_aliases.install()
_install_fast_kernels()
newaxis = None
has_lapack = True  # NumPy and SciPy bring it
has_mkl = has_openmp = False
has_spectral = True  # Fourier transforms
dtype = DType  # PyTorch's name for it

_dtypes: dict[str, DType] = {dtype.name: dtype for dtype in dtypes.ALL} | dtypes.ALIASES
_lazy = (  # modules that load on first use
    "accelerator", "amp", "backends", "compiler", "cpu", "cuda", "data", "distributions", "doctor",
    "fft", "files", "func", "jit", "linalg", "mps", "multiprocessing", "nn", "optim", "overrides",
    "scalar", "serialization", "sparse", "special", "testing",
    "training", "types", "utils", "version", "why", "xpu",
)  # fmt: skip
_home = {  # names that load their module on first use
    "DisableTorchFunction": "overrides",
    "DisableTorchFunctionSubclass": "overrides",
    "GradScaler": "amp",
    "OutOfMemoryError": "cuda",
    "TypedStorage": "ops.public.storages",
    "UntypedStorage": "ops.public.storages",
    "Value": "scalar",
    "autocast": "amp",
    "convolution": "nn.any_convolution",
    "explain": "why",
    "grad_flow": "training",
    "load": "files",
    "save": "files",
    "set_anomaly_enabled": "autograd.anomaly_mode",
    "set_default_tensor_type": "ops.public.legacy",
    "summary": "training",
    "track": "training",
    "typename": "ops.public.legacy",
    "vmap": "func",
    "why_nan": "why",
    "why_none": "why",
    "why_zero": "why",
}
_autocast = (  # of the module amp.state
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
    "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
    "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
    "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
)  # fmt: skip
_environment = (  # of the module compat.environment
    "are_deterministic_algorithms_enabled", "compile", "get_deterministic_debug_mode",
    "get_device_module", "get_float32_matmul_precision", "get_num_interop_threads",
    "get_num_threads", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
    "set_num_interop_threads", "set_num_threads", "set_warn_always",
    "use_deterministic_algorithms",
)  # fmt: skip
_tensor_types = (  # of the module ops.public.legacy
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor",
    "HalfTensor", "IntTensor", "LongTensor", "ShortTensor",
)  # fmt: skip
_storage_types = (  # of the module ops.public.storages
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage",
    "ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage",
    "LongStorage", "ShortStorage",
)  # fmt: skip
_by_hand = [
    "DType", "Generator", "Size", "Tensor", "autograd", "can_cast", "channels_last",
    "channels_last_3d", "contiguous_format",
    "default_generator", "device", "dispatch", "dtype", "e", "enable_grad", "finfo", "fork_rng",
    "get_default_device", "get_default_dtype", "get_printoptions",
    "get_rng_state", "has_lapack", "has_mkl", "has_openmp", "has_spectral", "iinfo", "inf",
    "inference_mode", "initial_seed",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled",
    "is_inference_mode_enabled", "is_tensor", "layout", "manual_seed", "memory_format", "nan",
    "newaxis", "no_grad", "pi", "preserve_format", "printoptions",
    "promote_types", "result_type", "seed", "set_default_device", "set_default_dtype",
    "set_grad_enabled",
    "set_printoptions", "set_rng_state", "sparse_coo", "sparse_csr", "strided",
    "thread_safe_generator",
]  # fmt: skip

globals().update(_functions)
globals().update(_dtypes)


def _all() -> list[str]:
    """Every public name; ops that are declared late are declared now."""
    _late.load_all()
    return sorted(
        {*_by_hand, *_lazy, *_home, *_autocast, *_environment, *_tensor_types, *_storage_types,
         *_functions, *_dtypes}
    )  # fmt: skip


def __dir__() -> list[str]:
    return _all()


def __getattr__(name: str) -> Any:
    if name in _lazy or name in ("__config__", "return_types", "torch"):  # `import *` leaves them
        return importlib.import_module(f"whygrad.{name}")
    if name in _home:
        return getattr(importlib.import_module(f"whygrad.{_home[name]}"), name)
    if name in _autocast:
        return getattr(importlib.import_module("whygrad.amp.state"), name)
    if name in _environment:
        return getattr(importlib.import_module("whygrad.compat.environment"), name)
    if name in _tensor_types:
        return importlib.import_module("whygrad.ops.public.legacy").tensor_type(name)
    if name in _storage_types:
        return importlib.import_module("whygrad.ops.public.storages").storage_type(name)
    if name in _functions or (_late.load(name) and name in _functions):
        globals()[name] = _functions[name]
        return _functions[name]
    if name == "__all__":
        return _all()
    if name == "__version__":
        from importlib.metadata import version  # 30 ms that few programs need

        return version("whygrad")
    from whygrad.refused import refusal

    raise refusal("", name)
