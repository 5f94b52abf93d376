"""A layer of whygrad beside the same layer of PyTorch.

A :class:`Layer` names a class, its arguments and inputs; the functions here build it in both
libraries with the same parameters and compare whatever can be seen of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

__all__ = [
    "LIBRARIES",
    "Layer",
    "array",
    "assert_same",
    "both",
    "cases",
    "check_gradients",
    "check_outputs",
    "check_second_order",
    "check_state",
    "refusal",
    "share_state",
]

LIBRARIES = (whygrad, torch)
TOLERANCE = {"rtol": 1e-9, "atol": 1e-11}


class Layer:
    """``Layer("Linear", 3, 2, bias=False).on(array(4, 3))``"""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.inputs: tuple[Any, ...] = ()

    def on(self, *inputs: Any) -> Layer:
        """What to call it with: arrays; those of floats will require grad."""
        self.inputs = inputs
        return self

    def made(self, library: Any) -> Any:
        return getattr(library.nn, self.name)(*self.args, **self.kwargs)

    def __repr__(self) -> str:
        parts = [repr(each) for each in self.args]
        parts += [f"{name}={value!r}" for name, value in self.kwargs.items()]
        shapes = " ".join("x".join(map(str, each.shape)) or "scalar" for each in self.inputs)
        return f"{self.name}({', '.join(parts)}) {shapes}"


def array(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Any:
    return np.random.default_rng((seed, *shape)).uniform(low, high, shape)


def cases(layers: list[Layer]) -> list[Any]:
    return [pytest.param(each, id=repr(each)) for each in layers]


def both(layer: Layer) -> tuple[Any, Any]:
    """The layer in both libraries, in float64, with the same parameters away from their start."""
    mine, theirs = (layer.made(library).double() for library in LIBRARIES)
    with torch.no_grad():
        for position, parameter in enumerate(theirs.parameters()):
            values = array(*parameter.shape, seed=position + 1, low=0.25)
            parameter.copy_(torch.from_numpy(np.asarray(values)))
    share_state(mine, theirs)
    return mine, theirs


def share_state(mine: Any, theirs: Any) -> None:
    """Give whygrad's module what PyTorch's holds."""
    state = {name: whygrad.from_numpy(each.numpy()) for name, each in theirs.state_dict().items()}
    mine.load_state_dict(state)


def tensors(library: Any, arrays: tuple[Any, ...]) -> list[Any]:
    made = []
    for each in arrays:
        tensor = library.from_numpy(np.array(each))
        made.append(tensor.requires_grad_() if each.dtype.kind == "f" else tensor)
    return made


def assert_same(mine: Any, theirs: Any, what: str) -> None:
    if theirs is None or mine is None:
        assert mine is theirs, f"{what}: {mine} against {theirs}"
        return
    assert tuple(mine.shape) == tuple(theirs.shape), what
    assert mine.dtype.name == str(theirs.dtype).removeprefix("torch."), what
    np.testing.assert_allclose(
        mine.detach().numpy(), theirs.detach().numpy(), **TOLERANCE, err_msg=what
    )


def check_outputs(layer: Layer) -> None:
    """In training and in eval mode."""
    mine, theirs = both(layer)
    for mode in (True, False):
        mine.train(mode), theirs.train(mode)
        outputs = [
            made(*tensors(library, layer.inputs))
            for made, library in zip((mine, theirs), LIBRARIES, strict=True)
        ]
        assert_same(*outputs, f"output, training={mode}")


def _weighted(output: Any, library: Any) -> Any:
    weights = array(*output.shape, seed=9, low=0.5)
    return (output * library.from_numpy(np.asarray(weights))).sum()


def check_gradients(layer: Layer, training: bool = True) -> None:
    """Of every input and parameter."""
    seen: list[dict[str, Any]] = []
    for made, library in zip(both(layer), LIBRARIES, strict=True):
        inputs = tensors(library, layer.inputs)
        _weighted(made.train(training)(*inputs), library).backward()
        gradients = {f"input {place}": each.grad for place, each in enumerate(inputs)}
        gradients |= {name: each.grad for name, each in made.named_parameters()}
        seen.append(gradients)
    mine, theirs = seen
    assert mine.keys() == theirs.keys()
    for name, gradient in theirs.items():
        assert_same(mine[name], gradient, f"gradient of {name}")


def check_second_order(layer: Layer, training: bool = True) -> None:
    """The gradient of the squared length of the gradient."""
    seen: list[list[Any]] = []
    for made, library in zip(both(layer), LIBRARIES, strict=True):
        inputs = tensors(library, layer.inputs)
        leaves = [each for each in inputs if each.requires_grad] + list(made.parameters())
        total = _weighted(made.train(training)(*inputs), library)
        first = library.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
        length = sum((each * each).sum() for each in first if each is not None)
        linear = not length.requires_grad  # nothing left to differentiate
        second = () if linear else library.autograd.grad(length, leaves, allow_unused=True)
        seen.append(list(second) or [None] * len(leaves))
    for place, (mine, theirs) in enumerate(zip(*seen, strict=True)):
        if theirs is None or mine is None:  # one library may know a zero that the other computes
            known = mine if theirs is None else theirs
            assert known is None or not known.detach().numpy().any(), f"second order {place}"
            continue
        assert_same(mine, theirs, f"second order {place}")


def check_state(layer: Layer) -> None:
    """Names, shapes and dtypes of the state, and how the layer shows itself."""
    mine, theirs = (layer.made(library) for library in LIBRARIES)
    assert repr(mine) == repr(theirs)
    my_state, their_state = mine.state_dict(), theirs.state_dict()
    assert list(my_state) == list(their_state)
    for name, tensor in their_state.items():
        assert tuple(my_state[name].shape) == tuple(tensor.shape)
        assert my_state[name].dtype.name == str(tensor.dtype).removeprefix("torch.")
    for registered in ("_parameters", "_buffers"):
        assert list(getattr(mine, registered)) == list(getattr(theirs, registered))


def refusal(program: Callable[[Any], Any], phrase: str) -> Any:
    """The program fails in both libraries, with the same kind of error and the phrase in both."""
    errors = []
    for library in LIBRARIES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(Exception) as caught:  # noqa: PT011
                program(library)
        errors.append(caught.value)
    mine, theirs = errors
    assert isinstance(mine, type(theirs)), f"{type(mine).__name__}, not {type(theirs).__name__}"
    for error in errors:
        text = " ".join(str(error.args[0]).split())  # str() of a KeyError is a repr
        assert phrase in text, f"{phrase!r} is not in {text!r}"
    assert "\n  fix:" in str(mine)
    return mine
