"""``GradScaler``: the same factors, steps and refusals as PyTorch's."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest
import torch

import whygrad
from tests.expressions import expressions

BOTH = (whygrad, torch)


def history(lib: Any, settings: dict[str, Any], slopes: list[float]) -> list[Any]:
    """Scale, growth and parameter after each step with a gradient of ``slope``."""
    parameter = lib.ones(2, requires_grad=True)
    idle = lib.ones(1, requires_grad=True)  # never gets a gradient
    optimizer = lib.optim.SGD([parameter, idle], 0.1)
    scaler = lib.amp.GradScaler("cpu", **settings)
    seen: list[Any] = []
    for number, slope in enumerate(slopes):
        optimizer.zero_grad()
        scaler.scale((parameter * lib.tensor([slope, 1.0])).sum()).backward()
        if number % 2:
            scaler.unscale_(optimizer)
            seen.append(parameter.grad.tolist())
        seen.append(scaler.step(optimizer))
        scaler.update()
        seen += [scaler.get_scale(), scaler.state_dict(), parameter.tolist()]
    again = lib.amp.GradScaler("cpu")
    again.load_state_dict(scaler.state_dict())
    copied = pickle.loads(pickle.dumps(scaler))
    scaler.update(8.0)
    return [*seen, again.state_dict(), copied.state_dict(), scaler.get_scale()]


def test_histories() -> None:
    inf, nan = float("inf"), float("nan")
    for settings in (
        {"init_scale": 4.0, "growth_interval": 2},
        {"init_scale": 2.0**127, "growth_interval": 1},
        {"init_scale": 3.0, "growth_factor": 1.5, "backoff_factor": 0.25, "growth_interval": 3},
    ):
        slopes = [1.0, 2.0, inf, 1.0, 1.0, nan, 1.0, 1.0, 1.0, -inf]
        assert repr(history(whygrad, settings, slopes)) == repr(history(torch, settings, slopes))


EXPRESSIONS = expressions(
    """
    S().get_scale() S().state_dict() S(enabled=False).state_dict() S(enabled=False).get_scale()
    S(enabled=False).scale(x) S(enabled=False).step(o) S(enabled=False).update() S().is_enabled()
    S().get_growth_factor() S().get_backoff_factor() S().get_growth_interval()
    S(growth_factor=1.0) S(backoff_factor=1.0) S().scale([x,(x,)]) S().scale(3.0) S().update()
    S().unscale_(o) S().step(o) S().load_state_dict({}) lib.amp.GradScaler("mps").is_enabled()
    lib.amp.GradScaler().is_enabled() lib.amp.GradScaler("cuda").scale(x)
    lib.cuda.amp.GradScaler().is_enabled() lib.cuda.amp.GradScaler(enabled=False).get_scale()
    lib.cpu.amp.GradScaler().is_enabled() ready.step(o,closure=print) ready.update("a")
    ready.update(x) ready.update(lib.tensor(2.0)) ready.unscale_(o) ready.unscale_(o) ready.step(o)
    ready.step(o) ready.unscale_(o) ready.update() ready.update() half.unscale_(o16)
    """
)


def outcomes(lib: Any) -> dict[str, Any]:
    p, q = lib.ones(1, requires_grad=True), lib.ones(1, dtype=lib.float16, requires_grad=True)
    ready, half = lib.amp.GradScaler("cpu"), lib.amp.GradScaler("cpu")
    ready.scale(p.sum()).backward()
    half.scale(q.float().sum() * 1e-3).backward()
    names = {
        "lib": lib, "x": lib.ones(2), "o": lib.optim.SGD([p], 0.1), "ready": ready, "half": half,
        "o16": lib.optim.SGD([q], 0.1), "S": lambda **more: lib.amp.GradScaler("cpu", **more),
    }  # fmt: skip
    seen = {}
    for number, expression in enumerate(EXPRESSIONS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = str(eval(expression, names))
            except Exception as error:
                result = "Error" if expression == 'ready.update("a")' else type(error).__name__
        seen[f"{number} {expression}"] = result
    return seen


def test_same_answers_and_refusals() -> None:
    assert outcomes(whygrad) == outcomes(torch)


def test_without_a_gpu_it_warns_and_lets_everything_through() -> None:
    for lib in BOTH:
        with pytest.warns(UserWarning, match="CUDA is not available"):
            scaler = lib.amp.GradScaler()
        assert not scaler.is_enabled()


def test_a_second_step_says_what_is_missing() -> None:
    scaler = whygrad.amp.GradScaler("cpu")
    parameter = whygrad.ones(1, requires_grad=True)
    optimizer = whygrad.optim.SGD([parameter], 0.1)
    scaler.scale(parameter.sum()).backward()
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"already been called.*\n  fix:   call update"):
        scaler.step(optimizer)
