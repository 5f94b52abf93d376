"""Module: attributes, registering, looking around, modes, conversion, copies."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.nn.layers import refusal
from tests.nn.programs import agree, failure, networks, numbers, programs


def attributes_move_between_kinds(lib: Any) -> Any:
    m, log = lib.nn.Module(), []

    def note() -> None:
        kinds = (m._parameters, m._buffers, m._modules)
        log.append([list(each) for each in kinds] + ["x" in m.__dict__])

    m.x = 3
    note()
    m.x = lib.nn.Parameter(lib.ones(2))
    note()
    m.x = None
    note()
    del m.x
    m.x = lib.nn.Linear(1, 1)
    note()
    m.x = lib.nn.Parameter(lib.ones(2))
    note()
    del m.x
    m.register_buffer("x", lib.ones(2))
    m.x = lib.nn.Linear(1, 1)
    note()
    m.x = None
    note()
    del m.x
    note()
    m.register_buffer("x", lib.ones(2), persistent=False)
    note()
    m.x = lib.zeros(3)
    note()
    log.append(sorted(m._non_persistent_buffers_set))
    m.x = None
    note()
    m.x = lib.nn.Parameter(lib.ones(1))
    note()
    log.append(sorted(m._non_persistent_buffers_set))
    m.x = None
    note()
    return log


def tensors_are_plain_attributes(lib: Any) -> Any:
    m = lib.nn.Module()
    m.x = lib.ones(2)
    return [list(m.state_dict()), "x" in m.__dict__]


def buffer_objects_register_themselves(lib: Any) -> Any:
    m = lib.nn.Module()
    m.a = lib.nn.Buffer(lib.ones(2))
    m.b = lib.nn.Buffer(lib.zeros(1), persistent=False)
    a = [list(m._buffers), list(m.state_dict()), m.a.requires_grad]
    m.a = lib.nn.Buffer(lib.ones(2), persistent=False)
    return [*a, list(m.state_dict())]


def wrong_kinds_are_refused(lib: Any) -> Any:
    m = lib.nn.Module()
    m.p, m.c = lib.nn.Parameter(lib.ones(1)), lib.nn.Linear(1, 1)
    m.register_buffer("b", lib.ones(1))
    leaf = lib.ones(1, requires_grad=True)
    return [
        failure(lambda: setattr(m, "p", lib.ones(1))),
        failure(lambda: setattr(m, "p", 3)),
        failure(lambda: setattr(m, "p", lib.nn.Linear(1, 1))),
        failure(lambda: setattr(m, "c", 3)),
        failure(lambda: setattr(m, "c", lib.ones(1))),
        failure(lambda: setattr(m, "b", 3)),
        failure(lambda: m.register_parameter("q", lib.ones(1))),
        failure(lambda: m.register_parameter("q", leaf * 2)),
        failure(lambda: m.register_parameter("q.r", None)),
        failure(lambda: m.register_parameter("", None)),
        failure(lambda: m.register_parameter(3, None)),
        failure(lambda: m.register_parameter("forward", None)),
        failure(lambda: m.register_parameter("b", None)),
        failure(lambda: m.register_buffer("p", lib.ones(1))),
        failure(lambda: m.register_buffer("c", lib.ones(1))),
        failure(lambda: m.register_buffer("d", 3)),
        failure(lambda: m.register_buffer("d.e", None)),
        failure(lambda: m.register_buffer("b", lib.ones(2))),
        failure(lambda: m.add_module("p", lib.nn.Linear(1, 1))),
        failure(lambda: m.add_module("x", 3)),
        failure(lambda: m.add_module("x.y", lib.nn.Linear(1, 1))),
        failure(lambda: m.add_module("", lib.nn.Linear(1, 1))),
        failure(lambda: m.add_module("c", lib.nn.Linear(1, 1))),
        failure(lambda: m.add_module("none", None)),
        failure(lambda: m.nothing),
        failure(lambda: delattr(m, "nothing")),
        failure(lambda: m()),
        failure(lambda: m.train("yes")),
    ]


def nothing_before_init(lib: Any) -> Any:
    class Late(lib.nn.Module):
        def __init__(self, value: Any) -> None:
            self.value = value
            super().__init__()

    kinds = [lib.nn.Parameter(lib.ones(1)), lib.nn.Linear(1, 1), lib.ones(1), 3]
    return [failure(lambda each=each: Late(each)) for each in kinds]


def class_attributes_and_properties(lib: Any) -> Any:
    class M(lib.nn.Module):
        scale = 2.0

        def __init__(self) -> None:
            super().__init__()
            self._weight = lib.nn.Parameter(lib.ones(1))

        @property
        def weight(self) -> Any:
            return self._weight * self.scale

        @weight.setter
        def weight(self, value: Any) -> None:
            self._weight = lib.nn.Parameter(value)

    m = M()
    first = m.weight.tolist()
    m.weight = lib.ones(1) * 5
    return [first, m.weight.tolist(), list(m._parameters), failure(lambda: m.missing)]


def shared_parameters_and_modules_count_once(lib: Any) -> Any:
    m = lib.nn.Module()
    m.a = lib.nn.Linear(2, 2)
    m.b = m.a
    m.c = lib.nn.Linear(2, 2)
    m.c.weight = m.a.weight
    m.register_buffer("x", lib.ones(1))
    m.register_buffer("y", m.x)
    return [
        [name for name, _ in m.named_parameters()],
        [name for name, _ in m.named_parameters(remove_duplicate=False)],
        [name for name, _ in m.named_parameters(prefix="p", recurse=False)],
        [name for name, _ in m.named_parameters(prefix="p")],
        [name for name, _ in m.named_buffers()],
        [name for name, _ in m.named_buffers(remove_duplicate=False)],
        [name for name, _ in m.named_modules()],
        [name for name, _ in m.named_modules(remove_duplicate=False)],
        [name for name, _ in m.named_modules(prefix="p")],
        [name for name, _ in m.named_children()],
        len(list(m.children())),
        len(list(m.modules())),
        list(m.state_dict()),
    ]


def order_of_everything(lib: Any) -> Any:
    class Block(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = lib.nn.Linear(2, 2)
            self.scale = lib.nn.Parameter(lib.ones(1))
            self.norm = lib.nn.BatchNorm1d(2)
            self.register_buffer("offset", lib.ones(1))
            self.register_parameter("nothing", None)

    m = lib.nn.Sequential(Block(), lib.nn.ReLU(), Block())
    seen: list[str] = []
    m.apply(lambda module: seen.append(type(module).__name__))
    return [
        [name for name, _ in m.named_parameters()],
        [name for name, _ in m.named_buffers()],
        [name for name, _ in m.named_modules()],
        list(m.state_dict()),
        seen,
        repr(m),
        repr(m[0]),
    ]


def paths(lib: Any) -> Any:
    m = networks(lib)
    return [
        m.get_submodule("2.0"),
        m.get_submodule("") is m,
        tuple(m.get_parameter("2.0.weight").shape),
        failure(lambda: m.get_submodule("3")),
        failure(lambda: m.get_submodule("0.weight")),
        failure(lambda: m.get_parameter("0.nothing")),
        failure(lambda: m.get_parameter("0.in_features")),
        failure(lambda: m.get_buffer("0.weight")),
        failure(lambda: m.get_parameter("5.weight")),
    ]


def set_submodule(lib: Any) -> Any:
    m = networks(lib)
    relu = lib.nn.ReLU()
    m.set_submodule("2.0", relu)
    m.set_submodule("0.new", relu)
    return [
        m,
        m.get_submodule("2.0") is relu,
        failure(lambda: m.set_submodule("", relu)),
        failure(lambda: m.set_submodule("0", 3)),
        failure(lambda: m.set_submodule("0.weight", relu)),
        failure(lambda: m.set_submodule("0.nothing.here", relu)),
        failure(lambda: m.set_submodule("5", relu, strict=True)),
        failure(lambda: m.set_submodule("5", relu)),
        m,
    ]


def empty_containers_are_modules_too(lib: Any) -> Any:
    m = lib.nn.Module()
    m.skip, m.rest, m.none = lib.nn.Sequential(), lib.nn.ModuleList(), None
    m.eval()
    return [[name for name, _ in m.named_modules()], m.skip.training, m.rest.training, repr(m)]


def modes(lib: Any) -> Any:
    m = networks(lib)
    log = [m.training, m.eval() is m, [each.training for each in m.modules()]]
    m[2].train()
    log.append([each.training for each in m.modules()])
    log.append(m.train().training)
    m.requires_grad_(False)
    log.append([each.requires_grad for each in m.parameters()])
    return log


def zero_grad(lib: Any) -> Any:
    m = networks(lib)
    m(numbers(lib, 5, 3)).sum().backward()
    m.zero_grad(set_to_none=False)
    log = [each.grad for each in m.parameters()]
    m.zero_grad()
    return [log, [each.grad for each in m.parameters()]]


def zero_grad_after_create_graph(lib: Any) -> Any:
    m = networks(lib)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the reference cycle that this makes
        (m(numbers(lib, 5, 3)) ** 2).sum().backward(create_graph=True)
    m.zero_grad(set_to_none=False)
    return [(each.grad, each.grad.grad_fn is None) for each in m.parameters()]


def training_steps(lib: Any) -> Any:
    m = networks(lib)
    losses = []
    for _ in range(5):
        m.zero_grad()
        loss = (m(numbers(lib, 6, 3)) ** 2).mean()
        loss.backward()
        with lib.no_grad():
            for parameter in m.parameters():
                parameter -= 0.1 * parameter.grad
        losses.append(loss.item())
    return [losses, dict(m.state_dict())]


def deepcopy_is_independent(lib: Any) -> Any:
    m = lib.nn.Module()
    m.net = networks(lib)
    m.tied = m.net[0]
    m.net(numbers(lib, 2, 3)).sum().backward()
    twin = copy.deepcopy(m)
    with lib.no_grad():
        twin.tied.weight.zero_()
    return [
        m.tied.weight,
        twin.tied.weight,
        twin.tied is twin.net[0],
        twin.tied.weight.grad,
        twin.tied.weight.is_leaf,
        [each.requires_grad for each in twin.parameters()],
        twin.training,
    ]


def pickle_keeps_everything(lib: Any) -> Any:
    m = networks(lib).eval()
    m.register_buffer("count", lib.tensor(3), persistent=False)
    m[0].weight.requires_grad_(False)
    twin = pickle.loads(pickle.dumps(m))
    x = numbers(lib, 2, 3)
    return [
        (twin(x) == m(x)).all().item(),
        [each.requires_grad for each in twin.parameters()],
        type(twin[0].weight).__name__,
        twin.count.item(),
        list(twin.state_dict()),
        twin.training,
    ]


def conversion_keeps_identities(lib: Any) -> Any:
    m = lib.nn.BatchNorm1d(2)
    before = [id(each) for each in m.parameters()]
    m.double()
    log = [str(each.dtype).rpartition(".")[2] for each in m.state_dict().values()]
    m.half()
    log += [str(each.dtype).rpartition(".")[2] for each in m.state_dict().values()]
    m.to(lib.float64).float().bfloat16().to(lib.ones(1).double())
    log += [str(each.dtype).rpartition(".")[2] for each in m.state_dict().values()]
    m.type(lib.float32)
    log += [str(each.dtype).rpartition(".")[2] for each in m.state_dict().values()]
    log.append([id(each) for each in m.parameters()] == before)
    log.append(failure(lambda: m.to(lib.int64)))
    log.append(m.to("cpu") is m)
    log.append(str(m.to(device="cpu", dtype=lib.float64).weight.dtype).rpartition(".")[2])
    return log


def conversion_takes_gradients_along(lib: Any) -> Any:
    m = lib.nn.Linear(2, 1)
    m(lib.ones(1, 2)).sum().backward()
    m.double()
    return [m.weight.grad, m.weight.requires_grad, m.weight.is_leaf]


def to_the_meta_device(lib: Any) -> Any:
    m = lib.nn.Linear(2, 1).to("meta")
    empty = lib.nn.Linear(2, 1, device="meta").to_empty(device="cpu")
    return [str(m.weight.device), type(m.weight).__name__, str(empty.weight.device)]


def modules_are_hashable_and_compared_by_identity(lib: Any) -> Any:
    a, b = lib.nn.Linear(1, 1), lib.nn.Linear(1, 1)
    return [len({a, b, a}), a == b]


def extra_repr_over_several_lines(lib: Any) -> Any:
    class M(lib.nn.Module):
        def extra_repr(self) -> str:
            return "one\ntwo"

    class N(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = M()
            self.other = lib.nn.Linear(1, 2)

        def extra_repr(self) -> str:
            return "single"

    return [repr(M()), repr(N()), repr(lib.nn.Module())]


def attributes_are_listed(lib: Any) -> Any:
    m = networks(lib)
    m.register_buffer("extra", lib.ones(1))
    return ["extra" in dir(m), "weight" in dir(m[0]), "forward" in dir(m), "0" in dir(m)]


def parameters_share_memory_and_start_a_graph(lib: Any) -> Any:
    source = lib.ones(2)
    p = lib.nn.Parameter(source)
    q = lib.nn.Parameter(p * 2)
    source.zero_()
    twin = copy.deepcopy(p)
    return [
        p, q.is_leaf, q, p.data_ptr() == source.data_ptr(), isinstance(p * 1, lib.nn.Parameter),
        type(p.detach()).__name__, lib.nn.Parameter(source, requires_grad=False).requires_grad,
        twin, isinstance(twin, lib.nn.Parameter), lib.nn.Parameter().numel(),
        isinstance(p.data, lib.nn.Parameter),
    ]  # fmt: skip


@programs(
    attributes_move_between_kinds,
    tensors_are_plain_attributes,
    buffer_objects_register_themselves,
    wrong_kinds_are_refused,
    nothing_before_init,
    class_attributes_and_properties,
    shared_parameters_and_modules_count_once,
    order_of_everything,
    paths,
    set_submodule,
    empty_containers_are_modules_too,
    modes,
    zero_grad,
    zero_grad_after_create_graph,
    training_steps,
    deepcopy_is_independent,
    pickle_keeps_everything,
    conversion_keeps_identities,
    conversion_takes_gradients_along,
    to_the_meta_device,
    modules_are_hashable_and_compared_by_identity,
    extra_repr_over_several_lines,
    attributes_are_listed,
    parameters_share_memory_and_start_a_graph,
)
def test_same_answers(program: Any) -> None:
    agree(program)


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.Module()(1), "missing the required"),
        (lambda lib: lib.nn.Module().train(3), "training mode is expected to be boolean"),
        (lambda lib: setattr(lib.nn.Linear(1, 1), "weight", 3), "cannot assign"),
        (lambda lib: setattr(lib.nn.Sequential(lib.nn.ReLU()), "0", 3), "as child module '0'"),
        (
            lambda lib: setattr(lib.nn.BatchNorm1d(1), "running_mean", 3),
            "as buffer 'running_mean'",
        ),
        (lambda lib: lib.nn.Module().register_buffer("a.b", None), "name can't contain"),
        (lambda lib: lib.nn.Module().register_parameter("", None), "name can't be empty string"),
        (lambda lib: lib.nn.Module().add_module(3, None), "name should be a string"),
        (lambda lib: lib.nn.Module().register_buffer("forward", None), "already exists"),
        (lambda lib: lib.nn.Module().register_buffer("a", 3), "object to buffer 'a'"),
        (lambda lib: lib.nn.Module().register_parameter("a", 3), "object to parameter 'a'"),
        (
            lambda lib: lib.nn.Module().register_parameter(
                "a", lib.nn.Parameter(lib.ones(1)).__class__(lib.ones(1)).mul(2)
            ),
            "to parameter 'a'",
        ),
        (lambda lib: lib.nn.Module().add_module("a", 3), "is not a Module subclass"),
        (lambda lib: lib.nn.Linear(1, 1).to(lib.int64), "only accepts floating point or complex"),
        (lambda lib: lib.nn.Linear(1, 1).set_submodule("", lib.nn.ReLU()), "without a target name"),
        (lambda lib: lib.nn.Linear(1, 1).set_submodule("a", 3), "is not an nn.Module"),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


def test_parameters_hold_tensors() -> None:
    with pytest.raises(TypeError, match="a parameter or buffer holds a tensor"):
        whygrad.nn.Parameter([1.0])


def test_ties_survive_another_device() -> None:
    model = whygrad.nn.Sequential(whygrad.nn.Linear(2, 2), whygrad.nn.Linear(2, 2))
    model[1].weight = model[0].weight
    model.to("meta")
    assert model[1].weight is model[0].weight


def test_numbers_arrive_from_pytorch() -> None:
    """The same state gives the same outputs."""
    mine, theirs = networks(whygrad), networks(torch)
    state = {name: whygrad.from_numpy(each.numpy()) for name, each in theirs.state_dict().items()}
    mine.load_state_dict(state)
    x = np.random.default_rng(5).normal(size=(4, 3))
    np.testing.assert_allclose(
        mine(whygrad.from_numpy(x)).detach().numpy(), theirs(torch.from_numpy(x)).detach().numpy()
    )
