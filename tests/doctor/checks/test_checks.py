"""The one-shot checks, with both engines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.test_scripts import one_thread_and_defaults
from whygrad import doctor
from whygrad.doctor.rules import load


@pytest.fixture(params=["torch", "whygrad"])
def lib(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    library: ModuleType = torch if request.param == "torch" else whygrad
    with one_thread_and_defaults():
        library.manual_seed(0)
        yield library


def classifier(lib: Any) -> Any:
    nn = lib.nn
    return nn.Sequential(
        nn.Linear(4, 16), nn.ReLU(), nn.BatchNorm1d(16), nn.Dropout(0.5), nn.Linear(16, 3)
    )


def batch(lib: Any) -> Any:
    return lib.randn(32, 4), lib.randint(0, 3, (32,))


# --- inspect_batch --------------------------------------------------------------------------------


def test_inspection_of_a_sound_batch(lib: Any) -> None:
    seen = doctor.inspect_batch(classifier(lib), batch(lib), lib.nn.functional.cross_entropy)
    assert seen.ok
    assert seen.raise_if_bad() is seen
    assert 0.5 < seen.loss < 3
    assert seen["0.weight"].state == "ok"
    norm = seen["0.weight"].norm
    assert norm is not None
    assert norm > 0
    table = str(seen)
    assert all(word in table for word in ("input", "output", "loss", "0.weight", "nothing wrong"))
    assert "<table" in seen._repr_html_()


def test_inspection_leaves_everything_as_it_was(lib: Any) -> None:
    model, data = classifier(lib), batch(lib)
    model.eval()
    lib.nn.functional.cross_entropy(model(data[0]), data[1]).backward()
    gradients = [each.grad.clone() for each in model.parameters()]
    buffers = [each.clone() for each in model.buffers()]
    model.train()
    model[3].eval()
    state, numbers = lib.get_rng_state(), np.random.get_state()[1]
    doctor.inspect_batch(model, data, lib.nn.functional.cross_entropy)
    assert bool((lib.get_rng_state() == state).all())
    assert (np.random.get_state()[1] == numbers).all()
    assert all(bool((a.grad == b).all()) for a, b in zip(model.parameters(), gradients))
    assert all(bool((a == b).all()) for a, b in zip(model.buffers(), buffers))
    assert model.training
    assert not model[3].training


def test_no_gradient_is_not_a_gradient_of_zero(lib: Any) -> None:
    class Two(lib.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.used = lib.nn.Linear(2, 1)
            self.unused = lib.nn.Linear(2, 1)
            self.times_zero = lib.nn.Parameter(lib.ones(1))
            self.frozen = lib.nn.Parameter(lib.ones(1), requires_grad=False)

        def forward(self, x: Any) -> Any:
            return self.used(x) + 0.0 * self.times_zero

    seen = doctor.inspect_batch(Two(), lib.randn(3, 2), lambda output: output.sum())
    assert seen["unused.weight"].state == "no gradient"
    assert seen["unused.weight"].norm is None
    assert seen["times_zero"].state == "zero"
    assert seen["times_zero"].norm == 0.0
    assert seen["frozen"].state == "frozen"
    assert not seen.ok
    with pytest.raises(RuntimeError, match=r"unused\.weight does not arrive \(and 1 more\)"):
        seen.raise_if_bad()


def test_inspection_names_the_first_bad_value(lib: Any) -> None:
    data = lib.tensor([[1.0, math.nan]]), lib.tensor([[1.0]])
    seen = doctor.inspect_batch(lib.nn.Linear(2, 1), data, lib.nn.functional.mse_loss)
    assert seen.problems[0] == "input is not finite: 1 NaN and 0 Inf of 2"
    assert seen.problems[1].startswith("output is not finite")
    assert "passed on from above" in seen.problems[1]
    assert seen["weight"].state == "not finite"


def test_inspection_of_what_raises(lib: Any) -> None:
    linear = lib.nn.Linear(2, 1)
    seen = doctor.inspect_batch(linear, (lib.randn(3, 5), lib.randn(3, 1)), lambda a, b: a)
    assert seen.problems[0].startswith("the model raised RuntimeError")
    seen = doctor.inspect_batch(linear, (lib.randn(3, 2), 1.0), lambda a, b: 1 / 0)
    assert seen.problems[0].startswith("the loss function raised ZeroDivisionError")
    seen = doctor.inspect_batch(linear, lib.randn(3, 2), lambda output: output)
    assert "the loss has shape [3, 1]" in seen.problems[0]
    seen = doctor.inspect_batch(linear, lib.randn(3, 2), lambda output: output.detach().sum())
    assert "the loss has no graph" in seen.problems[0]
    with pytest.raises(TypeError, match="cause: the first argument is not a module"):
        doctor.inspect_batch(3, 4)


def test_named_inputs_and_a_model_that_gives_its_loss(lib: Any) -> None:
    class Model(lib.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = lib.nn.Linear(2, 1)

        def forward(self, x: Any, labels: Any) -> Any:
            return ((self.linear(x) - labels) ** 2).mean()

    seen = doctor.inspect_batch(Model(), {"x": lib.randn(3, 2), "labels": lib.randn(3, 1)})
    assert seen.ok
    assert "labels" in seen.values


def test_a_check_is_no_training(lib: Any) -> None:
    model = lib.nn.Linear(2, 1)
    with doctor.watch(model) as session:
        doctor.inspect_batch(model, lib.randn(3, 2), lambda output: output.sum())
    assert session.run.passes == []


# --- attach_nan_hooks -----------------------------------------------------------------------------


def test_the_module_that_produces_is_told_from_those_that_pass_on(lib: Any) -> None:
    class Log(lib.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x.log()

    model = lib.nn.Sequential(lib.nn.Linear(2, 4), Log(), lib.nn.Linear(4, 1))
    announced = pytest.warns(RuntimeWarning, match=r"output of 1 \(Log\) is not finite")
    with doctor.attach_nan_hooks(model) as hooks, announced:
        model(lib.randn(8, 2)).sum().backward()
    assert hooks.producer == "1"
    assert hooks.first is not None
    assert hooks.first.phase == "forward"
    assert hooks.parameter is not None
    assert not hooks.ok
    assert "abs min" in str(hooks)
    assert "Log" in str(hooks)
    before = len(hooks.problems)
    model(lib.randn(8, 2))
    assert len(hooks.problems) == before, "removed at the end of the block"


def test_a_gradient_that_goes_bad(lib: Any) -> None:
    class Root(lib.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return (x * 0).abs().sqrt()

    model = lib.nn.Sequential(lib.nn.Linear(2, 4), Root(), lib.nn.Linear(4, 1))
    hooks = doctor.attach_nan_hooks(model)
    with pytest.warns(RuntimeWarning, match=r"1 \(Root\) produced them from finite values"):
        model(lib.randn(8, 2)).sum().backward()
    hooks.remove()
    assert hooks.first is not None
    assert hooks.first.phase == "backward"
    assert hooks.producer == "1"
    assert hooks.parameter in ("0.weight", "0.bias")


def test_bad_data_and_bad_weights_are_given_not_produced(lib: Any) -> None:
    model = lib.nn.Linear(2, 1)
    with doctor.attach_nan_hooks(model) as hooks, pytest.warns(RuntimeWarning):
        model(lib.tensor([[1.0, math.inf]]))
    assert hooks.producer is None
    assert "it was given them" in hooks.problems[0]
    with lib.no_grad():
        model.weight.fill_(math.nan)
    with doctor.attach_nan_hooks(model) as hooks, pytest.warns(RuntimeWarning):
        model(lib.randn(1, 2))
    assert "an earlier update made it so" in hooks.problems[0]


def test_hooks_can_stop_the_program_and_say_nothing_of_sound_ones(lib: Any) -> None:
    model = lib.nn.Linear(2, 1)
    with doctor.attach_nan_hooks(model, stop=True) as hooks:
        for _ in range(3):
            model(lib.randn(4, 2)).sum().backward()
        assert hooks.ok
        assert len(hooks.latest) < 10
        with pytest.raises(FloatingPointError, match="cause: input"):
            model(lib.tensor([[math.nan, 1.0]]))


# --- check_backward -------------------------------------------------------------------------------


def product(lib: Any, factor: float) -> Any:
    class Product(lib.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, left: Any, right: Any) -> Any:
            ctx.save_for_backward(left, right)
            return left * right

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            left, right = ctx.saved_tensors
            return gradient * right, factor * gradient * left

    return Product


def test_a_wrong_backward_is_named(lib: Any) -> None:
    inputs = lib.randn(3), lib.randn(3)
    assert doctor.check_backward(product(lib, 1.0), *inputs).ok
    seen = doctor.check_backward(product(lib, 2.0), *inputs)
    assert not seen.ok
    worst = seen.worst
    assert worst is not None
    assert worst.name == "right"
    assert worst.analytic is not None
    assert worst.analytic == pytest.approx(2 * worst.numeric, rel=1e-5)
    assert seen["left"].passed
    assert "the gradient of right[" in seen.problems[0]
    assert "WRONG" in str(seen)


def test_wrong_backward_inside_a_module_names_the_parameter(lib: Any) -> None:
    wrong = product(lib, 0.5)

    class Scale(lib.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.gain = lib.nn.Parameter(lib.ones(3))

        def forward(self, x: Any) -> Any:
            return wrong.apply(x, self.gain)

    model = Scale()
    seen = doctor.check_backward(model, lib.randn(3))
    assert [each.name for each in seen.slopes if not each.passed] == ["gain"]
    assert model.gain.dtype == lib.float32
    assert model.gain.grad is None


def test_sound_functions_pass_kinks_included(lib: Any) -> None:
    functional = lib.nn.functional
    held = lib.randn(4, 4)  # float32, so the whole check runs in float32
    assert doctor.check_backward(lambda a: functional.relu(a), lib.zeros(4)).ok
    assert doctor.check_backward(lambda a: functional.gelu(a @ held), lib.randn(2, 4)).ok
    assert doctor.check_backward(classifier(lib), lib.randn(8, 4)).ok
    names = [
        each.name for each in doctor.check_backward(lambda first: first.exp(), lib.ones(2)).slopes
    ]
    assert names == ["first"]


def test_a_cut_graph_is_a_wrong_gradient(lib: Any) -> None:
    seen = doctor.check_backward(lambda a, b: a * b.detach(), lib.ones(2), lib.ones(2))
    assert seen["b"].analytic is None
    assert "gives no gradient" in seen.problems[0]


def test_nothing_to_check() -> None:
    with pytest.raises(TypeError, match="cause: there is no tensor to differentiate for"):
        doctor.check_backward(math.sin, 1.0)


# --- overfit_one_batch ----------------------------------------------------------------------------


def test_a_sound_model_learns_a_batch_by_heart(lib: Any) -> None:
    model, data = classifier(lib), batch(lib)
    before = [each.clone() for each in model.parameters()]
    seen = doctor.overfit_one_batch(model, data, lib.nn.functional.cross_entropy)
    assert seen.ok, str(seen)
    assert seen.error is not None
    assert seen.error <= 0.05
    assert seen.samples == 16
    assert all(bool((a == b).all()) for a, b in zip(model.parameters(), before))


def test_regression(lib: Any) -> None:
    nn = lib.nn
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    data = lib.randn(16, 4), lib.randn(16, 1)
    seen = doctor.overfit_one_batch(model, data, nn.functional.mse_loss)
    assert seen.ok
    assert seen.error is None
    assert seen.losses[-1] < 0.1 * seen.losses[0]


def test_what_stands_in_the_way(lib: Any) -> None:
    functional, model, data = lib.nn.functional, classifier(lib), batch(lib)

    def crawling(parameters: Any) -> Any:
        return lib.optim.SGD(parameters, lr=1e-7)

    seen = doctor.overfit_one_batch(model, data, functional.cross_entropy, crawling, steps=60)
    assert not seen.ok
    assert "samples are still wrong after 60 steps" in seen.problems[0]
    assert len(seen.problems) > 1
    same = lib.ones(16, 4), lib.arange(16) % 3
    seen = doctor.overfit_one_batch(model, same, functional.cross_entropy, steps=20)
    assert "samples 0 and 1 are equal and have different targets" in seen.problems


def test_the_optimizer_of_the_model_is_taken_as_a_pattern(lib: Any) -> None:
    model, data = classifier(lib), batch(lib)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.3, momentum=0.9, weight_decay=10.0)
    seen = doctor.overfit_one_batch(
        model, data, lib.nn.functional.cross_entropy, optimizer, steps=150
    )
    assert seen.ok, str(seen)
    with pytest.raises(TypeError, match="neither an optimizer nor a function"):
        doctor.overfit_one_batch(model, data, lib.nn.functional.cross_entropy, 3)
    with pytest.raises(ValueError, match="steps and samples are 1 or more"):
        doctor.overfit_one_batch(model, data, lib.nn.functional.cross_entropy, steps=0)


# --- check_init -----------------------------------------------------------------------------------


def test_a_fresh_model_starts_at_chance(lib: Any) -> None:
    seen = doctor.check_init(classifier(lib), batch(lib), lib.nn.functional.cross_entropy)
    assert seen.ok, str(seen)
    assert seen.chance == pytest.approx(math.log(3))
    assert [each.kind for each in seen.layers][:2] == ["Linear", "ReLU"]
    assert "chance log(3) = 1.1" in str(seen)


def test_a_confident_start(lib: Any) -> None:
    model = classifier(lib)
    with lib.no_grad():
        model[4].weight.mul_(100.0)
    seen = doctor.check_init(model, batch(lib), lib.nn.functional.cross_entropy)
    assert "sure of wrong answers" in seen.problems[0]


def test_dead_saturated_exploding_and_equal_units(lib: Any) -> None:
    nn, data = lib.nn, batch(lib)
    cross_entropy = nn.functional.cross_entropy

    def problems(layer: Any, change: Any) -> str:
        model = nn.Sequential(nn.Linear(4, 16), layer, nn.Linear(16, 3))
        with lib.no_grad():
            change(model)
        return " ".join(doctor.check_init(model, data, cross_entropy).problems)

    def small(model: Any) -> None:
        model[0].weight.mul_(1e-7)
        model[0].bias.zero_()

    dead = problems(nn.ReLU(), lambda model: model[0].bias.fill_(-100.0))
    assert "100% of the units of 1 (ReLU) are dead at the start" in dead
    assert "of the values of 1 (Tanh) are saturated" in problems(
        nn.Tanh(), lambda model: model[0].weight.mul_(100.0)
    )
    assert "they explode" in problems(nn.ReLU(), lambda model: model[0].weight.mul_(1e6))
    assert "they vanish" in problems(nn.ReLU(), small)

    def equal(model: Any) -> None:
        for each in model.parameters():
            each.fill_(0.1)

    assert "the 16 units of 0.weight have the same weights" in problems(nn.Tanh(), equal)


def test_a_last_layer_of_zeros_is_fine(lib: Any) -> None:
    model = classifier(lib)
    with lib.no_grad():
        model[4].weight.zero_()
        model[4].bias.zero_()
    assert doctor.check_init(model, batch(lib), lib.nn.functional.cross_entropy).ok


def test_targets_on_another_scale(lib: Any) -> None:
    data = lib.randn(16, 4), 1000.0 + 300.0 * lib.randn(16, 1)
    seen = doctor.check_init(lib.nn.Linear(4, 1), data, lib.nn.functional.mse_loss)
    assert "scale them to about 1" in seen.problems[0]


# --- the package ----------------------------------------------------------------------------------


def test_the_table_of_rules_is_the_table_and_not_the_package() -> None:
    load()
    assert doctor.rules["missing-zero-grad"].severity == 2
