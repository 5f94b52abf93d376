"""Spectral norms, orthogonal weights, fused batch norms and older names, against PyTorch's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import whygrad
import whygrad.nn.utils.parametrizations
from tests.nn.layers import LIBRARIES, array, refusal, share_state
from tests.nn.programs import Program, agree, numbers, programs

LAYERS = [
    ("Linear", (4, 3), (2, 4)),
    ("Conv1d", (2, 3, 2), (2, 2, 5)),
    ("ConvTranspose2d", (2, 3, 2), (1, 2, 3, 3)),
]


@pytest.mark.parametrize(("name", "args", "shape"), LAYERS, ids=[each[0] for each in LAYERS])
def test_spectral_norm_by_hook(name: str, args: Any, shape: Any) -> None:
    made = [
        library.nn.utils.spectral_norm(
            getattr(library.nn, name)(*args).double(), n_power_iterations=2
        )
        for library in LIBRARIES
    ]
    mine, theirs = made
    assert list(mine.state_dict()) == list(theirs.state_dict())
    share_state(mine, theirs)
    for training in (True, True, False):
        seen = []
        for library, module in zip(LIBRARIES, made, strict=True):
            module.train(training).zero_grad()
            x = library.from_numpy(array(*shape)).requires_grad_()
            y = module(x)
            (y**2).sum().backward()
            seen.append([y, x.grad, module.weight_orig.grad, *module.buffers()])
        for a, b in zip(*seen, strict=True):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9)
    inputs = whygrad.from_numpy(array(*shape))
    with whygrad.no_grad():
        expected = mine(inputs)
    twin = pickle.loads(pickle.dumps(copy.deepcopy(mine)))
    assert whygrad.equal(twin(inputs), expected)
    for library, module in zip(LIBRARIES, made, strict=True):
        library.nn.utils.remove_spectral_norm(module)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    np.testing.assert_allclose(
        mine.weight.detach().numpy(), theirs.weight.detach().numpy(), rtol=1e-9
    )


@pytest.mark.parametrize("orthogonal_map", [None, "matrix_exp", "cayley", "householder"])
def test_orthogonal(orthogonal_map: str | None) -> None:
    for shape in ((3, 3), (5, 3), (3, 5), (2, 4, 3)):
        for trivial in (True, False):
            seen, modules = [], []
            for library in LIBRARIES:
                module = library.nn.Module()
                module.weight = library.nn.Parameter(library.from_numpy(array(*shape)))
                library.nn.utils.parametrizations.orthogonal(
                    module, "weight", orthogonal_map, use_trivialization=trivial
                )
                modules.append(module)
            mine, theirs = modules
            start = mine.weight.detach().numpy()
            np.testing.assert_allclose(start, theirs.weight.detach().numpy(), atol=1e-12)
            assert list(mine.state_dict()) == list(theirs.state_dict())
            share_state(mine, theirs)
            for module in modules:
                (module.weight**3).sum().backward()
                original = module.parametrizations.weight.original
                seen.append([module.weight.detach().numpy(), original.grad.numpy()])
            for a, b in zip(*seen, strict=True):
                np.testing.assert_allclose(a, b, atol=1e-12)


def fused(library: Any) -> Any:
    found = []
    nn, x = library.nn, numbers(library, 2, 3, 5, 5)
    for layer, kind, transpose in (
        (nn.Conv2d(3, 4, 3), nn.BatchNorm2d, False),
        (nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d, False),
        (nn.ConvTranspose2d(3, 4, 3), nn.BatchNorm2d, True),
        (nn.Linear(5, 4), nn.BatchNorm1d, False),
    ):
        norm = kind(4).double()
        with library.no_grad():
            for place, each in enumerate((*layer.double().parameters(), *norm.parameters())):
                each.copy_(numbers(library, *each.shape, seed=place))
            norm.running_mean.copy_(numbers(library, 4, seed=8))
            norm.running_var.copy_(numbers(library, 4, seed=9) + 2)
        layer.eval(), norm.eval()
        if kind is nn.BatchNorm1d:
            one = nn.utils.fuse_linear_bn_eval(layer, norm)
            inputs = x[0, 0]
        else:
            one = nn.utils.fuse_conv_bn_eval(layer, norm, transpose)
            inputs = x
        assert library.allclose(one(inputs), norm(layer(inputs)))
        found += [one(inputs), *one.parameters()]
    return found


def skipped(library: Any) -> Any:
    layer = library.nn.utils.skip_init(library.nn.Linear, 3, out_features=2)
    return [tuple(layer.weight.shape), str(layer.weight.device), layer.weight.requires_grad]


@programs(fused, skipped)
def test_as_pytorch(program: Program) -> None:
    agree(program)


def test_cached_computes_once() -> None:
    for library in LIBRARIES:
        calls = []

        class Noted(library.nn.Module):  # type: ignore[name-defined,misc]
            def forward(self, weight: Any, calls: list[int] = calls) -> Any:
                calls.append(1)
                return weight * 2

        layer = library.nn.Linear(2, 2)
        parametrize = library.nn.utils.parametrize
        parametrize.register_parametrization(layer, "weight", Noted())
        calls.clear()
        with parametrize.cached():
            first = layer.weight
            assert layer.weight is first
            layer(library.ones(1, 2)).sum().backward()
        assert len(calls) == 1
        assert layer.weight is not first
        assert layer.parametrizations.weight.original.grad.tolist() == [[2.0, 2.0]] * 2


def test_older_names_warn_and_work() -> None:
    for old in (
        "constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal",
        "sparse", "uniform", "xavier_normal", "xavier_uniform",
    ):  # fmt: skip
        args = {"constant": (0.5,), "sparse": (0.1,)}.get(old, ())
        shape = (3, 3, 3) if old == "dirac" else (3, 3)
        drawn = []
        for name in (old, f"{old}_"):
            whygrad.manual_seed(0)
            tensor, fill = whygrad.zeros(shape), getattr(whygrad.nn.init, name)
            if name == old:
                with pytest.warns(FutureWarning, match=rf"`nn.init.{old}` is now deprecated"):
                    fill(tensor, *args)
            else:
                fill(tensor, *args)
            drawn.append(tensor)
        assert whygrad.equal(*drawn)
    layer = whygrad.nn.Linear(2, 1)
    layer(whygrad.ones(1, 2)).sum().backward()
    with pytest.warns(FutureWarning, match=r"clip_grad_norm` is now deprecated"):
        whygrad.nn.utils.clip_grad_norm(layer.parameters(), 0.1)
    state = {"weight": whygrad.ones(1, 2), "bias": whygrad.zeros(1)}
    with pytest.warns(FutureWarning, match=r"functional_call` is deprecated"):
        y = whygrad.nn.utils.stateless.functional_call(layer, state, whygrad.ones(1, 2))
    assert y.item() == 2.0


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (
            lambda lib: lib.nn.utils.spectral_norm(lib.nn.utils.spectral_norm(lib.nn.Linear(2, 2))),
            "Cannot register two spectral_norm hooks",
        ),
        (lambda lib: lib.nn.utils.remove_spectral_norm(lib.nn.Linear(2, 2)), "not found in"),
        (
            lambda lib: lib.nn.utils.parametrizations.orthogonal(lib.nn.Linear(2, 2), "bias"),
            "Expected a matrix or batch of matrices",
        ),
        (
            lambda lib: lib.nn.utils.parametrizations.orthogonal(
                lib.nn.Linear(2, 2), orthogonal_map="qr"
            ),
            "orthogonal_map has to be one of",
        ),
        (
            lambda lib: lib.nn.utils.fuse_conv_bn_eval(
                lib.nn.Conv2d(1, 1, 1), lib.nn.BatchNorm2d(1)
            ),
            "Fusion only for eval!",
        ),
        (lambda lib: lib.nn.utils.skip_init(lib.nn.ReLU), "must support a 'device' arg"),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)
