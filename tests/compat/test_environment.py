"""Settings, compilers, versions and other names of the environment, in both libraries."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.expressions import expressions
from whygrad.fast import blas, threads

BOTH = (whygrad, torch)

# Evaluated one after the other: what one sets, the next one asks for.
SETTINGS = expressions(
    """
    lib.are_deterministic_algorithms_enabled() lib.use_deterministic_algorithms(True)
    lib.are_deterministic_algorithms_enabled() lib.get_deterministic_debug_mode()
    lib.use_deterministic_algorithms(True,warn_only=True)
    lib.is_deterministic_algorithms_warn_only_enabled() lib.get_deterministic_debug_mode()
    lib.set_deterministic_debug_mode("error") lib.get_deterministic_debug_mode()
    lib.is_deterministic_algorithms_warn_only_enabled() lib.set_deterministic_debug_mode(1)
    lib.get_deterministic_debug_mode() lib.set_deterministic_debug_mode(3)
    lib.set_deterministic_debug_mode("bad") lib.set_deterministic_debug_mode(1.0)
    lib.use_deterministic_algorithms(1) lib.use_deterministic_algorithms(False)
    lib.are_deterministic_algorithms_enabled() lib.get_float32_matmul_precision()
    lib.set_float32_matmul_precision("high") lib.get_float32_matmul_precision()
    lib.set_float32_matmul_precision("bad") lib.get_float32_matmul_precision()
    lib.set_float32_matmul_precision("highest") lib.get_float32_matmul_precision()
    lib.set_warn_always(True) lib.is_warn_always_enabled() lib.set_warn_always(False)
    lib.is_warn_always_enabled() lib.set_num_threads(0) lib.set_num_threads(1.5)
    lib.set_num_threads(-1) lib.set_num_interop_threads(0) lib.set_flush_denormal(False)is(None)
    lib.get_device_module().__name__.rpartition(".")[2] lib.get_device_module("foo")
    lib.get_device_module("cuda").__name__.rpartition(".")[2] lib.get_device_module("meta")
    lib.get_device_module(lib.device("cpu")).is_available()
    lib.cpu.is_available() lib.cpu.device_count() lib.cpu.current_device() lib.cpu.synchronize()
    lib.compiler.is_compiling() lib.jit.is_scripting() lib.jit.is_tracing()
    lib.has_lapack lib.version.cuda lib.version.hip lib.version.debug
    isinstance(2.0,lib.types.Number) isinstance(lib.__version__,str)
    isinstance(lib.__config__.show(),str) isinstance(lib.__config__.parallel_info(),str)
    lib.multiprocessing.get_sharing_strategy() lib.multiprocessing.set_sharing_strategy("bad")
    lib.multiprocessing.get_all_sharing_strategies()
    lib.multiprocessing.set_sharing_strategy("file_system")
    lib.multiprocessing.get_sharing_strategy()
    lib.multiprocessing.set_sharing_strategy("file_descriptor")
    """
)


def outcome(lib: Any, expression: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(expression, {"lib": lib})
        except Exception as error:
            return type(error)


def test_same_settings() -> None:
    for expression in SETTINGS:
        assert outcome(whygrad, expression) == outcome(torch, expression), expression


def test_threads_are_limited() -> None:
    first = whygrad.get_num_threads()
    before = set(blas.thread_counts())
    values, doubled = np.arange(2.0**18), np.empty(2**18)

    def parts() -> int:
        """Into how many parts a large loop is cut."""
        seen: list[int] = []

        def loop(x: Any, out: Any) -> None:
            seen.append(len(x))
            np.multiply(x, 2.0, out=out)

        threads.shared(loop, threads.SHARED, values, doubled)
        np.testing.assert_array_equal(doubled, values * 2)
        return len(seen)

    try:
        for number in (1, 3, 2):
            whygrad.set_num_threads(number)
            assert whygrad.get_num_threads() == parts() == number
            assert set(blas.thread_counts()) <= {number}
    finally:
        whygrad.set_num_threads(first)
    assert set(blas.thread_counts()) == before


def test_a_compiled_program_is_the_program() -> None:
    module = whygrad.nn.Linear(1, 1)
    assert whygrad.compile(module, mode="max-autotune") is module
    with pytest.raises(AssertionError, match="A callable function is expected"):
        whygrad.compile(3)

    @whygrad.compile
    def double(x: Any) -> Any:
        return x * 2

    @whygrad.compile(fullgraph=True)
    def triple(x: Any) -> Any:
        return x * 3

    @whygrad.jit.script
    def quadruple(x: Any) -> Any:
        return x * 4

    @whygrad.jit.ignore
    @whygrad.compiler.disable
    @whygrad.compiler.disable()
    @whygrad.jit.ignore()
    def quintuple(x: Any) -> Any:
        return x * 5

    assert [f(whygrad.ones(1)).item() for f in (double, triple, quadruple, quintuple)] == [
        2.0, 3.0, 4.0, 5.0,
    ]  # fmt: skip
    with pytest.raises(AttributeError, match="'trace': it belongs to TorchScript"):
        _ = whygrad.jit.trace


def work(rank: int, numbers: Any, fails: bool) -> None:
    numbers.put(rank)
    if fails:
        raise ZeroDivisionError("planned")


def test_spawn() -> None:
    context = whygrad.multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of forking a process with threads
        numbers = context.SimpleQueue()
        start = whygrad.multiprocessing.start_processes
        start(work, (numbers, False), nprocs=2, start_method="fork")
        assert {numbers.get(), numbers.get()} == {0, 1}
        with pytest.raises(
            whygrad.multiprocessing.ProcessRaisedException, match="ZeroDivisionError: planned"
        ):
            start(work, (numbers, True), nprocs=1, start_method="fork")


CLOSE = expressions(
    """
    C(lib.ones(2),lib.ones(2)+1e-9) C(lib.ones(2),lib.ones(2)+1) C(lib.ones(2),lib.ones(3))
    C(lib.ones(2),lib.ones(2).double()) C(lib.ones(2),lib.ones(2).double(),check_dtype=False)
    C(lib.ones(2),[1.0,1.0]) C([lib.ones(2)],[lib.ones(2)]) C((lib.ones(2),1),[lib.ones(2),1])
    C({"a":1},{"b":1}) C({"a":lib.ones(1)},{"a":lib.zeros(1)}) C([1],[1,2]) C(1,1.0)
    C(1,1.0,check_dtype=False) C(1.0,1.0+1e-9) C(1.0,1.1) C(1,2) C(1j,1j+1e-9) C("a","a")
    C(None,None) C(None,1) C(True,True) C(True,False) C(nan,nan) C(nan,nan,equal_nan=True)
    C(float("nan"),float("nan")) C(float("nan"),float("nan"),equal_nan=True)
    C(float("inf"),float("inf")) C(float("inf"),1.0) C(lib.ones(2),lib.ones(2),rtol=1e-3)
    C(lib.ones(2),lib.ones(2)*1.01,rtol=0.1,atol=0.0) C(lib.tensor([1,2]),lib.tensor([1,3]))
    C(lib.ones(2,2),lib.ones(2,2).t(),check_stride=True) C(lib.ones(2,2),lib.ones(2,2).t())
    C(np.ones(2),lib.ones(2)) C(np.ones(2),np.ones(2)) C(lib.ones(1),lib.zeros(1),msg="hey")
    C(lib.ones(1).half(),lib.ones(1).half()*1.0009)
    C(lib.ones(1).bfloat16()*1.01,lib.ones(1).bfloat16())
    C(lib.ones(2)>0,lib.ones(2)>0) C(lib.ones(2)>0,lib.ones(2)<0) C(lib.ones(0),lib.ones(0))
    C(lib.ones(2).to_sparse(),lib.ones(2)) C(lib.eye(2).to_sparse(),lib.eye(2).to_sparse())
    C(lib.ones(2),lib.ones(2,requires_grad=True)) C(lib.ones(2,device="meta"),lib.ones(2))
    C(lib.tensor([inf,1.0]),lib.tensor([inf,1.0])) C(lib.tensor([inf]),lib.tensor([-inf]))
    C([[1,[lib.ones(1)]]],[[1,[lib.zeros(1)]]])
    """
)


def close(lib: Any, expression: str) -> Any:
    names = {
        "lib": lib, "C": lib.testing.assert_close, "nan": lib.tensor([float("nan")]), "np": np,
        "inf": float("inf"),
    }  # fmt: skip
    try:
        return eval(expression, names)
    except Exception as error:
        return type(error)


def test_assert_close() -> None:
    for expression in CLOSE:
        assert close(whygrad, expression) == close(torch, expression), expression


def test_assert_close_says_where() -> None:
    with pytest.raises(
        AssertionError, match=r"(?s)1 / 2 \(50.0%\).*1.0 at index \(1,\).*\['a'\]\[0\]"
    ):
        whygrad.testing.assert_close(
            {"a": [whygrad.tensor([0.0, 1.0])]}, {"a": [whygrad.tensor([0.0, 2.0])]}
        )
    with pytest.raises(AssertionError, match=r"^mine: Booleans"):
        whygrad.testing.assert_close(True, False, msg=lambda text: f"mine: {text}")


def test_make_tensor() -> None:
    for name in ("float32", "float16", "int64", "uint8", "bool", "complex64"):
        for options in ({}, {"low": 0, "high": 2}, {"noncontiguous": True}, {"exclude_zero": True}):
            made = [
                lib.testing.make_tensor(3, 4, dtype=getattr(lib, name), device="cpu", **options)
                for lib in BOTH
            ]
            assert made[0].dtype == getattr(whygrad, name)
            assert tuple(made[0].shape) == tuple(made[1].shape)
            assert made[0].is_contiguous() == made[1].is_contiguous()
            if not made[0].dtype.is_complex and "low" in options:
                assert 0 <= made[0].min().item() <= made[0].max().item() <= 2
    with pytest.raises(ValueError, match="`low` has to be less"):
        whygrad.testing.make_tensor(2, dtype=whygrad.float32, low=2, high=1)


MODULES = """
    amp amp.autocast_mode amp.grad_scaler autograd.variable backends.cuda backends.cudnn
    backends.mkl backends.mkldnn backends.mps backends.openmp backends.opt_einsum compiler cpu
    cpu.amp cuda cuda.amp cuda.nvtx jit mps multiprocessing testing types utils.checkpoint
    utils.data utils.data._utils.collate utils.data.dataloader utils.data.dataset
    utils.data.distributed utils.data.sampler utils.hooks version xpu
"""


def test_modules_can_be_imported_by_name() -> None:
    for name in expressions(MODULES):
        mine, theirs = (importlib.import_module(f"{lib.__name__}.{name}") for lib in BOTH)
        lacking = [each for each in mine.__all__ if not hasattr(theirs, each)]
        assert not lacking, f"{name} invents {lacking}"


def test_a_share_for_each_process() -> None:
    for size, count, options in (
        (5, 2, {}), (5, 2, {"drop_last": True}), (1, 4, {}), (8, 3, {}),
        (6, 3, {"drop_last": True}), (2, 5, {"drop_last": True}),
    ):  # fmt: skip
        for rank in range(count):
            mine, theirs = (
                lib.utils.data.distributed.DistributedSampler(
                    range(size), count, rank, shuffle=False, **options
                )
                for lib in BOTH
            )
            assert list(mine) == list(theirs)
            assert (len(mine), mine.num_samples, mine.total_size) == (
                len(theirs), theirs.num_samples, theirs.total_size,
            )  # fmt: skip
    shares = [whygrad.utils.data.DistributedSampler(range(6), 2, rank) for rank in (0, 1)]
    first = [list(share) for share in shares]
    assert sorted(first[0] + first[1]) == list(range(6))
    assert [list(share) for share in shares] == first
    orders = {tuple(shares[0]) for epoch in range(5) if shares[0].set_epoch(epoch) is None}
    assert len(orders) > 1
    assert sorted(whygrad.utils.data.DistributedSampler(range(3))) == [0, 1, 2]
    for rank in (2, -1):
        with pytest.raises(ValueError, match="Invalid rank"):
            whygrad.utils.data.DistributedSampler(range(3), 2, rank)


STACKED = expressions(
    """
    D(x,[1,2,3])[0] D(a=x,b=[1,2,3])[1] len(D(x,[1,2,3])) D() D([1],[1,2]) D([1],b=[1,2])
    D([1,2],[1,2]).__getitems__([0,1]) D(x,x).datasets[0]is(x) D(a=x).datasets["a"]is(x)
    next(iter(lib.utils.data.DataLoader(D(a=x,b=[1,2,3]),batch_size=3)))["b"].tolist()
    """
)


def test_datasets_side_by_side() -> None:
    for expression in STACKED:
        results = []
        for lib in BOTH:
            names = {"lib": lib, "D": lib.utils.data.StackDataset, "x": lib.ones(3)}
            try:
                results.append(str(eval(expression, names)))
            except Exception as error:
                results.append(type(error).__name__)
        assert results[0] == results[1], expression
