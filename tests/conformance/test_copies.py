"""``copy.copy``, ``copy.deepcopy`` and pickle of everything public.

Functions, classes and constants stay what they are; instances of every module, optimizer,
scheduler, dataset and sampler come back equal.  What to make instances with is guessed, so that a
new class is tested without being listed here.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from whygrad import data, nn, optim
from whygrad.optim import lr_scheduler
from whygrad.tensor.devices import Layout
from whygrad.tensor.dtypes import DType
from whygrad.tensor.memory import MemoryFormat

pytestmark = pytest.mark.filterwarnings("ignore")


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


WAYS: tuple[Callable[[Any], Any], ...] = (copy.copy, copy.deepcopy, pickled)
UNIQUE = (FunctionType, type, DType, Layout, MemoryFormat, type(None))


def namespaces() -> Iterator[ModuleType]:
    """whygrad and every module that can be reached through public names."""
    waiting, seen = [wg], {"whygrad"}
    while waiting:
        module = waiting.pop()
        yield module
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            ours = isinstance(value, ModuleType) and value.__name__.startswith("whygrad.")
            if ours and value.__name__ not in seen:
                seen.add(value.__name__)
                waiting.append(value)


def changed_by_a_trip(names: dict[str, Any]) -> list[str]:
    """Names whose value is no longer itself after one of the ways."""
    changed = []
    for name, value in names.items():
        for way in WAYS:
            try:
                there = way(value)
            except Exception as error:
                changed.append(f"{name}, {way.__name__}: {error}")
                continue
            same = there is value if isinstance(value, UNIQUE) else repr(there) == repr(value)
            if not same:
                changed.append(f"{name}, {way.__name__}: {there!r}")
    return changed


def public_values() -> dict[str, Any]:
    values = {}
    for module in namespaces():
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if isinstance(value, (*UNIQUE, int, float, wg.Generator)):
                values[f"{module.__name__}.{name}"] = value
    return values


def test_public_names() -> None:
    values = public_values()
    assert len(values) > 1000
    assert not changed_by_a_trip(values)


def test_methods() -> None:
    methods = {
        f"Tensor.{name}": getattr(wg.Tensor, name)
        for name in dir(wg.Tensor)
        if isinstance(getattr(wg.Tensor, name), FunctionType)
    }
    assert len(methods) > 400
    assert not changed_by_a_trip(methods)


def test_the_axis_sees_what_cannot_travel() -> None:
    def local() -> None:
        """As op functions were: found under no name."""

    class Shifty:
        def __reduce__(self) -> Any:
            return Shifty, ()

    found = changed_by_a_trip({"local": local, "shifty": Shifty()})
    assert [each.partition(":")[0] for each in found] == [
        "local, pickled", "shifty, copy", "shifty, deepcopy", "shifty, pickled",
    ]  # fmt: skip


# --- instances ------------------------------------------------------------------------------------


def _halved(step: int) -> float:
    return 0.5**step


def _layer() -> nn.Module:
    return nn.Linear(4, 4)


GUESSES: tuple[Callable[[], tuple[Any, ...]], ...] = (
    lambda: (), lambda: (2,), lambda: (4,), lambda: (4, 4), lambda: (4, 2), lambda: (2, 2, 2),
    lambda: (4, 2, 8), lambda: ([1.0, 2.0],), lambda: ([_layer()],), lambda: (_layer(),),
    lambda: (_layer(), 2), lambda: (1, (2, 2)), lambda: ({"a": _layer()},), lambda: (4, 6, [2]),
)  # fmt: skip


BASES = ("RNNBase", "RNNCellBase")  # of other layers, and nothing by themselves


def made(kind: Any, guesses: Any = GUESSES) -> Any:
    """An instance with the first arguments that are accepted."""
    for guess in guesses:
        try:
            return kind(*guess())
        except Exception:
            continue
    raise AssertionError(f"say in GUESSES how to make a {kind.__name__}")


def classes(module: Any, base: type) -> list[Any]:
    found = [getattr(module, name) for name in module.__all__]
    return [each for each in found if isinstance(each, type) and issubclass(each, base)]


def shown(value: Any) -> Any:
    """What can be seen of a state, with arrays as lists."""
    if isinstance(value, wg.Tensor):
        return str(value.dtype), value.detach().tolist(), value.requires_grad
    if isinstance(value, dict):
        return {key: shown(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    return value if isinstance(value, (bool, float, int, str, type(None))) else repr(value)


def assert_survives(value: Any) -> None:
    for way in WAYS:
        there = way(value)
        label = f"{way.__name__} of {type(value).__name__}"
        assert type(there) is type(value), label
        assert there is not value, label
        if hasattr(value, "state_dict"):
            assert shown(there.state_dict()) == shown(value.state_dict()), label
        if isinstance(value, nn.Module):
            assert repr(there) == repr(value), label
            assert [each.training for each in there.modules()] == [
                each.training for each in value.modules()
            ], label


def test_modules() -> None:
    kinds = classes(nn, nn.Module)
    assert len(kinds) > 100
    for kind in kinds:
        if kind.__name__ in BASES:
            continue
        # which is large with the arguments it has by default
        module = nn.Transformer(4, 2, 1, 1, 8) if kind is nn.Transformer else made(kind)
        assert_survives(module.eval())


@pytest.mark.parametrize("kind", [nn.TransformerEncoderLayer, nn.Transformer])
def test_a_default_transformer_computes_the_same_after_a_trip(kind: Any) -> None:
    model = kind(8, 2, dim_feedforward=8, dropout=0.0).eval()
    x = wg.randn(3, 2, 8)
    inputs = (x,) if kind is nn.TransformerEncoderLayer else (x, x)
    expected = model(*inputs).detach().tolist()
    for way in WAYS:
        assert way(model)(*inputs).detach().tolist() == expected


def test_parametrized_modules() -> None:
    parametrizations = nn.utils.parametrizations
    for wrap in (parametrizations.weight_norm, parametrizations.spectral_norm):
        layer = wrap(nn.Linear(4, 4)).eval()
        assert_survives(layer)
        assert pickled(layer)(wg.ones(4)).tolist() == layer(wg.ones(4)).tolist()
    older = nn.utils.weight_norm(nn.Linear(4, 4))
    assert pickled(older)(wg.ones(4)).tolist() == older(wg.ones(4)).tolist()
    with pytest.raises(RuntimeError, match="graph leaves"):  # as in PyTorch
        copy.deepcopy(older)


def optimizers() -> Iterator[Any]:
    for kind in classes(optim, optim.Optimizer):
        if kind is optim.Optimizer:
            continue
        weight = nn.Parameter(wg.ones(2, 2))
        optimizer = kind([weight], lr=0.1)

        def closure(weight: Any = weight, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (weight * weight).sum()
            loss.backward()
            return loss

        try:
            optimizer.step(closure)
        except (NotImplementedError, RuntimeError, TypeError):
            continue  # wants sparse gradients
        yield optimizer


def test_optimizers_and_schedulers() -> None:
    for optimizer in optimizers():
        assert_survives(optimizer)
    optimizer = optim.SGD([nn.Parameter(wg.ones(2))], lr=0.1, momentum=0.9)

    def constant() -> Any:
        return lr_scheduler.ConstantLR(optimizer)

    guesses = (
        lambda: (optimizer,), lambda: (optimizer, 2), lambda: (optimizer, [2]),
        lambda: (optimizer, 0.1, 1.0), lambda: (optimizer, 0.1, 10), lambda: (optimizer, _halved),
        lambda: (optimizer, [constant(), constant()], [2]), lambda: ([constant()],),
    )  # fmt: skip
    for name in lr_scheduler.__all__:
        kind = getattr(lr_scheduler, name)
        if isinstance(kind, type) and kind is not lr_scheduler.LRScheduler:
            assert_survives(made(kind, guesses))


def test_a_model_and_its_optimizer_travel_together() -> None:
    model = nn.Linear(2, 2)
    optimizer = optim.Adam(model.parameters())
    for way in (copy.deepcopy, pickled):
        other, steps = way((model, optimizer))
        assert steps.param_groups[0]["params"][0] is other.weight


def test_data() -> None:
    numbers = data.TensorDataset(wg.arange(6.0))
    for value in (
        numbers, data.Subset(numbers, [1]), data.ConcatDataset([numbers, numbers]),
        data.RandomSampler(numbers), data.SequentialSampler(numbers),
        data.SubsetRandomSampler([1, 2]), data.WeightedRandomSampler([1.0, 2.0], 3),
        data.BatchSampler(data.SequentialSampler(numbers), 2, False),
        data.DataLoader(numbers, 2, shuffle=True, generator=wg.Generator().manual_seed(3)),
    ):  # fmt: skip
        for way in WAYS:
            there = way(value)
            assert type(there) is type(value)
            assert len(there) == len(value)


def test_other_values() -> None:
    table = wg.tensor([[1.0, 2.0]])
    for value in (
        table.shape, wg.max(table, 1), wg.finfo(wg.float32), wg.iinfo(wg.int32), table.to_sparse(),
        wg.ones(2, device="meta"), wg.linalg.LinAlgError("no"), wg.Value(2.0, "x"),
        nn.Parameter(table), nn.Buffer(table), wg.float32, wg.device("cpu"), wg.strided,
    ):  # fmt: skip
        for way in WAYS:
            assert type(way(value)) is type(value)
            assert repr(way(value)) == repr(value)


def test_distributions() -> None:
    tools = wg.distributions
    guesses = (
        lambda: (0.5,), lambda: (0.3, 0.6), lambda: (wg.tensor([0.3, 0.7]),), lambda: (5.0, 2.0),
        lambda: (wg.zeros(2), wg.eye(2)), lambda: (wg.tensor([3.0]), wg.tensor([2.0])),
        lambda: (wg.tensor(3.0), wg.eye(2)), lambda: (tools.Normal(0.0, 1.0),),
        lambda: (tools.Normal(wg.zeros(2), 1.0), 1),
        lambda: (tools.Normal(0.0, 1.0), [tools.ExpTransform()]), lambda: (2,),
        lambda: (wg.zeros(2), wg.ones(2, 1), wg.ones(2)), lambda: (3, wg.tensor([0.3, 0.7])),
        lambda: (tools.Categorical(wg.ones(2)), tools.Normal(wg.zeros(2), 1.0)),
    )  # fmt: skip
    kinds = classes(tools, tools.Distribution)
    assert len(kinds) > 35
    for kind in kinds:
        if kind in (tools.Distribution, tools.ExponentialFamily):
            continue
        distribution = made(kind, guesses)
        for way in WAYS:
            there = way(distribution)
            assert type(there) is kind
            assert repr(there) == repr(distribution)
            assert there.batch_shape == distribution.batch_shape


@pytest.mark.parametrize("lib", [torch, wg])
def test_a_node_belongs_to_its_graph(lib: Any) -> None:
    y = lib.ones(2, requires_grad=True) * 2
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0]):
        for way in WAYS:
            with pytest.raises(TypeError, match="cannot pickle"):
                way(node)


def test_a_generator_goes_on_by_itself() -> None:
    generator = wg.Generator().manual_seed(5)
    wg.randn(3, generator=generator)
    twins = [way(generator) for way in WAYS]
    expected = wg.randn(4, generator=generator).tolist()
    assert all(wg.randn(4, generator=twin).tolist() == expected for twin in twins)


# --- tensors --------------------------------------------------------------------------------------


def test_attributes_and_class_are_kept_as_in_pytorch() -> None:
    for lib in (torch, wg):
        for x in (lib.ones(2), lib.nn.Parameter(lib.ones(2)), lib.ones(2, requires_grad=True)):
            x.note = ["mine"]
            assert copy.copy(x).note is x.note
            assert copy.copy(x).data_ptr() == x.data_ptr()
            assert type(copy.copy(x)) is type(x)
            assert pickled(x).note == ["mine"]
            assert pickled(x).requires_grad is x.requires_grad


@pytest.mark.parametrize("lib", [torch, wg])
def test_a_deep_copy_keeps_what_is_shared(lib: Any) -> None:
    base = lib.arange(6.0)
    views = [base[2:4], base.view(2, 3).t(), base.detach(), base[1::2], base.view(lib.int32)]
    twin, *seen = copy.deepcopy([base, *views])
    assert [each.stride() for each in seen] == [each.stride() for each in views]
    assert [each.storage_offset() for each in seen] == [each.storage_offset() for each in views]
    seen[0].fill_(9.0)
    assert twin.tolist() == [0.0, 1.0, 9.0, 9.0, 4.0, 5.0]
    assert seen[1].tolist() == [[0.0, 9.0], [1.0, 4.0], [9.0, 5.0]]
    assert seen[3].tolist() == [1.0, 9.0, 5.0]
    assert base.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert copy.deepcopy(lib.ones(1).expand(4)).stride() == (0,)
    alone = copy.deepcopy(views[0])
    assert (alone.tolist(), alone.storage_offset()) == ([2.0, 3.0], 2)


def test_a_deep_copy_of_a_view_alone_is_writable_and_versioned() -> None:
    base = wg.arange(6.0)
    twin, view = copy.deepcopy((base, base[2:]))
    view.add_(1)
    assert twin._version == view._version == 1
    weight = nn.Parameter(wg.ones(2))
    (weight * twin[:2]).sum().backward()
    again = copy.deepcopy(weight)
    assert again.grad is None  # as in PyTorch, of a Parameter
    leaf = wg.ones(2, requires_grad=True)
    leaf.grad = wg.full((2,), 3.0)
    assert copy.deepcopy(leaf).grad.tolist() == [3.0, 3.0]
    assert np.shares_memory(copy.copy(base).numpy(), base.numpy())


# --- modules with bases of their own --------------------------------------------------------------


@pytest.mark.parametrize("lib", [torch, wg])
def test_call_super_init(lib: Any) -> None:
    class Named:
        def __init__(self, label: str = "") -> None:
            self.label = label

    class Both(lib.nn.Module, Named):
        call_super_init = True

    class One(lib.nn.Module, Named):
        pass

    assert Both(label="a").label == "a"
    assert not hasattr(One(), "label")
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'label'"):
        One(label="a")
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        One("a")


@pytest.mark.parametrize("lib", [torch, wg])
def test_a_parametrization_takes_the_mode_of_its_module(lib: Any) -> None:
    class Same(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = lib.nn.Dropout()

        def forward(self, weight: Any) -> Any:
            return weight

    register = lib.nn.utils.parametrize.register_parametrization
    for training in (True, False):
        layer = lib.nn.Linear(2, 2).train(training)
        first, second = Same(), Same()
        register(layer, "weight", first)
        register(layer, "weight", second)
        assert [each.training for each in (first, first.inner, second)] == [training] * 3
