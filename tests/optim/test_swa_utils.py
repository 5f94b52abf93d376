"""Averages of weights, and parameters that are exchanged for a while, in both libraries."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.optim.problems import LIBRARIES, Problem, assert_same_state, plain

BOTH = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)

AVERAGES: dict[str, Any] = {
    "the mean": lambda swa: {},
    "the mean, with buffers": lambda swa: {
        "multi_avg_fn": swa.get_ema_multi_avg_fn(0.5),
        "use_buffers": True,
    },
    "each by itself": lambda swa: {"avg_fn": swa.get_swa_avg_fn()},
    "exponential": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.7)},
    "exponential, each by itself": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.7)},
    "the mean, in lists": lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    "one's own": lambda swa: {"avg_fn": lambda mean, now, count: mean * 0.25 + now * (1 + count)},
}


def _model(library: Any) -> Any:
    nn = library.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2)).double()
    rng = np.random.default_rng(3)
    with library.no_grad():
        for param in model.parameters():
            param.copy_(library.tensor(rng.normal(size=tuple(param.shape))))
    return model


def _batches(library: Any) -> list[Any]:
    rng = np.random.default_rng(5)
    return [library.tensor(rng.normal(size=(6, 3))) for _ in range(4)]


@pytest.mark.parametrize("kind", AVERAGES)
def test_averaged_model(kind: str) -> None:
    states = {}
    for label, library in LIBRARIES.items():
        swa = library.optim.swa_utils
        model = _model(library)
        average = swa.AveragedModel(model, **AVERAGES[kind](swa))
        optimizer = library.optim.SGD(model.parameters(), lr=0.1)
        schedule = swa.SWALR(optimizer, swa_lr=0.01, anneal_epochs=3)
        rates = []
        for batch in _batches(library):
            optimizer.zero_grad()
            (model(batch) ** 2).mean().backward()
            optimizer.step()
            average.update_parameters(model)
            schedule.step()
            rates.append(schedule.get_last_lr()[0])
        before = {name: plain(value).copy() for name, value in average.state_dict().items()}
        swa.update_bn([(each, 0) for each in _batches(library)], average)
        assert average.training
        assert average.module[1].momentum == 0.1
        answer = plain(average(_batches(library)[0]))
        states[label] = {
            "before": before, "after": plain(dict(average.state_dict())), "answer": answer,
            "rates": np.array(rates), "schedule": schedule.state_dict(),
        }  # fmt: skip
    states["torch"]["schedule"].pop("anneal_func", None)
    assert_same_state(states["whygrad"], states["torch"])


@pytest.mark.parametrize("options", [
    {"anneal_strategy": "linear", "anneal_epochs": 4}, {"anneal_epochs": 0}, {"swa_lr": [0.1, 0.2]},
], ids=str)  # fmt: skip
def test_swa_rates(options: dict[str, Any]) -> None:
    rates: dict[str, list[Any]] = {}
    for label, library in LIBRARIES.items():
        params = [library.ones(2).requires_grad_() for _ in range(2)]
        groups = [{"params": [params[0]], "lr": 1.0}, {"params": [params[1]], "lr": 0.5}]
        optimizer = library.optim.SGD(groups, lr=1.0)
        schedule = library.optim.swa_utils.SWALR(optimizer, **{"swa_lr": 0.05, **options})
        rates[label] = []
        for _ in range(12):
            optimizer.step()
            schedule.step()
            rates[label].append(schedule.get_last_lr())
    np.testing.assert_allclose(rates["whygrad"], rates["torch"], rtol=1e-12)


@BOTH
def test_what_averages_refuse(library: Any) -> None:
    swa = library.optim.swa_utils
    optimizer = library.optim.SGD([library.ones(1).requires_grad_()], lr=0.1)
    mean = swa.get_swa_avg_fn()
    for call, kind in [
        (
            lambda: swa.AveragedModel(_model(library), avg_fn=mean, multi_avg_fn=mean),
            AssertionError,
        ),
        (lambda: swa.get_ema_avg_fn(1.5), ValueError),
        (lambda: swa.get_ema_multi_avg_fn(-0.1), ValueError),
        (lambda: swa.SWALR(optimizer, 0.1, anneal_strategy="steps"), ValueError),
        (lambda: swa.SWALR(optimizer, 0.1, anneal_epochs=-1), ValueError),
        (lambda: swa.SWALR(optimizer, [0.1, 0.2]), ValueError),
    ]:
        with pytest.raises(kind):
            call()


def test_update_bn_without_batch_norm_touches_nothing() -> None:
    model = whygrad.nn.Linear(2, 2)
    whygrad.optim.swa_utils.update_bn(iter([whygrad.ones(1, 3)]), model)


def test_swapped_parameters_and_state() -> None:
    results = {}
    for label, library in LIBRARIES.items():
        problem = Problem(library)
        optimizer = library.optim.Adam(problem.parameters, lr=0.1)
        problem.train(optimizer, 2)
        kept = problem.values()
        state = copy.deepcopy(optimizer.state_dict())
        state["param_groups"][0]["lr"] = 0.5
        others = {}
        for number, param in enumerate(problem.parameters):
            others[str(number)] = param.detach().clone().requires_grad_()
            others[str(number)].grad = library.ones_like(param)
        with library.optim.swap_in_optimizer_params_and_state(optimizer, others, state):
            assert optimizer.param_groups[0]["lr"] == 0.5
            optimizer.step()
        assert optimizer.param_groups[0]["lr"] == 0.1
        for one, value in zip(problem.values(), kept, strict=True):
            np.testing.assert_array_equal(one, value)
        results[label] = {"params": plain(others), "given": plain(state["state"])}
    assert_same_state(results["whygrad"], results["torch"])


@BOTH
def test_what_a_swap_refuses(library: Any) -> None:
    swap = library.optim.swap_in_optimizer_params_and_state
    x = library.ones(2).requires_grad_()
    optimizer = library.optim.Adam([x])
    before = optimizer.state_dict()
    x.grad = library.ones(2)
    with pytest.raises(RuntimeError), swap(optimizer, {"x": x}, before):
        pass
    optimizer.step()
    good = optimizer.state_dict()
    for params, state in [
        ({}, good),
        ({"x": x}, {}),
        ({"x": x}, {**good, "param_groups": []}),
        ({"x": x}, {**good, "state": {7: {}}}),
        ({"x": x}, {**good, "param_groups": [{"params": [0]}]}),
    ]:
        with pytest.raises(RuntimeError), swap(optimizer, params, state):
            pass
