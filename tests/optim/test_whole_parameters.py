"""Optimizers that look at a parameter as a whole: Adafactor, Muon, SparseAdam."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad
from tests.optim.problems import (
    LIBRARIES,
    Problem,
    assert_same_state,
    case_id,
    optimizer_of,
    plain,
)

BOTH = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)

# Muon computes its direction in bfloat16, of which the libraries' matmuls differ in the last of
# eight bits: its trajectories agree as far as that goes.
CASES: list[tuple[str, dict[str, Any], float]] = [
    ("Adafactor", {}, 1e-9),
    ("Adafactor", {"lr": 0.02, "beta2_decay": -0.5, "weight_decay": 0.1}, 1e-9),
    ("Adafactor", {"lr": 0.02, "eps": (1e-3, 1e-2), "d": 2.0}, 1e-9),
    ("Adafactor", {"lr": 1e-4, "maximize": True}, 1e-9),
    ("Muon", {}, 2e-3),
    ("Muon", {"lr": 0.003, "nesterov": False, "momentum": 0.8, "weight_decay": 0.0}, 5e-3),
    ("Muon", {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3}, 2e-3),
    ("Muon", {"adjust_lr_fn": "original", "ns_coefficients": (3.0, -4.0, 2.0)}, 2e-3),
]


def _trained(library: Any, name: str, options: dict[str, Any], dtype: str, steps: int) -> Any:
    problem = Problem(library, dtype)
    chosen = [each for each in problem.parameters if name != "Muon" or each.ndim == 2]
    optimizer = optimizer_of(library, name, chosen, **options)
    problem.train(optimizer, steps)
    return problem, optimizer


@pytest.mark.parametrize(("name", "options", "tolerance"), CASES, ids=case_id)
def test_trajectories(name: str, options: dict[str, Any], tolerance: float) -> None:
    runs = [("float64", 30, 0.0), ("float32", 10, 3e-5)]
    if name == "Muon":  # in bfloat16 whatever the parameters are
        runs = [("float32", 8, 3e-5)]
    for dtype, steps, at_least in runs:
        close = max(tolerance, at_least)
        (ours, mine), (theirs, other) = (
            _trained(library, name, options, dtype, steps) for library in LIBRARIES.values()
        )
        for one, expected in zip(ours.values(), theirs.values(), strict=True):
            np.testing.assert_allclose(one, expected, rtol=close, atol=close)
        if dtype == "float64" and tolerance < 1e-6:
            assert_same_state(plain(mine.state_dict()), plain(other.state_dict()), 1e-7)


def test_the_first_direction_of_muon() -> None:
    """One step from the same gradient: equal to a bit of bfloat16."""
    rng = np.random.default_rng(0)
    for shape in ((4, 7), (7, 4)):
        start, gradient = rng.normal(size=(2, *shape))
        values = {}
        for label, library in LIBRARIES.items():
            param = library.tensor(start, dtype=library.float64).requires_grad_()
            param.grad = library.tensor(gradient, dtype=library.float64)
            library.optim.Muon([param], lr=1.0, weight_decay=0.0).step()
            values[label] = param.detach().numpy() - start
        np.testing.assert_allclose(values["whygrad"], values["torch"], rtol=0, atol=2**-6)
        singular = np.linalg.svd(values["whygrad"], compute_uv=False)
        assert (singular > 0.5).all()
        assert (singular < 2.0).all()


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_a_state_goes_on_where_it_was_saved(name: str) -> None:
    problem, optimizer = _trained(whygrad, name, {}, "float64", 3)
    again = Problem(whygrad)
    for param, value in zip(again.parameters, problem.parameters, strict=True):
        param.detach().copy_(value)
    chosen = [each for each in again.parameters if name != "Muon" or each.ndim == 2]
    other = optimizer_of(whygrad, name, chosen)
    other.load_state_dict(optimizer.state_dict())
    problem.train(optimizer, 2)
    again.train(other, 2)
    for one, expected in zip(again.values(), problem.values(), strict=True):
        np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize("name", ["Adafactor", "Muon", "SparseAdam"])
def test_a_step_is_one_write_by_name_and_line(name: str) -> None:
    x = whygrad.ones(2, 3).requires_grad_()
    x.grad = whygrad.ones(2, 3)
    optimizer = optimizer_of(whygrad, name, [x])
    before = x._version
    optimizer.step()
    assert x._version == before + 1
    writer, where = x._storage.last_writer  # type: ignore[misc]
    assert writer == f"{name}.step"
    assert where.text == "optimizer.step()"


SPARSE = [{}, {"lr": 0.1, "betas": (0.5, 0.8), "eps": 1e-3}, {"lr": 0.1, "maximize": True}]


@pytest.mark.parametrize("options", SPARSE, ids=case_id)
def test_sparse_adam(options: dict[str, Any]) -> None:
    """Elements that a gradient does not name keep their value and their averages."""
    gradients = [([[0, 2, 2]], [1.0, -2.0, 0.5]), ([[2]], [3.0]), ([[]], []), ([[0, 3]], [0.0, 1])]
    states = {}
    for label, library in LIBRARIES.items():
        param = library.tensor([1.0, 2.0, 3.0, 4.0], dtype=library.float64).requires_grad_()
        optimizer = library.optim.SparseAdam([param], **options)
        for indices, values in gradients:
            where = library.tensor(indices, dtype=library.int64)
            numbers = library.tensor(values, dtype=library.float64)
            param.grad = library.sparse_coo_tensor(where, numbers, (4,), check_invariants=True)
            optimizer.step()
        states[label] = {"param": plain(param), **plain(optimizer.state_dict())}
    assert states["whygrad"]["param"][1] == 2.0
    assert_same_state(states["whygrad"], states["torch"])


def test_sparse_adam_on_an_embedding() -> None:
    results = {}
    for label, library in LIBRARIES.items():
        table = library.nn.Embedding(5, 3, sparse=True)
        with library.no_grad():
            table.weight.copy_(library.arange(15.0).reshape(5, 3) / 10)
        optimizer = library.optim.SparseAdam(table.parameters(), lr=0.1)
        for tokens in ([1, 1, 3], [0, 3]):
            optimizer.zero_grad()
            (table(library.tensor(tokens)) ** 2).sum().backward()
            optimizer.step()
        results[label] = table.weight.detach().numpy()
    np.testing.assert_allclose(results["whygrad"], results["torch"], rtol=1e-6)


@BOTH
def test_what_they_refuse(library: Any) -> None:
    matrix, vector = library.ones(2, 2).requires_grad_(), library.ones(2).requires_grad_()
    optim = library.optim
    for make, kind in [
        (lambda: optim.Muon([vector]), ValueError),
        (lambda: optim.Muon([matrix], adjust_lr_fn="other"), ValueError),
        (lambda: optim.Muon([matrix], lr=-1), ValueError),
        (lambda: optim.Adafactor([matrix], d=0.5), ValueError),
        (lambda: optim.Adafactor([matrix], beta2_decay=0.5), ValueError),
        (lambda: optim.Adafactor([matrix], eps=(None, -1)), ValueError),
        (lambda: optim.SparseAdam([matrix], lr=0.0), ValueError),
        (lambda: optim.SparseAdam([matrix.detach().to_sparse()]), ValueError),
    ]:
        with pytest.raises(kind):
            make()
    sparse = library.sparse_coo_tensor(
        library.tensor([[0], [1]]), library.ones(1), (2, 2), check_invariants=True
    )
    for name in ("Adafactor", "Muon"):
        matrix.grad = sparse
        with pytest.raises(RuntimeError, match="does not support sparse gradients"):
            optimizer_of(library, name, [matrix]).step()
