"""Damaged, cut off and hostile files: always one kind of error, with the reason."""

from __future__ import annotations

import io
import json
import random
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import whygrad
from whygrad.files import CheckpointError


def _checkpoint() -> dict[str, Any]:
    whygrad.manual_seed(0)
    return {
        "model": {"weight": whygrad.randn(8, 8), "mask": whygrad.rand(9) > 0.5},
        "optimizer": {"state": {0: {"step": 3, "moment": whygrad.randn(64).double()}}, "lr": 0.1},
        "rng": whygrad.get_rng_state(),
        "note": "a text with \"quotes\" and numbers like 00000000",
        "raw": b"\x00\x01",
    }  # fmt: skip


def _saved(value: Any) -> bytes:
    stream = io.BytesIO()
    whygrad.save(value, stream)
    return stream.getvalue()


def _refusal(content: bytes) -> str:
    """What loading says; anything but a CheckpointError is a failure."""
    with pytest.raises(CheckpointError) as caught:
        whygrad.load(io.BytesIO(content))
    text = str(caught.value)
    assert text.startswith("whygrad.load(")
    assert "\n  cause: " in text
    assert "\n  fix:   " in text
    return text


def _mutated(content: bytes, chance: random.Random) -> bytes:
    """One of the accidents that happen to files."""
    data, place = bytearray(content), chance.randrange(len(content))
    length = min(chance.randrange(1, 64), len(data) - place)
    kind = chance.choice(("bit", "byte", "block", "zeros", "cut", "grow", "drop", "repeat", "swap"))
    if kind == "bit":
        data[place] ^= 1 << chance.randrange(8)
    elif kind == "byte":
        data[place] = chance.randrange(256)
    elif kind == "block":
        data[place : place + length] = chance.randbytes(length)
    elif kind == "zeros":
        data[place : place + length] = bytes(length)
    elif kind == "cut":
        del data[place:]
    elif kind == "grow":
        data += chance.randbytes(length)
    elif kind == "drop":
        del data[place : place + length]
    elif kind == "repeat":
        data[place:place] = data[place : place + length]
    else:
        other = chance.randrange(len(data))
        data[place], data[other] = data[other], data[place]
    return bytes(data)


def test_a_thousand_accidents_are_all_noticed() -> None:
    content, chance = _saved(_checkpoint()), random.Random(0)
    noticed = 0
    while noticed < 1000:
        damaged = _mutated(content, chance)
        if not _differs_in_blanks_alone(damaged, content):
            _refusal(damaged)
            noticed += 1


def _differs_in_blanks_alone(left: bytes, right: bytes) -> bool:
    """JSON ends with blanks here, and one blank is as good as another."""
    blanks = bytes.maketrans(b"\t\n\r", b"   ")
    end = 8 + int.from_bytes(right[:8], "little")
    start = len(right[:end].rstrip())
    return (
        left[:start] == right[:start]
        and left[start:end].translate(blanks) == right[start:end]
        and left[end:] == right[end:]
    )


def test_every_byte_of_a_file_counts() -> None:
    value = {"é": whygrad.tensor([True, False]), "n": [0.5, "x"]}
    content = _saved(value)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        if _differs_in_blanks_alone(damaged, content):
            found = whygrad.load(io.BytesIO(damaged))
            assert (found["é"].tolist(), found["n"]) == ([True, False], [0.5, "x"])
        else:
            _refusal(bytes(damaged))


def test_a_file_cut_off_anywhere_is_noticed() -> None:
    content = _saved({"x": whygrad.ones(3), "n": 1})
    for length in range(len(content)):
        _refusal(content[:length])


def test_accidents_in_a_file_of_others_never_crash() -> None:
    """Without a checksum a changed number is just another number, but nothing worse happens."""
    content = safetensors.numpy.save({"w": np.ones((5, 3)), "flags": np.ones(7, bool)})
    chance = random.Random(1)
    for _ in range(1000):
        try:
            found = whygrad.load(io.BytesIO(_mutated(content, chance)))
        except CheckpointError:
            continue
        assert all(isinstance(each, whygrad.Tensor) for each in found.values())


def _file(table: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def _one(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8), **more: Any) -> Any:
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": offsets, **more}}


FLOATS = bytes(8)
NO_JSON = "safetensors cannot read it: Error while deserializing header: invalid JSON"
HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "header too small"),
    "short": (b"\x01\x00", "header too small"),
    "text": (b"Hello, this is not a checkpoint at all", "header too large"),
    "huge header": (_file({}, length=2**63), "header too large"),
    "header beyond the file": (_file({}, length=100), "invalid header length"),
    "no JSON": (_file(b"{nope}"), NO_JSON),
    "no UTF-8": (_file(b'{"\xff": 1}'), "invalid UTF-8"),
    "a list": (_file([]), "invalid type: sequence"),
    "deep nesting": (_file(b"[" * 100_000), "invalid type: sequence"),
    "deep nesting in the right place": (
        _file(b'{"x":' * 50_000 + b"1" + b"}" * 50_000), "recursion limit exceeded",
    ),
    "NaN size": (_file(b'{"x":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}', FLOATS),
                 NO_JSON),
    "endless number": (_file(b'{"x":' + b"9" * 5000 + b"}"), "number out of range"),
    "the same name twice": (
        _file(b'{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},'
              b'"x":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}', FLOATS),
        "invalid offset for tensor `x`",
    ),
    "no description": (_file({"x": 3}), "invalid type: integer `3`"),
    "no such dtype": (_file(_one(dtype="F31"), FLOATS), "unknown variant `F31`"),
    "no dtype": (_file(_one(dtype=[]), FLOATS), "invalid type: sequence"),
    "wrong dtype": (_file(_one(dtype="F64"), FLOATS), "invalid shape, data type, or offset"),
    "a dtype we have not": (_file(_one(dtype="U16", shape=[4]), FLOATS), "has the dtype 'U16'"),
    "negative size": (_file(_one(shape=[-2]), FLOATS), "invalid value: integer `-2`"),
    "half a size": (_file(_one(shape=[2.0]), FLOATS), "invalid type: floating point `2.0`"),
    "a true size": (_file(_one(shape=[2, True]), FLOATS), "invalid type: boolean `true`"),
    "huge sizes": (_file(_one(shape=[2**40, 2**40]), FLOATS), "overflow computing buffer size"),
    "huge and empty": (_file(_one(shape=[2**62, 0], offsets=[0, 0])), "'x' cannot be made: array"),
    "too many dimensions": (_file(_one(shape=[1] * 64 + [2]), FLOATS), "'x' cannot be made: max"),
    "no offsets": (_file(_one(offsets=[0]), FLOATS), "invalid length 1"),
    "backward offsets": (_file(_one(offsets=[8, 0]), FLOATS), "invalid offset for tensor `x`"),
    "offsets beyond the file": (_file(_one(shape=[4], offsets=[0, 16]), FLOATS),
                                "file not fully covered"),
    "bytes too many": (_file(_one(), FLOATS + b"x"), "file not fully covered"),
    "a gap": (_file(_one(offsets=[8, 16]), FLOATS * 2), "invalid offset for tensor `x`"),
    "overlap": (
        _file({**_one(), "y": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}, bytes(12)),
        "invalid offset for tensor `y`",
    ),
    "a strange bool": (_file(_one("BOOL", [2], [0, 2]), b"\x01\x02"), "is neither 0 nor 1"),
    "metadata of the wrong kind": (_file({"__metadata__": {"a": 1}}), "invalid type: integer `1`"),
    "metadata that is a list": (_file({"__metadata__": []}), "invalid type: sequence"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    content, words = HOSTILE[name]
    assert words in _refusal(content)
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        whygrad.load(path)
    assert str(path) in str(caught.value)


# Structures that somebody made up, with a checksum that fits.
MADE_UP: dict[str, tuple[Any, str]] = {
    "an unknown kind": ({"object": "os.system"}, "its structure has 'object' with 'os.system'"),
    "two kinds": ({"tuple": [], "dict": []}, "its structure has {'tuple'"),
    "no kind": ({}, "its structure has {}"),
    "a tuple of nothing": ({"tuple": None}, "its structure has 'tuple' with None"),
    "a tensor from elsewhere": ({"tensor": "../x"}, "names the tensor '../x', which is not there"),
    "a tensor without a name": ({"tensor": 3}, "names the tensor 3, which is not there"),
    "a gradient of integers": ({"tensor": "i", "requires_grad": True}, "asks for the gradient of"),
    "some of a gradient": ({"tensor": "f", "requires_grad": 1}, "asks for the gradient of"),
    "complex integers": ({"tensor": "i", "complex": True}, "complex numbers made of int64[2]"),
    "no bytes": ({"bytes": "*"}, "its structure has 'bytes' with '*'"),
    "no float": ({"float": "1.5"}, "its structure has 'float' with '1.5'"),
    "no integer": ({"int": "print()"}, "its structure has 'int' with 'print()'"),
    "no complex number": ({"complex": [1]}, "its structure has 'complex' with [1]"),
    "no dtype": ({"dtype": "__class__"}, "its structure has 'dtype' with '__class__'"),
    "no pairs": ({"dict": [[1]]}, "its structure has a dict of [[1]]"),
    "no dict": ({"dict": 3}, "its structure has a dict of 3"),
    "a key that cannot be one": ({"dict": [[[1], 2]]}, "its structure has the key [1]"),
    "nested without end": (json.loads("[" * 300 + "]" * 300), "its structure is nested too deeply"),
}


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_structures_are_refused(name: str, monkeypatch: Any) -> None:
    tree, words = MADE_UP[name]

    class Forger(whygrad.files.Encoder):
        def __init__(self, value: Any) -> None:
            super().__init__(value)
            self.tree = tree

    with monkeypatch.context() as patched:
        patched.setattr(whygrad.files, "Encoder", Forger)
        content = _saved({"i": whygrad.tensor([1, 2]), "f": whygrad.ones(2)})
    assert words in _refusal(content)


@pytest.mark.parametrize("name", ["whygrad", "whygrad.structure", "whygrad.checksum"])
def test_half_of_our_metadata_is_noticed(name: str) -> None:
    damaged = _saved([1]).replace(f'"{name}":'.encode(), f'"{name[:-1]}!":'.encode())
    assert "only a part of what whygrad writes" in _refusal(damaged)


@pytest.mark.parametrize("structure", ["[", "[" * 100_000])
def test_a_structure_that_is_no_json_is_refused(structure: str) -> None:
    forged = safetensors.numpy.save({}, whygrad.files._stamped({}, structure))
    assert "its structure is no JSON" in _refusal(forged)


def test_nothing_large_is_allocated_for_a_lie() -> None:
    lies = [_file(_one(shape=[2**34], offsets=[0, 2**36]), FLOATS), _file({}, length=2**40)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for lie in lies:
        _refusal(lie)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


def test_kills_while_saving_lose_nothing() -> None:
    """Twenty here; ``python -m scripts.kill_while_saving --kills 100`` for more."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.kill_while_saving", "--kills", "20"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert "none lost, none damaged" in done.stdout, done.stderr
