"""Tensors filled with random numbers: distributions, conditions, history and ``vmap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

import whygrad as wg

CONTINUOUS = [
    ("uniform_", (), stats.uniform()),
    ("uniform_", (-3.0, 2.0), stats.uniform(-3, 5)),
    ("normal_", (), stats.norm()),
    ("normal_", (2.0, 0.5), stats.norm(2, 0.5)),
    ("log_normal_", (), stats.lognorm(2, scale=np.e)),
    ("exponential_", (), stats.expon()),
    ("exponential_", (4.0,), stats.expon(scale=0.25)),
    ("cauchy_", (1.0, 2.0), stats.cauchy(1, 2)),
]
FILLS = ("bernoulli_", "cauchy_", "exponential_", "log_normal_", "normal_", "random_", "uniform_")


def seeded() -> wg.Generator:
    return wg.Generator().manual_seed(11)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "args", "law"), CONTINUOUS)
def test_distribution(name: str, args: tuple[float, ...], law: Any, dtype: str) -> None:
    x = wg.empty(50, 40, dtype=getattr(wg, dtype))
    assert getattr(x, name)(*args, generator=seeded()) is x
    assert x.dtype.name == dtype
    assert x._version == 1
    assert stats.kstest(x.numpy().ravel(), law.cdf).pvalue > 0.01


def test_discrete_distributions() -> None:
    counts = wg.empty(4000, dtype=wg.int64)
    waits = counts.geometric_(0.3, generator=seeded()).numpy()
    assert waits.min() == 1
    assert waits.mean() == pytest.approx(1 / 0.3, rel=0.05)
    assert set(counts.random_(3, 6, generator=seeded()).tolist()) == {3, 4, 5}
    assert set(counts.random_(2, generator=seeded()).tolist()) == {0, 1}
    assert counts.random_(generator=seeded()).numpy().max() > 2**60
    assert counts.random_(5, None, generator=seeded()).numpy().min() >= 5
    assert counts.random_(**{"from": 7, "to": 8}).tolist() == [7] * 4000
    assert wg.empty(4000).random_(generator=seeded()).numpy().max() > 2**23
    share = wg.empty(4000).bernoulli_(0.2, generator=seeded()).mean().item()
    assert share == pytest.approx(0.2, abs=0.02)
    chances = wg.tensor([0.0, 1.0, 1.0])
    assert wg.empty(2, 3, dtype=wg.bool).bernoulli_(chances).tolist() == [[False, True, True]] * 2


def test_the_half_open_interval_stays_half_open() -> None:
    x = wg.empty(20_000, dtype=wg.float16).uniform_(1.0, 1.0625, generator=seeded())
    assert 1.0 <= x.min().item() <= x.max().item() < 1.0625
    assert wg.empty(3).uniform_(**{"from": 2.0, "to": 2.0}).tolist() == [2.0] * 3
    complex_ = wg.empty(2000, dtype=wg.complex64).uniform_(1.0, 2.0).numpy()
    assert complex_.real.min() >= 1
    assert complex_.imag.max() <= 2


def test_the_numbers_are_those_of_the_functions() -> None:
    def draw(make: Callable[[], Any]) -> Any:
        wg.manual_seed(3)
        return make().tolist()

    assert draw(lambda: wg.empty(5).uniform_()) == draw(lambda: wg.rand(5))
    assert draw(lambda: wg.empty(5).normal_()) == draw(lambda: wg.randn(5))


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float16", "complex64"])
@pytest.mark.parametrize("name", [*FILLS, "geometric_"])
def test_the_same_dtypes_as_in_pytorch(name: str, dtype: str) -> None:
    args = (0.4,) if name == "geometric_" else ()

    def fill(lib: Any) -> bool:
        try:
            getattr(lib.zeros(3, dtype=getattr(lib, dtype)), name)(*args)
        except RuntimeError:
            return False
        return True

    assert fill(wg) == fill(torch)


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("uniform_", (2, 1), r"uniform_ expects to return a \[from, to\) range"),
        ("uniform_", (float("-inf"), 0), "not finite"),
        ("normal_", (0, -1), "normal expects std >= 0.0, but found std -1"),
        ("log_normal_", (0, 0), "log_normal_ expects std > 0.0, but found std=0"),
        ("exponential_", (0,), "exponential_ expects lambda > 0.0, but found lambda=0"),
        ("cauchy_", (0, 0), "cauchy_ expects sigma > 0.0, but found sigma=0"),
        ("geometric_", (1,), r"geometric_ expects p to be in \(0, 1\), but got p=1"),
        ("bernoulli_", (2,), r"bernoulli_ expects p to be in \[0, 1\], but got p=2"),
        ("bernoulli_", (wg.full((3,), 2.0),), "Expected p_in >= 0 && p_in <= 1"),
        ("bernoulli_", (wg.ones(3, dtype=wg.int64),), "not implemented for probabilities of dtype"),
        ("random_", (5, 3), "random_ expects 'from' to be less than 'to', but got from=5 >= to=3"),
        ("random_", (0,), "but got from=0 >= to=0"),
    ],
)
def test_refusals(name: str, args: tuple[Any, ...], text: str) -> None:
    x = wg.zeros(3)
    state = wg.get_rng_state().tolist()
    with pytest.raises(RuntimeError, match=text):
        getattr(x, name)(*args)
    assert x.tolist() == [0.0, 0.0, 0.0]
    assert x._version == 0
    assert wg.get_rng_state().tolist() == state
    others = [torch.tensor(each.tolist()) if isinstance(each, wg.Tensor) else each for each in args]
    with pytest.raises(RuntimeError):
        getattr(torch.zeros(3), name)(*others)


def test_strange_arguments_of_random() -> None:
    for args in ((1, 2, 3), (1.5,)):
        with pytest.raises(TypeError):
            wg.zeros(3).random_(*args)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        wg.zeros(3).random_(low=3)  # type: ignore[call-overload]
    with pytest.raises(RuntimeError, match="to - 1 is out of bounds for uint8"):
        wg.zeros(3, dtype=wg.uint8).random_(300)


@pytest.mark.parametrize("name", FILLS)
def test_leaves_are_protected_and_history_ends(name: str) -> None:
    leaf = wg.zeros(3, requires_grad=True)
    state = wg.get_rng_state().tolist()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(leaf, name)()
    assert wg.get_rng_state().tolist() == state, "nothing was drawn"
    with wg.no_grad():
        getattr(leaf, name)()
    assert leaf._version == 1

    def gradient(lib: Any) -> list[float]:
        x = lib.ones(4, requires_grad=True)
        y = x * 2
        getattr(y[:2], name)()
        (y * 3).sum().backward()
        return [float(each) for each in x.grad]

    assert gradient(wg) == gradient(torch) == [0.0, 0.0, 6.0, 6.0]


def test_in_vmap() -> None:
    vmap = wg.func.vmap
    x = wg.zeros(4, 3)

    def fill(sample: Any) -> Any:
        return (sample * 1).uniform_()

    with pytest.raises(RuntimeError, match=r"uniform_\(…\) inside vmap"):
        vmap(fill)(x)
    same = vmap(fill, randomness="same")(x)
    assert (same == same[0]).all().item()
    different = vmap(fill, randomness="different")(x)
    assert different.unique().numel() == 12
    with pytest.raises(RuntimeError, match="vmap: inplace arithmetic is not possible"):
        vmap(lambda sample: wg.zeros(3).uniform_() + sample, randomness="different")(x)

    def choose(sample: Any, chance: Any) -> Any:
        return (sample * 1).bernoulli_(chance)

    chances = wg.tensor([[0.0, 1.0, 1.0]] * 4)
    chosen = vmap(choose, randomness="different")(x, chances)
    assert chosen.tolist() == chances.tolist()
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        vmap(choose, randomness="same")(x, chances)
    halves = vmap(lambda sample: (sample * 1).bernoulli_(0.5), randomness="same")(x)
    assert (halves == halves[0]).all().item()
