"""The questions that scripts ask about hardware, answered as by PyTorch without a GPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import whygrad


def device_of_most_scripts(library: Any) -> str:
    if library.cuda.is_available():
        return "cuda"
    return "mps" if library.backends.mps.is_available() else "cpu"


@pytest.mark.skipif(torch.accelerator.is_available(), reason="this machine has a GPU")
@pytest.mark.parametrize(
    "question",
    [
        device_of_most_scripts,
        lambda library: library.cuda.device_count(),
        lambda library: library.cuda.manual_seed_all(0),
        lambda library: library.cuda.manual_seed(0),
        lambda library: library.cuda.empty_cache(),
        lambda library: library.accelerator.is_available(),
        lambda library: library.accelerator.current_accelerator(),
        lambda library: library.accelerator.device_count(),
        lambda library: library.backends.cuda.is_built(),
        lambda library: isinstance(library.float32, library.dtype),
        lambda library: library.vmap(library.sum)(library.ones(2, 3)).tolist(),
    ],
)
def test_same_answers(question: Any) -> None:
    assert question(whygrad) == question(torch)


def test_options_of_what_is_not_there_can_be_set() -> None:
    cudnn = whygrad.backends.cudnn
    before = cudnn.deterministic
    try:
        cudnn.deterministic = True
        assert cudnn.deterministic
        assert not whygrad.backends.cuda.deterministic
    finally:
        cudnn.deterministic = before
