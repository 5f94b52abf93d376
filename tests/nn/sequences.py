"""Layers with several arguments, masks and results, in both libraries.

A :class:`Call` is a layer and the named arguments to call it with; the functions here build it in
whygrad and PyTorch with the same parameters and compare what comes out, and what comes back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.nn.layers import LIBRARIES, array, assert_same, share_state

__all__ = ["Call", "Constant", "cases", "check", "check_second_order", "twins"]


class Constant:
    """A float array that should not require grad."""

    def __init__(self, values: Any) -> None:
        self.values = values


class Call:
    """``Call("GRU", 3, 4, bias=False)(input=array(5, 2, 3))``"""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.arguments: dict[str, Any] = {}

    def __call__(self, **arguments: Any) -> Call:
        self.arguments = arguments
        return self

    def made(self, library: Any) -> Any:
        return getattr(library.nn, self.name)(*self.args, **self.kwargs)

    def __repr__(self) -> str:
        options = [str(each) for each in self.args]
        options += [f"{name}={value}" for name, value in self.kwargs.items()]
        arguments = [_short(name, value) for name, value in self.arguments.items()]
        return f"{self.name}({','.join(options)})-{','.join(arguments)}"


def _short(name: str, value: Any) -> str:
    value = value.values if isinstance(value, Constant) else value
    if isinstance(value, np.ndarray):
        return f"{name}:{value.dtype.kind}{'x'.join(map(str, value.shape))}"
    return name if isinstance(value, tuple) else f"{name}={value}"


def cases(calls: list[Call]) -> list[Any]:
    return [pytest.param(each, id=repr(each)) for each in calls]


def twins(call: Call) -> tuple[Any, Any]:
    """The layer in both libraries, in float64, with the same parameters, none of them 0."""
    mine, theirs = (call.made(library).double() for library in LIBRARIES)
    with torch.no_grad():
        for position, parameter in enumerate(theirs.parameters()):
            values = array(*parameter.shape, seed=position + 1, low=-0.7, high=0.7)
            parameter.copy_(torch.from_numpy(np.asarray(values)))
    share_state(mine, theirs)
    return mine, theirs


class _Run:
    """One call in one library: its leaves and its results."""

    def __init__(self, call: Call, module: Any, library: Any) -> None:
        self.leaves: dict[str, Any] = {}
        self.library = library
        seen: dict[int, Any] = {}  # the same array is the same tensor

        def tensor(name: str, value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(tensor(f"{name}[{i}]", each) for i, each in enumerate(value))
            constant = isinstance(value, Constant)
            value = value.values if constant else value
            if not isinstance(value, np.ndarray):
                return value
            if id(value) not in seen:
                made = library.from_numpy(np.array(value))
                if value.dtype.kind == "f" and not constant:
                    self.leaves[name] = made.requires_grad_()
                seen[id(value)] = made
            return seen[id(value)]

        arguments = {name: tensor(name, value) for name, value in call.arguments.items()}
        self.results = _flat(module(**arguments))
        self.leaves |= dict(module.named_parameters())

    def total(self) -> Any:
        """A weighted sum of all results."""
        terms = []
        for place, each in enumerate(self.results):
            if each is not None:
                weights = self.library.from_numpy(array(*each.shape, seed=place + 90))
                terms.append((each * weights).sum())
        return sum(terms[1:], terms[0])


def _flat(result: Any) -> list[Any]:
    if isinstance(result, tuple):
        return [leaf for each in result for leaf in _flat(each)]
    return [result]


def check(call: Call, training: bool = True) -> None:
    """Results, and gradients of inputs and parameters."""
    runs = [
        _Run(call, module.train(training), library)
        for module, library in zip(twins(call), LIBRARIES, strict=True)
    ]
    for run in runs:
        run.total().backward()
    mine, theirs = runs
    assert len(mine.results) == len(theirs.results)
    for place, (a, b) in enumerate(zip(mine.results, theirs.results, strict=True)):
        assert_same(a, b, f"result {place}")
    assert mine.leaves.keys() == theirs.leaves.keys()
    for name, leaf in theirs.leaves.items():
        assert_same(mine.leaves[name].grad, leaf.grad, f"gradient of {name}")


def check_second_order(call: Call) -> None:
    """The gradient of the squared length of the gradient."""
    found = []
    for module, library in zip(twins(call), LIBRARIES, strict=True):
        run = _Run(call, module, library)
        leaves = list(run.leaves.values())
        first = library.autograd.grad(run.total(), leaves, create_graph=True, allow_unused=True)
        length = sum((each * each).sum() for each in first if each is not None)
        found.append(library.autograd.grad(length, leaves, allow_unused=True))
    for name, a, b in zip(run.leaves, *found, strict=True):
        assert_same(a, b, f"second derivative by {name}")
