"""Files that ``torch.save`` really wrote: the same values here, and nothing else."""

from __future__ import annotations

import io
import os
import warnings
import zipfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from whygrad.files import CheckpointError

ZIPPED = pytest.mark.parametrize("zipped", [True, False], ids=["zip", "row of pickles"])


def written(value: Any, zipped: bool = True) -> io.BytesIO:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own older format
        torch.save(value, stream, _use_new_zipfile_serialization=zipped)
    stream.seek(0)
    return stream


def assert_same(mine: Any, theirs: Any) -> None:
    if isinstance(theirs, torch.Tensor):
        assert isinstance(mine, wg.Tensor)
        assert mine.dtype.name == str(theirs.dtype).removeprefix("torch.")
        assert tuple(mine.shape) == tuple(theirs.shape)
        assert mine.requires_grad is theirs.requires_grad
        assert str(mine.layout).partition(".")[2] == str(theirs.layout).partition(".")[2]
        assert isinstance(mine, wg.nn.Parameter) is isinstance(theirs, torch.nn.Parameter)
        if theirs.device.type == "meta":
            assert mine.device.type == "meta"
            return
        if theirs.layout is torch.strided:
            if not theirs.is_conj() and not theirs.is_neg():  # views that wait to be computed
                assert tuple(mine.stride()) == theirs.stride()
            assert mine.tolist() == theirs.tolist()
        else:
            assert mine.to_dense().tolist() == theirs.to_dense().tolist()
    elif isinstance(theirs, dict):
        assert type(mine) is type(theirs)
        assert list(mine) == list(theirs)
        for key in theirs:
            assert_same(mine[key], theirs[key])
    elif isinstance(theirs, torch.Size):
        assert (type(mine), tuple(mine)) == (wg.Size, tuple(theirs))
    elif isinstance(theirs, (list, tuple)):
        assert type(mine) is type(theirs)
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs):
            assert_same(a, b)
    elif isinstance(theirs, torch.dtype):
        assert mine is getattr(wg, str(theirs).removeprefix("torch."))
    elif isinstance(theirs, torch.device):
        assert str(mine) == str(theirs)
    else:
        assert type(mine) is type(theirs)
        assert mine == theirs


DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip


def everything() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that its CSR layout is young
        csr = torch.eye(2).to_sparse_csr()
    base = torch.arange(6.0)
    numbers = torch.tensor([[0.0, 1.5, -2.0], [3.0, 4.0, 5.0]])
    noted = torch.nn.Parameter(torch.ones(2))
    noted.tag = "mine"
    return {
        **{name: numbers.to(getattr(torch, name)).t() for name in DTYPES},
        "views": [base, base[2:], base[::2], base.view(2, 3).t(), base.expand(2, 6)],
        "empty": torch.empty(0, 3),
        "scalar": torch.tensor(5),
        "leaf": torch.ones(2, requires_grad=True),
        "parameter": torch.nn.Parameter(torch.ones(2), requires_grad=False),
        "noted": noted,
        "buffer": torch.nn.Buffer(torch.ones(2)),
        "conjugate": torch.tensor([1 + 2j]).conj(),
        "negative": torch.tensor([1 + 2j]).conj().imag,
        "sparse": torch.eye(2).to_sparse(),
        "csr": csr,
        "meta": torch.ones(2, device="meta"),
        "plain": [
            None,
            True,
            1,
            -(2**80),
            1.5,
            float("inf"),
            1 + 2j,
            "é",
            b"\x00\xff",
            (),
            (1, "a"),
        ],
        "containers": [{1, 2}, frozenset("ab"), bytearray(b"q"), OrderedDict(b=1, a=2)],
        "counted": Counter("aab"),
        "defaults": [defaultdict(list, {1: [2]}), defaultdict(int, a=1), defaultdict(None)],
        "keys": {1: 1, 1.5: 2, (1, "a"): 3, None: 4, b"k": 5},
        "numpy": [np.float64(0.5), np.float32(0.1), np.int64(3), np.bool_(True), np.complex64(1j)],
        "torch": [torch.float16, torch.device("cpu"), torch.Size([2, 3])],
    }


@ZIPPED
def test_every_kind_of_value(zipped: bool) -> None:
    value = everything()
    found = wg.load(written(value, zipped))
    assert_same(found, value)
    assert found["noted"].tag == "mine"


@ZIPPED
def test_what_is_shared_stays_shared(zipped: bool) -> None:
    base, *views = wg.load(written(everything(), zipped))["views"]
    views[0].fill_(9.0)
    assert base.tolist() == [0.0, 1.0, 9.0, 9.0, 9.0, 9.0]
    assert views[1].tolist() == [0.0, 9.0, 9.0]
    assert base._version == views[1]._version == 1
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    model[1].weight = model[0].weight
    state = wg.load(written(model.state_dict(), zipped))
    assert np.shares_memory(state["0.weight"].numpy(), state["1.weight"].numpy())
    base.resize_(3)
    assert base.tolist() == [0.0, 1.0, 9.0]


@ZIPPED
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_a_training_goes_on_here(name: str, zipped: bool) -> None:
    """A checkpoint of model, optimizer and scheduler; both libraries make three more steps."""
    x = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)

    def made(lib: Any) -> tuple[Any, Any, Any]:
        model = lib.nn.Sequential(
            lib.nn.Linear(4, 8), lib.nn.BatchNorm1d(8), lib.nn.ReLU(), lib.nn.Linear(8, 1)
        )
        options = {"momentum": 0.9} if name == "SGD" else {}
        optimizer = getattr(lib.optim, name)(model.parameters(), lr=0.01, **options)
        return model, optimizer, lib.optim.lr_scheduler.StepLR(optimizer, 2)

    def steps(lib: Any, model: Any, optimizer: Any, scheduler: Any) -> list[float]:
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(lib.from_numpy(x)).square().mean()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        return losses

    theirs = made(torch)
    steps(torch, *theirs)
    parts = ("model", "optimizer", "scheduler")
    states = {part: each.state_dict() for part, each in zip(parts, theirs)}
    checkpoint = wg.load(written({**states, "epoch": 3}, zipped))
    mine = made(wg)
    for part, each in zip(parts, mine):
        each.load_state_dict(checkpoint[part])
    assert checkpoint["epoch"] == 3
    np.testing.assert_allclose(steps(wg, *mine), steps(torch, *theirs), rtol=1e-5)


def test_map_location() -> None:
    value = {"x": torch.ones(2)}
    seen = []

    def keep(storage: Any, location: str) -> Any:
        seen.append(location)
        return storage

    for place in ("cpu", wg.device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cpu"}, keep):
        assert wg.load(written(value), map_location=place)["x"].tolist() == [1.0, 1.0]
    assert seen == ["cpu"]
    assert wg.load(written(value), "meta")["x"].device.type == "meta"
    for only in (None, True, False):
        assert wg.load(written(value), weights_only=only, mmap=False)["x"].tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="map_location is the name of a device"):
        wg.load(written(value), map_location=3)


def test_tensors_of_a_gpu_come_to_the_cpu(tmp_path: Path) -> None:
    content = record(written(torch.ones(2)), "data.pkl").replace(
        b"\x03\0\0\0cpu", b"\x06\0\0\0cuda:0"
    )
    assert wg.load(archive(content, {"0": np.ones(2, np.float32).tobytes()})).tolist() == [1.0, 1.0]


def test_paths_and_streams(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save({"x": torch.ones(2)}, path)
    for place in (path, str(path)):
        assert wg.load(place)["x"].tolist() == [1.0, 1.0]
    with open(path, "rb") as stream:
        assert wg.load(stream)["x"].tolist() == [1.0, 1.0]
    assert wg.serialization.load(path)["x"].tolist() == [1.0, 1.0]
    with pytest.raises(FileNotFoundError):
        wg.load(tmp_path / "missing.pt")


def test_the_other_order_of_bytes() -> None:
    content = record(
        written({"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([1 + 2j])}), "data.pkl"
    )
    records = {
        "0": np.array([1, 2], ">f4").tobytes(), "1": np.array([1 + 2j], ">c8").tobytes(),
    }  # fmt: skip
    found = wg.load(archive(content, records, byteorder=b"big"))
    assert (found["a"].tolist(), found["b"].tolist()) == ([1.0, 2.0], [1 + 2j])


# --- what is refused ------------------------------------------------------------------------------


def record(stream: io.BytesIO, name: str) -> bytes:
    with zipfile.ZipFile(stream) as file:
        return file.read(next(each for each in file.namelist() if each.endswith(f"/{name}")))


def archive(
    content: bytes,
    records: dict[str, bytes] | None = None,
    compression: int = zipfile.ZIP_STORED,
    byteorder: bytes = b"little",
) -> io.BytesIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        file.writestr("archive/data.pkl", content)
        file.writestr("archive/byteorder", byteorder)
        for key, data in (records or {}).items():
            file.writestr(f"archive/data/{key}", data)
    stream.seek(0)
    return stream


class Calls:
    """Pickled as a call of something."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


class Own:
    """A class that is nowhere but here."""


ATTACKS: dict[str, tuple[Any, str]] = {
    "system": (Calls(os.system, "touch /tmp/owned"), r"names (posix|nt)\.system"),
    "eval": (Calls(eval, "1 + 1"), r"names builtins\.eval"),
    "getattr": (Calls(getattr, "text", "upper"), r"names builtins\.getattr"),
    "import": (Calls(__import__, "os"), r"names builtins\.__import__"),
    "a module": (torch.nn.Linear(2, 2), r"names torch\.nn\.modules\.linear\.Linear"),
    "an object": (Own(), r"names copyreg\._reconstructor|names tests\.files.*Own"),
    "a function": (len, r"names builtins\.len"),
    "a type": (int, r"it has builtins\.long as a value"),
    "an optimizer": (torch.optim.SGD([torch.ones(1)], lr=1.0), r"names torch\.optim"),
    "an unknown dtype": (torch.ones(2, dtype=torch.uint16), r"names torch\.uint16"),
    "an array of NumPy": (np.ones(2), r"names numpy\.(_core|core)\.multiarray\._reconstruct"),
    "a bare storage": (torch.ones(2).untyped_storage(), "as a value|names"),
    "nested": ({"a": [Calls(os.system, "true")]}, r"names (posix|nt)\.system"),
}


@ZIPPED
@pytest.mark.parametrize("name", ATTACKS)
def test_everything_else_is_refused_by_name(name: str, zipped: bool) -> None:
    value, cause = ATTACKS[name]
    with pytest.raises(CheckpointError, match=cause) as caught:
        wg.load(written(value, zipped), weights_only=False)
    assert "state_dict" in str(caught.value)
    assert not os.path.exists("/tmp/owned")


def tensor_program(
    count: str,
    offset: str = "I0\n",
    size: str = "(I2\nt",
    stride: str = "(I1\nt",
    hooks: str = "ccollections\nOrderedDict\n(tR",
) -> bytes:
    """The pickle of one tensor in the oldest protocol, which a person can write."""
    storage = f"(Vstorage\nctorch\nFloatStorage\nV0\nVcpu\n{count}tQ"
    arguments = f"{storage}{offset}{size}{stride}I00\n{hooks}"
    return f"ctorch._utils\n_rebuild_tensor_v2\n({arguments}tR.".encode()


def plain_bytes(dtype: str) -> bytes:
    """A tensor of eight bytes whose dtype stands beside it, not in its storage."""
    storage = "(Vstorage\nctorch.storage\nUntypedStorage\nV0\nVcpu\nI8\ntQ"
    arguments = f"{storage}I0\n(I2\nt(I1\ntI00\nccollections\nOrderedDict\n(tRctorch\n{dtype}\n"
    return f"ctorch._utils\n_rebuild_tensor_v3\n({arguments}tR.".encode()


TWO = np.array([1, 2], np.float32).tobytes()
# memo 0: a text, and pairs of pairs of it, so deep that to print or to hash it never ends
DOUBLED = b"Va\np0\n0" + 60 * b"(g0\ng0\ntp0\n0"
PROGRAMS: dict[str, tuple[bytes, str]] = {
    "beyond its storage": (tensor_program("I2\n", size="(I3\nt"), "outside its storage"),
    "a stride too far": (tensor_program("I2\n", stride="(I2\nt"), "outside its storage"),
    "an offset too far": (tensor_program("I2\n", "I1\n"), "outside its storage"),
    "a negative offset": (tensor_program("I2\n", "I-1\n"), "no numbers of elements"),
    "a negative stride": (tensor_program("I2\n", stride="(I-1\nt"), "no numbers of elements"),
    "a negative size": (tensor_program("I2\n", size="(I-2\nt"), "no numbers of elements"),
    "a size of text": (tensor_program("I2\n", size="(Va\nt"), "no numbers of elements"),
    "a size of 2**62": (tensor_program("I2\n", size="(L4611686018427387904L\nt"), "outside"),
    "sizes that overflow": (
        tensor_program("I2\n", size="(L4611686018427387904L\nI8\nt", stride="(I0\nI0\nt"),
        "with sizes",
    ),
    "strides missing": (tensor_program("I2\n", stride="(t"), "sizes .* and strides"),
    "a storage that promises more": (tensor_program("I3\n"), "8 bytes in place of 12"),
    "a storage of 2**60": (tensor_program("L1152921504606846976L\n"), "the file has"),
    "a storage of less than nothing": (tensor_program("I-2\n"), "storage of -2 elements"),
    "hooks": (tensor_program("I2\n", hooks="(dVx\nI1\ns"), "backward hooks"),
    "attributes of a tensor": (tensor_program("I2\n")[:-1] + b"(dVx\nI1\nsb.", "sets attributes"),
    "attributes of a name": (b"ccollections\nOrderedDict\n(dVx\nI1\nsb.", "sets attributes"),
    "a call of a value": (b"I1\n(tR.", "wants to call int"),
    "no arguments": (b"ctorch._utils\n_rebuild_tensor_v2\n(tR.", "wrong arguments"),
    "an instance by INST": (b"(ios\nsystem\n.", "instruction INST"),
    "no end": (b"I1\n", "makes no sense"),
    "no stack": (b".", "makes no sense"),
    "no mark": (b"t.", "makes no sense"),
    "no memo": (b"g5\n.", "makes no sense"),
    "noise": (b"\xff\xfe\xfd", "makes no sense"),
    "a key of a list": (b"(d(lI1\ns.", "a key of the kind list"),
    "a dotted name": (b"cos.path\nos.system\n.", r"names os\.path\.os\.system"),
    "a storage of a class": (
        tensor_program("I2\n").replace(b"FloatStorage", b"device\np0"), "a storage of the kind"
    ),
    "a key without end": (DOUBLED + b"(dg0\nI1\ns.", "a key of the kind tuple"),
    "an id without end": (DOUBLED + b"g0\nQ.", "an object outside its pickle"),
    "a dtype without end": (DOUBLED + b"cnumpy\ndtype\n(g0\ntR.", "a number of NumPy's"),
    "a layout without end": (
        DOUBLED + b"ctorch.serialization\n_get_layout\n(g0\ntR.", "it has the layout"
    ),
    "a factory without end": (
        DOUBLED + b"ccollections\ndefaultdict\n(g0\ntR.", "a defaultdict whose"
    ),
    "a size without end": (
        DOUBLED + tensor_program("I2\n", size="(g0\nt"), "no numbers of elements"
    ),
    "numbers to compute without end": (
        tensor_program(
            "I2\n", size="(L1099511627776L\nt", stride="(I0\nt",
            hooks="ccollections\nOrderedDict\n(tR(dVneg\nI01\ns",
        ),
        "numbers to compute",
    ),
    "a bool of 63": (plain_bytes("bool"), "neither 0 nor 1"),
    "a path for a key": (
        tensor_program("I2\n").replace(b"V0\n", b"V../../etc/passwd\n"), "is not there"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_without_sense(name: str) -> None:
    content, cause = PROGRAMS[name]
    with pytest.raises(CheckpointError, match=cause):
        wg.load(archive(content, {"0": TWO}))


def test_the_program_that_the_others_are_made_from() -> None:
    assert wg.load(archive(tensor_program("I2\n"), {"0": TWO})).tolist() == [1.0, 2.0]
    assert wg.load(archive(plain_bytes("float32"), {"0": TWO})).tolist() == [1.0, 2.0]
    with pytest.raises(CheckpointError, match="plain bytes in another order"):
        wg.load(archive(plain_bytes("float32"), {"0": TWO}, byteorder=b"big"))


def test_archives_that_would_grow() -> None:
    zeros = tensor_program("I1000000\n", size="(I1000000\nt")
    with pytest.raises(CheckpointError, match=r"is compressed|the file has"):
        wg.load(archive(zeros, {"0": bytes(4_000_000)}, zipfile.ZIP_DEFLATED))
    with pytest.raises(CheckpointError, match=r"without data\.pkl"):
        wg.load(io.BytesIO(_empty_zip()))


def _empty_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("else", b"")
    return stream.getvalue()


@ZIPPED
def test_a_damaged_file_is_an_error_or_the_same_file(zipped: bool) -> None:
    """Cut off anywhere, or with any byte changed: never another exception, and never code."""
    value = {"x": torch.arange(4.0), "n": [1, "a", (2,)]}
    whole = written(value, zipped).getvalue()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 150):
        cut = whole[:place]
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        for content in (cut, bytes(changed)):
            try:
                wg.load(io.BytesIO(content))
            except CheckpointError:
                continue


def test_a_whole_module_is_not_written() -> None:
    with pytest.raises(TypeError, match=r"it is a Linear[^\0]*save its state_dict\(\)"):
        wg.save(wg.nn.Linear(2, 2), io.BytesIO())


def test_the_list_of_allowed_classes_changes_nothing() -> None:
    serialization = wg.serialization
    with serialization.safe_globals([Own]):
        serialization.add_safe_globals([Own, Calls])
        assert serialization.get_safe_globals() == [Own, Calls]
        with pytest.raises(CheckpointError, match="names"):
            serialization.load(written(Own()))
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([Own])
    serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []


# --- whygrad's own files --------------------------------------------------------------------------


def through(value: Any) -> Any:
    stream = io.BytesIO()
    wg.save(value, stream)
    stream.seek(0)
    return wg.load(stream)


def test_own_files_keep_what_is_shared_as_well() -> None:
    base = wg.arange(6.0)
    views = [base[2:4], base.view(2, 3).t(), base[1::2], base.detach().requires_grad_()]
    first, *others = through([base, *views, base])
    assert others[-1] is first
    others[0].fill_(9.0)
    with wg.no_grad():
        assert [each.tolist() for each in others[1:4]] == [
            [[0.0, 9.0], [1.0, 4.0], [9.0, 5.0]], [1.0, 9.0, 5.0], [0.0, 1.0, 9.0, 9.0, 4.0, 5.0],
        ]  # fmt: skip
    assert others[3].requires_grad
    state = through({"head": base[:4], "tail": base[2:], "apart": wg.ones(2)})
    state["tail"].fill_(7.0)
    assert state["head"].tolist() == [0.0, 1.0, 7.0, 7.0]
    assert state["apart"].tolist() == [1.0, 1.0]
    pair = through([wg.tensor([1 + 2j, 3]).to(wg.complex128)] * 1)
    assert pair[0].tolist() == [1 + 2j, 3 + 0j]
