"""Memory formats: where the elements lie, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad

LAST = "channels_last"


@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last),
        lambda lib: lib.ones(2, 3, 4, 5).contiguous(memory_format=lib.channels_last),
        lambda lib: lib.ones(2, 3, 4, 5).clone(memory_format=lib.channels_last),
        lambda lib: lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last).clone(),
        lambda lib: lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last).contiguous(),
        lambda lib: lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last) * 2,
        lambda lib: lib.empty(2, 3, 4, 5, memory_format=lib.channels_last).zero_(),
        lambda lib: lib.empty_like(lib.ones(2, 3, 4, 5), memory_format=lib.channels_last),
        lambda lib: lib.zeros_like(
            lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last),
            memory_format=lib.contiguous_format,
        ),
        lambda lib: lib.zeros_like(lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last)),
        lambda lib: lib.ones(2, 3, 2, 4, 5).to(memory_format=lib.channels_last_3d),
        lambda lib: lib.nn.Conv2d(3, 6, 2).to(memory_format=lib.channels_last).weight,
        lambda lib: (
            lib.nn.utils.convert_conv2d_weight_memory_format(
                lib.nn.Sequential(lib.nn.Conv2d(3, 6, 2)), lib.channels_last
            )[0].weight
        ),
        lambda lib: lib.nn.Conv2d(3, 6, 2).to(memory_format=lib.channels_last).bias,
    ],
)
def test_strides_are_pytorchs(make: Callable[[Any], Any]) -> None:
    mine, theirs = make(whygrad), make(torch)
    assert tuple(mine.stride()) == theirs.stride()
    for name in ("contiguous_format", LAST, "channels_last_3d"):
        if name != "channels_last_3d" or theirs.ndim == 5:
            answers = [
                each.is_contiguous(memory_format=getattr(library, name))
                for each, library in ((mine, whygrad), (theirs, torch))
            ]
            assert answers[0] == answers[1], name


def test_gradients_do_not_care() -> None:
    found = []
    for library in (whygrad, torch):
        x = library.arange(24.0).reshape(1, 2, 3, 4).requires_grad_()
        y = x.to(memory_format=library.channels_last)
        library.nn.functional.conv2d(y, library.ones(1, 2, 2, 2)).square().sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("library", [whygrad, torch], ids=["whygrad", "torch"])
def test_the_number_of_dimensions_must_fit(library: Any) -> None:
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        library.ones(2, 3).contiguous(memory_format=library.channels_last)


def test_inside_vmap_the_batch_stays_in_front() -> None:
    batch = whygrad.ones(2, 1, 3, 4, 5)
    out = whygrad.vmap(lambda x: x.contiguous(memory_format=whygrad.channels_last))(batch)
    assert out[0].is_contiguous(memory_format=whygrad.channels_last)


@pytest.mark.parametrize("library", [whygrad, torch], ids=["whygrad", "torch"])
def test_what_is_drawn_like_a_tensor_has_its_layout(library: Any) -> None:
    """So that a later ``view`` of noise times tensor is refused where PyTorch refuses it."""
    turned = library.rand(5, 4, 8).permute(1, 0, 2)
    channels_last = library.rand(2, 3, 4, 5).to(memory_format=library.channels_last)
    repeated = library.rand(3, 1, 4).expand(3, 5, 4)
    draws = (
        library.rand_like,
        library.randn_like,
        lambda x: library.randint_like(x, 5),
        lambda x: library.randn_like(x, dtype=library.float64),
        lambda x: library.nn.functional.dropout(x, 0.5),
    )
    for draw in draws:
        assert draw(turned).stride() == (8, 32, 1)
        assert draw(channels_last).stride() == (60, 1, 15, 3)
        assert draw(repeated).stride() == (20, 4, 1)
    with pytest.raises(RuntimeError, match="view"):
        (library.randn_like(turned) * turned).view(-1, 8)
