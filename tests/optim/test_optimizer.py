"""What all optimizers share: groups, hooks, closures, repr, and what is refused."""

from __future__ import annotations

import copy
import importlib
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.optim.problems import LIBRARIES, Problem, optimizer_of
from whygrad.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    required,
)

EVERY_NAME = sorted(
    name
    for name in whygrad.optim.__all__
    if isinstance(getattr(whygrad.optim, name), type) and name != "Optimizer"
)
BOTH = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)


@pytest.mark.parametrize("name", EVERY_NAME)
def test_options_and_repr_are_those_of_pytorch(name: str) -> None:
    ours, theirs = (
        optimizer_of(library, name, Problem(library).parameters[:1])
        for library in LIBRARIES.values()
    )
    assert ours.defaults == theirs.defaults
    assert repr(ours) == repr(theirs)
    assert ours.state_dict()["param_groups"] == theirs.state_dict()["param_groups"]


@BOTH
def test_groups_have_their_own_options(library: Any) -> None:
    first, bias, second, scale = Problem(library).parameters
    optimizer = library.optim.SGD(
        [{"params": [first, second], "lr": 0.5}, {"params": bias, "weight_decay": 0.1}],
        lr=0.1,
        momentum=0.9,
    )
    optimizer.add_param_group({"params": [scale], "momentum": 0.0})
    saved = optimizer.state_dict()["param_groups"]
    assert [group["params"] for group in saved] == [[0, 1], [2], [3]]
    assert [group["lr"] for group in saved] == [0.5, 0.1, 0.1]
    assert [group["momentum"] for group in saved] == [0.9, 0.9, 0.0]
    assert [group["weight_decay"] for group in saved] == [0, 0.1, 0]


@BOTH
def test_named_parameters(library: Any) -> None:
    a, b = library.ones(2).requires_grad_(), library.ones(3).requires_grad_()
    optimizer = library.optim.Adam([("layer.weight", a), ("layer.bias", b)])
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == [
        "layer.weight",
        "layer.bias",
    ]
    with pytest.raises(ValueError, match="with/without names"):
        optimizer.add_param_group({"params": [library.ones(1).requires_grad_()]})


@BOTH
def test_a_closure_runs_with_gradients_on_and_gives_the_loss(library: Any) -> None:
    problem = Problem(library)
    optimizer = library.optim.SGD(problem.parameters, lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = problem.loss()
        loss.backward()
        return loss

    with library.no_grad():
        first = optimizer.step(closure)
        second = optimizer.step(closure)
    assert second.item() < first.item()
    assert optimizer.step() is None


@BOTH
def test_parameters_without_a_gradient_stay(library: Any) -> None:
    used, unused = library.ones(2).requires_grad_(), library.ones(2).requires_grad_()
    optimizer = library.optim.AdamW([used, unused], lr=0.1)
    used.sum().backward()
    optimizer.step()
    assert unused.tolist() == [1.0, 1.0]
    assert list(optimizer.state_dict()["state"]) == [0]


@BOTH
def test_zero_grad(library: Any) -> None:
    x = library.ones(2).requires_grad_()
    optimizer = library.optim.SGD([x], lr=0.1)
    (x * x).sum().backward(create_graph=False)
    kept = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is kept
    assert x.grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert x.grad is None
    optimizer.zero_grad()


def test_zero_grad_of_a_gradient_with_history() -> None:
    x = whygrad.ones(2).requires_grad_()
    (x * x * x).sum().backward(create_graph=True)
    assert x.grad is not None
    assert x.grad.requires_grad
    whygrad.optim.SGD([x]).zero_grad(set_to_none=False)
    assert not x.grad.requires_grad
    assert x.grad.tolist() == [0.0, 0.0]


@BOTH
def test_a_learning_rate_may_be_a_tensor(library: Any) -> None:
    for name in ("SGD", "AdamW"):
        rate, x = library.tensor(0.25), library.ones(2).requires_grad_()
        optimizer = optimizer_of(library, name, [x], lr=rate, weight_decay=0)
        x.sum().backward()
        optimizer.step()
        np.testing.assert_allclose(x.detach().numpy(), 0.75, rtol=1e-6)
        rate.fill_(0.0)
        optimizer.step()
        np.testing.assert_allclose(x.detach().numpy(), 0.75, rtol=1e-6)


# --- hooks ----------------------------------------------------------------------------------------


@BOTH
def test_hooks_run_in_order_around_each_step(library: Any) -> None:
    module = importlib.import_module(f"{library.__name__}.optim.optimizer")
    seen: list[str] = []

    def note(word: str) -> Callable[..., None]:
        return lambda optimizer, args, kwargs: seen.append(f"{word} {len(args)}")

    x = library.ones(2).requires_grad_()
    optimizer = library.optim.SGD([x], lr=0.1)
    handles = [
        optimizer.register_step_pre_hook(note("before")),
        optimizer.register_step_post_hook(note("after")),
        module.register_optimizer_step_pre_hook(note("before all")),
        module.register_optimizer_step_post_hook(note("after all")),
    ]
    optimizer.step(closure=lambda: seen.append("closure"))
    assert seen == ["before all 1", "before 1", "closure", "after 1", "after all 1"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 5


@BOTH
def test_a_hook_may_change_the_arguments(library: Any) -> None:
    x = library.ones(2).requires_grad_()
    optimizer = library.optim.SGD([x], lr=0.1)
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: ((*args, lambda: 7.0), kwargs))
    assert optimizer.step() == 7.0


def test_a_hook_that_returns_something_else() -> None:
    optimizer = whygrad.optim.SGD([whygrad.ones(1).requires_grad_()])
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwa"):
        optimizer.step()


class Halving(Optimizer):
    """An optimizer of one's own."""

    def __init__(self, params: Any) -> None:
        super().__init__(params, {"lr": required})

    def step(self, closure: Any = None) -> None:
        with whygrad.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    param.sub_(group["lr"] * param.grad)


class Verbose(whygrad.optim.SGD):
    def step(self, closure: Any = None) -> Any:
        return super().step(closure)


def test_own_optimizers_have_hooks_too() -> None:
    x = whygrad.ones(2).requires_grad_()
    for optimizer in (Halving([{"params": [x], "lr": 0.5}]), Verbose([x], lr=0.5)):
        seen: list[int] = []
        optimizer.register_step_post_hook(lambda *_, seen=seen: seen.append(1))
        (x * x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        assert seen == [1]
    with pytest.raises(ValueError, match="value of required optimization parameter lr"):
        Halving([x])
    assert repr(required) == "<required parameter>"


def test_an_optimizer_without_step() -> None:
    with pytest.raises(NotImplementedError, match="does not define step"):
        Optimizer([whygrad.ones(1)], {}).step()


def test_hooks_run_even_after_a_step_that_failed() -> None:
    optimizer = whygrad.optim.SGD([whygrad.ones(1).requires_grad_()])
    seen: list[int] = []
    with register_optimizer_step_pre_hook(lambda *_: seen.append(1)):
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                optimizer.step(lambda: 1 / 0)
    with register_optimizer_step_post_hook(lambda *_: seen.append(2)):
        optimizer.step()
    assert seen == [1, 1, 2]


def test_copies_and_pickles() -> None:
    problem = Problem(whygrad)
    optimizer = whygrad.optim.AdamW(problem.parameters, lr=0.1)
    optimizer.register_step_post_hook(lambda *_: None)
    problem.train(optimizer, 3)
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert twin.param_groups[0]["params"][0] is not problem.parameters[0]
        for param, own in zip(twin.param_groups[0]["params"], problem.parameters, strict=True):
            np.testing.assert_array_equal(param.detach().numpy(), own.detach().numpy())
            average = twin.state[param]["exp_avg"]
            np.testing.assert_array_equal(average.numpy(), optimizer.state[own]["exp_avg"].numpy())
        twin.step()


# --- refusals -------------------------------------------------------------------------------------


def _leaf(library: Any) -> Any:
    return library.ones(2).requires_grad_()


SHARED_REFUSALS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda lib: lib.optim.SGD(_leaf(lib), lr=0.1), "should be an iterable of Tensors or dicts"),
    (lambda lib: lib.optim.SGD([], lr=0.1), "optimizer got an empty parameter list"),
    (lambda lib: lib.optim.SGD([3], lr=0.1), "can only optimize Tensors, but one of the params is"),
    (lambda lib: lib.optim.SGD([_leaf(lib) * 2], lr=0.1), "can't optimize a non-leaf Tensor"),
    (lambda lib: lib.optim.SGD([{"params": {_leaf(lib)}}]), "organized in ordered collections"),
    (lambda lib: lib.optim.SGD([_leaf(lib)]).add_param_group(3), "param_group must be a dict"),
    (
        lambda lib: lib.optim.SGD([("a", _leaf(lib)), _leaf(lib)]),
        "Some param names are missing",
    ),
    (lambda lib: (p := _leaf(lib)) is None or lib.optim.SGD([{"params": p}, {"params": [p]}]),
     "some parameters appear in more than one parameter group"),
    (lambda lib: lib.optim.SGD([_leaf(lib)], lr=-0.1), "Invalid learning rate: -0.1"),
    (lambda lib: lib.optim.SGD([_leaf(lib)], lr=lib.ones(2)), "Tensor lr must be 1-element"),
    (lambda lib: lib.optim.SGD([_leaf(lib)], momentum=-1), "Invalid momentum value: -1"),
    (lambda lib: lib.optim.SGD([_leaf(lib)], weight_decay=-1), "Invalid weight_decay value: -1"),
    (
        lambda lib: lib.optim.SGD([_leaf(lib)], nesterov=True),
        "Nesterov momentum requires a momentum and zero dampening",
    ),
    (
        lambda lib: lib.optim.SGD([_leaf(lib)], foreach=True, fused=True),
        "`fused` and `foreach` cannot be `True` together",
    ),
    (lambda lib: lib.optim.Adam([_leaf(lib)], eps=-1), "Invalid epsilon value: -1"),
    (
        lambda lib: lib.optim.Adam([_leaf(lib)], betas=(1.0, 0.9)),
        "Invalid beta parameter at index 0: 1.0",
    ),
    (
        lambda lib: lib.optim.NAdam([_leaf(lib)], betas=(0.9, -1)),
        "Invalid beta parameter at index 1: -1",
    ),
    (
        lambda lib: lib.optim.NAdam([_leaf(lib)], momentum_decay=-1),
        "Invalid momentum_decay value: -1",
    ),
    (lambda lib: lib.optim.RMSprop([_leaf(lib)], alpha=-1), "Invalid alpha value: -1"),
    (lambda lib: lib.optim.Adagrad([_leaf(lib)], lr_decay=-1), "Invalid lr_decay value: -1"),
    (
        lambda lib: lib.optim.Adagrad([_leaf(lib)], initial_accumulator_value=-1),
        "Invalid initial_accumulator_value value: -1",
    ),
    (lambda lib: lib.optim.Adadelta([_leaf(lib)], rho=1.5), "Invalid rho value: 1.5"),
    (lambda lib: lib.optim.Rprop([_leaf(lib)], etas=(1.2, 0.5)), "Invalid eta values: 1.2, 0.5"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "phrase"), SHARED_REFUSALS, ids=[p for _, p in SHARED_REFUSALS])
def test_refused_as_in_pytorch(call: Callable[[Any], Any], phrase: str) -> None:
    with pytest.raises(Exception, match=re.escape(phrase)) as theirs:
        call(torch)
    with pytest.raises(type(theirs.value), match=re.escape(phrase)) as ours:
        call(whygrad)
    assert "fix:" in str(ours.value)


def test_a_refused_group_changes_nothing() -> None:
    p = _leaf(whygrad)
    optimizer = whygrad.optim.SGD([p])
    with pytest.raises(ValueError, match="more than one"):
        optimizer.add_param_group({"params": [_leaf(whygrad), p]})
    assert len(optimizer.param_groups) == 1


@BOTH
def test_duplicates_in_a_group_are_warned_about(library: Any) -> None:
    p = _leaf(library)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        library.optim.SGD([p, p], lr=0.1)


def test_differentiable_steps_are_refused() -> None:
    with pytest.raises(ValueError, match=r"not recorded[^\0]*fix:.*functional_call"):
        whygrad.optim.Adam([_leaf(whygrad)], differentiable=True)


def test_a_non_leaf_is_named_with_its_line() -> None:
    product = _leaf(whygrad) * 2
    with pytest.raises(ValueError, match=r"computed by MulBackward at .*product = _leaf"):
        whygrad.optim.SGD([product])
    product.retain_grad()
    whygrad.optim.SGD([product])
