"""Names of hardware that is not there, answered as by PyTorch without a GPU."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.expressions import expressions
from whygrad.tensor.devices import DeviceError

pytestmark = pytest.mark.skipif(torch.accelerator.is_available(), reason="this machine has a GPU")


def device_of_most_scripts(library: Any) -> str:
    if library.cuda.is_available():
        return "cuda"
    return "mps" if library.backends.mps.is_available() else "cpu"


# Expressions with the same value (or the same kind of error) in both libraries.
ANSWERS = expressions(
    """
    lib.cuda.is_available() lib.cuda.device_count() lib.cuda.is_bf16_supported()
    lib.cuda.is_tf32_supported() lib.cuda.is_initialized() lib.cuda.manual_seed(0)
    lib.cuda.manual_seed_all(0) lib.cuda.seed() lib.cuda.seed_all() lib.cuda.empty_cache()
    lib.cuda.memory_allocated() lib.cuda.max_memory_allocated() lib.cuda.memory_reserved()
    lib.cuda.max_memory_reserved() lib.cuda.memory_stats() lib.cuda.get_rng_state_all()
    lib.cuda.set_rng_state(lib.get_rng_state()) lib.cuda.set_rng_state_all([])
    lib.cuda.get_arch_list() lib.cuda.get_gencode_flags() lib.cuda.set_device(-1)
    lib.cuda.default_generators lib.cuda.stream(None).__enter__() lib.cuda.device(-1).__enter__()
    lib.cuda.device_of(lib.ones(1)).__enter__() isinstance(lib.ones(1),lib.cuda.FloatTensor)
    lib.cuda.FloatTensor.is_cuda lib.mps.is_available() lib.mps.device_count()
    lib.mps.manual_seed(0) lib.xpu.is_available() lib.xpu.device_count()
    lib.xpu.manual_seed_all(0) lib.xpu.empty_cache() lib.accelerator.is_available()
    lib.accelerator.current_accelerator() lib.accelerator.device_count()
    lib.backends.cuda.is_built() lib.backends.cuda.matmul.allow_tf32
    lib.backends.cuda.flash_sdp_enabled() lib.backends.cuda.math_sdp_enabled()
    lib.backends.cuda.mem_efficient_sdp_enabled() lib.backends.cuda.cudnn_sdp_enabled()
    lib.backends.cudnn.is_available() lib.backends.cudnn.version() lib.backends.cudnn.enabled
    lib.backends.cudnn.benchmark lib.backends.cudnn.deterministic lib.backends.cudnn.allow_tf32
    lib.backends.cudnn.is_acceptable(lib.ones(1)) lib.backends.mps.is_available()
    lib.backends.mps.is_built() lib.backends.opt_einsum.is_available()
    lib.backends.mkldnn.enabled lib.backends.cpu.get_cpu_capability() lib.ones(2).is_cuda
    lib.ones(2).is_mps lib.ones(2).is_xpu lib.ones(2).is_quantized lib.ones(2).get_device()
    lib.ones(2).is_pinned() repr(lib.nn.ReLU().cuda()) repr(lib.nn.ReLU().to("cuda"))
    repr(lib.device("cuda")) repr(lib.device("cuda",1)) repr(lib.device("cuda:1"))
    lib.device("cuda:1").index lib.device("cpu").index repr(lib.device("cpu:0"))
    str(lib.device("cpu",0)) repr(lib.device(type="mps")) repr(lib.ones(2,device="cpu:0").device)
    repr(lib.ones(2).to("cpu:1").device) lib.device("cpu")==lib.device("cpu",0)
    lib.device("cuda:0")==lib.device("cuda",0) lib.get_default_device().type
    isinstance(lib.float32,lib.dtype)
    """
)


def test_same_answers() -> None:
    for expression in ANSWERS:
        mine, theirs = (eval(expression, {"lib": lib}) for lib in (whygrad, torch))
        assert mine == theirs, expression
    assert device_of_most_scripts(whygrad) == device_of_most_scripts(torch)


REFUSALS = expressions(
    """
    lib.ones(2).cuda() lib.ones(2).cuda(0) lib.ones(2).cuda(non_blocking=True) lib.ones(2).xpu()
    lib.ones(2).to("cuda") lib.ones(2).to("cuda:0",lib.float64) lib.ones(2).to(device="mps")
    lib.ones(2).to(lib.device("cuda")) lib.nn.Linear(2,2).cuda() lib.nn.Linear(2,2).cuda(0)
    lib.nn.Linear(2,2).to("cuda") lib.nn.Linear(2,2).to("mps") lib.nn.Linear(2,2).xpu()
    lib.nn.Linear(2,2,device="cuda") lib.ones(2,device="cuda") lib.ones(2,device="mps")
    lib.ones(2,device=0) lib.device(0) lib.tensor([1.0],device="cuda") lib.rand(2,device="cuda")
    lib.arange(3,device="cuda") lib.eye(2,device="cuda") lib.full((2,),1.0,device="cuda")
    lib.zeros_like(lib.ones(2),device="cuda") lib.ones(2).new_zeros(2,device="cuda")
    lib.as_tensor(np.ones(2),device="cuda") lib.randint(3,(2,),device="cuda")
    lib.randperm(3,device="cuda") lib.linspace(0,1,3,device="cuda") lib.Generator("cuda")
    lib.ones(2).pin_memory() lib.ones(2).type("torch.cuda.FloatTensor")
    lib.ones(2).type(lib.cuda.FloatTensor) lib.cuda.current_device() lib.cuda.get_device_name(0)
    lib.cuda.synchronize() lib.cuda.get_rng_state() lib.cuda.current_stream() lib.cuda.Stream()
    lib.cuda.Event(enable_timing=True) lib.cuda.nvtx.range_push("a") lib.cuda.initial_seed()
    lib.cuda.mem_get_info() lib.cuda.device(0).__enter__() lib.mps.empty_cache()
    lib.mps.synchronize() lib.xpu.synchronize() lib.accelerator.synchronize()
    lib.cuda.get_device_properties(0) lib.cuda.CUDAGraph() lib.device("foo") lib.device("cuda:x")
    lib.device("cuda",-1) lib.device("") lib.device("CPU") lib.device("cpu:0",0) lib.device(None)
    lib.cuda.FloatTensor(2) lib.cuda.LongTensor([1]) lib.FloatTensor(2,device="cuda")
    lib.ones(2).to("foo")
    """
)


def test_same_refusals() -> None:
    for expression in REFUSALS:
        with pytest.raises(Exception, match=r"\w") as theirs:
            eval(expression, {"lib": torch, "np": np})
        with pytest.raises(Exception, match=r"cause: .*\n  fix: ") as mine:
            eval(expression, {"lib": whygrad, "np": np})
        assert isinstance(mine.value, (theirs.type, RuntimeError)), expression
        if theirs.type in (AssertionError, TypeError):
            assert isinstance(mine.value, theirs.type), expression


def test_the_error_says_what_to_write() -> None:
    with pytest.raises(DeviceError) as caught:
        whygrad.ones(2).cuda()
    text = str(caught.value)
    assert "there is no CUDA here: whygrad computes on the CPU" in text
    assert "'cuda' if whygrad.cuda.is_available() else 'cpu'" in text


def test_a_module_that_cannot_move_is_unchanged() -> None:
    layer = whygrad.nn.Linear(2, 2)
    before = dict(layer.named_parameters())
    with pytest.raises(DeviceError):
        layer.cuda()
    assert dict(layer.named_parameters()) == before


@pytest.mark.parametrize("library", ["whygrad", "torch"])
def test_switches_are_modules_and_keep_what_is_set(library: str) -> None:
    cudnn = importlib.import_module(f"{library}.backends.cudnn")
    cuda = importlib.import_module(f"{library}.backends.cuda")
    before = cudnn.benchmark, cudnn.deterministic, cuda.matmul.allow_tf32
    try:
        cudnn.benchmark = cudnn.deterministic = cuda.matmul.allow_tf32 = True
        assert (cudnn.benchmark, cudnn.deterministic, cuda.matmul.allow_tf32) == (True,) * 3
        with cudnn.flags(enabled=False):
            assert not cudnn.enabled
            assert not cudnn.benchmark
        assert cudnn.enabled
        assert cudnn.benchmark
    finally:
        cudnn.benchmark, cudnn.deterministic, cuda.matmul.allow_tf32 = before


def test_devices_are_copied_and_pickled() -> None:
    for name in ("cpu", "meta", "cuda:1", "cpu:0"):
        device = whygrad.device(name)
        for twin in (copy.copy(device), copy.deepcopy(device), pickle.loads(pickle.dumps(device))):
            assert twin == device
            assert hash(twin) == hash(device)
            assert repr(twin) == repr(device)


MADE = expressions(
    """
    lib.ones(2) lib.tensor(1.0) lib.rand(2) lib.randn(2) lib.arange(3) lib.eye(2) lib.randperm(3)
    lib.as_tensor([1.0]) lib.as_tensor(np.ones(2)) lib.from_numpy(np.ones(2)) lib.Tensor(2)
    lib.FloatTensor(2) lib.FloatTensor([1]) lib.nn.Linear(2,2).weight lib.ones(2,device="cpu")
    lib.zeros_like(cpu) cpu.new_ones(2) cpu+1 lib.full((2,),1.0) lib.linspace(0,1,3)
    lib.nn.BatchNorm1d(2).running_mean
    """
)


def places(library: Any) -> list[str]:
    names = {"lib": library, "np": np, "cpu": library.ones(2, device="cpu")}
    return [eval(each, names).device.type for each in MADE]


def test_default_device() -> None:
    for lib in (whygrad, torch):
        with lib.device("meta") as entered:
            assert entered.type == "meta"
            assert lib.get_default_device().type == "meta"
            with lib.device("cpu"):
                assert lib.ones(1).device.type == "cpu"
            assert lib.ones(1).device.type == "meta"
        assert lib.ones(1).device.type == "cpu"
    with whygrad.device("meta"), torch.device("meta"):
        mine, theirs = places(whygrad), places(torch)
    assert dict(zip(MADE, mine)) == dict(zip(MADE, theirs))
    try:
        for lib in (whygrad, torch):
            lib.set_default_device("meta")
        assert places(whygrad) == places(torch)
        for lib in (whygrad, torch):
            lib.set_default_device("cuda")
            with pytest.raises(AssertionError):
                lib.ones(1)
    finally:
        for lib in (whygrad, torch):
            lib.set_default_device(None)
    assert places(whygrad) == places(torch) == ["cpu"] * len(MADE)
