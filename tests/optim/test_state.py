"""Saving and loading: PyTorch's layout, resuming bit for bit, and states that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.optim.problems import EVERY_CASE, LIBRARIES, Problem, case_id, optimizer_of

EVERY = pytest.mark.parametrize(("name", "options"), EVERY_CASE, ids=case_id)
BOTH = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)


def resumed(problem: Problem, name: str, state: Any) -> Problem:
    """The same parameters and optimizer in new objects, from what was saved."""
    other = Problem(problem.library)
    for own, saved in zip(other.parameters, problem.parameters, strict=True):
        own.data = saved.detach().clone()
    optimizer = optimizer_of(problem.library, name, other.parameters)
    optimizer.load_state_dict(state)
    other.train(optimizer, 5)
    return other


@EVERY
def test_resuming_changes_no_bit(name: str, options: dict[str, Any]) -> None:
    problem = Problem(whygrad)
    optimizer = optimizer_of(whygrad, name, problem.parameters, **options)
    problem.train(optimizer, 5)
    other = resumed(problem, name, optimizer.state_dict())
    problem.train(optimizer, 5)
    for one, twin in zip(problem.values(), other.values(), strict=True):
        np.testing.assert_array_equal(one, twin)


def translated(state: Any, source: Any, target: Any) -> Any:
    """The same state with the tensors of the other library."""
    if isinstance(state, source.Tensor):
        return target.tensor(state.detach().numpy())
    if isinstance(state, dict):
        return {key: translated(value, source, target) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(translated(each, source, target) for each in state)
    return state


@EVERY
@pytest.mark.parametrize("back", [False, True], ids=["from torch", "to torch"])
def test_states_cross_over(name: str, options: dict[str, Any], back: bool) -> None:
    source, target = (whygrad, torch) if back else (torch, whygrad)
    problem = Problem(source)
    optimizer = optimizer_of(source, name, problem.parameters, **options)
    problem.train(optimizer, 5)
    moved = Problem(target)
    for own, saved in zip(moved.parameters, problem.parameters, strict=True):
        own.data = target.tensor(saved.detach().numpy().copy())
    other = resumed(moved, name, translated(optimizer.state_dict(), source, target))
    problem.train(optimizer, 5)
    for one, twin in zip(problem.values(), other.values(), strict=True):
        np.testing.assert_allclose(one, twin, rtol=1e-6, atol=1e-9)


def test_loading_copies_and_converts() -> None:
    x = whygrad.ones(2).requires_grad_()
    x.grad = whygrad.ones(2)
    first = whygrad.optim.Adam([x])
    first.step()
    state = first.state_dict()
    y = whygrad.ones(2, dtype=whygrad.float64).requires_grad_()
    y.grad = whygrad.ones(2, dtype=whygrad.float64)
    second = whygrad.optim.Adam([y])
    second.load_state_dict(state)
    assert second.state[y]["exp_avg"].dtype is whygrad.float64
    assert second.state[y]["step"].dtype is whygrad.float32
    second.step()
    assert state["state"][0]["step"].item() == 1.0
    third = whygrad.optim.Adam([x])
    third.load_state_dict(state)
    third.step()
    assert state["state"][0]["step"].item() == 1.0


def test_steps_saved_as_numbers_load() -> None:
    x = whygrad.ones(2).requires_grad_()
    x.grad = whygrad.ones(2)
    optimizer = whygrad.optim.Adam([x])
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0]["step"] = 1
    optimizer.load_state_dict(state)
    optimizer.step()
    assert optimizer.state[x]["step"].item() == 2.0


def test_options_unknown_to_the_saved_state_are_the_defaults() -> None:
    x = whygrad.ones(2).requires_grad_()
    optimizer = whygrad.optim.AdamW([("x", x)])
    state = optimizer.state_dict()
    del state["param_groups"][0]["amsgrad"], state["param_groups"][0]["param_names"]
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["amsgrad"] is False
    assert optimizer.param_groups[0]["param_names"] == ["x"]
    assert optimizer.param_groups[0]["params"][0] is x


@BOTH
def test_hooks_see_and_change_states(library: Any) -> None:
    x = library.ones(2).requires_grad_()
    optimizer = library.optim.SGD([x], lr=0.1)
    seen: list[str] = []
    optimizer.register_state_dict_pre_hook(lambda opt: seen.append("before save"))
    optimizer.register_state_dict_pre_hook(lambda opt: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "extra": 1})
    optimizer.register_load_state_dict_pre_hook(
        lambda opt, state: state["param_groups"][0].update(lr=7)
    )
    optimizer.register_load_state_dict_post_hook(lambda opt: seen.append("after load"))
    state = optimizer.state_dict()
    assert state["extra"] == 1
    optimizer.load_state_dict(state)
    assert seen == ["first", "before save", "after load"]
    assert optimizer.param_groups[0]["lr"] == 7


@BOTH
def test_states_that_do_not_fit(library: Any) -> None:
    a, b = library.ones(2).requires_grad_(), library.ones(2).requires_grad_()
    two = library.optim.SGD([{"params": [a]}, {"params": [b]}], lr=0.1)
    one = library.optim.SGD([a, b], lr=0.1)
    with pytest.raises(ValueError, match="has a different number of parameter groups"):
        two.load_state_dict(one.state_dict())
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        one.load_state_dict(library.optim.SGD([a], lr=0.1).state_dict())


def test_a_state_of_other_shapes_is_refused_before_anything_changes() -> None:
    a, b = whygrad.ones(2).requires_grad_(), whygrad.ones(3).requires_grad_()
    a.grad, b.grad = whygrad.ones(2), whygrad.ones(3)
    saved = whygrad.optim.Adam([a, b], lr=0.5)
    saved.step()
    other = whygrad.optim.Adam([b, a])
    with pytest.raises(ValueError, match=r"'exp_avg' in the loaded state is float32\[2\], but its"):
        other.load_state_dict(saved.state_dict())
    assert not other.state
    assert other.param_groups[0]["lr"] == 1e-3
