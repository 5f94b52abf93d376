"""functional_call and stack_module_state, with modules written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.func.both import t
from whygrad import func


class Module:
    """The least that a module has to offer."""

    training = True

    def _named(self, buffers: bool, remove_duplicate: bool) -> Iterator[tuple[str, wg.Tensor]]:
        seen: set[int] = set()
        for name, value in vars(self).items():
            if isinstance(value, Module):
                inner = value._named(buffers, remove_duplicate)
                found = [(f"{name}.{path}", each) for path, each in inner]
            elif isinstance(value, wg.Tensor) and name.startswith("running") is buffers:
                found = [(name, value)]
            else:
                continue
            for path, each in found:
                if not (remove_duplicate and id(each) in seen):
                    seen.add(id(each))
                    yield path, each

    def named_parameters(self, remove_duplicate: bool = True) -> Iterator[tuple[str, wg.Tensor]]:
        return self._named(False, remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterator[tuple[str, wg.Tensor]]:
        return self._named(True, remove_duplicate)


class Linear(Module):
    def __init__(self, fan_in: int, fan_out: int, seed: int) -> None:
        self.weight = t(fan_out, fan_in, seed=seed).requires_grad_()
        self.bias = t(fan_out, seed=seed + 1).requires_grad_()

    def __call__(self, x: wg.Tensor) -> wg.Tensor:
        return self.weight @ x + self.bias


class Network(Module):
    def __init__(self, seed: int = 0) -> None:
        self.first = Linear(3, 4, seed)
        self.second = Linear(4, 2, seed + 10)
        self.running_count = wg.zeros(())

    def __call__(self, x: wg.Tensor, scale: float = 1.0) -> wg.Tensor:
        self.running_count = self.running_count + 1
        return self.second(self.first(x).tanh()) * scale


class Tied(Module):
    def __init__(self) -> None:
        self.encoder = t(3, 3).requires_grad_()
        self.decoder = self.encoder

    def __call__(self, x: wg.Tensor) -> wg.Tensor:
        return self.decoder @ (self.encoder @ x)


class WithTables(Module):
    """Keeps its tensors in PyTorch's dicts, and refuses to have them set as attributes."""

    def __init__(self) -> None:
        self.__dict__["_parameters"] = {"weight": t(3)}
        self.__dict__["_buffers"] = {"mean": t(3)}

    def __getattr__(self, name: str) -> Any:
        for kept in (self._parameters, self._buffers):
            if name in kept:
                return kept[name]
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise TypeError("assign a Parameter")

    def named_parameters(self, remove_duplicate: bool = True) -> Any:
        return iter(self._parameters.items())

    def named_buffers(self, remove_duplicate: bool = True) -> Any:
        return iter(self._buffers.items())

    def __call__(self, x: wg.Tensor) -> wg.Tensor:
        return self.weight * x + self.mean


def assert_same_tensors(model: Any, before: dict[str, wg.Tensor]) -> None:
    after = dict(model.named_parameters())
    assert all(after[name] is tensor for name, tensor in before.items())


def test_other_parameters_for_one_call() -> None:
    model, other, x = Network(), Network(seed=5), t(3)
    before = dict(model.named_parameters())
    found = func.functional_call(model, dict(other.named_parameters()), x)
    np.testing.assert_array_equal(found.detach().numpy(), other(x).detach().numpy())
    assert_same_tensors(model, before)


def test_arguments() -> None:
    model, x = Network(), t(3)
    wanted = model(x, scale=2.0).detach().numpy()
    for args, kwargs in [(x, {"scale": 2.0}), ((x,), {"scale": 2.0}), ((x, 2.0), None)]:
        found = func.functional_call(model, {}, args, kwargs)
        np.testing.assert_array_equal(found.detach().numpy(), wanted)
    split = (dict(model.named_parameters()), dict(model.named_buffers()))
    assert func.functional_call(model, split, x).shape == (2,)


def test_replaced_buffers_go_into_the_dict() -> None:
    model = Network()
    buffers = {"running_count": wg.tensor(41.0)}
    func.functional_call(model, buffers, t(3))
    assert buffers["running_count"].item() == 42
    assert model.running_count.item() == 0


def test_restored_after_an_error() -> None:
    model = Network()
    before = dict(model.named_parameters())
    with pytest.raises(RuntimeError):
        func.functional_call(model, {"first.weight": t(7, 7), "extra": t(1)}, t(3))
    assert_same_tensors(model, before)
    assert not hasattr(model, "extra")
    with pytest.raises(AttributeError):
        func.functional_call(model, {"first.weight": t(7, 7), "third.weight": t(1)}, t(3))
    assert_same_tensors(model, before)


def test_tied_weights() -> None:
    model, x, new = Tied(), t(3), t(3, 3, seed=3)
    wanted = (new @ (new @ x)).numpy()
    for given in ({"encoder": new}, {"decoder": new}, {"encoder": new, "decoder": new}):
        found = func.functional_call(model, given, x)
        np.testing.assert_allclose(found.numpy(), wanted)
    half = func.functional_call(model, {"encoder": new}, x, tie_weights=False)
    np.testing.assert_allclose(half.detach().numpy(), (model.decoder @ (new @ x)).detach().numpy())
    slope = func.grad(lambda p: func.functional_call(model, p, x).sum())({"encoder": new})
    assert slope["encoder"].shape == (3, 3)


def test_modules_that_keep_tables() -> None:
    model, x = WithTables(), t(3)
    found = func.functional_call(model, {"weight": x, "mean": x}, x)
    np.testing.assert_allclose(found.numpy(), (x * x + x).numpy())
    np.testing.assert_array_equal(model.weight.numpy(), t(3).numpy())


def test_per_sample_gradients_of_a_module() -> None:
    model, x, y = Network(), t(5, 3, seed=3), t(5, 2, seed=4)

    def loss(parameters: Any, x: wg.Tensor, y: wg.Tensor) -> wg.Tensor:
        return ((func.functional_call(model, parameters, x) - y) ** 2).sum()

    parameters = {name: each.detach() for name, each in model.named_parameters()}
    found = func.vmap(func.grad(loss), (None, 0, 0))(parameters, x, y)
    for number in range(5):
        single = func.grad(loss)(parameters, x[number], y[number])
        for name, slope in single.items():
            np.testing.assert_allclose(found[name][number].numpy(), slope.numpy(), 1e-12)


def test_ensemble() -> None:
    models, x = [Network(seed) for seed in range(3)], t(3)
    parameters, buffers = func.stack_module_state(models)
    assert parameters["first.weight"].shape == (3, 4, 3)
    assert parameters["first.weight"].is_leaf
    assert parameters["first.weight"].requires_grad
    assert buffers["running_count"].shape == (3,)
    assert not buffers["running_count"].requires_grad

    def call(parameters: Any, buffers: Any, x: wg.Tensor) -> wg.Tensor:
        return func.functional_call(models[0], (parameters, buffers), (x,))

    found = func.vmap(call, (0, 0, None))(parameters, buffers, x)
    for row, model in zip(found, models, strict=True):
        np.testing.assert_allclose(row.detach().numpy(), model(x).detach().numpy())


def mixed_mode() -> list[Network]:
    models = [Network(), Network()]
    models[1].training = False
    return models


def mixed_requirements() -> list[Network]:
    models = [Network(), Network()]
    models[1].first.bias.requires_grad_(False)
    return models


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: func.functional_call(Network(), 3, t(3)), ValueError, "to be a dict, or a list"),
        (lambda: func.functional_call(Network(), [3], t(3)), ValueError, "to be a dict, or a list"),
        (
            lambda: func.functional_call(Network(), ({"a": t(3)}, {"a": t(3)}), t(3)),
            ValueError,
            "appeared in multiple dictionaries",
        ),
        (
            lambda: func.functional_call(Tied(), {"encoder": t(3, 3), "decoder": t(3, 3)}, t(3)),
            ValueError,
            "tie_weights=False",
        ),
        (
            lambda: func.functional_call(Tied(), {"other": t(3, 3)}, t(3), strict=True),
            RuntimeError,
            r"Unexpected key\(s\): \['other'\]; Missing key\(s\): \['encoder', 'decoder'\]",
        ),
        (
            lambda: func.functional_call(Network(), {"third.weight": t(3)}, t(3)),
            AttributeError,
            "Network has no attribute `third`",
        ),
        (lambda: func.stack_module_state([]), RuntimeError, "at least one model, got 0"),
        (lambda: func.stack_module_state([Network(), Tied()]), RuntimeError, "of the same class"),
        (lambda: func.stack_module_state(mixed_mode()), RuntimeError, "same training/eval mode"),
        (lambda: func.stack_module_state(mixed_requirements()), RuntimeError, "first.bias from"),
    ],
)
def test_what_it_says(call: Any, kind: type[Exception], phrase: str) -> None:
    with pytest.raises(kind, match=phrase) as caught:
        call()
    assert "fix:" in str(caught.value)
