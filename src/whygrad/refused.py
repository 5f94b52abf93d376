"""Names of PyTorch that whygrad refuses, each with the reason.

A name that is merely missing and one that is missing on purpose look alike to a program, but not to
the person who reads the error.  Asking for one of these (``whygrad.quantize_per_tensor``) raises an
``AttributeError`` that says why and what to do; ``hasattr`` answers False as for any other missing
name.  ``docs/names.md`` lists them from here.

Names are dotted as under ``torch``; ``*`` stands for anything.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

__all__ = ["ELSEWHERE", "REFUSED", "reason_for", "refusal"]

_HARDWARE = "it runs on hardware that whygrad does not drive; whygrad computes on the CPU"
_INSIDE = "it belongs to the inside of PyTorch, which is not for programs to call"
_TORCHSCRIPT = "it belongs to TorchScript, PyTorch's former compiler; plain Python runs as it is"
_SYMBOLS = "it belongs to PyTorch's tracing with symbolic sizes; sizes here are plain integers"
_REMOVED = "PyTorch has removed it and only raises an error; its message names the successor"
_QUANTISED = "quantised tensors are not supported; compute in float32 or bfloat16"
_NARROW = "numbers of less than a byte, and of eight bits with an exponent, are not supported"
_PIPES = "PyTorch has given up its data pipes; write a Dataset or an IterableDataset"
_LAYOUTS = "of the sparse layouts only COO and CSR are supported"
_UNSIGNED = "PyTorch itself has few ops for it and no gradients; int32 and int64 hold the values"
_EXPORT = (
    "whygrad writes no programs for other runtimes; save the weights with "
    "whygrad.save(model.state_dict(), path), load them in PyTorch and export there"
)
_DOWNLOAD = "whygrad downloads nothing; fetch the file yourself and use load_state_dict"
_PACKAGES = "code does not travel in whygrad's files; ship it as a Python package"
_PROFILERS = (
    "Python's own tools see everything that runs here: cProfile, timeit, or py-spy; "
    "whygrad.autograd.graph tells what backward keeps in memory"
)

# Reasons that say a CPU could not serve the name, or that it is no name for programs.
ELSEWHERE = frozenset({_HARDWARE, _INSIDE, _TORCHSCRIPT, _SYMBOLS, _REMOVED})

REFUSED: dict[str, tuple[str, ...]] = {
    _HARDWARE: (
        "cudnn_*", "miopen_*", "is_vulkan_available", "*_autocast_ipu_*", "*_autocast_xla_*",
        "is_autocast_ipu_enabled", "is_autocast_xla_enabled", "Tensor.ipu", "Tensor.mtia",
        "Event", "Stream", "AcceleratorError", "mtia",
    ),
    _INSIDE: (
        "AggregationType", "AVG", "SUM", "BenchmarkConfig", "BenchmarkExecutionStats",
        "DeepCopyMemoTable", "DispatchKey*",
        "ExcludeDispatchKeyGuard", "ThroughputBenchmark", "OperatorInfo",
        "Tag", "*StorageContext", "PyTorchFile*", "LockingLogger", "NoopLogger", "StaticModule",
        "ExecutionPlan", "IODescriptor", "ErrorReport", "FatalError", "Capsule", "CallStack",
        "batch_norm_*", "mkldnn_*", "fbgemm_*", "fused_moving_avg_obs_fake_quant",
        "init_num_threads", "cpp", "Tensor.to_mkldnn", "native_norm",
        "choose_qparams_optimized", "unify_type_list", "slice_inverse", "Tensor.slice_inverse",
        "Tensor.index", "resize_as_sparse_", "*.resize_as_sparse_",
        "Tensor.sparse_resize_*", "Tensor.module_load", "nn.intrinsic", "nn.qat",
        "nn.functional.boolean_dispatch", "nn.functional.assert_int_or_pair",
        "nn.functional.*_torch_function*", "nn.functional.BroadcastingList*",
        "nn.functional.*_notes", "linalg.common_notes", "library", "utils.cpp_extension", "monitor",
        "autograd.Profiler*", "autograd.NestedIOFunction", "autograd.kineto_available",
    ),
    _TORCHSCRIPT: (
        "*Type", "*TypeBuilder", "AliasDb", "BufferDict", "ModuleDict", "ParameterDict",
        "Argument", "ArgumentSpec", "CompleteArgumentSpec",
        "Block", "Code", "CompilationUnit", "FileCheck", "FunctionSchema", "Future", "Gradient",
        "Graph", "GraphExecutorState", "JITException", "LiteScriptModule", "Node", "Script*",
        "TracingState", "Type", "Use", "Value", "fork", "wait", "import_ir_module*", "parse_*",
        "merge_type_from_type_comment", "fx", "classes", "jit.trace", "jit.trace_module",
        "jit.load", "jit.save", "jit.freeze",
    ),
    _SYMBOLS: ("Sym*", "sym_*", "cond"),
    _REMOVED: ("Tensor.eig", "Tensor.lstsq", "Tensor.solve", "Tensor.symeig", "Tensor.volatile",
               "Tensor.reinforce"),
    _QUANTISED: (
        "*quantize*", "quantized_*", "q_*", "Tensor.q_*", "qint*", "quint*", "qscheme", "*.qscheme",
        "int_repr", "Tensor.int_repr", "Tensor.dequantize", "empty_quantized", "nn.quant*",
    ),
    _NARROW: ("int[1-7]", "uint[1-7]", "bit", "bits*", "float8_*", "float4_*", "chalf",
              "Tensor.chalf", "complex32", "nn.functional.scaled*_mm", "nn.functional.S*Type"),
    _PIPES: ("utils.data.*_datapipe*", "utils.data.*DataPipe", "utils.data.DataChunk",
             "utils.data.*_validation*", "utils.data.non_deterministic"),
    _LAYOUTS: (
        "sparse_bs*_tensor", "sparse_csc_tensor", "sparse_compressed_tensor", "ccol_indices*",
        "row_indices*", "*.ccol_indices", "*.row_indices", "Tensor.to_sparse_bs[cr]",
        "Tensor.to_sparse_csc",
        "Tensor.to_padded_tensor",
    ),
    _UNSIGNED: ("uint16", "uint32", "uint64", "hash_tensor", "Tensor.hash_tensor"),
    _EXPORT: ("export", "onnx", "utils.mobile_optimizer"),
    _DOWNLOAD: ("hub", "utils.model_zoo"),
    _PACKAGES: ("package",),
    _PROFILERS: ("profiler", "utils.benchmark", "utils.bottleneck", "autograd.profiler*"),
}  # fmt: skip


def reason_for(name: str) -> str | None:
    """Why PyTorch's ``name`` is refused; None if nobody has refused it."""
    for reason, patterns in REFUSED.items():
        if any(_fits(name, pattern) for pattern in patterns):
            return reason
    return None


def _fits(name: str, pattern: str) -> bool:
    return name.count(".") == pattern.count(".") and fnmatchcase(name, pattern)


def refusal(space: str, name: str) -> AttributeError:
    """The error for a name that is not in ``space`` (``""``, ``"nn"`` or ``"Tensor"``, …)."""
    owner = "'Tensor' object" if space == "Tensor" else f"module '{_module(space)}'"
    text = f"{owner} has no attribute '{name}'"
    reason = reason_for(f"{space}.{name}".lstrip("."))
    return AttributeError(f"{text}: {reason}" if reason else text)


def _module(space: str) -> str:
    return f"whygrad.{space}" if space else "whygrad"
