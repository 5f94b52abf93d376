"""Generators, and the functions that draw from them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import whygrad

COUNT = 20_000


@pytest.fixture(autouse=True)
def seeded() -> Any:
    with whygrad.fork_rng():
        whygrad.manual_seed(0)
        yield


def values(tensor: Any) -> Any:
    return tensor.numpy().astype(np.complex128 if tensor.dtype.is_complex else np.float64)


def test_same_seed_same_numbers() -> None:
    def draw() -> list[Any]:
        return [
            whygrad.rand(3),
            whygrad.randn(2, 3, dtype=whygrad.float64),
            whygrad.randint(100, (5,)),
            whygrad.randperm(10),
            whygrad.bernoulli(whygrad.full((8,), 0.5)),
            whygrad.multinomial(whygrad.ones(6), 3),
            whygrad.normal(whygrad.zeros(3), 2.0),
        ]

    whygrad.manual_seed(7)
    first = draw()
    whygrad.manual_seed(7)
    for one, two in zip(first, draw(), strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())
    whygrad.manual_seed(8)
    assert not np.array_equal(first[0].numpy(), whygrad.rand(3).numpy())


def test_a_generator_is_a_stream_of_its_own() -> None:
    ours = whygrad.Generator().manual_seed(1)
    expected = whygrad.rand(4, generator=whygrad.Generator().manual_seed(1)).tolist()
    whygrad.rand(4)
    assert whygrad.rand(4, generator=ours).tolist() == expected
    assert ours.initial_seed() == 1
    assert ours.device == "cpu"
    assert "seed 1" in repr(ours)


def test_state_can_be_saved_and_restored() -> None:
    whygrad.randint(5, (3,), dtype=whygrad.int32)
    whygrad.rand(3)  # an odd number of 32-bit draws leaves half a word over
    state = whygrad.get_rng_state()
    assert state.dtype is whygrad.uint8
    first = whygrad.rand(5).tolist()
    whygrad.set_rng_state(state)
    assert whygrad.rand(5).tolist() == first
    twin = whygrad.Generator().set_state(state)
    assert whygrad.rand(5, generator=twin).tolist() == first
    assert twin.initial_seed() == whygrad.initial_seed()
    again = twin.clone_state()
    assert whygrad.rand(5, generator=twin).tolist() == whygrad.rand(5, generator=again).tolist()


def test_seed_is_unpredictable_and_reported() -> None:
    generator = whygrad.Generator()
    one, two = generator.seed(), generator.seed()
    assert one != two == generator.initial_seed()
    assert whygrad.seed() == whygrad.initial_seed()


def test_negative_and_tensor_seeds() -> None:
    generator = whygrad.Generator().manual_seed(-1)
    assert generator.initial_seed() == 2**64 - 1
    assert generator.manual_seed(whygrad.tensor(5)).initial_seed() == 5


def test_fork_leaves_no_trace_even_after_an_exception() -> None:
    state = whygrad.get_rng_state().tolist()

    def fail_inside() -> None:
        with whygrad.fork_rng():
            whygrad.rand(3)
            raise KeyError

    with pytest.raises(KeyError):
        fail_inside()
    assert whygrad.get_rng_state().tolist() == state
    with whygrad.fork_rng(enabled=False):
        whygrad.rand(3)
    assert whygrad.get_rng_state().tolist() != state


def test_threads_share_a_generator_without_losing_numbers() -> None:
    drawn: list[float] = []

    def work() -> None:
        for _ in range(200):
            drawn.extend(whygrad.rand(5, dtype=whygrad.float64).tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whygrad.manual_seed(0)
    assert sorted(drawn) == sorted(whygrad.rand(4000, dtype=whygrad.float64).tolist())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform(dtype: str) -> None:
    drawn = values(whygrad.rand(COUNT, dtype=dtype))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 0.01
    assert abs(drawn.var() - 1 / 12) < 0.005


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_standard_normal(dtype: str) -> None:
    drawn = values(whygrad.randn(COUNT, dtype=dtype))
    assert abs(drawn.mean()) < 0.03
    assert abs(drawn.var() - 1) < 0.05
    if dtype == "complex64":
        assert abs(drawn.real.var() - 0.5) < 0.03


def test_whole_numbers() -> None:
    drawn = whygrad.randint(3, 8, (COUNT,)).numpy()
    counts = np.bincount(drawn, minlength=9)
    assert set(np.unique(drawn)) == {3, 4, 5, 6, 7}
    assert np.abs(counts[3:8] - COUNT / 5).max() < 300
    assert whygrad.randint(5, (2,)).dtype is whygrad.int64
    assert whygrad.randint(high=5, size=(2, 3)).shape == (2, 3)
    assert whygrad.randint(2, 5, size=(2,)).shape == (2,)
    assert whygrad.randint(low=2, high=3, size=(2,)).tolist() == [2, 2]
    assert whygrad.randint(0, 5, (2,), dtype=whygrad.float32).dtype is whygrad.float32
    assert whygrad.randint(2, (2,), dtype=whygrad.bool).dtype is whygrad.bool


def test_permutation() -> None:
    drawn = whygrad.randperm(50)
    assert sorted(drawn.tolist()) == list(range(50))
    assert drawn.tolist() != list(range(50))
    assert whygrad.randperm(5, dtype=whygrad.float32).dtype is whygrad.float32
    assert whygrad.randperm(0).shape == (0,)


def test_normal_in_all_its_forms() -> None:
    drawn = values(whygrad.normal(3.0, 2.0, (COUNT,)))
    assert abs(drawn.mean() - 3) < 0.06
    assert abs(drawn.std() - 2) < 0.06
    assert whygrad.normal(whygrad.zeros(3, 1), whygrad.ones(4)).shape == (3, 4)
    assert whygrad.normal(0.0, whygrad.ones(3)).shape == (3,)
    assert whygrad.normal(whygrad.tensor([5.0]), whygrad.zeros(1)).tolist() == [5.0]
    wide = whygrad.normal(whygrad.zeros(2, dtype=whygrad.float64), whygrad.ones(2))
    assert wide.dtype is whygrad.float64
    assert whygrad.normal(0.0, 1.0, (2,), requires_grad=True).requires_grad


def test_bernoulli() -> None:
    drawn = whygrad.bernoulli(whygrad.full((COUNT,), 0.3))
    assert set(drawn.tolist()) == {0.0, 1.0}
    assert abs(values(drawn).mean() - 0.3) < 0.02
    assert whygrad.bernoulli(whygrad.tensor([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert whygrad.bernoulli(whygrad.ones(3, dtype=whygrad.int64), 1.0).tolist() == [1, 1, 1]


def test_multinomial() -> None:
    weights = whygrad.tensor([1.0, 0.0, 3.0])
    drawn = whygrad.multinomial(weights, COUNT, replacement=True)
    counts = np.bincount(drawn.numpy(), minlength=3) / COUNT
    assert drawn.dtype is whygrad.int64
    np.testing.assert_allclose(counts, [0.25, 0, 0.75], atol=0.02)
    firsts = [whygrad.multinomial(weights, 2).tolist() for _ in range(500)]
    assert {tuple(each) for each in firsts} == {(0, 2), (2, 0)}
    assert abs(sum(each[0] == 2 for each in firsts) / 500 - 0.75) < 0.08
    rows = whygrad.multinomial(whygrad.ones(4, 6), 6)
    assert rows.shape == (4, 6)
    assert all(sorted(row) == list(range(6)) for row in rows.tolist())


def test_like() -> None:
    x = whygrad.zeros(2, 3, dtype=whygrad.float64)
    assert whygrad.rand_like(x).dtype is whygrad.float64
    assert whygrad.randn_like(x, dtype=whygrad.float32).dtype is whygrad.float32
    assert whygrad.randint_like(x, 5).dtype is whygrad.float64
    assert set(whygrad.randint_like(x, 2, 4).reshape(-1).tolist()) <= {2.0, 3.0}
    assert whygrad.rand_like(x, requires_grad=True).requires_grad
    assert whygrad.rand_like(whygrad.zeros(2, device="meta")).device == "meta"
    assert whygrad.randn(2, device="meta").shape == (2,)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda w: w.rand(2, dtype=w.int64), RuntimeError, "not implemented for int64"),
        (lambda w: w.randn_like(w.zeros(2, dtype=w.int64)), RuntimeError, "not implemented"),
        (lambda w: w.rand(-1), RuntimeError, "negative dimension -1"),
        (lambda w: w.rand_like(3), TypeError, "argument 'input' must be Tensor, not int"),
        (lambda w: w.randint(0, (2,)), RuntimeError, "but got from=0 >= to=0"),
        (lambda w: w.randint(3, 2, (2,)), RuntimeError, "but got from=3 >= to=2"),
        (lambda w: w.randint(0, 300, (2,), dtype=w.uint8), RuntimeError, "to - 1 is out of bounds"),
        (lambda w: w.randint(-1, 3, (2,), dtype=w.uint8), RuntimeError, "from is out of bounds"),
        (lambda w: w.randint(5.5, (2,)), TypeError, "must be int"),
        (lambda w: w.randint(5, 5), TypeError, "must be tuple of ints"),
        (lambda w: w.randperm(-1), RuntimeError, "negative dimension -1"),
        (lambda w: w.randperm(300, dtype=w.uint8), RuntimeError, "without overflow"),
        (lambda w: w.randperm(5, dtype=w.bool), RuntimeError, "without overflow"),
        (lambda w: w.normal(0.0, 1.0), TypeError, "invalid combination of arguments"),
        (lambda w: w.normal(w.zeros(2), 1.0, (2,)), TypeError, "invalid combination"),
        (lambda w: w.normal(0.0, -1.0, (2,)), RuntimeError, "all elements of std >= 0.0"),
        (lambda w: w.normal(w.zeros(2), w.tensor([-1.0, 1])), RuntimeError, "std >= 0.0"),
        (lambda w: w.normal(w.zeros(2, dtype=w.int64)), RuntimeError, "not implemented"),
        (lambda w: w.bernoulli(w.tensor([0.5, 2])), RuntimeError, "p_in >= 0 && p_in <= 1"),
        (lambda w: w.bernoulli(w.tensor([1, 0])), RuntimeError, "not implemented for int64"),
        (lambda w: w.bernoulli(w.ones(2), p=3.0), RuntimeError, "p to be in [0, 1], but got p=3.0"),
        (lambda w: w.multinomial(w.ones(2), 3), RuntimeError, "without replacement"),
        (lambda w: w.multinomial(w.zeros(2), 1), RuntimeError, "sum of probabilities <= 0"),
        (
            lambda w: w.multinomial(w.tensor([-1.0, 2]), 1),
            RuntimeError,
            "`inf`, `nan` or element < 0",
        ),
        (lambda w: w.multinomial(w.ones(2, 2, 2), 1), RuntimeError, "prob_dist must be 1 or 2 dim"),
        (
            lambda w: w.multinomial(w.tensor([1, 2]), 1),
            RuntimeError,
            "only supports floating-point",
        ),
        (lambda w: w.multinomial(w.ones(2), 0), RuntimeError, "n_sample <= 0"),
        (lambda w: w.manual_seed(2**64), RuntimeError, "a seed has 64 bits"),
        (lambda w: w.set_rng_state([1]), TypeError, "RNG state must be a uint8 tensor"),
        (lambda w: w.set_rng_state(w.zeros(3, dtype=w.uint8)), RuntimeError, "wrong size"),
        (lambda w: w.Generator("meta"), RuntimeError, "no random numbers on meta"),
        (lambda w: w.rand(2, wrong=1), TypeError, "unexpected keyword argument 'wrong'"),
    ],
)
def test_errors(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call(whygrad)
    assert words in str(caught.value)
