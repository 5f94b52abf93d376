"""Embedding: lookup, padding, shortening, frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad
from tests.nn.layers import (
    LIBRARIES,
    Layer,
    array,
    assert_same,
    cases,
    check_gradients,
    check_outputs,
    check_state,
    refusal,
)

REPEATED = np.array([[1, 1, 0], [1, 2, 2]])
LAYERS = [
    Layer("Embedding", 4, 3).on(REPEATED),
    Layer("Embedding", 4, 3).on(np.array(2)),
    Layer("Embedding", 4, 3, padding_idx=2).on(REPEATED),
    Layer("Embedding", 4, 3, padding_idx=-3).on(REPEATED),
    Layer("Embedding", 4, 3, max_norm=0.5).on(REPEATED),
    Layer("Embedding", 4, 3, max_norm=1.0, norm_type=1.0).on(REPEATED),
    Layer("Embedding", 4, 3, scale_grad_by_freq=True).on(REPEATED),
    Layer("Embedding", 4, 3, 2, scale_grad_by_freq=True).on(REPEATED),
    Layer("Embedding", 4, 3).on(np.zeros((0, 2), np.int64)),
]


@pytest.mark.parametrize("layer", cases(LAYERS))
def test_like_pytorch(layer: Layer) -> None:
    check_state(layer)
    check_outputs(layer)
    check_gradients(layer)


def test_shortening_writes_only_the_rows_that_were_looked_up() -> None:
    tables = [library.from_numpy(array(4, 3) * 3).requires_grad_() for library in LIBRARIES]
    for library, table in zip(LIBRARIES, tables, strict=True):
        version = table._version
        index = library.tensor([0, 2, 0])
        library.nn.functional.embedding(index, table, max_norm=1.0).sum().backward()
        assert table._version > version
    assert_same(*tables, "table")
    assert_same(*(each.grad for each in tables), "gradient")


def test_padding_starts_as_zeros_and_stays() -> None:
    layer = whygrad.nn.Embedding(4, 3, padding_idx=1)
    assert layer.weight[1].tolist() == [0.0, 0.0, 0.0]
    layer(whygrad.tensor([0, 1, 1])).sum().backward()
    assert layer.weight.grad[1].tolist() == [0.0, 0.0, 0.0]
    assert layer.weight.grad[0].tolist() == [1.0, 1.0, 1.0]


def test_first_values_are_standard_normal() -> None:
    weight = whygrad.nn.Embedding(300, 200).weight.detach().numpy()
    assert abs(weight.mean()) < 0.02
    assert abs(weight.std() - 1) < 0.02


def test_from_pretrained_shares_memory_and_is_frozen() -> None:
    for library in LIBRARIES:
        table = library.ones(3, 2)
        frozen = library.nn.Embedding.from_pretrained(table)
        assert not frozen.weight.requires_grad
        assert frozen.weight.data_ptr() == table.data_ptr()
        trained = library.nn.Embedding.from_pretrained(table, freeze=False, padding_idx=0)
        assert trained.weight.requires_grad
        assert trained.weight[0].tolist() == [1.0, 1.0]


def test_repr_of_everything() -> None:
    layer = Layer(
        "Embedding", 3, 2, 0, 1.5, norm_type=1.0, scale_grad_by_freq=True, sparse=True
    )  # fmt: skip
    check_state(layer)


def test_gradients_are_dense_even_if_asked_for_sparse_ones() -> None:
    seen = []
    for library in LIBRARIES:
        layer = library.nn.Embedding(4, 3, sparse=True)
        layer(library.tensor([1, 1])).sum().backward()
        seen.append(layer.weight.grad.to_dense().tolist())
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.Embedding(3, 2, padding_idx=3), "within num_embeddings"),
        (lambda lib: lib.nn.Embedding(3, 2, padding_idx=-4), "within num_embeddings"),
        (
            lambda lib: lib.nn.Embedding(3, 2, _weight=lib.ones(2, 2)),
            "does not match num_embeddings and embedding_dim",
        ),
        (
            lambda lib: lib.nn.Embedding.from_pretrained(lib.ones(2)),
            "expected to be 2-dimensional",
        ),
        (lambda lib: lib.nn.Embedding(3, 2)(lib.tensor([3])), "index out of range in self"),
        (
            lambda lib: lib.nn.Embedding(3, 2, max_norm=1.0)(lib.tensor([-1])),
            "",
        ),
    ],
)  # fmt: skip
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


def test_a_bad_index_shortens_nothing() -> None:
    weight = whygrad.ones(3, 2) * 9
    with pytest.raises(IndexError, match="index out of range in self"):
        whygrad.nn.functional.embedding(whygrad.tensor([0, 3]), weight, max_norm=1.0)
    assert weight.tolist() == [[9.0, 9.0]] * 3


def test_floats_are_no_indices() -> None:
    for library in LIBRARIES:
        with pytest.raises(RuntimeError):
            library.nn.Embedding(3, 2)(library.tensor([1.0]))


@pytest.mark.parametrize(
    ("indices", "offsets", "options", "kind"),
    [
        ([1, -2], [0], {}, RuntimeError),
        ([1, 6], [0], {"mode": "max"}, RuntimeError),
        ([1, 2, 3, 4], [0, 3, 1], {"mode": "sum"}, RuntimeError),
        ([1, 2], [0], {"mode": "max", "sparse": True}, ValueError),
    ],
    ids=["negative", "too large", "offsets go down", "sparse max"],
)
def test_bags_that_pytorch_refuses(
    indices: list[int], offsets: list[int], options: dict[str, Any], kind: type[Exception]
) -> None:
    # PyTorch notices offsets that go down only sometimes: it reads beyond its memory
    for library in LIBRARIES if offsets == sorted(offsets) else (whygrad,):
        bag = library.nn.functional.embedding_bag
        weight = library.ones(6, 2)
        with pytest.raises(kind):
            bag(library.tensor(indices), weight, library.tensor(offsets), **options)


def test_the_last_offset_is_the_end() -> None:
    bag, weight = whygrad.nn.functional.embedding_bag, whygrad.ones(6, 2)
    with pytest.raises(RuntimeError, match="the last offset has to be input's length"):
        bag(whygrad.tensor([1, 2]), weight, whygrad.tensor([0, 1]), include_last_offset=True)
