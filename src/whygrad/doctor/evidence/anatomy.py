"""The layers of a step, found in the calls themselves.

A *layer* is a call that multiplies by a learned weight, whether a module made it or ``x @ W`` did.
A *squasher* is an activation with flat ends.  Rules about initial values, dead units and vanishing
gradients speak of these, so the ways to write a layer are sorted out here and nowhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Range
from whygrad.recording.record import Parameter, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

__all__ = [
    "Layer",
    "activation_place",
    "call_place",
    "common",
    "layers_of",
    "origin",
    "rectifiers_of",
    "size_of",
    "squashers_of",
    "units_of",
]


@dataclass(eq=False)
class Layer:
    """One multiplication by a learned weight."""

    call: Traced
    name: int  # the id of the program's leaf
    parameter: Parameter
    data: int  # the place of what is multiplied, among the inputs
    units: int  # the axis of the weight that counts outputs
    bias: Parameter | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.parameter.tensor.shape)

    @property
    def width(self) -> int:
        """How many outputs it has."""
        return self.shape[self.units]

    @property
    def fan_in(self) -> int:
        """How many numbers each output is a weighted sum of."""
        return max(1, math.prod(self.shape) // max(1, self.width))

    def weight(self, snapshot: Snapshot) -> np.ndarray[Any, Any]:
        """Its weight before a step, one row a unit."""
        array = snapshot.engine.array(snapshot.values[self.name])
        return np.moveaxis(array, self.units, 0).reshape(self.width, -1)

    @property
    def label(self) -> str:
        return self.parameter.name


def layers_of(case: Case, trace: Trace) -> list[Layer]:
    """The layers of a step, in the order in which they were called."""
    names = {id(copy): name for name, copy in trace.parameters.items()}
    known = case.run.parameters
    found: list[Layer] = []
    for call in trace.calls:
        layer = _as_layer(trace, call, names, known)
        if layer is not None:
            layer.bias = _bias(trace, layer, names, known)
            found.append(layer)
    return found


def _as_layer(
    trace: Trace, call: Traced, names: dict[int, int], known: dict[int, Parameter]
) -> Layer | None:
    if call.op in ops.WEIGHTED:
        places = [1]
    elif call.op in ops.MATRIX_PRODUCTS:
        places = list(range(len(call.inputs)))[-2:]
    else:
        return None
    for place in places:
        if place >= len(call.inputs):
            continue
        name, turned = _leaf(trace, call, place, names)
        if name is None or name not in known or known[name].tensor.ndim < 2:
            continue
        if call.op in ops.MATRIX_PRODUCTS:
            data = places[0] if place == places[1] else places[1]
            right = place == places[1]
            axis = (known[name].tensor.ndim - 1 if right else known[name].tensor.ndim - 2) ^ turned
        else:
            data, axis = 0, int(call.op in ops.TRANSPOSED_CONVOLUTIONS)
        return Layer(call, name, known[name], data, axis)
    return None


def _leaf(trace: Trace, call: Traced, place: int, names: dict[int, int]) -> tuple[int | None, bool]:
    """The learned tensor behind an input, and whether it was transposed on the way."""
    given, source, turned = call.inputs[place], call.sources[place], False
    for _ in range(3):
        if id(given) in names:
            return names[id(given)], turned
        made = trace.made_by(source)
        if made is None or made.op not in ops.TRANSPOSES or not made.inputs:
            return None, False
        turned = not turned
        given, source = made.inputs[0], made.sources[0]
    return None, False


def _bias(
    trace: Trace, layer: Layer, names: dict[int, int], known: dict[int, Parameter]
) -> Parameter | None:
    call = layer.call
    if call.op not in ops.MATRIX_PRODUCTS:
        given = call.inputs[2:3]
    elif call.op in ops.ADDED_PRODUCTS:
        given = call.inputs[:1]
    else:
        followers = trace.consumers(Produced(call.number, 0))
        given = [each for next_ in followers if next_.op in ops.ADD for each in next_.inputs]
    for each in given:
        parameter = known.get(names.get(id(each), 0))
        if parameter is not None and parameter.tensor.numel() == layer.width:
            return parameter
    return None


def rectifiers_of(trace: Trace) -> list[Traced]:
    """The calls that put zero in the place of what is negative."""
    return [each for each in trace.calls if _rectifies(each)]


def _rectifies(call: Traced) -> bool:
    if not (call.outputs and getattr(call.outputs[0], "requires_grad", False)):
        return False
    if call.op in ops.RECTIFIERS:
        return call.op not in ops.HARDTANH
    if call.op in ops.LOWER_CLAMPS:
        return call.argument(1, "min") == 0 and call.argument(2, "max") is None
    return False


def squashers_of(trace: Trace) -> list[Traced]:
    """The activations with flat ends that gradients flow through."""
    return [
        each
        for each in trace.calls
        if each.op in ops.SQUASHERS and each.outputs and each.outputs[0].requires_grad
    ]


def origin(trace: Trace, call: Traced, passing: ops.Family = ops.RESHAPING) -> Traced | None:
    """The call behind the first input of ``call``, past those that pass values on."""
    made = trace.made_by(call.sources[0]) if call.sources else None
    while made is not None and made.op in passing and made.sources:
        made = trace.made_by(made.sources[0])
    return made


def units_of(array: np.ndarray[Any, Any], convolved: bool) -> np.ndarray[Any, Any]:
    """The values of an activation, one row a unit: channels come second, features last."""
    axis = 1 if array.ndim == 4 or (convolved and array.ndim > 2) else array.ndim - 1
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)


def size_of(found: Range) -> float:
    """The root of the mean square."""
    return math.hypot(found.mean, found.std)


def common(places: list[Where]) -> Where:
    """The place that is named most often; of those, the first."""
    return max(places, key=lambda each: (places.count(each), -places.index(each)))


def activation_place(case: Case, call: Traced) -> Where:
    """The line of an activation: where its module was made, or where the function is called."""
    module = case.module(call.module) if call.module else None
    library = type(module).__module__.partition(".")[0] in ("torch", "whygrad")
    alone = module is not None and library and next(module.children(), None) is None
    return (case.made_at(call.module) if alone else None) or call.where


def call_place(case: Case, call: Traced, others: list[Traced]) -> Where:
    """The line of a layer: in ``forward``, or in the list of a Sequential that calls it."""
    crowded = any(
        each is not call and each.where == call.where and each.module != call.module
        for each in others
    )
    made = case.made_at(call.module) if call.module and crowded else None
    return made or call.where
