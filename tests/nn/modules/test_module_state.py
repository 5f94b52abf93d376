"""state_dict and load_state_dict: strict or not, assigned, hooked, extended; functional_call."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.nn.layers import refusal
from tests.nn.programs import agree, failure, networks, numbers, programs


def names_and_memory(lib: Any) -> Any:
    m = networks(lib)
    state = m.state_dict()
    shared = state["0.weight"].data_ptr() == m[0].weight.data_ptr()
    kept = m.state_dict(keep_vars=True)
    return [
        list(state),
        shared,
        state["0.weight"].requires_grad,
        kept["0.weight"] is m[0].weight,
        list(m.state_dict(prefix="net.")),
        isinstance(state, OrderedDict),
    ]


def into_a_given_dictionary(lib: Any) -> Any:
    m = networks(lib)
    there: OrderedDict[str, Any] = OrderedDict(before=1)
    back = m.state_dict(destination=there, prefix="a.")
    return [back is there, list(there)]


def copies_in_place(lib: Any) -> Any:
    m, other = networks(lib), networks(lib)
    with lib.no_grad():
        for parameter in other.parameters():
            parameter.mul_(2)
    weight = m[0].weight
    version = weight._version
    answer = m.load_state_dict(other.state_dict())
    return [
        m[0].weight is weight,
        weight._version > version,
        weight,
        weight.requires_grad,
        repr(answer),
        answer.missing_keys,
        answer.unexpected_keys,
    ]


def dtypes_are_kept(lib: Any) -> Any:
    m = lib.nn.Linear(2, 1)
    m.load_state_dict({"weight": lib.ones(1, 2).double(), "bias": lib.zeros(1).half()})
    return [m.weight, m.bias]


def not_strict(lib: Any) -> Any:
    m = networks(lib)
    state = m.state_dict()
    weight = state.pop("0.weight")
    state["unknown"] = weight
    answer = m.load_state_dict(state, strict=False)
    log = [failure(lambda: m.load_state_dict(state)), answer.missing_keys, answer.unexpected_keys]
    state["0.weight"] = lib.ones(7)
    return [*log, failure(lambda: m.load_state_dict(state, strict=False))]


def assigned(lib: Any) -> Any:
    m = lib.nn.BatchNorm1d(2)
    m.bias.requires_grad_(False)
    state = {
        "weight": lib.ones(2).double(),
        "bias": lib.nn.Parameter(lib.ones(2)),
        "running_mean": lib.ones(2),
        "running_var": lib.ones(2),
        "num_batches_tracked": lib.tensor(5),
    }
    m.load_state_dict(state, assign=True)
    return [
        m.weight,
        type(m.weight).__name__,
        m.bias is state["bias"],
        m.bias.requires_grad,
        m.running_mean is state["running_mean"],
        m.weight.data_ptr() == state["weight"].data_ptr(),
        m.num_batches_tracked.item(),
    ]


def shared_tensors(lib: Any) -> Any:
    m = lib.nn.Module()
    m.a = lib.nn.Linear(2, 2).double()
    m.b = m.a
    m.c = lib.nn.Linear(2, 2).double()
    m.c.weight = m.a.weight
    state = {name: numbers(lib, *each.shape, seed=3) for name, each in m.state_dict().items()}
    m.load_state_dict(state)
    return [list(m.state_dict()), m.c.weight is m.a.weight, m.a.weight]


def buffers_that_do_not_persist(lib: Any) -> Any:
    m = lib.nn.Module()
    m.register_buffer("kept", lib.ones(1))
    m.register_buffer("cache", lib.ones(1), persistent=False)
    m.register_buffer("empty", None)
    m.register_parameter("nothing", None)
    state = m.state_dict()
    return [list(state), repr(m.load_state_dict(state))]


def extra_state(lib: Any) -> Any:
    class Counting(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    m = lib.nn.Sequential(Counting(), Counting())
    m[1].count = 7
    state = copy.deepcopy(m.state_dict())
    m[1].count = 0
    m.load_state_dict(state)
    log = [list(state), m[1].count]
    del state["0._extra_state"]
    state["2._extra_state"] = 1
    answer = m.load_state_dict(state, strict=False)
    return [*log, answer.missing_keys, answer.unexpected_keys]


def hooks_around_saving(lib: Any) -> Any:
    log: list[Any] = []
    m = networks(lib)
    for name, each in m.named_modules():
        each.register_state_dict_pre_hook(
            lambda mod, prefix, keep, name=name: log.append(("pre", name, prefix, keep))
        )
        each.register_state_dict_post_hook(
            lambda mod, state, prefix, meta, name=name: log.append(
                ("post", name, prefix, len(state))
            )
        )

    def without_bias(mod: Any, state: Any, prefix: str, meta: Any) -> None:
        del state[prefix + "bias"]

    m[0].register_state_dict_post_hook(without_bias)
    names = list(m.state_dict())
    m[0].register_state_dict_post_hook(lambda *_: 3)
    return [names, log, failure(m.state_dict)]


def hooks_around_loading(lib: Any) -> Any:
    """Each kind in PyTorch's order; whygrad plans everything before it copies anything."""
    log: list[Any] = []
    after: list[Any] = []
    m = networks(lib)
    state = m.state_dict()

    def rename(
        mod: Any, state: Any, prefix: str, meta: Any, strict: bool,
        missing: Any, unexpected: Any, errors: Any,
    ) -> None:  # fmt: skip
        log.append((prefix, strict, len(state), list(missing), list(unexpected), list(errors)))
        if prefix + "old" in state:
            state[prefix + "weight"] = state.pop(prefix + "old")

    m[0].register_load_state_dict_pre_hook(rename)
    m[2][0].register_load_state_dict_pre_hook(rename)
    m[0].register_load_state_dict_post_hook(lambda mod, keys: after.append(("post", *keys)))
    m.register_load_state_dict_post_hook(lambda mod, keys: after.append(("post root", *keys)))
    state["0.old"] = state.pop("0.weight") * 2
    m.load_state_dict(state)
    return [log, after, m[0].weight, "0.old" in state]


def post_hooks_forgive(lib: Any) -> Any:
    m = networks(lib)
    state = m.state_dict()
    del state["0.bias"]

    def forgive(mod: Any, keys: Any) -> None:
        keys.missing_keys.clear()

    handle = m.register_load_state_dict_post_hook(forgive)
    state["0.weight"] = state["0.weight"] * 2
    forgiven = failure(lambda: m.load_state_dict(state))
    handle.remove()
    return [forgiven, m[0].weight, failure(lambda: m.load_state_dict(state))]


def subclass_renames_while_loading(lib: Any) -> Any:
    """The older way, by overriding ``_load_from_state_dict``."""

    class Renamed(lib.nn.Linear):
        def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
            if prefix + "kernel" in state_dict:
                state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            super()._load_from_state_dict(state_dict, prefix, *rest)

        def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "kernel"] = destination.pop(prefix + "weight")

    m = lib.nn.Sequential(Renamed(2, 2))
    return [list(m.state_dict()), repr(m.load_state_dict(m.state_dict()))]


def wrong_states(lib: Any) -> Any:
    m = networks(lib)
    good = m.state_dict()
    return [
        failure(lambda: m.load_state_dict([1])),
        failure(lambda: m.load_state_dict({})),
        failure(lambda: m.load_state_dict({**good, "0.weight": 3})),
        failure(lambda: m.load_state_dict({**good, "0.weight": lib.ones(3, 4)})),
        failure(lambda: m.load_state_dict({**good, "0.weight.more": lib.ones(1)})),
        failure(lambda: m.load_state_dict(good)),
    ]


def numbers_of_no_dimensions(lib: Any) -> Any:
    m = lib.nn.Module()
    m.scale = lib.nn.Parameter(lib.tensor(1.0))
    m.load_state_dict({"scale": lib.tensor([3.0])})
    return m.scale


def called_with_other_parameters(lib: Any) -> Any:
    call = lib.func.functional_call
    m = networks(lib)
    x = numbers(lib, 2, 3)
    own = m(x)
    other = {name: each.detach() * 2 for name, each in m.named_parameters()}
    leaf = other["0.weight"].requires_grad_()
    result = call(m, other, x)
    result.sum().backward()
    return [
        result,
        leaf.grad,
        m[0].weight.grad,
        (m(x) == own).all().item(),
        call(m, {"0.bias": lib.zeros(4).double()}, (x,)),
        call(m, ({"0.bias": lib.zeros(4).double()}, {"2.0.bias": lib.ones(2).double()}), x),
        failure(lambda: call(m, {"nothing": x}, x, strict=True)),
        failure(lambda: call(m, {"0.bias": x}, x, strict=True)),
    ]


def called_with_other_buffers(lib: Any) -> Any:
    m = lib.nn.BatchNorm1d(3).double()
    mine = {name: each.clone() for name, each in m.named_buffers()}
    parameters = {name: each.detach() for name, each in m.named_parameters()}
    y = lib.func.functional_call(m, (parameters, mine), numbers(lib, 4, 3))
    return [y, mine, dict(m.named_buffers())]


def gradients_by_transform(lib: Any) -> Any:
    m = networks(lib)
    parameters = {name: each.detach() for name, each in m.named_parameters()}
    x, y = numbers(lib, 5, 3), numbers(lib, 5, 2, seed=1)

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        return ((lib.func.functional_call(m, parameters, (x,)) - y) ** 2).mean()

    per_sample = lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))
    return [lib.func.grad(loss)(parameters, x, y), per_sample(parameters, x, y)]


def an_ensemble(lib: Any) -> Any:
    models = [networks(lib) for _ in range(3)]
    with lib.no_grad():
        models[1][0].weight.mul_(2)
    parameters, buffers = lib.func.stack_module_state(models)
    base = copy.deepcopy(models[0])

    def run(parameters: Any, buffers: Any, x: Any) -> Any:
        return lib.func.functional_call(base, (parameters, buffers), (x,))

    return [
        {name: tuple(each.shape) for name, each in parameters.items()},
        lib.func.vmap(run, in_dims=(0, 0, None))(parameters, buffers, numbers(lib, 2, 3)),
    ]


def tied_weights(lib: Any) -> Any:
    m = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Linear(2, 2)).double()
    with lib.no_grad():
        for parameter in m.parameters():
            parameter.copy_(numbers(lib, *parameter.shape))
    m[1].weight = m[0].weight
    x, call = numbers(lib, 1, 2), lib.func.functional_call
    other = numbers(lib, 2, 2, seed=5)
    return [
        call(m, {"0.weight": other}, x),
        call(m, {"1.weight": other}, x),
        call(m, {"0.weight": other}, x, tie_weights=False),
        failure(lambda: call(m, {"0.weight": other, "1.weight": other * 2}, x)),
    ]


@programs(
    names_and_memory,
    into_a_given_dictionary,
    copies_in_place,
    dtypes_are_kept,
    not_strict,
    assigned,
    shared_tensors,
    buffers_that_do_not_persist,
    extra_state,
    hooks_around_saving,
    hooks_around_loading,
    post_hooks_forgive,
    subclass_renames_while_loading,
    wrong_states,
    numbers_of_no_dimensions,
    called_with_other_parameters,
    called_with_other_buffers,
    gradients_by_transform,
    an_ensemble,
    tied_weights,
)
def test_same_answers(program: Any) -> None:
    agree(program)


@pytest.mark.parametrize(
    ("state", "phrase"),
    [
        ({}, 'Missing key(s) in state_dict: "weight", "bias".'),
        ({"weight": (1, 2), "bias": (1,), "x": (1,)}, 'Unexpected key(s) in state_dict: "x".'),
        ({"weight": (3,), "bias": (1,)}, "size mismatch for weight: copying a param with shape"),
    ],
)
def test_refusals(state: dict[str, Any], phrase: str) -> None:
    def program(lib: Any) -> None:
        given = {name: lib.ones(shape) for name, shape in state.items()}
        lib.nn.Linear(2, 1).load_state_dict(given)

    refusal(program, phrase)


def test_other_things_than_tensors_are_refused() -> None:
    def program(lib: Any) -> None:
        lib.nn.Linear(2, 1).load_state_dict({"weight": 3, "bias": lib.ones(1)})

    refusal(program, 'While copying the parameter named "weight"')


def test_other_things_than_dictionaries_are_refused() -> None:
    refusal(lambda lib: lib.nn.Linear(2, 1).load_state_dict([1]), "Expected state_dict to be dict-")


def test_hooks_after_loading_return_nothing() -> None:
    def program(lib: Any) -> None:
        layer = lib.nn.Linear(2, 1)
        layer.register_load_state_dict_post_hook(lambda mod, keys: 3)
        layer.load_state_dict(layer.state_dict())

    refusal(program, "are not expected to return new values")


def test_half_an_extra_state_is_refused() -> None:
    class Half(whygrad.nn.Module):
        def get_extra_state(self) -> Any:
            return 1

    with pytest.raises(RuntimeError, match="only one of get_extra_state and set_extra_state"):
        Half().set_extra_state(1)


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    model = networks(whygrad)
    before = [each.tolist() for each in model.parameters()]
    state = {name: whygrad.zeros_like(each) for name, each in model.state_dict().items()}
    state["2.0.bias"] = whygrad.zeros(9)
    with pytest.raises(RuntimeError, match=r"size mismatch for 2\.0\.bias"):
        model.load_state_dict(state)
    assert [each.tolist() for each in model.parameters()] == before


def test_functional_call_restores_after_an_error() -> None:
    model = networks(whygrad)
    weight = model[0].weight
    with pytest.raises(RuntimeError):
        whygrad.func.functional_call(
            model, {"0.weight": whygrad.ones(1, 1)}, whygrad.from_numpy(np.ones((2, 3)))
        )
    assert model[0].weight is weight
