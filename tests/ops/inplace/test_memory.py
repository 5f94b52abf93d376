"""Storages, and methods that replace or rewrite a tensor's memory: both libraries do the same."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.expressions import expressions


def outcome(program: str, library: Any, **names: Any) -> Any:
    """What an expression gives, with PyTorch's name for the library, or the class of its error."""
    x = library.arange(6.0).reshape(2, 3)
    names = {"lib": library, "x": x, "np": np, "i": library.arange(4), **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = plain(eval(program, names))
        except Exception as error:
            return type(error).__name__
    return result, plain(x)


def plain(value: Any) -> Any:
    if isinstance(value, (whygrad.Tensor, torch.Tensor)):
        dtype = str(value.dtype).partition(".")[2]
        return tuple(value.shape), value.stride(), value.storage_offset(), dtype, value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (int, float, type(None))):
        return value
    return re.sub(r"whygrad|torch(\.storage)?", "lib", str(value))


STORAGES = expressions(
    """
    x.storage().tolist() x.untyped_storage().tolist() x.storage()[4] x.storage()[-1]
    x.storage()[6] x.untyped_storage()[24] x.untyped_storage()[0] len(x.storage())
    len(x.untyped_storage()) x.storage().size() x.untyped_storage().size() x.storage().nbytes()
    x.untyped_storage().nbytes() x[1].storage().tolist() x.T.storage().tolist()
    x.storage().dtype x.storage().element_size() x.storage().device x.untyped_storage().device
    x.untyped_storage().element_size() x.storage().data_ptr()==x.data_ptr()
    x[1].untyped_storage().data_ptr()==x.data_ptr() x.storage().fill_(2.5).tolist()
    x.untyped_storage().fill_(0).tolist() x.storage().__setitem__(2,9.0)
    x.untyped_storage().__setitem__(3,1) x.storage().__setitem__(8,9.0)
    x.storage().__setitem__(slice(None),1.5)
    x.storage().copy_(lib.FloatStorage([6,5,4,3,2,1])).tolist()
    x.storage().copy_(lib.IntStorage([6,5,4,3,2,1])).tolist()
    x.storage().copy_(lib.IntStorage([6,5,4])) x.storage().clone().fill_(1).tolist()
    x.untyped_storage().copy_(lib.ones(6).untyped_storage()).tolist() x.storage().type()
    x.storage_type() i.storage_type() x.bool().storage_type() x.storage().untyped().tolist()
    x.storage().is_shared() x.storage().is_cuda x.storage().is_pinned()
    x.storage().pickle_storage_type() list(x.storage()) isinstance(x.storage(),lib.FloatStorage)
    isinstance(x.storage(),lib.LongStorage) isinstance(x.storage(),lib.TypedStorage)
    isinstance(x.storage(),lib.UntypedStorage)
    isinstance(x.untyped_storage(),lib.UntypedStorage)
    isinstance(x.untyped_storage(),lib.TypedStorage) lib.is_storage(x.storage())
    lib.is_storage(x.untyped_storage()) lib.is_storage(x) lib.FloatStorage(3).size()
    lib.FloatStorage([1,2]).tolist() lib.LongStorage([1,2]).tolist()
    lib.BoolStorage([True,False]).tolist() lib.DoubleStorage([1.5]).tolist()
    lib.ComplexFloatStorage([1j]).tolist() lib.BFloat16Storage([1.0]).tolist()
    lib.FloatStorage() lib.UntypedStorage(4).nbytes() lib.UntypedStorage([1,2,255]).tolist()
    lib.UntypedStorage(1.5) lib.UntypedStorage('abc')
    lib.TypedStorage(3,dtype=lib.int16).nbytes() lib.TypedStorage([1,2]).dtype
    lib.TypedStorage(wrap_storage=x.untyped_storage(),dtype=lib.int32).tolist()
    lib.FloatStorage(wrap_storage=x.untyped_storage()).tolist() str(lib.FloatStorage([1,2]))
    lib.tensor([]).storage().tolist()
    """
)

METHODS = expressions(
    """
    lib.ones(2).set_(x) lib.ones(2).set_(x.storage()) lib.ones(2).set_(x.untyped_storage())
    lib.ones(2).set_(x.storage(),1,(2,2),(2,1)) lib.ones(2).set_(x,2,(2,),(3,))
    lib.ones(2).set_(x.T) lib.ones(2).set_() lib.ones(2,dtype=lib.float64).set_(x)
    lib.ones(2,dtype=lib.int32).set_(x.untyped_storage()) lib.ones(2).set_(x.storage(),0,(2,3))
    lib.ones(2,requires_grad=True).set_(x) lib.ones(2).set_(lib.ones(2,device='meta'))
    lib.ones(2).set_(x).mul_(2.0) lib.ones(2).set_(lib.UntypedStorage(7)).shape
    lib.ones(2).set_(x.T.untyped_storage()) x.is_set_to(x) x.is_set_to(x[:]) x.is_set_to(x.T)
    x.is_set_to(x.clone()) x.is_set_to(x.detach()) x.map_(x.clone(),lambda*v:sum(v))
    x.map_(lib.ones(3),lambda*v:sum(v)) x.map_(i,max) x.map2_(x,x,lambda*v:sum(v))
    x.map2_(lib.ones(3),x,lambda*v:sum(v)) x.T.map_(x.T.clone(),max) x.apply_(lambda*v:v[0]**2)
    x[:,::2].apply_(lambda*v:-v[0]) i.apply_(lambda*v:v[0]+1) x.requires_grad_().apply_(abs)
    lib.ones(2,requires_grad=True).map_(lib.ones(2),max)
    lib.ones(2).bool().apply_(lambda*v:not(v[0])) x.new(2,3).shape x.new([1,2]) x.new().shape
    x.new(x.shape).shape x.new(x) i.new([1,2]) i.new(2).dtype i.new([1.5]) x.new((2,3))
    x.new(1.5) x.double().new([1]).dtype x.resize(3,2) x.resize(6) x.resize_as(lib.ones(6))
    x.narrow_copy(1,1,2) x.narrow_copy(0,-1,1) x.narrow_copy(1,2,2) x.narrow_copy(1,0,0)
    lib.narrow_copy(x,0,1,1) x.T.narrow_copy(1,0,1) x.share_memory_() x.is_pinned()
    x.is_shared() x.dim_order() x.T.dim_order() lib.ones(()).dim_order()
    x.const_data_ptr()==x.data_ptr() x.is_same_size(x.T) x.is_same_size(x.clone())
    x.is_distributed() lib.is_nonzero(lib.ones(1)) lib.is_nonzero(x)
    lib.is_nonzero(lib.zeros(1,1)) lib.is_nonzero(lib.ones(0)) x.is_signed() i.is_signed()
    x.byte().is_signed() x.bool().is_signed() x.is_inference() x.is_conj() x.is_neg()
    lib.ones(1)*1j lib.is_complex(x) lib.is_floating_point(i) x.is_leaf x.is_meta x.is_sparse
    x.is_quantized x.is_mkldnn x.is_cuda lib.frombuffer(b,dtype=lib.int16)
    lib.frombuffer(b,dtype=lib.uint8,count=3,offset=2)
    lib.frombuffer(b,dtype=lib.int16,offset=1) lib.frombuffer(b,dtype=lib.int16,count=5)
    lib.frombuffer(b,dtype=lib.int16,offset=8) lib.frombuffer(b,dtype=lib.int16,count=0)
    lib.frombuffer(b,dtype=lib.float32,requires_grad=True)
    lib.frombuffer(b,dtype=lib.int16,offset=-1) lib.frombuffer(bytearray(),dtype=lib.int16)
    lib.frombuffer(b,dtype=lib.bool).sum()
    """
)


@pytest.mark.parametrize("programs", [STORAGES, METHODS], ids=["storages", "methods"])
def test_both_libraries_do_the_same(programs: list[str]) -> None:
    different = {}
    for program in programs:
        mine, theirs = (
            outcome(program, library, b=bytearray(range(8))) for library in (whygrad, torch)
        )
        if mine != theirs:
            different[program] = mine, theirs
    assert not different


@pytest.mark.parametrize("shared", [True, False])
def test_from_file(tmp_path: Path, shared: bool) -> None:
    """A shared mapping writes through to the file; a private one does not."""
    found = []
    for library in (whygrad, torch):
        path = tmp_path / library.__name__
        np.arange(6, dtype=np.float32).tofile(path)
        tensor = library.from_file(str(path), shared=shared, size=4)
        tensor[1] = 9.0
        found.append((plain(tensor), np.fromfile(path, np.float32).tolist()))
        del tensor
    assert found[0] == found[1]


def test_from_file_grows_a_shared_file(tmp_path: Path) -> None:
    for library in (whygrad, torch):
        path = str(tmp_path / library.__name__)
        library.from_file(path, shared=True, size=3, dtype=library.int32)[2] = 7
        assert np.fromfile(path, np.int32).tolist() == [0, 0, 7]


def test_a_write_to_a_storage_is_noticed_by_backward() -> None:
    x = whygrad.ones(3, requires_grad=True)
    y = (x * x).sum()
    x.storage()[0] = 5.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_write_to_a_storage_is_no_new_version() -> None:
    for library in (whygrad, torch):
        x = library.ones(3)
        version = x._version
        x.untyped_storage().fill_(0)
        x.data.untyped_storage()[0] = 1
        assert x._version == version


def test_memory_is_not_set_beyond_its_end() -> None:
    """PyTorch makes the memory larger; here tensors look at it directly."""
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 24"):
        whygrad.ones(2).set_(whygrad.ones(6).untyped_storage(), 3, (2, 2), (2, 1))


def test_part_of_a_storage_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"x\.flatten\(\)\[a:b\]"):
        whygrad.ones(3).untyped_storage()[0:4]


def test_set_would_lose_a_history() -> None:
    x = whygrad.ones(2, requires_grad=True)
    for target, source in ((x * 2, whygrad.ones(2)), (whygrad.ones(2), x)):
        with pytest.raises(RuntimeError, match="history"):
            target.set_(source)
    with whygrad.no_grad():
        assert x.set_(whygrad.zeros(3)).tolist() == [0, 0, 0]


def test_any_convolution() -> None:
    rng = np.random.default_rng(0)
    for dims, transposed, groups in ((1, False, 1), (2, False, 2), (2, True, 1), (3, True, 2)):
        x, weight = (
            rng.normal(size=(2, 4, *[5] * dims)),
            rng.normal(size=(4, 4 // groups, *[2] * dims)),
        )
        found = []
        for library in (whygrad, torch):
            tensors = [library.tensor(each, requires_grad=True) for each in (x, weight)]
            y = library.convolution(
                *tensors, None, [2] * dims, [1] * dims, [1] * dims, transposed, [0] * dims, groups
            )
            y.square().sum().backward()
            found.append([y.detach().numpy(), *(each.grad.numpy() for each in tensors)])
        for mine, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
    with pytest.raises(RuntimeError, match="not 3, 4 or 5"):
        whygrad.convolution(whygrad.ones(2, 2), whygrad.ones(2, 2), None, [], [], [], False, [], 1)


def test_workers_that_are_threads_draw_from_generators_of_their_own() -> None:
    class Draws:
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            generator = whygrad.thread_safe_generator()
            assert generator is not None
            return whygrad.rand(2, generator=generator)

    assert whygrad.thread_safe_generator() is None
    found = []
    for _ in range(2):
        generator = whygrad.Generator().manual_seed(3)
        loader = whygrad.data.DataLoader(Draws(), 2, num_workers=2, generator=generator)
        found.append([batch.tolist() for batch in loader])
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


def test_anomaly_mode_has_a_plain_switch() -> None:
    for library in (whygrad, torch):
        library.set_anomaly_enabled(True, False)
        assert (library.is_anomaly_enabled(), library.is_anomaly_check_nan_enabled()) == (
            True,
            False,
        )
        library.set_anomaly_enabled(False)
        assert not library.is_anomaly_enabled()
