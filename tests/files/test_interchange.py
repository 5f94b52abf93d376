"""Files that PyTorch's safetensors wrote, and files that it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

import whygrad


def _network(lib: Any) -> Any:
    """The same architecture in either library, with an output layer tied to the embedding."""

    class Layer(lib.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.weight = lib.nn.Parameter(lib.randn(outputs, inputs))
            self.bias = lib.nn.Parameter(lib.randn(outputs))

        def forward(self, x: Any) -> Any:
            return lib.nn.functional.linear(x, self.weight, self.bias)

    class Network(lib.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embed = lib.nn.Parameter(lib.randn(11, 4))
            self.body = lib.nn.Sequential(Layer(4, 6), Layer(6, 4))
            self.head = self.embed
            self.register_buffer("scale", lib.tensor(0.5))
            self.register_buffer("steps", lib.tensor(3))

        def forward(self, index: Any) -> Any:
            hidden = lib.tanh(self.body(self.embed[index]) * self.scale)
            return lib.nn.functional.linear(hidden, self.head)

    return Network()


INDEX = np.array([3, 0, 10, 7])


def _outputs(lib: Any, network: Any) -> Any:
    return network(lib.tensor(INDEX)).detach().numpy()


@pytest.mark.parametrize("way", ["save_file", "save_model"])
def test_a_file_of_pytorch_gives_the_same_outputs(way: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    theirs, mine = _network(torch), _network(whygrad)
    if way == "save_model":  # leaves tied tensors out and notes it in the metadata
        safetensors.torch.save_model(theirs, str(path))
    else:  # refuses tied tensors, so people copy them
        state = {name: tensor.clone() for name, tensor in theirs.state_dict().items()}
        safetensors.torch.save_file(state, path)
    keys = mine.load_state_dict(whygrad.load(path))
    assert not keys.missing_keys
    assert not keys.unexpected_keys
    np.testing.assert_allclose(_outputs(whygrad, mine), _outputs(torch, theirs), 1e-6, 1e-6)
    assert mine.head is mine.embed


def test_pytorch_gets_the_same_outputs_from_a_file_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    mine = _network(whygrad)
    whygrad.save(mine.state_dict(), path)
    theirs, again = _network(torch), _network(torch)
    theirs.load_state_dict(safetensors.torch.load_file(path))
    safetensors.torch.load_model(again, str(path), strict=False)  # the tied name is there as well
    for network in (theirs, again):
        np.testing.assert_allclose(_outputs(torch, network), _outputs(whygrad, mine), 1e-6, 1e-6)


CASES: dict[str, Any] = {
    "bool": torch.tensor([True, False, True]),
    "uint8": torch.tensor([0, 255], dtype=torch.uint8),
    "int8": torch.tensor([-128, 127], dtype=torch.int8),
    "int16": torch.tensor([-3, 4], dtype=torch.int16),
    "int32": torch.tensor([-3, 4], dtype=torch.int32),
    "int64": torch.tensor([2**60, -1]),
    "float16": torch.tensor([1e-7, 65504.0, torch.nan], dtype=torch.float16),
    "bfloat16": torch.tensor([1e-38, 3e38, torch.inf], dtype=torch.bfloat16),
    "float32": torch.tensor([[1.5], [-0.0]]),
    "float64": torch.tensor([1e-300], dtype=torch.float64),
    "complex64": torch.tensor([1 + 2j]),
    "no dimensions": torch.tensor(2.5),
    "no elements": torch.zeros(3, 0, 2),
    "transposed": torch.arange(6.0).reshape(2, 3).t(),
}


@pytest.mark.parametrize("name", CASES)
def test_every_dtype_and_layout_both_ways(name: str, tmp_path: Path) -> None:
    theirs, path = CASES[name], tmp_path / "x.safetensors"
    safetensors.torch.save_file({"x": theirs.contiguous(), "other": torch.ones(3)}, path)
    mine = whygrad.load(path)["x"]
    assert mine.dtype.name == str(theirs.dtype).removeprefix("torch.")
    assert tuple(mine.shape) == tuple(theirs.shape)
    assert _bits(mine) == _bits(theirs)
    whygrad.save({"x": mine.t() if name == "transposed" else mine}, path)
    back = safetensors.torch.load_file(path)["x"]
    assert back.dtype is theirs.dtype
    assert torch.equal(_viewed(back), _viewed(theirs.t() if name == "transposed" else theirs))


def _bits(tensor: Any) -> bytes:
    if isinstance(tensor, torch.Tensor):
        tensor = _viewed(tensor)
    return np.ascontiguousarray(tensor.numpy()).tobytes()


def _viewed(tensor: torch.Tensor) -> torch.Tensor:
    """Numbers that compare equal bit by bit, NaN included."""
    by_size = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(by_size[tensor.element_size()])


def test_numpy_reads_a_nested_checkpoint_too(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    whygrad.save({"model": {"w": whygrad.ones(2)}, "steps": [1, whygrad.arange(3)]}, path)
    found = safetensors.numpy.load_file(path)
    assert {name: array.tolist() for name, array in found.items()} == {
        "model.w": [1.0, 1.0],
        "steps.1": [0, 1, 2],
    }


def test_metadata_of_others_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    safetensors.torch.save_file({"x": torch.ones(1)}, path, metadata={"author": "x?", "y": "z"})
    assert list(whygrad.load(path)) == ["x"]


def test_a_dtype_we_have_not_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    safetensors.torch.save_file({"x": torch.ones(1).to(torch.float8_e5m2)}, path)
    with pytest.raises(whygrad.files.CheckpointError, match="tensor 'x' has the dtype 'F8_E5M2'"):
        whygrad.load(path)
