"""Module hooks: order, arguments, replacing, gradients, and what happens when something raises."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import whygrad
from tests.nn.layers import refusal
from tests.nn.programs import agree, failure, networks, numbers, programs


def module_hooks(lib: Any) -> Any:
    """Where each library keeps the functions that register hooks for all modules."""
    if lib is whygrad:
        from whygrad.nn.modules.module import hooks

        return hooks
    return lib.nn.modules.module


def order_of_hooks(lib: Any) -> Any:
    log: list[str] = []

    def noting(name: str) -> Callable[..., None]:
        return lambda *_: log.append(name)

    m = lib.nn.Linear(2, 2).double()
    shared = module_hooks(lib)
    handles = [
        m.register_forward_hook(noting("after 1")),
        m.register_forward_hook(noting("after 2")),
        m.register_forward_hook(noting("after first"), prepend=True),
        m.register_forward_pre_hook(noting("before 1")),
        m.register_forward_pre_hook(noting("before first"), prepend=True),
        m.register_full_backward_hook(noting("backward 1")),
        m.register_full_backward_hook(noting("backward first"), prepend=True),
        m.register_full_backward_pre_hook(noting("backward pre 1")),
        m.register_full_backward_pre_hook(noting("backward pre first"), prepend=True),
        shared.register_module_forward_pre_hook(noting("all before")),
        shared.register_module_forward_hook(noting("all after")),
        shared.register_module_full_backward_hook(noting("all backward")),
        shared.register_module_full_backward_pre_hook(noting("all backward pre")),
    ]
    try:
        m(numbers(lib, 3, 2).requires_grad_()).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    log.append("removed")
    m(numbers(lib, 3, 2).requires_grad_()).sum().backward()
    return log


def nested_modules(lib: Any) -> Any:
    log: list[Any] = []
    m = networks(lib)
    for name, each in m.named_modules():
        each.register_forward_pre_hook(lambda mod, args, name=name: log.append(("pre", name)))
        each.register_forward_hook(lambda mod, args, out, name=name: log.append(("out", name)))
        each.register_full_backward_hook(
            lambda mod, gin, gout, name=name: log.append(("back", name, gin, gout))
        )
        each.register_full_backward_pre_hook(
            lambda mod, gout, name=name: log.append(("back pre", name, gout))
        )
    m(numbers(lib, 3, 3).requires_grad_()).sum().backward()
    return log


def arguments_replaced(lib: Any) -> Any:
    class M(lib.nn.Module):
        def forward(self, x: Any, y: Any = None, *, scale: float = 1.0) -> Any:
            return x * scale if y is None else (x + y) * scale

    log: list[Any] = []
    m = M()
    x = numbers(lib, 2)
    with m.register_forward_pre_hook(lambda mod, args: args[0] * 2):
        log.append(m(x))
    with m.register_forward_pre_hook(lambda mod, args: (args[0] * 2, args[0])):
        log.append(m(x))
    with m.register_forward_pre_hook(
        lambda mod, args, kwargs: (args, {"scale": 3.0}), with_kwargs=True
    ):
        log.append(m(x, scale=5.0))
    with m.register_forward_pre_hook(lambda mod, args, kwargs: args, with_kwargs=True):
        log.append(failure(lambda: m(x)))
    with m.register_forward_hook(
        lambda mod, args, kwargs, out: (out, kwargs["scale"]), with_kwargs=True
    ):
        log.append(m(x, scale=5.0))
    with m.register_forward_hook(lambda mod, args, out: {"result": out}):
        log.append(m(x))
    with m.register_forward_hook(lambda mod, args, out: None):
        log.append(m(x))
    log.append(m(x))
    return log


def kwargs_are_hidden_from_plain_hooks(lib: Any) -> Any:
    log: list[Any] = []
    m = lib.nn.Linear(2, 2).double()
    m.register_forward_pre_hook(lambda mod, args: log.append(len(args)))
    m.register_forward_hook(lambda mod, args, out: log.append(len(args)))
    m(input=numbers(lib, 2))
    return log


class Result(NamedTuple):
    first: Any
    second: Any


class Pair:
    """Two inputs, two outputs, something else in between."""

    @staticmethod
    def of(lib: Any) -> Any:
        class Both(lib.nn.Module):
            def forward(self, x: Any, label: str, y: Any = None) -> Any:
                if y is None:
                    return {"double": x * 2, "label": label}
                return x * y, label, (x + y, None)

        return Both()


def several_inputs_and_outputs(lib: Any) -> Any:
    log: list[Any] = []
    m = Pair.of(lib)
    m.register_full_backward_hook(lambda mod, gin, gout: log.append(("back", gin, gout)))
    m.register_full_backward_pre_hook(lambda mod, gout: log.append(("pre", gout)))
    x, y = numbers(lib, 2).requires_grad_(), numbers(lib, 2, seed=1).requires_grad_()
    product, _, (total, _) = m(x, "label", y)
    product.sum().backward()
    (m(x, "label", y)[2][0] * 3).sum().backward()
    product, _, (total, _) = m(x, "label", y)
    (product * total).sum().backward()
    return [log, x.grad, y.grad]


def outputs_in_a_dictionary_are_not_seen(lib: Any) -> Any:
    """PyTorch passes over dictionaries here; a gradient arrives all the same."""
    m = Pair.of(lib)
    x = numbers(lib, 2).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m.register_full_backward_hook(lambda mod, gin, gout: None)
        m(x, "label")["double"].sum().backward()
    return x.grad


def gradients_replaced(lib: Any) -> Any:
    log: list[Any] = []
    for replace in ("input", "output", "both"):
        m = networks(lib)
        x = numbers(lib, 3, 3).requires_grad_()
        if replace != "output":
            m[2].register_full_backward_hook(lambda mod, gin, gout: (gin[0] * 10,))
        if replace != "input":
            m[2].register_full_backward_pre_hook(lambda mod, gout: (gout[0] * 100,))
        m(x).sum().backward()
        log.append([x.grad, *(each.grad for each in m.parameters())])
    return log


def wrong_number_of_gradients(lib: Any) -> Any:
    log = []
    for hook in (lambda *_: (None, None), lambda *_: ()):
        m = lib.nn.Tanh()
        m.register_full_backward_hook(hook)
        log.append(failure(lambda m=m: m(numbers(lib, 3).requires_grad_()).sum().backward()))
        m = lib.nn.Tanh()
        m.register_full_backward_pre_hook(hook)
        log.append(failure(lambda m=m: m(numbers(lib, 3).requires_grad_()).sum().backward()))
    return log


def inputs_without_gradient(lib: Any) -> Any:
    log: list[Any] = []
    m = networks(lib)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m[0].register_full_backward_hook(lambda mod, gin, gout: log.append(("first", gin, gout)))
        m[2].register_full_backward_hook(lambda mod, gin, gout: log.append(("last", gin, gout)))
        m(numbers(lib, 3, 3)).sum().backward()
        with lib.no_grad():
            m(numbers(lib, 3, 3))
    return log


def gradients_for_nobody(lib: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = lib.nn.Linear(2, 2).double()
        m.register_full_backward_hook(lambda mod, gin, gout: (numbers(lib, 1, 2),))
        refused = failure(lambda: m(numbers(lib, 1, 2)).sum().backward())
        m = lib.nn.Linear(2, 2).double()
        m.register_full_backward_hook(lambda mod, gin, gout: (None,))
        return [refused, failure(lambda: m(numbers(lib, 1, 2)).sum().backward())]


def named_tuples_stay_what_they_are(lib: Any) -> Any:
    class Named(lib.nn.Module):
        def forward(self, x: Any) -> Any:
            return Result(x * 2, x * 3)

    log: list[Any] = []
    m = Named()
    m.register_full_backward_hook(lambda mod, gin, gout: log.append((gin, gout)))
    result = m(numbers(lib, 2).requires_grad_())
    result.second.sum().backward()
    return [type(result).__name__, log]


def same_input_twice(lib: Any) -> Any:
    log: list[Any] = []
    m = Pair.of(lib)
    m.register_full_backward_hook(lambda mod, gin, gout: log.append((gin, gout)))
    x = numbers(lib, 2).requires_grad_()
    m(x, "label", x)[0].sum().backward()
    return [log, x.grad]


def twice_through_one_module(lib: Any) -> Any:
    log: list[Any] = []
    m = lib.nn.Linear(2, 2).double()
    with lib.no_grad():
        m.weight.copy_(numbers(lib, 2, 2, seed=4))
        m.bias.zero_()
    m.register_full_backward_hook(lambda mod, gin, gout: log.append((gin, gout)))
    m(m(numbers(lib, 1, 2).requires_grad_())).sum().backward()
    return log


def backward_twice(lib: Any) -> Any:
    log: list[Any] = []
    m = lib.nn.Tanh()
    m.register_full_backward_hook(lambda mod, gin, gout: log.append((gin, gout)))
    y = m(numbers(lib, 2).requires_grad_())
    y.sum().backward(retain_graph=True)
    (y * 2).sum().backward()
    return log


def gradients_of_gradients(lib: Any) -> Any:
    log: list[Any] = []
    m = lib.nn.Tanh()
    m.register_full_backward_hook(lambda mod, gin, gout: log.append(len(gin)))
    x = numbers(lib, 2).requires_grad_()
    (first,) = lib.autograd.grad(m(x).sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), x)
    return [first, second, log]


def a_hook_that_is_always_called(lib: Any) -> Any:
    log: list[Any] = []

    class Failing(lib.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("no")

    m = Failing()
    m.register_forward_hook(lambda mod, args, out: log.append(("usual", out)))
    m.register_forward_hook(
        lambda mod, args, out: log.append(("always", len(args), out)), always_call=True
    )
    log.append(failure(lambda: m(1)))
    good = lib.nn.ReLU()
    good.register_forward_hook(lambda mod, args, out: log.append("ran"), always_call=True)
    good(lib.ones(1))
    return log


def a_hook_that_raises_stops_the_others(lib: Any) -> Any:
    log: list[Any] = []

    def failing(*_: Any) -> None:
        raise ValueError("no")

    m = lib.nn.ReLU()
    m.register_forward_hook(failing)
    m.register_forward_hook(lambda *_: log.append("usual"))
    m.register_forward_hook(lambda *_: log.append("always"), always_call=True)
    log.append(failure(lambda: m(lib.ones(1))))
    other = lib.nn.ReLU()
    other.register_forward_pre_hook(failing)
    log.append(failure(lambda: other(lib.ones(1))))
    return log


def an_error_while_handling_an_error(lib: Any) -> Any:
    class Failing(lib.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("no")

    def failing(*_: Any) -> None:
        raise KeyError("also no")

    m = Failing()
    m.register_forward_hook(failing, always_call=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind = failure(lambda: m(1))
    return [kind, len(caught), "always_call=True" in str(caught[0].message)]


def hooks_removed_while_running(lib: Any) -> Any:
    log: list[Any] = []
    m = lib.nn.ReLU()

    def once(*_: Any) -> None:
        log.append("once")
        handle.remove()

    handle = m.register_forward_hook(once)
    m.register_forward_hook(lambda *_: log.append("every time"))
    m(lib.ones(1))
    m(lib.ones(1))
    return log


def copies_have_the_hooks_too(lib: Any) -> Any:
    import copy

    log: list[Any] = []
    m = lib.nn.ReLU()
    handle = m.register_forward_hook(lambda *_: log.append("hook"))
    twin = copy.deepcopy(m)
    handle.remove()
    m(lib.ones(1))
    log.append("twin")
    twin(lib.ones(1))
    return log


def global_hooks_see_every_module(lib: Any) -> Any:
    log: list[Any] = []
    m = networks(lib)
    shared = module_hooks(lib)
    with shared.register_module_forward_hook(
        lambda mod, args, out: log.append((type(mod).__name__, out.shape[-1]))
    ):
        m(numbers(lib, 2, 3))
    m(numbers(lib, 2, 3))
    with shared.register_module_forward_hook(
        lambda mod, args, kwargs, out: log.append(sorted(kwargs)), with_kwargs=True
    ):
        m[0](input=numbers(lib, 2, 3))
    with shared.register_module_forward_pre_hook(lambda mod, args: (args[0] * 0,)):
        log.append(m(numbers(lib, 2, 3)))
    return log


def checks_of_activation_statistics(lib: Any) -> Any:
    """What people write to see where signals die."""
    means: dict[str, float] = {}
    m = networks(lib)
    for name, each in m.named_modules():
        if not list(each.children()):
            each.register_forward_hook(
                lambda mod, args, out, name=name: means.update({name: out.mean().item()})
            )
    m(numbers(lib, 4, 3))
    return means


@programs(
    order_of_hooks,
    nested_modules,
    arguments_replaced,
    kwargs_are_hidden_from_plain_hooks,
    several_inputs_and_outputs,
    outputs_in_a_dictionary_are_not_seen,
    gradients_replaced,
    wrong_number_of_gradients,
    inputs_without_gradient,
    gradients_for_nobody,
    named_tuples_stay_what_they_are,
    same_input_twice,
    twice_through_one_module,
    backward_twice,
    gradients_of_gradients,
    a_hook_that_is_always_called,
    a_hook_that_raises_stops_the_others,
    an_error_while_handling_an_error,
    hooks_removed_while_running,
    copies_have_the_hooks_too,
    global_hooks_see_every_module,
    checks_of_activation_statistics,
)
def test_same_answers(program: Any) -> None:
    agree(program)


@pytest.mark.parametrize(
    ("register", "hook", "phrase"),
    [
        (
            "register_full_backward_hook",
            lambda *_: (None, None),
            "invalid number of grad_input, got 2, but expected 1",
        ),
        (
            "register_full_backward_pre_hook",
            lambda *_: (None, None),
            "invalid number of grad_output, got 2, but expected 1",
        ),
    ],
)
def test_refusals(register: str, hook: Any, phrase: str) -> None:
    def program(lib: Any) -> None:
        layer = lib.nn.Tanh()
        getattr(layer, register)(hook)
        layer(lib.ones(2, requires_grad=True)).sum().backward()

    refusal(program, phrase)


def test_a_single_gradient_may_be_returned_bare() -> None:
    layer, x = whygrad.nn.Tanh(), whygrad.zeros(3, requires_grad=True)
    layer.register_full_backward_hook(lambda mod, gin, gout: gin[0] * 10)
    layer.register_full_backward_pre_hook(lambda mod, gout: gout[0] * 10)
    layer(x).sum().backward()
    assert x.grad.tolist() == [100.0, 100.0, 100.0]


def test_a_tensor_without_gradient_has_none() -> None:
    """PyTorch passes zeros here; None says that nothing was computed."""
    seen: list[Any] = []
    layer = Pair.of(whygrad)
    layer.register_full_backward_hook(lambda mod, gin, gout: seen.append(gin))
    x = whygrad.ones(2, requires_grad=True)
    layer(x, "label", whygrad.ones(2))[0].sum().backward()
    assert seen[0][1:] == (None, None)


def test_gradients_of_inputs_that_need_none() -> None:
    def program(lib: Any) -> None:
        layer = lib.nn.Linear(2, 2)
        layer.register_full_backward_hook(lambda *_: (lib.ones(1, 2),))
        layer(lib.ones(1, 2)).sum().backward()

    refusal(program, "Backward hook for Modules where no input requires gradient")


def test_outputs_other_than_tuples_are_warned_about() -> None:
    class Listed(whygrad.nn.Module):
        def forward(self, x: Any) -> Any:
            return [x * 2]

    layer = Listed()
    layer.register_full_backward_hook(lambda *_: None)
    with pytest.warns(UserWarning, match="should be a Tensor or a tuple of Tensors"):
        layer(whygrad.ones(1, requires_grad=True))


def test_hooks_with_kwargs_return_both() -> None:
    def program(lib: Any) -> None:
        layer = lib.nn.Tanh()
        layer.register_forward_pre_hook(lambda mod, args, kwargs: 3, with_kwargs=True)
        layer(lib.ones(2))

    refusal(program, "must return None or a tuple of (new_args, new_kwargs), but got")


@pytest.mark.parametrize("kind", ["register_forward_hook", "register_full_backward_hook"])
def test_hooks_leave_no_cycles(kind: str) -> None:
    """A graph with hooks on the way is freed when the last reference goes."""
    layer = whygrad.nn.Tanh()
    getattr(layer, kind)(lambda *_: None)
    gc.collect()
    gc.disable()
    try:
        x = whygrad.ones(2, requires_grad=True)
        y = layer(x)
        watched = weakref.ref(y.grad_fn)
        y.sum().backward()
        del y, x
        assert watched() is None
    finally:
        gc.enable()


def test_a_module_without_hooks_calls_forward_only() -> None:
    layer = whygrad.nn.ReLU()
    handle = layer.register_forward_hook(lambda *_: None)
    handle.remove()
    assert layer(whygrad.ones(1)).tolist() == [1.0]
