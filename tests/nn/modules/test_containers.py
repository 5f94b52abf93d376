"""Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict beside PyTorch's."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import whygrad
from tests.nn.layers import refusal
from tests.nn.programs import agree, failure, numbers, programs


def layers(lib: Any, count: int = 3) -> list[Any]:
    return [lib.nn.Linear(1, each + 1) for each in range(count)]


def sizes(modules: Any) -> list[int]:
    """What tells the layers apart."""
    return [each.out_features for each in modules]


def sequential(lib: Any) -> Any:
    nn = lib.nn
    m = nn.Sequential(*layers(lib))
    log: list[Any] = [len(m), sizes(m), sizes([m[0], m[-1]]), sizes(m[1:]), sizes(m[::2])]
    log.append([name for name, _ in m[1:].named_children()])
    m[1] = nn.Linear(1, 9)
    m.append(nn.Linear(1, 10)).extend([nn.Linear(1, 11)])
    m.insert(1, nn.Linear(1, 12))
    m.insert(-1, nn.Linear(1, 14))
    log += [sizes(m), list(m._modules)]
    del m[0]
    log += [sizes(m), list(m._modules)]
    del m[1:3]
    log += [sizes(m), list(m._modules), sizes([m.pop(0)]), sizes(m), sizes([m.pop(-1)])]
    log += [sizes(m + nn.Sequential(nn.Linear(1, 20))), sizes(m * 2), sizes(2 * m)]
    m += nn.Sequential(nn.Linear(1, 21))
    log += [sizes(m), type(m + m).__name__, nn.Linear(1, 1) in m, m[0] in m]
    m *= 2
    log += [sizes(m), len(list(m.modules()))]
    return log


def named_sequential(lib: Any) -> Any:
    nn = lib.nn
    m = nn.Sequential(OrderedDict(first=nn.Linear(2, 3), act=nn.ReLU(), last=nn.Linear(3, 1)))
    log = [list(m.state_dict()), m.first is m[0], m[1:], m]
    m[1] = nn.Tanh()
    log += [m, type(m.act).__name__]
    del m[0]
    return [*log, list(m._modules)]


def sequential_refusals(lib: Any) -> Any:
    m = lib.nn.Sequential(*layers(lib))
    return [
        failure(lambda: m[3]),
        failure(lambda: m[-4]),
        failure(lambda: m["0"]),
        failure(lambda: m.__setitem__(5, lib.nn.ReLU())),
        failure(lambda: m.__delitem__(7)),
        failure(lambda: m.insert(9, lib.nn.ReLU())),
        failure(lambda: m.append(3)),
        failure(lambda: lib.nn.Sequential(3)),
        failure(lambda: m + lib.nn.ModuleList(layers(lib))),
        failure(lambda: m * 0),
        failure(lambda: m * 1.5),
        failure(lambda: m.pop(9)),
        failure(lambda: m.extend([3])),
        len(m),
    ]


def an_empty_sequential_is_the_identity(lib: Any) -> Any:
    m = lib.nn.Sequential()
    x = numbers(lib, 2)
    return [m(x) is x, len(m), bool(list(m)), repr(m), list(m.state_dict())]


def module_list(lib: Any) -> Any:
    nn = lib.nn
    m = nn.ModuleList(layers(lib))
    log: list[Any] = [len(m), sizes(m), sizes(m[1:]), type(m[1:]).__name__, m[-1] in m]
    m[0] = nn.Linear(1, 9)
    m.append(nn.Linear(1, 10)).extend(nn.ModuleList([nn.Linear(1, 11)]))
    m.insert(0, nn.Linear(1, 12))
    m += [nn.Linear(1, 13)]
    log += [sizes(m), sizes(m + nn.ModuleList([nn.Linear(1, 14)])), list(m.state_dict())]
    del m[1]
    del m[::2]
    log += [sizes(m), list(m._modules), sizes([m.pop(1)]), sizes(m), m]
    log += [failure(lambda: m[9]), failure(lambda: m.append(3)), failure(lambda: m(1))]
    log += [failure(lambda: m.extend(3)), "0" in dir(m)]
    log += [nn.ModuleList(), nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])]
    log.append([sizes([each]) for each in reversed(list(m))])
    return log


def module_dict(lib: Any) -> Any:
    nn = lib.nn
    m = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.Linear(1, 2)})
    m["c"] = nn.Linear(1, 3)
    m.update({"a": nn.Linear(1, 4), "d": nn.Linear(1, 5)})
    m.update([("e", nn.Linear(1, 6))])
    m.update(nn.ModuleDict({"f": nn.Linear(1, 7)}))
    m.update(OrderedDict(b=nn.Linear(1, 8)))
    log: list[Any] = [list(m), list(m.keys()), sizes(m.values()), [key for key, _ in m.items()]]
    log += [len(m), "a" in m, "z" in m, m["a"] is m.a, list(m.state_dict()), m]
    log += [sizes([m.pop("a")]), list(m)]
    del m["b"]
    log += [list(m), failure(lambda: m["z"]), failure(lambda: m.pop("z"))]
    log += [failure(lambda: m.__setitem__("x", 3)), failure(lambda: m.update(3))]
    log += [failure(lambda: m.__setitem__("a.b", nn.ReLU())), failure(lambda: m.update([1]))]
    m.clear()
    return [*log, len(m), m]


def parameter_list(lib: Any) -> Any:
    nn = lib.nn
    m = nn.ParameterList([nn.Parameter(numbers(lib, 1)), numbers(lib, 2)])
    m.append(numbers(lib, 3)).extend([nn.Parameter(numbers(lib, 4), requires_grad=False)])
    m += [numbers(lib, 5)]
    log: list[Any] = [len(m), [len(each) for each in m], list(m.state_dict())]
    log += [[type(each).__name__ for each in m], [each.requires_grad for each in m]]
    m[0] = numbers(lib, 7)
    log += [len(m[0]), len(m[-1]), [len(each) for each in m[1:3]], type(m[1:3]).__name__]
    log += [failure(lambda: m[9]), failure(lambda: m.extend(numbers(lib, 2))), "0" in dir(m)]
    log += [failure(lambda: m.extend(3)), failure(lambda: m.append("text")), m[-1]]
    log += [nn.ParameterList(), len(list(m.parameters()))]
    return [*log, nn.ParameterList([lib.ones(2, 3), lib.ones(())])]


def parameter_dict(lib: Any) -> Any:
    nn = lib.nn
    m = nn.ParameterDict({"b": numbers(lib, 2), "a": nn.Parameter(numbers(lib, 1))})
    m["c"] = numbers(lib, 3)
    m.update({"d": numbers(lib, 4)})
    m.update(nn.ParameterDict({"e": numbers(lib, 5)}))
    log: list[Any] = [list(m), list(m.keys()), [len(each) for each in m.values()], len(m)]
    log += [[key for key, _ in m.items()], "a" in m, "z" in m, list(m.state_dict())]
    log += [m.get("z"), m.get("z", 3), len(m.get("a")), type(m["b"]).__name__]
    log += [len(m.pop("a")), list(m), list(reversed(m)), m.setdefault("q", None)]
    log += [len(m.setdefault("b", numbers(lib, 9))), len(m.copy()), m.copy() is m]
    log += [m.popitem()[0], list(m | nn.ParameterDict({"z": numbers(lib, 1)}))]
    m |= {"y": numbers(lib, 2)}
    del m["b"]
    log += [list(m)]
    fresh = nn.ParameterDict().fromkeys(["u", "v"], numbers(lib, 1))
    log += [list(fresh), [type(each).__name__ for each in fresh.values()]]
    m.clear()
    return [*log, len(m), nn.ParameterDict({"a": lib.ones(2, 3)})]


def gradients_reach_all_of_them(lib: Any) -> Any:
    class Model(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scales = lib.nn.ParameterList([numbers(lib, 2, seed=each) for each in range(2)])
            self.shifts = lib.nn.ParameterDict({"x": numbers(lib, 2, seed=5)})
            self.steps = lib.nn.ModuleList([lib.nn.Tanh(), lib.nn.Sigmoid()])
            self.ends = lib.nn.ModuleDict({"relu": lib.nn.ReLU()})

        def forward(self, x: Any) -> Any:
            for step, scale in zip(self.steps, self.scales, strict=True):
                x = step(x * scale + self.shifts["x"])
            return self.ends["relu"](x)

    m = Model()
    m(numbers(lib, 3, 2)).sum().backward()
    return [m, {name: each.grad for name, each in m.named_parameters()}]


def copies(lib: Any) -> Any:
    nn = lib.nn
    m = nn.Sequential(
        nn.ModuleList([nn.Linear(1, 2)]),
        nn.ModuleDict({"a": nn.ReLU()}),
        nn.ParameterList([lib.ones(2)]),
        nn.ParameterDict({"p": lib.ones(1)}),
    )
    log = []
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m)), copy.copy(m)):
        log.append([twin, list(twin.state_dict()), len(twin[2]), list(twin[3])])
    return log


@programs(
    sequential,
    named_sequential,
    sequential_refusals,
    an_empty_sequential_is_the_identity,
    module_list,
    module_dict,
    parameter_list,
    parameter_dict,
    gradients_reach_all_of_them,
    copies,
)
def test_same_answers(program: Any) -> None:
    agree(program)


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.Sequential(3), "is not a Module subclass"),
        (lambda lib: lib.nn.Sequential() + lib.nn.ModuleList(), "only objects of Sequential class"),
        (lambda lib: lib.nn.ModuleDict({"a": 3}), "is not a Module subclass"),
        (
            lambda lib: lib.nn.ParameterList().extend(3),
            "ParameterList.extend should be called with",
        ),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


@pytest.mark.parametrize("times", [0, -1, 1.5])
def test_a_sequential_is_repeated_a_positive_number_of_times(times: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="positive number of repetitions"):
        whygrad.nn.Sequential(whygrad.nn.ReLU()) * times


@pytest.mark.parametrize("kind", ["Sequential", "ModuleList"])
def test_only_modules_are_inserted(kind: str) -> None:
    with pytest.raises(TypeError, match="is not a Module subclass"):
        getattr(whygrad.nn, kind)().insert(0, 3)


@pytest.mark.parametrize("kind", ["Sequential", "ModuleList"])
def test_positions_out_of_range(kind: str) -> None:
    made = getattr(whygrad.nn, kind)()
    with pytest.raises(IndexError, match="index 0 is out of range for 0 modules"):
        made[0]
    with pytest.raises(IndexError, match="index 3 is out of range"):
        made.insert(3, whygrad.nn.ReLU())
    with pytest.raises(IndexError, match="out of range for 1 parameters"):
        whygrad.nn.ParameterList([whygrad.ones(1)])[1]


def test_parameters_that_are_not_there() -> None:
    """A KeyError, as every dictionary raises; PyTorch's is an AttributeError."""
    with pytest.raises(KeyError):
        whygrad.nn.ParameterDict()["missing"]
    with pytest.raises(KeyError):
        whygrad.nn.ParameterDict().pop("missing")
