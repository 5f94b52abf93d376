"""Printed tensors look like PyTorch's."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

RNG = np.random.default_rng(0)
ARRAYS = {
    "scalar": np.array(1.5),
    "whole scalar": np.array(3.0),
    "int scalar": np.array(7),
    "matrix": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "fractions": RNG.normal(size=(3, 4)),
    "float32": RNG.normal(size=(2, 3)).astype(np.float32),
    "float16": RNG.normal(size=(2, 3)).astype(np.float16),
    "small": np.array([1e-5, 1.0]),
    "large": np.array([1e9, 1.0]),
    "large fraction": np.array([123456789.5]),
    "wide spread": np.array([1.0, 2000.0]),
    "spread below the limit": np.array([1.0, 999.0]),
    "not finite": np.array([np.nan, np.inf, -np.inf, 1.0]),
    "not finite fractions": np.array([np.nan, -np.inf, 1.25]),
    "nothing finite": np.array([np.nan, np.inf]),
    "zeros": np.zeros((2, 2)),
    "negative zero": np.array([-0.0, 0.0]),
    "negative": np.array([-1.0, 10.0, -100.0]),
    "integers": np.arange(12).reshape(3, 4),
    "int8": np.array([-100, 5], np.int8),
    "uint8": np.array([200], np.uint8),
    "bool": np.array([[True, False], [False, True]]),
    "empty": np.zeros(0),
    "empty int": np.zeros(0, np.int64),
    "empty rows": np.zeros((2, 0)),
    "long row": np.arange(100.0),
    "long integers": np.arange(40) * 1000,
    "summarised row": np.arange(2000.0),
    "summarised matrix": RNG.normal(size=(60, 60)),
    "summarised block": np.arange(20 * 20 * 20).reshape(20, 20, 20),
    "summarised tall": RNG.normal(size=(2000, 2)),
    "block": RNG.normal(size=(2, 2, 3)),
    "four dimensions": np.arange(16.0).reshape(2, 2, 2, 2),
    "complex": np.array([1 + 2j, -1.5 - 0.25j]),
    "complex whole": np.array([[1 + 2j, 3 - 4j]], np.complex64),
    "complex summarised": RNG.normal(size=2000) + 1j,
    "complex with zero parts": np.array([0j, complex(0.0, -0.0), 1e-7j]),
}


def as_torch_prints(text: str) -> str:
    """The name is longer than PyTorch's, so a line may break before it: join such lines."""
    return re.sub(r",\s+(dtype|layout)=", r", \1=", text.replace("whygrad.", "torch."))


def torch_text(tensor: Any) -> str:
    return as_torch_prints(re.sub(r"Backward\d+", "Backward", repr(tensor)))


def both(array: Any) -> tuple[Any, Any]:
    return whygrad.from_numpy(np.array(array)), torch.from_numpy(np.array(array))


@pytest.fixture(autouse=True)
def default_options() -> Any:
    yield
    whygrad.set_printoptions(profile="default")
    torch.set_printoptions(profile="default")


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("default", ["float32", "float64"])
def test_repr_is_pytorchs(name: str, default: str) -> None:
    mine, theirs = both(ARRAYS[name])
    before = whygrad.get_default_dtype()
    try:
        whygrad.set_default_dtype(default)
        torch.set_default_dtype(getattr(torch, default))
        assert as_torch_prints(repr(mine)) == torch_text(theirs)
        assert str(mine) == repr(mine)
    finally:
        whygrad.set_default_dtype(before)
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2},
        {"sci_mode": True},
        {"sci_mode": False},
        {"threshold": 5, "edgeitems": 1},
        {"threshold": 5, "edgeitems": 0},
        {"linewidth": 30},
        {"profile": "short"},
        {"profile": "full", "linewidth": 120},
    ],
    ids=str,
)
def test_options_act_as_pytorchs(name: str, options: dict[str, Any]) -> None:
    mine, theirs = both(ARRAYS[name])
    whygrad.set_printoptions(**options)
    torch.set_printoptions(**options)
    assert as_torch_prints(repr(mine)) == torch_text(theirs)


def test_place_in_the_graph_is_shown() -> None:
    leaf = whygrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert repr(leaf) == "tensor([[1., 2.],\n        [3., 4.]], requires_grad=True)"
    assert repr(leaf * 2) == "tensor([[2., 4.],\n        [6., 8.]], grad_fn=<MulBackward>)"
    same = torch.ones(3, 5, requires_grad=True, dtype=torch.float64) * 2
    mine = whygrad.ones(3, 5, requires_grad=True, dtype=whygrad.float64) * 2
    assert as_torch_prints(repr(mine)) == torch_text(same)


def test_meta_tensors_show_their_size() -> None:
    assert repr(whygrad.zeros(2, 3, device="meta")) == "tensor(..., device='meta', size=(2, 3))"
    assert as_torch_prints(repr(whygrad.zeros(2, dtype=whygrad.int64, device="meta"))) == repr(
        torch.zeros(2, dtype=torch.int64, device="meta")
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("values", [[[0.0, 2.0], [3.0, 0.0]], [[0.0, 0.0]]])
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_sparse(values: Any, dtype: str) -> None:
    mine = whygrad.tensor(values, dtype=getattr(whygrad, dtype))
    theirs = torch.tensor(values, dtype=getattr(torch, dtype))
    assert as_torch_prints(repr(mine.to_sparse())) == torch_text(theirs.to_sparse())
    assert as_torch_prints(repr(mine.to_sparse_csr())) == torch_text(theirs.to_sparse_csr())
    assert "layout" in mine.to_sparse()._repr_html_()


def test_bfloat16() -> None:
    mine = whygrad.tensor([1.5, -2.25, 1e-3], dtype=whygrad.bfloat16)
    theirs = torch.tensor([1.5, -2.25, 1e-3], dtype=torch.bfloat16)
    assert as_torch_prints(repr(mine)) == repr(theirs)


def test_options_for_a_block_only() -> None:
    before = whygrad.get_printoptions()

    def fail_inside() -> None:
        with whygrad.printoptions(precision=1):
            assert repr(whygrad.tensor([0.123])) == "tensor([0.1])"
            raise KeyError

    with pytest.raises(KeyError):
        fail_inside()
    assert whygrad.get_printoptions() == before


def test_unknown_profile() -> None:
    with pytest.raises(ValueError, match=r"(?s)profile='tiny'.*no such profile.*'default'"):
        whygrad.set_printoptions(profile="tiny")


def test_html_states_the_facts_and_escapes_them() -> None:
    x = whygrad.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    page = (x * 2)._repr_html_()
    text = html.unescape(page)
    assert "MulBackward" in text
    assert "page = (x * 2)._repr_html_()" in text  # the source line
    assert "min 2, max 6, mean 4, 1 not finite" in text
    assert "[2., nan, 6.]" in text
    assert "<script" not in page
    tricky = x * 2 if "<b>" else x
    assert "&lt;b&gt;" in tricky._repr_html_()
    assert "<b>" not in tricky._repr_html_()


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (whygrad.zeros(2, 3, device="meta"), "no data"),
        (whygrad.zeros(0), "[]"),
        (whygrad.tensor([float("inf")]), "no finite number among 1"),
        (whygrad.tensor([1 + 2j]), "1.+2.j"),
        (whygrad.ones(2, requires_grad=True), "requires grad"),
    ],
)
def test_html_of_unusual_tensors(tensor: Any, words: str) -> None:
    assert words in tensor._repr_html_()
