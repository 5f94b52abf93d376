"""Every schedule: PyTorch's learning rates and momenta, number for number, also when resumed."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.optim.problems import LIBRARIES

BOTH = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)


class Decay:
    """A function with attributes, which a state can hold."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, epoch: float) -> float:
        return self.rate**epoch


Make = Callable[[Any, Any], Any]

CASES: dict[str, Make] = {
    "StepLR": lambda s, o: s.StepLR(o, 7, gamma=0.7),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [3, 20, 20, 60], gamma=0.3),
    "ConstantLR": lambda s, o: s.ConstantLR(o, factor=0.3, total_iters=9),
    "LinearLR": lambda s, o: s.LinearLR(o, start_factor=0.2, end_factor=0.9, total_iters=30),
    "LinearLR, defaults": lambda s, o: s.LinearLR(o),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, total_iters=50, power=1.7),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.97),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch + 0.1),
    "LambdaLR, per group": lambda s, o: s.LambdaLR(o, [Decay(0.9), lambda epoch: 1 / (1 + epoch)]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.99 - epoch * 1e-4),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 40, eta_min=0.01),
    "CosineAnnealingLR, many times": lambda s, o: s.CosineAnnealingLR(o, 7),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 10, 2, 1e-3),
    "CosineAnnealingWarmRestarts, equal": lambda s, o: s.CosineAnnealingWarmRestarts(o, 8),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=120),
    "OneCycleLR, linear": lambda s, o: s.OneCycleLR(
        o, [0.5, 0.3], epochs=12, steps_per_epoch=10, anneal_strategy="linear", pct_start=0.4
    ),
    "OneCycleLR, three phases": lambda s, o: s.OneCycleLR(
        o, 0.5, total_steps=120, three_phase=True, base_momentum=0.7, div_factor=10.0
    ),
    "OneCycleLR, without momentum": lambda s, o: s.OneCycleLR(
        o, 0.5, total_steps=120, cycle_momentum=False
    ),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.4, step_size_up=13),
    "CyclicLR, triangular2": lambda s, o: s.CyclicLR(
        o, [0.01, 0.02], [0.4, 0.5], 10, step_size_down=5, mode="triangular2"
    ),
    "CyclicLR, exp_range": lambda s, o: s.CyclicLR(
        o, 0.01, 0.4, step_size_up=13, mode="exp_range", gamma=0.98, cycle_momentum=False
    ),
    "CyclicLR, own": lambda s, o: s.CyclicLR(
        o, 0.01, 0.4, step_size_up=6, scale_fn=Decay(0.9), scale_mode="iterations"
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o,
        [s.LinearLR(o, 0.1, total_iters=20), s.CosineAnnealingLR(o, 60), s.ExponentialLR(o, 0.9)],
        milestones=[20, 80],
    ),
    "SequentialLR, two": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, total_iters=10), s.StepLR(o, 30)], milestones=[10]
    ),
    "SequentialLR, nested": lambda s, o: s.SequentialLR(
        o,
        [
            s.SequentialLR(o, [s.ExponentialLR(o, 0.9), s.StepLR(o, 4)], milestones=[5]),
            s.StepLR(o, 30),
        ],
        milestones=[40],
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, total_iters=20), s.ExponentialLR(o, 0.97)]
    ),
}
EVERY = pytest.mark.parametrize("name", CASES)
OPTIMIZERS = {
    "SGD": lambda library, groups: library.optim.SGD(groups, lr=0.3, momentum=0.9),
    "Adam": lambda library, groups: library.optim.Adam(groups, lr=0.3),
}


def optimizer_in(library: Any, kind: str = "SGD") -> Any:
    groups = [
        {"params": [library.ones(1).requires_grad_()]},
        {"params": [library.ones(1).requires_grad_()], "lr": 0.2},
    ]
    return OPTIMIZERS[kind](library, groups)


def schedules_of(library: Any) -> Any:
    return library.optim.lr_scheduler


def schedule(library: Any, name: str, optimizer: Any) -> Any:
    with warnings.catch_warnings():
        # Both libraries step a schedule inside two others a second time before training begins.
        warnings.filterwarnings("ignore", "Detected call of `lr_scheduler.step")
        return CASES[name](schedules_of(library), optimizer)


def course(optimizer: Any, scheduler: Any, steps: int) -> list[Any]:
    """Learning rates and momenta after every step."""
    rows = []
    for _ in range(steps):
        optimizer.step()
        scheduler.step()
        rows.append(
            [scheduler.get_last_lr()]
            + [[g["lr"], g.get("momentum"), g.get("betas")] for g in optimizer.param_groups]
        )
    return rows


def run(library: Any, name: str, steps: int, kind: str = "SGD") -> tuple[Any, Any, list[Any]]:
    optimizer = optimizer_in(library, kind)
    scheduler = schedule(library, name, optimizer)
    start = [[g["lr"], g.get("momentum"), g.get("betas")] for g in optimizer.param_groups]
    return optimizer, scheduler, [start, *course(optimizer, scheduler, steps)]


@EVERY
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_learning_rates(name: str, kind: str) -> None:
    _, _, ours = run(whygrad, name, 119, kind)
    _, _, theirs = run(torch, name, 119, kind)
    assert ours == theirs


@EVERY
def test_resumed(name: str) -> None:
    _, _, whole = run(whygrad, name, 100)
    optimizer, scheduler, _ = run(whygrad, name, 45)
    other = optimizer_in(whygrad)
    again = schedule(whygrad, name, other)
    other.load_state_dict(optimizer.state_dict())
    again.load_state_dict(scheduler.state_dict())
    assert course(other, again, 55) == whole[46:]


@EVERY
def test_states_have_the_same_keys_and_values(name: str) -> None:
    _, ours, _ = run(whygrad, name, 45)
    _, theirs, _ = run(torch, name, 45)
    assert ours.state_dict() == theirs.state_dict()


@EVERY
def test_a_rate_may_be_a_tensor(name: str) -> None:
    if name.startswith(("CyclicLR", "OneCycleLR")):
        pytest.skip("they set numbers of their own")
    results = []
    for library in LIBRARIES.values():
        rate = library.tensor(0.3, dtype=library.float64)
        optimizer = library.optim.SGD([library.ones(1).requires_grad_()], lr=rate, momentum=0.9)
        scheduler = schedule(library, name.removesuffix(", per group"), optimizer)
        rows = []
        for _ in range(30):
            optimizer.step()
            scheduler.step()
            rows.append((rate.item(), float(scheduler.get_last_lr()[0])))
        assert optimizer.param_groups[0]["lr"] is rate
        results.append(rows)
    np.testing.assert_allclose(*results, rtol=1e-14)


# --- plateaus -------------------------------------------------------------------------------------

METRICS = [math.exp(-0.2 * k) if k < 12 else 0.1 + 0.01 * math.sin(k) for k in range(100)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"patience": 3, "factor": 0.5, "cooldown": 4},
        {"mode": "max", "patience": 2, "threshold": 0.05},
        {"threshold_mode": "abs", "threshold": 0.02, "patience": 1},
        {"mode": "max", "threshold_mode": "abs", "patience": 4, "min_lr": 0.05},
        {"patience": 0, "factor": 0.3, "min_lr": [0.01, 0.1], "eps": 1e-3},
    ],
)
def test_plateaus(options: dict[str, Any]) -> None:
    results = []
    for library in LIBRARIES.values():
        optimizer = optimizer_in(library)
        scheduler = schedules_of(library).ReduceLROnPlateau(optimizer, **options)
        rows = []
        for metric in METRICS:
            scheduler.step(library.tensor(metric, dtype=library.float64))
            rows.append((scheduler.get_last_lr(), scheduler.num_bad_epochs, scheduler.in_cooldown))
        results.append((rows, scheduler.state_dict()))
    assert results[0] == results[1]


@BOTH
def test_plateaus_and_new_groups(library: Any) -> None:
    for smallest in (0.01, [0.01, 0.01]):
        optimizer = optimizer_in(library)
        plateau = schedules_of(library).ReduceLROnPlateau(optimizer, patience=0, min_lr=smallest)
        optimizer.add_param_group({"params": [library.ones(1).requires_grad_()]})
        plateau.step(1.0)
        if isinstance(smallest, list):
            with pytest.raises(RuntimeError, match="The number of param groups"):
                plateau.step(1.0)
        else:
            plateau.step(1.0)
            assert len(plateau.min_lrs) == 3


# --- order of calls, epochs, resuming by number ---------------------------------------------------


@BOTH
def test_the_wrong_order_is_warned_about(library: Any) -> None:
    optimizer = optimizer_in(library)
    scheduler = schedules_of(library).StepLR(optimizer, 3)
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


@BOTH
def test_get_lr_is_not_for_users(library: Any) -> None:
    scheduler = schedules_of(library).ExponentialLR(optimizer_in(library), 0.9)
    with pytest.warns(UserWarning, match=r"please use `get_last_lr\(\)`"):
        scheduler.get_lr()


@pytest.mark.parametrize(
    "name",
    [
        "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "PolynomialLR", "ExponentialLR",
        "LambdaLR", "CosineAnnealingLR",
    ],
)  # fmt: skip
def test_closed_forms(name: str) -> None:
    results = []
    for library in LIBRARIES.values():
        optimizer = optimizer_in(library)
        scheduler = CASES[name](schedules_of(library), optimizer)
        optimizer.step()
        rows = []
        for epoch in (30, 3, 70):
            with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step"):
                scheduler.step(epoch)
            rows.append(scheduler.get_last_lr())
        results.append(rows)
    assert results[0] == results[1]


def test_restarts_at_fractions_of_an_epoch() -> None:
    for multiple in (1, 2):
        results = []
        for library in LIBRARIES.values():
            optimizer = optimizer_in(library)
            schedule = schedules_of(library).CosineAnnealingWarmRestarts(optimizer, 5, multiple)
            rows = []
            for batch in range(120):
                schedule.step(batch / 4)
                rows.append(schedule.get_last_lr())
            results.append((rows, schedule.state_dict()))
        assert results[0] == results[1]


@pytest.mark.parametrize(
    "name", ["StepLR", "CosineAnnealingLR", "LinearLR", "CosineAnnealingWarmRestarts"]
)
def test_resumed_by_the_number_of_the_epoch(name: str) -> None:
    make: dict[str, Callable[..., Any]] = {
        "StepLR": lambda s, o, last: s.StepLR(o, 7, last_epoch=last),
        "CosineAnnealingLR": lambda s, o, last: s.CosineAnnealingLR(o, 40, last_epoch=last),
        "LinearLR": lambda s, o, last: s.LinearLR(o, total_iters=30, last_epoch=last),
        "CosineAnnealingWarmRestarts": lambda s, o, last: s.CosineAnnealingWarmRestarts(
            o, 20, last_epoch=last
        ),
    }
    results = []
    for library in LIBRARIES.values():
        optimizer = optimizer_in(library)
        with pytest.raises(KeyError, match=r"initial_lr.* is not specified in param_groups"):
            make[name](schedules_of(library), optimizer, 4)
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
        scheduler = make[name](schedules_of(library), optimizer, 4)
        results.append((scheduler.get_last_lr(), course(optimizer, scheduler, 20)))
    assert results[0] == results[1]


@BOTH
def test_own_schedules(library: Any) -> None:
    class Inverse(schedules_of(library).LRScheduler):  # type: ignore[misc]
        def get_lr(self) -> list[float]:
            return [base / (1 + self.last_epoch) for base in self.base_lrs]

    optimizer = optimizer_in(library)
    scheduler = Inverse(optimizer)
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.15, 0.1]


# --- refusals -------------------------------------------------------------------------------------

REFUSALS: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda s, o: s.StepLR(3, 3), "int is not an Optimizer"),
    (lambda s, o: s.ReduceLROnPlateau(3), "int is not an Optimizer"),
    (lambda s, o: s.ConstantLR(o, 1.5), "factor expected to be between 0 and 1"),
    (lambda s, o: s.LinearLR(o, 0.0), "expected to be greater than 0 and less or equal to 1"),
    (lambda s, o: s.LinearLR(o, 0.5, 1.5), "Ending multiplicative factor expected to be between"),
    (lambda s, o: s.LambdaLR(o, [Decay(1)] * 3), "Expected 2 lr_lambdas, but got 3"),
    (lambda s, o: s.MultiplicativeLR(o, 3), "lr_lambda should be a function, but got int"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), "Expected positive integer T_0, but got 0"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 0), "Expected integer T_mult >= 1"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 1, "a"), "Expected float or int eta_min"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1).step(-2), "Expected non-negative epoch"),
    (lambda s, o: s.OneCycleLR(o, 0.1), "You must define either total_steps OR"),
    (lambda s, o: s.OneCycleLR(o, 0.1, epochs=3), "You must define either total_steps OR"),
    (lambda s, o: s.OneCycleLR(o, 0.1, 0), "Expected positive integer total_steps, but got 0"),
    (lambda s, o: s.OneCycleLR(o, 0.1, None, 1, 0), "Expected positive integer steps_per_epoch"),
    (lambda s, o: s.OneCycleLR(o, 0.1, 9, pct_start=2), "Expected float between 0 and 1 pct_start"),
    (lambda s, o: s.OneCycleLR(o, 0.1, 9, anneal_strategy="x"), "must be one of 'cos' or 'linear'"),
    (lambda s, o: s.OneCycleLR(o, [0.1], 9), "must have the same length as optimizer.param_groups"),
    (lambda s, o: [s.OneCycleLR(o, 0.1, 2)._update_lr(3)], "Tried to step 3 times"),
    (lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="x"), "mode is invalid and scale_fn is None"),
    (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), "Factor should be < 1.0"),
    (lambda s, o: s.ReduceLROnPlateau(o, mode="x"), "mode x is unknown!"),
    (lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="x"), "threshold mode x is unknown!"),
    (lambda s, o: s.ReduceLROnPlateau(o, min_lr=[1]), "expected 2 min_lrs, got 1"),
    (lambda s, o: s.SequentialLR(o, [], []), "expects at least one scheduler"),
    (
        lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [3]),
        "one more than the number of milestone",
    ),
    (lambda s, o: s.SequentialLR(o, [3], []), "should have `optimizer` as its attribute"),
    (
        lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []),
        "does not support `ReduceLROnPlateau` scheduler",
    ),
    (lambda s, o: s.ChainedScheduler([]), "expects at least one scheduler"),
    (lambda s, o: s.LRScheduler(o), ""),
]


@pytest.mark.parametrize(("call", "phrase"), REFUSALS, ids=[phrase for _, phrase in REFUSALS])
def test_refused_as_in_pytorch(call: Callable[[Any, Any], Any], phrase: str) -> None:
    with pytest.raises(Exception, match=re.escape(phrase) or None) as theirs:
        call(torch.optim.lr_scheduler, optimizer_in(torch))
    with pytest.raises(type(theirs.value), match=re.escape(phrase) or None) as ours:
        call(whygrad.optim.lr_scheduler, optimizer_in(whygrad))
    assert "fix:" in str(ours.value)


@BOTH
def test_schedules_of_different_optimizers(library: Any) -> None:
    schedules, optimizer = schedules_of(library), optimizer_in(library)
    inner = [schedules.StepLR(optimizer, 1), schedules.StepLR(optimizer_in(library), 1)]
    for make in (
        lambda: schedules.SequentialLR(optimizer, inner, [3]),
        lambda: schedules.ChainedScheduler(inner),
    ):
        with pytest.raises(ValueError, match="expects all schedulers to belong to the same opt"):
            make()


@BOTH
def test_momentum_needs_an_optimizer_with_momentum(library: Any) -> None:
    optimizer = library.optim.Adagrad([library.ones(1).requires_grad_()])
    with pytest.raises(ValueError, match="optimizer must support momentum or beta1"):
        schedules_of(library).CyclicLR(optimizer, 0.1, 0.2)
