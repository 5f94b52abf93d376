"""Tensor subclasses, stand-ins and modes: the same program in both libraries, the same outcome."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.overrides

import whygrad
import whygrad.overrides

LIBRARIES = (whygrad, torch)


class Plain(whygrad.Tensor):
    """At the top of a module, where pickle finds it."""


class TorchPlain(torch.Tensor):
    pass


def _logging(library: Any, log: list[Any]) -> Any:
    class Logged(library.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = [type(each).__name__.lower() for each in args], sorted(kwargs or {})
            log.append((func.__name__, [each.__name__ for each in types], *given))
            return super().__torch_function__(func, types, args, kwargs)

    return Logged


# Expressions of m (a subclass), p (a plain tensor) and the library; what is logged is compared.
_LOGGED = """
m + p; p + m; m + 1; 1 + m; 1 - m; p - m; 2 / m; m @ p; p @ m; m ** 2; 2 ** m; -m; m == p; m > p
p > m; 1 > m; m != 1; m // 2; m % 2; abs(m); m[0]; m[0, 1]; m[p > 0]; p[(m > 0)]; len(m)
bool(m[0, 0] > 0); float(m[0, 0]); m.shape; m.size(0); m.T; m.grad; m.data; m.requires_grad; m.ndim
m.dim(); m.detach(); m.clone(); m.sum(); m.sum(dim=0); m.sum(0, keepdim=True); lib.sum(m, dim=0)
lib.sum(input=m, dim=0); m.max(dim=0); lib.max(m); lib.cat([m, p]); lib.stack((p, m))
lib.add(m, p, alpha=2); lib.add(p, m); lib.add(p, p, out=m); lib.exp(p, out=m); lib.exp(m)
lib.where(p > 1, m, p); F.linear(m, p); F.linear(p, m, None); F.gelu(m); m.reshape(4); m.view(-1)
m.permute(1, 0); m.chunk(2); m.unbind(); m.tolist(); m[0, 0].item(); m.to(lib.float64); m.double()
m.contiguous(); m.add_(1); m.mul_(p); p.add_(m); m.zero_(); m.fill_(2); m.requires_grad_(False)
m.expand(2, 2); m.new_zeros(2); lib.zeros_like(m); lib.is_tensor(m); m.is_contiguous()
m.masked_fill(p > 0, 1.0); lib.matmul(m, p); m.softmax(-1); lib.sort(m); m.topk(1); m.argmax()
lib.allclose(m, p); m.type(); m.type(lib.float64); m.copy_(p); p.copy_(m); m.unsqueeze(0)
m.index_select(0, lib.tensor([0])); m.var(); m.std(0); m.cumsum(0); m.clamp(min=0); m.type_as(p)
m.is_inference(); lib.flatten(m); m.movedim(0, 1); m.__setitem__(0, 1.0); setattr(m, "grad", None)
operator.iadd(m, 1); operator.iadd(p, m); lib.isnan(m); lib.logsumexp(m, 0); lib.numel(m)
lib.nn.Linear(2, 2)(p * m); lib.nn.init.ones_(m); lib.linalg.norm(m); F.one_hot(m.long()); hash(m)
lib.bmm(m[None], p[None]); 1 in m; m.as_subclass(lib.Tensor); lib.atleast_1d(m); lib.rand_like(m)
"""


def _outcome(value: Any) -> Any:
    if isinstance(value, tuple):
        return type(value).__name__, [type(each).__name__ for each in value]
    return type(value).__name__


def test_an_override_sees_the_calls_that_pytorch_shows() -> None:
    seen: list[list[Any]] = []
    for library in LIBRARIES:
        log: list[Any] = []
        kind = _logging(library, log)
        rows = []
        for text in _LOGGED.replace("\n", ";").split(";"):
            if not text.strip():
                continue
            names = {
                "m": library.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(kind),
                "p": library.ones(2, 2),
                "lib": library,
                "F": library.nn.functional,
                "operator": operator,
            }
            log.clear()
            result = eval(text.strip(), names)
            rows.append((text.strip(), _outcome(result), list(log)))
        seen.append(rows)
    for ours, theirs in zip(*seen, strict=True):
        assert ours == theirs


def test_results_keep_the_class() -> None:
    def program(library: Any, kind: Any) -> list[Any]:
        class Further(kind):  # type: ignore[misc]
            pass

        class Other(library.Tensor):  # type: ignore[misc]
            pass

        m = library.ones(2, 2).as_subclass(kind)
        base = library.zeros(4).as_subclass(kind)
        view = base.view(2, 2)
        weight = library.full((2, 2), 3.0, requires_grad=True)
        view.add_(weight * weight)
        base.sum().backward()
        layers = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.LayerNorm(3))
        made = [
            m + library.ones(2, 2).as_subclass(Further), m.max(dim=0).values, *m, m.data, m.mT,
            layers(m), library.nn.LSTM(2, 3)(m[None])[0], kind([1.0, 2.0]), kind(2, 3),
            library.nn.CrossEntropyLoss()(m, library.tensor([0, 1])), m.as_subclass(library.Tensor),
            library.Tensor._make_subclass(kind, library.ones(1), True),
        ]  # fmt: skip
        assert all(isinstance(each, library.Tensor) for each in made)
        with pytest.raises(TypeError):
            m + library.ones(2, 2).as_subclass(Other)
        names = [type(each).__name__.removeprefix("Torch") for each in made]
        return [
            names,
            weight.grad.tolist(),
            repr(m.sum()).removeprefix("Torch"),
            view._base is base,
        ]

    assert program(whygrad, Plain)[:2] == program(torch, TorchPlain)[:2]
    assert program(whygrad, Plain)[2] == "Plain(4.)"


def test_gradients_flow_through_subclasses() -> None:
    def program(library: Any, kind: Any) -> list[Any]:
        x = library.tensor([1.0, 2.0]).as_subclass(kind).requires_grad_()
        shown: list[Any] = []
        x.register_hook(lambda gradient: shown.append(type(gradient) is library.Tensor))
        total = (x * x).sum()
        total.backward()
        shown += [x.is_leaf, type(total) is kind, type(x.grad) is library.Tensor, x.grad.tolist()]
        (first,) = library.autograd.grad((x**3).sum(), x, create_graph=True)
        (second,) = library.autograd.grad([first.sum()], [x])
        shown += [type(first) is kind, first.tolist(), type(second) is kind, second.tolist()]
        weight = library.nn.Parameter(library.ones(2).as_subclass(kind))
        module = library.nn.Module()
        module.weight = weight
        shown += [isinstance(weight, kind), isinstance(weight, library.nn.Parameter)]
        shown += [isinstance(weight * 2, library.nn.Parameter), type(weight * 2) is kind]
        shown += [type(weight).__name__.removeprefix("Torch"), len(list(module.parameters()))]
        library.nn.functional.linear(library.ones(3, 2), weight[None]).sum().backward()
        for optimizer in (library.optim.SGD, library.optim.Adam):
            optimizer(module.parameters(), lr=0.5).step()
        shown += [np.round(weight.tolist(), 5).tolist(), isinstance(module.weight, kind)]
        shown += [type(module.state_dict()["weight"]) is kind, repr(weight).count("Parameter(")]
        return shown

    assert program(whygrad, Plain) == program(torch, TorchPlain)


def test_copies_keep_class_and_attributes() -> None:
    for made in (Plain([1.0, 2.0]), whygrad.nn.Parameter(Plain([1.0, 2.0]))):
        made.tag = "kept"  # type: ignore[attr-defined]
        for twin in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), copy.copy(made)):
            assert isinstance(twin, Plain)
            assert twin.tag == "kept"  # type: ignore[attr-defined]
            assert isinstance(twin, whygrad.nn.Parameter) is isinstance(made, whygrad.nn.Parameter)
            assert type(twin + 1) is Plain
            assert twin.requires_grad is made.requires_grad


def test_a_constructor_of_its_own() -> None:
    def program(library: Any) -> list[Any]:
        class Named(library.Tensor):  # type: ignore[misc]
            @staticmethod
            def __new__(cls: Any, data: Any, name: str, *args: Any) -> Any:
                return super().__new__(cls, data, *args)

            def __init__(self, data: Any, label: str) -> None:
                self.label = label

            def clone(self, *args: Any, **kwargs: Any) -> Any:
                return Named(super().clone(*args, **kwargs), self.label)

        x = Named([1.0, 2.0], "left")
        return [
            x.label,
            (x + 1).tolist(),
            hasattr(x + 1, "label"),
            x.clone().label,
            type(x).__name__,
        ]

    assert program(whygrad) == program(torch)


def test_refusals_and_errors_of_an_override() -> None:
    def program(library: Any) -> list[Any]:
        class Picky(library.Tensor):  # type: ignore[misc]
            @classmethod
            def __torch_function__(
                cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                if func.__name__ == "exp":
                    return NotImplemented
                if func.__name__ in ("log", "sum"):
                    raise ValueError("mine")
                return super().__torch_function__(func, types, args, kwargs)

        x = library.ones(2).as_subclass(Picky)
        calls: list[Callable[[], Any]] = [
            lambda: x.exp(), lambda: library.exp(x), lambda: x.log(), lambda: library.log(x),
            lambda: library.sum(x, dim=0), lambda: library.logsumexp(x, 0), lambda: x.mean(7),
            lambda: library.mean(x, 7), lambda: library.add(x, library.ones(3)),
        ]  # fmt: skip
        shown = []
        for call in calls:
            try:
                shown.append(type(call()).__name__)
            except Exception as error:
                shown.append((type(error).__name__, str(error) == "mine"))
        with library.DisableTorchFunctionSubclass():
            shown += [type(x.exp()).__name__, type(library.add(x, 1)).__name__]
        return shown

    assert program(whygrad) == program(torch)


def test_objects_that_stand_in_for_tensors() -> None:
    def program(library: Any) -> list[Any]:
        F = library.nn.functional
        known: dict[Any, Any] = {}

        class Wrapped:
            def __init__(self, data: Any) -> None:
                self.data = data

            @classmethod
            def __torch_function__(
                cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                if func in known:
                    return known[func](*args, **(kwargs or {}))
                if func.__name__ == "exp":
                    return NotImplemented
                plain = [each.data if isinstance(each, Wrapped) else each for each in args]
                return Wrapped(func(*plain, **(kwargs or {})))

        known[library.mean] = lambda input: "the mean"
        x, t = Wrapped(library.tensor([[1.0, 2.0], [3.0, 4.0]])), library.ones(2, 2)
        calls: list[Callable[[], Any]] = [
            lambda: library.add(t, x), lambda: library.add(x, 2), lambda: t + x, lambda: t.mul(x),
            lambda: library.sum(x, dim=0), lambda: library.matmul(x, t), lambda: F.relu(x),
            lambda: F.softmax(x, dim=0), lambda: library.where(t > 1, x, t), lambda: F.linear(x, t),
            lambda: library.clamp(x, min=2.0), lambda: library.reshape(x, (4,)),
            lambda: library.addmm(t, x, t), lambda: F.layer_norm(x, (2,)), lambda: library.var(x),
            lambda: F.mse_loss(x, t), lambda: library.pow(x, 2), lambda: library.flatten(x),
            lambda: library.zeros_like(x), lambda: library.transpose(x, 0, 1),
            lambda: F.cross_entropy(x, library.tensor([0, 1])), lambda: library.linalg.norm(x),
        ]  # fmt: skip
        results = [np.round(call().data.tolist(), 4).tolist() for call in calls]
        with pytest.raises(TypeError):
            library.exp(x)
        asks = library.overrides
        likes = [asks.is_tensor_like(each) for each in (x, t, 3)]
        has = [asks.has_torch_function((each,)) for each in (x, t, library.nn.Parameter(t))]
        handled = asks.handle_torch_function(library.neg, (x,), x).data.tolist()
        return [results, library.mean(x), likes, has, handled]

    assert program(whygrad) == program(torch)


def test_modes_see_the_ops_of_their_block() -> None:
    def program(library: Any) -> list[Any]:
        F = library.nn.functional

        class Log(library.overrides.TorchFunctionMode):  # type: ignore[misc]
            def __init__(self) -> None:
                self.names: list[str] = []

            def __torch_function__(
                self, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                self.names.append(func.__name__)
                return func(*args, **(kwargs or {}))

        class Doubling(library.overrides.TorchFunctionMode):  # type: ignore[misc]
            def __torch_function__(
                self, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                result = func(*args, **(kwargs or {}))
                return result * 2 if func is library.square else result

        x = library.ones(2)
        with Log() as log:
            y = x + 1
            F.softmax(y, dim=0)
            y.add_(1)
            library.cat([x, y])[0]
            F.relu(y).sum(dim=0)
        with Log() as outer, Doubling():
            squared = library.square(y)
        library.square(y)
        return [log.names, outer.names, squared.tolist()]

    assert program(whygrad) == program(torch)


def test_nothing_is_kept_alive() -> None:
    """The answer travels as an exception: its traceback must not hold the arguments."""
    gc.collect()
    gc.disable()
    try:
        m = Plain([1.0, 2.0])
        gone = weakref.ref(m)
        whygrad.logsumexp(m, 0)
        whygrad.sum(m, dim=0)
        with pytest.raises(IndexError):
            whygrad.sum(m, 7)
        del m
        assert gone() is None
    finally:
        gc.enable()
