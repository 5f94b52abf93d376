"""A program that only uses ``library.…`` runs with whygrad and with PyTorch and answers the same.

A program takes the library and returns what it saw: numbers, strings, tensors, modules, in lists,
tuples and dictionaries.  :func:`agree` runs it on both sides and compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

__all__ = ["Program", "agree", "failure", "networks", "numbers", "programs"]

Program = Callable[[Any], Any]


def agree(program: Program) -> None:
    mine, theirs = (_plain(program(library)) for library in (whygrad, torch))
    _compare(mine, theirs, "result")


def programs(*functions: Program) -> Any:
    """As parameters of a test, named after the functions."""
    return pytest.mark.parametrize(
        "program", [pytest.param(each, id=each.__name__) for each in functions]
    )


def failure(action: Callable[[], Any]) -> str:
    """The kind of error that the action raises; "none" if it does not."""
    try:
        action()
    except Exception as error:
        kinds = (AttributeError, IndexError, KeyError, NotImplementedError, TypeError, ValueError)
        return next((kind.__name__ for kind in kinds if isinstance(error, kind)), "RuntimeError")
    return "none"


def networks(library: Any) -> Any:
    """A small model in float64 with the same parameters in both libraries."""
    nn = library.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Sequential(nn.Linear(4, 2))).double()
    with library.no_grad():
        for position, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(library, *parameter.shape, seed=position))
    return model


def numbers(library: Any, *shape: int, seed: int = 0) -> Any:
    return library.from_numpy(np.random.default_rng(seed).uniform(-1, 1, shape))


def _plain(value: Any) -> Any:
    if isinstance(value, (whygrad.Tensor, torch.Tensor)):
        name = str(value.dtype).rpartition(".")[2]
        return ("tensor", name, value.requires_grad, np.asarray(value.detach().numpy()))
    if isinstance(value, (whygrad.nn.Module, torch.nn.Module)):
        text = re.sub(r"\b(whygrad|torch)\.", "", repr(value))
        return text.replace("DoubleTensor", "float64").replace("FloatTensor", "float32")
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


def _compare(mine: Any, theirs: Any, where: str) -> None:
    if isinstance(theirs, np.ndarray):
        assert mine.shape == theirs.shape, where
        np.testing.assert_allclose(mine, theirs, 1e-9, 1e-12, err_msg=where)
    elif isinstance(theirs, dict):
        assert list(mine) == list(theirs), where
        for name in theirs:
            _compare(mine[name], theirs[name], f"{where}[{name!r}]")
    elif isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs), f"{where}: {mine} against {theirs}"
        for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            _compare(a, b, f"{where}[{place}]")
    elif isinstance(theirs, float):
        assert mine == pytest.approx(theirs, rel=1e-9), where
    else:
        assert mine == theirs, f"{where}: {mine!r} against {theirs!r}"
