"""Lazy modules: they find the size of their input, and are PyTorch's from then on."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

import whygrad
from tests.nn.layers import LIBRARIES, array, assert_same, refusal, share_state

LAZY = [
    ("LazyLinear", (4,), {}, (2, 3)),
    ("LazyLinear", (4, False), {}, (2, 5, 3)),
    *(
        (f"Lazy{kind}{dims}d", (4, 2), {"groups": 2}, (2, 6, *(3,) * dims))
        for kind in ("Conv", "ConvTranspose")
        for dims in (1, 2, 3)
    ),
    ("LazyConv2d", (4, 2), {"bias": False, "padding": 1}, (3, 4, 5)),
    *(
        (f"Lazy{kind}{dims}d", (), options, (2, 3, *(4,) * dims))
        for kind in ("BatchNorm", "InstanceNorm")
        for dims in (1, 2, 3)
        for options in ({}, {"affine": False}, {"track_running_stats": False, "bias": False})
    ),
]


def test_like_pytorch() -> None:
    for name, args, options, shape in LAZY:
        mine, theirs = (getattr(each.nn, name)(*args, **options) for each in LIBRARIES)
        assert repr(mine) == repr(theirs)
        assert repr(mine.state_dict()).replace("int64", "") == repr(theirs.state_dict())
        assert mine.has_uninitialized_params() == theirs.has_uninitialized_params()
        x = array(*shape)
        mine, theirs = mine.double(), theirs.double()
        for library, module in zip(LIBRARIES, (mine, theirs), strict=True):
            module(library.from_numpy(x))
        assert repr(mine) == repr(theirs)
        assert type(mine) is getattr(whygrad.nn, name.removeprefix("Lazy"))
        assert all(each.dtype is whygrad.float64 for each in mine.parameters())
        share_state(mine, theirs)
        seen = []
        for library, module in zip(LIBRARIES, (mine, theirs), strict=True):
            inputs = library.from_numpy(x).requires_grad_()
            output = module(inputs)
            (output**3).sum().backward()
            seen.append([output, inputs.grad, *[each.grad for each in module.parameters()]])
        for a, b in zip(*seen, strict=True):
            assert_same(a, b, name)


def test_states_tell_sizes() -> None:
    seen: dict[str, list[Any]] = {}
    for library in LIBRARIES:
        nn = library.nn
        ordinary = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        lazy = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d())
        lazy.load_state_dict(lazy.state_dict())
        before = lazy[0].has_uninitialized_params()
        lazy.load_state_dict(ordinary.state_dict())
        seen.setdefault("answers", []).append(
            [before, lazy[0].has_uninitialized_params(), type(lazy[0]).__name__]
        )
        lazy(library.ones(2, 3))
        seen.setdefault("shown", []).append(repr(lazy[0]))
    for mine, theirs in seen.values():
        assert mine == theirs


def test_copies_and_optimizers_before_the_first_batch() -> None:
    model = whygrad.nn.Sequential(whygrad.nn.LazyLinear(4), whygrad.nn.LazyLinear(1))
    twin = pickle.loads(pickle.dumps(copy.deepcopy(model)))
    optimizer = whygrad.optim.SGD(twin.parameters(), lr=0.1)
    twin(whygrad.ones(2, 3)).sum().backward()
    optimizer.step()
    assert [tuple(each.shape) for each in twin.parameters()] == [(4, 3), (4,), (1, 4), (1,)]
    assert model[0].has_uninitialized_params()


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (lambda lib: lib.nn.LazyLinear(2).weight.shape, "Can't access the shape"),
        (lambda lib: lib.nn.LazyLinear(2).weight.sum(), "use an uninitialized parameter"),
        (lambda lib: lib.nn.LazyConv2d(2, 1)(lib.ones(2, 2)), "but got input of size"),
        (
            lambda lib: lib.nn.Linear(2, 2).load_state_dict(lib.nn.LazyLinear(2).state_dict()),
            "Can't access the shape",
        ),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


def test_own_lazy_modules() -> None:
    class Scale(whygrad.nn.modules.lazy.LazyModuleMixin, whygrad.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = whygrad.nn.UninitializedParameter(dtype=whygrad.float64)

        def initialize_parameters(self, input: Any) -> None:
            if self.has_uninitialized_params():
                self.factor.materialize(input.shape[-1:])
                whygrad.nn.init.ones_(self.factor)

        def forward(self, input: Any) -> Any:
            return input * self.factor

    layer = Scale()
    assert layer.factor.dtype is whygrad.float64
    assert layer(whygrad.ones(2, 3)).tolist() == [[1.0] * 3] * 2
    assert isinstance(layer.factor, whygrad.nn.Parameter)
    assert torch.nn.UninitializedParameter.cls_to_become is torch.nn.Parameter


def test_a_class_of_one_s_own_becomes_what_its_base_becomes() -> None:
    class Named(whygrad.nn.LazyLinear):
        pass

    layer = Named(2)
    layer(whygrad.ones(1, 3))
    assert type(layer) is whygrad.nn.Linear
