"""What ``explain`` was asked: checked before anything runs, then measured."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from whygrad.autograd.api import root_gradients
from whygrad.dispatch.interception import not_intercepting
from whygrad.errors import describe, fail
from whygrad.scalar import Value
from whygrad.tensor import Tensor, keys
from whygrad.tensor.graph.node import Freed
from whygrad.why.contributions import Terms
from whygrad.why.flow import Edge, Flow
from whygrad.why.names import Names
from whygrad.why.sources.recording import Recording
from whygrad.why.sources.scalar import flow_of_values
from whygrad.why.sources.tensor import TensorFlow

__all__ = ["Measured", "Question", "checked_index"]


class Measured(NamedTuple):
    """The backward pass, and what came to light beside it."""

    flow: Flow
    notes: tuple[str, ...] = ()
    terms: Mapping[Edge, Terms | None] = MappingProxyType({})


class Question:
    """One call of ``explain``, for one ``wrt``."""

    def __init__(
        self, y: Any, x: Any, names: Names, gradient: Any, index: Any, max_paths: int
    ) -> None:
        self.y, self.x, self.names, self.gradient = y, x, names, gradient
        self.max_paths = max_paths
        _check_kinds(y, x)
        of = names.of_value if isinstance(y, Value) else names.of_tensor
        self.y_name, self.x_name = of(y), of(x)
        self.call = f"explain({self.y_name}, wrt={self.x_name})"
        if not isinstance(max_paths, int) or max_paths < 1:
            raise self._fail(
                ValueError,
                f"max_paths is {max_paths!r}: at least one path has to be shown",
                "pass a positive integer, or leave it out",
            )
        shape = () if isinstance(x, Value) else tuple(x.shape)
        self.index = None if index is None else checked_index(self.call, index, shape)

    def measured(self) -> Measured:
        """Write the backward pass down."""
        return self._of_values() if isinstance(self.y, Value) else self._of_tensors()

    def _of_values(self) -> Measured:
        seed = 1.0 if self.gradient is None else self.gradient
        if not isinstance(seed, Real):
            raise self._fail(
                TypeError,
                f"the gradient of a Value is a number, not a {type(seed).__name__}",
                "pass a float, or leave it out to start from 1",
            )
        flow = flow_of_values(self.y, self.x, float(seed), self.names)
        if flow is None:
            raise self._no_way()
        return Measured(flow)

    def _of_tensors(self) -> Measured:
        (seed,) = root_gradients("explain", [self.y], [self.gradient])
        self._check_payloads(seed)
        if self.x._node is None:
            raise self._fail(
                RuntimeError,
                f"{self.x_name} does not require grad, so backward computes no gradient for it",
                f"call requires_grad_() on it before the computation; whygrad.why_none("
                f"{self.x_name}, {self.y_name}) says how it came to be so",
            )
        walk = Recording(self.y, self.x)
        if not walk.leads_to_target:
            raise self._no_way()
        self._check_freed(walk)
        with not_intercepting():
            gradient = walk.from_seed(seed._array)
            if gradient is None:
                raise self._no_way()
            made = TensorFlow(walk, gradient, self.names)
            terms = {} if self.index is None else made.terms(self.index)
        notes = tuple(
            f"the hook {hook.name!r} registered at {hook.where} was not called: if it changes "
            "gradients, backward() gives others"
            for hook in walk.hooks
        )
        return Measured(made.flow, notes, terms)

    def _check_payloads(self, seed: Tensor) -> None:
        for each, name in ((self.y, self.y_name), (self.x, self.x_name), (seed, "the gradient")):
            if not each._keys & keys.CPU:
                raise self._fail(
                    RuntimeError,
                    f"{name} is on {each.device}, where there are no numbers to add up",
                    "run the computation on the cpu and explain it there",
                )
        if type(self.y._array) is not np.ndarray:
            raise self._fail(
                RuntimeError,
                f"{self.y_name} has the layout {self.y.layout}; an explanation starts from a dense "
                "result",
                f"reduce it first, for example {self.y_name}.to_dense().sum()",
            )

    def _check_freed(self, walk: Recording) -> None:
        for node in sorted(walk.between, key=lambda each: each.order):  # as backward meets them
            if isinstance(node.values, Freed):
                raise self._fail(
                    RuntimeError,
                    f"{node.name()} at {node.where} no longer has the values it saved: the "
                    f"backward() at {node.values.where} freed them",
                    "explain before backward(), or pass retain_graph=True to it",
                )

    def _no_way(self) -> RuntimeError:
        fix = f"whygrad.why_none({self.x_name}, {self.y_name}) names the cut"
        if isinstance(self.y, Value):
            fix = f"use {self.x_name} in the computation of {self.y_name}"
        return self._fail(
            RuntimeError,
            f"no gradient of {self.y_name} reaches {self.x_name}, so there is nothing to explain",
            fix,
        )

    def _fail(self, kind: type[Any], cause: str, fix: str) -> Any:
        return fail(kind, call=self.call, cause=cause, fix=fix)


def checked_index(call: str, index: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """``index`` as one non-negative integer per axis of ``shape``."""
    given = index if isinstance(index, tuple) else (index,)
    call = f"{call[:-1]}, index={index!r})"
    try:
        places = [operator.index(each) for each in given]
    except TypeError:
        raise fail(
            TypeError,
            call=call,
            cause="an index picks one element: it consists of integers, no slices, lists or None",
            fix=f"pass one integer per axis of the shape {shape}",
        ) from None
    if len(places) != len(shape):
        raise fail(
            IndexError,
            call=call,
            cause=f"{len(places)} indices for {len(shape)} axes: the shape is {shape}",
            fix="pass one integer per axis, as a tuple",
        )
    for axis, (place, size) in enumerate(zip(places, shape, strict=True)):
        if not -size <= place < size:
            raise fail(
                IndexError,
                call=call,
                cause=f"index {place} is out of range for axis {axis} of size {size}",
                fix=f"pass {-size} to {size - 1}" if size else "there is no element to follow",
            )
    return tuple(place % size for place, size in zip(places, shape, strict=True))


def _check_kinds(y: Any, x: Any) -> None:
    for role, each in (("y", y), ("wrt", x)):
        if not isinstance(each, (Value, Tensor)):
            torch = type(each).__module__.split(".")[0] == "torch"
            raise fail(
                TypeError,
                call=f"explain(y, wrt=x) with {role} = {describe(each)}",
                cause=f"{role} is a {type(each).__name__}, not a Value or a tensor of whygrad's",
                fix="call whygrad.torch.explain for PyTorch's tensors"
                if torch
                else "pass the result and what it was computed from",
            )
    if isinstance(y, Value) is not isinstance(x, Value):
        raise fail(
            TypeError,
            call=f"explain({type(y).__name__}, wrt={type(x).__name__})",
            cause="no path leads from a Value to a tensor or the other way",
            fix="compute with Values only, or with tensors only",
        )
