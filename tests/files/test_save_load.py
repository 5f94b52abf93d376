"""What goes into a file comes out again: every kind of value, shared memory, streams, refusals."""

from __future__ import annotations

import io
import json
import math
import os
import resource
import subprocess
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import whygrad
from whygrad.files import CheckpointError
from whygrad.tensor import dtypes


def _through(value: Any) -> Any:
    stream = io.BytesIO()
    whygrad.save(value, stream)
    stream.seek(0)
    return whygrad.load(stream)


def _assert_same(mine: Any, expected: Any) -> None:
    """Equal to the bit, in type too."""
    assert type(mine) is type(expected)
    if isinstance(expected, whygrad.Tensor):
        assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
        assert mine.requires_grad == expected.requires_grad
        _assert_same(mine.detach().numpy(), expected.detach().numpy())
    elif isinstance(expected, np.ndarray):
        assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
        assert np.ascontiguousarray(mine).tobytes() == np.ascontiguousarray(expected).tobytes()
    elif isinstance(expected, dict):
        assert list(mine) == list(expected)
        assert [type(key) for key in mine] == [type(key) for key in expected]
        for key in expected:
            _assert_same(mine[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        assert len(mine) == len(expected)
        for left, right in zip(mine, expected, strict=True):
            _assert_same(left, right)
    elif isinstance(expected, float) and math.isnan(expected):
        assert math.isnan(mine)
    else:
        assert mine == expected


_grid = whygrad.arange(24).reshape(2, 3, 4)
VALUES: dict[str, Any] = {
    "None": None,
    "true": True,
    "an integer": -7,
    "a huge integer": 7**5000,
    "a float": 0.1,
    "negative zero": -0.0,
    "no numbers": [math.nan, math.inf, -math.inf],
    "complex": complex(1.5, -math.inf),
    "text": 'é "quoted" \\ \n 🙂 \x00',
    "bytes": bytes(range(256)),
    "a nest": {"a": [1, (2, [3, {"b": ()}])], "": {}},
    "keys of any kind": {1: "a", "1": "b", 2.5: "c", None: "d", (1, ("x",)): "e", b"k": 0},
    "mappings": [OrderedDict(z=1, a=2), Counter("abca")],
    "dtypes": [whygrad.float32, whygrad.bfloat16],
    "names that collide": {"a": {"b": whygrad.ones(1)}, "a.b": whygrad.zeros(1)},
    "names that are reserved": {"__metadata__": whygrad.ones(2), "value": whygrad.zeros(1)},
    "names that are no UTF-8": {chr(0xD800): whygrad.ones(2), "\udfff": whygrad.zeros(1)},
    "names like paths": {"../../etc/passwd": whygrad.ones(2), "C:\\x": whygrad.zeros(1)},
    "a tensor alone": whygrad.randn(3, 2),
    "a parameter": whygrad.ones(2, requires_grad=True),
    "no dimensions": whygrad.tensor(3.5),
    "no elements": whygrad.zeros(0, 3),
    "transposed": _grid.permute(2, 0, 1),
    "strided": _grid[:, ::2, 1:],
    "reversed": whygrad.flip(_grid, (0,)),
    "expanded": whygrad.ones(3, 1).expand(3, 4),
    "arrays": [np.arange(3), np.array(2.5), np.arange(4, dtype=">i4")[::2].astype("i4")],
    "random state": whygrad.Generator().manual_seed(3).get_state(),
    **{
        f"{dtype.name} tensor": whygrad.tensor([0, 1, 2, 3]).to(dtype)
        for dtype in dtypes.ALL
    },
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_there_and_back(name: str) -> None:
    _assert_same(_through(VALUES[name]), VALUES[name])


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_numbers = st.none() | st.booleans() | st.integers() | st.floats() | _texts | st.binary(max_size=8)
_tensors = st.sampled_from(["float32", "float64", "int64", "uint8", "bool", "complex128"]).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=4)).map(
        whygrad.from_numpy
    )
)
_nested = st.recursive(
    _numbers | _tensors,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(_texts | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(_nested)
def test_any_value_comes_back(value: Any) -> None:
    _assert_same(_through(value), value)


def test_numpy_numbers_come_back_as_numbers() -> None:
    assert _through([np.float32(2.5), np.int64(3), np.bool_(True)]) == [2.5, 3, True]


def test_other_mappings_and_sequences_come_back_as_the_plain_ones() -> None:
    from collections import defaultdict, namedtuple

    found = _through([defaultdict(list, a=[1]), namedtuple("Point", "x y")(1, 2), bytearray(b"x")])
    assert found == [{"a": [1]}, (1, 2), b"x"]
    assert [type(each) for each in found] == [dict, tuple, bytes]


def test_memory_that_is_shared_stays_shared() -> None:
    weight = whygrad.ones(2, 3)
    found = _through({"model": {"embed": weight, "head": weight}, "view": [weight[0]]})
    assert found["model"]["embed"] is found["model"]["head"]
    found["model"]["embed"].zero_()
    assert found["view"][0].tolist() == [0, 0, 0]


def test_shared_memory_is_written_once_in_a_nest_and_under_every_name_in_a_state_dict() -> None:
    weight = whygrad.ones(1000)
    nest, state = io.BytesIO(), io.BytesIO()
    whygrad.save({"model": {"embed": weight, "head": weight}}, nest)
    whygrad.save({"embed": weight, "head": weight}, state)
    assert len(nest.getvalue()) < 5000 < 8000 < len(state.getvalue())


def test_devices() -> None:
    stream = io.BytesIO()
    whygrad.save({"x": [whygrad.ones(2)]}, stream)
    stream.seek(0)
    assert whygrad.load(stream, map_location="meta")["x"][0].device == "meta"
    stream.seek(0)
    assert whygrad.load(stream, "cpu", weights_only=True)["x"][0].device == "cpu"


def test_several_values_in_one_stream() -> None:
    """Each is read to its own end only if it is the last; the size is that of the rest."""
    stream = io.BytesIO(b"something else")
    stream.seek(0, io.SEEK_END)
    whygrad.save([1], stream)
    stream.seek(len(b"something else"))
    assert whygrad.load(stream) == [1]


def test_saving_replaces_and_keeps_links_and_leaves_nothing(tmp_path: Path) -> None:
    target, link = tmp_path / "real.safetensors", tmp_path / "link.safetensors"
    whygrad.save(1, target)
    link.symlink_to(target)
    whygrad.save(2, str(link))
    assert link.is_symlink()
    assert whygrad.load(target) == whygrad.load(link) == 2
    assert sorted(os.listdir(tmp_path)) == ["link.safetensors", "real.safetensors"]
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "x.safetensors"
    whygrad.save("old", path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, step, full)
            with pytest.raises(OSError, match="No space left"):
                whygrad.save("new", path)
        assert os.listdir(tmp_path) == ["x.safetensors"]
    with pytest.raises(TypeError):
        whygrad.save({"new": object()}, path)
    assert whygrad.load(path) == "old"


def test_a_full_disk_is_said_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    whygrad.save("old", path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(CheckpointError, match="safetensors cannot write it") as caught:
            whygrad.save(whygrad.ones(1000), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(path) in str(caught.value)
    assert os.listdir(tmp_path) == ["x.safetensors"]
    assert whygrad.load(path) == "old"


@pytest.mark.parametrize("verb", ["save", "load"])
def test_without_the_package_the_error_names_it(
    verb: str, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    call = partial(whygrad.save, 1) if verb == "save" else whygrad.load
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'whygrad\[files\]'") as caught:
        call("x.safetensors")
    assert str(caught.value).startswith(f"whygrad.{verb}('x.safetensors')\n  cause: files need")


def test_the_package_is_imported_when_it_is_needed() -> None:
    code = "import sys, whygrad.files; sys.exit('safetensors' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_what_a_killed_program_left_is_removed(tmp_path: Path) -> None:
    from whygrad.files import atomic

    path = tmp_path / "x.safetensors"
    dead, alive, other = (
        tmp_path / f".{name}.partial"
        for name in (
            f"x.safetensors.{atomic._host()}-{2**22 + 1}-0",
            f"x.safetensors.{atomic._host()}-{os.getppid()}-0",
            "x.safetensors.another_machine-1-0",
        )
    )
    for each in (dead, alive, other):
        each.mkdir()
        (each / "x.safetensors").write_bytes(b"half")
    whygrad.save(1, path)
    assert {each.name for each in tmp_path.iterdir()} == {path.name, alive.name, other.name}


def test_a_missing_file_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        whygrad.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        whygrad.save(1, tmp_path / "no" / "such" / "folder")


def _endless() -> Any:
    loop: list[Any] = []
    loop.append(loop)
    return loop


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a module": (lambda: {"m": whygrad.nn.Sequential()}, "save its state_dict()"),
    "a generator": (whygrad.Generator, "save its get_state()"),
    "a function": (lambda: [print], r"obj\[0\]\n  cause: it is a builtin_function_or_method"),
    "a set": (lambda: {"a": {"b": {1}}}, r"obj\['a'\]\['b'\]\n  cause: it is a set"),
    "a key": (lambda: {frozenset(): 1}, "it has a frozenset as a key"),
    "a key in a key": (lambda: {(1, frozenset()): 1}, "it is a frozenset"),
    "no data": (lambda: whygrad.ones(2, device="meta"), r"it is float32\[2\] on meta"),
    "sparse": (lambda: whygrad.eye(2).to_sparse(), "x.to_dense"),
    "objects": (lambda: np.array([None]), "it is an array of object"),
    "odd integers": (lambda: np.arange(2, dtype="uint16"), "it is an array of uint16"),
    "itself": (_endless, "nested more than 200 levels deep, or in itself"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_saved_is_said(name: str, tmp_path: Path) -> None:
    make, words = REFUSED[name]
    with pytest.raises(TypeError, match=words) as caught:
        whygrad.save(make(), tmp_path / "x")
    assert "fix:" in str(caught.value)
    assert "test_save_load.py" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_a_newer_structure_is_refused_by_its_version() -> None:
    stream = io.BytesIO()
    whygrad.save([1], stream)
    newer = stream.getvalue().replace(b'"whygrad":"1"', b'"whygrad":"2"')
    with pytest.raises(
        CheckpointError, match="it has version '2' of whygrad's structure"
    ) as caught:
        whygrad.load(io.BytesIO(newer))
    assert "or a newer one" in str(caught.value)


def test_the_table_is_what_the_format_says() -> None:
    stream = io.BytesIO()
    whygrad.save({"b": whygrad.tensor([True]), "w": whygrad.ones(2, 1)}, stream)
    content = stream.getvalue()
    length = int.from_bytes(content[:8], "little")
    table = json.loads(content[8 : 8 + length])
    assert length % 8 == 0
    assert table["w"] == {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}
    assert table["b"] == {"dtype": "BOOL", "shape": [1], "data_offsets": [8, 9]}
    assert content[8 + length :] == np.ones(2, "<f4").tobytes() + b"\x01"
