"""``dtype=`` of every op that takes one: every dtype, on inputs of several dtypes.

What PyTorch refuses is refused, with the same kind of exception; what it takes gives the same
dtype and the same numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import whygrad
from tests.conformance.harness import Side, as_numpy, flatten, torch_function
from whygrad.ops.define import Op
from whygrad.ops.samples import Call, samples_of
from whygrad.tensor.dtypes import DType

__all__ = ["DTYPES", "INPUTS", "differences", "takes_dtype"]

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
INPUTS = ("float32", "with nan", "int32", "uint8", "bool", "complex64")


def takes_dtype(op: Op) -> bool:
    """Whether it has the parameter, by name or among the options that all creation has."""
    if _is_drawn(op):
        return True
    if op.torch == "":
        return False
    parameters = inspect.signature(op.public).parameters
    return "dtype" in parameters or (op.family == "creation" and _has_options(op))


def _is_drawn(op: Op) -> bool:
    """Whether it makes random tensors, of which the dtype can be compared and no number."""
    if op.torch != "" or op.family != "creation" or not _has_options(op):
        return False
    return any(call.around is not None for call in samples_of(op))  # in which a seed is set


def _has_options(op: Op) -> bool:
    parameters = inspect.signature(op.public).parameters.values()
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)


def _side(op: Op, call: Call, library: Any, kind: str, dtype: str) -> Side:
    def make(value: Any, _: bool) -> Any:
        if isinstance(value, DType):
            return getattr(library, value.name)
        if value.dtype.kind == "f":
            value = value.astype("float32") if kind == "with nan" else value.astype(kind)
            if kind == "with nan" and value.size > 1:
                value.flat[1] = np.nan
        return library.from_numpy(np.array(value))

    kwargs = {name: value for name, value in call.kwargs.items() if name != "dtype"}
    around = None if _is_drawn(op) else call.around  # which brings a generator of ours
    side = Side(Call(call.args, kwargs, around), make)
    side.kwargs["dtype"] = getattr(library, dtype)
    return side


def _outcome(side: Side, function: Any) -> Any:
    try:
        return flatten(side.run(function))
    except Exception as error:
        return error


def _numbers(value: Any) -> Any:
    return as_numpy(value.float() if value.dtype in (torch.bfloat16, whygrad.bfloat16) else value)


def differences(op: Op, kinds: tuple[str, ...] = INPUTS, samples: int = 4) -> Iterator[str]:
    """What differs from PyTorch, in words."""
    for call in samples_of(op)[:samples]:
        given = [each for each in call.args if isinstance(each, np.ndarray)]
        made_of_floats = any(each.dtype.kind == "f" for each in given)
        for kind in kinds if made_of_floats else kinds[:1]:
            for dtype in DTYPES:
                mine = _outcome(_side(op, call, whygrad, kind, dtype), op.public)
                theirs = _outcome(_side(op, call, torch, kind, dtype), torch_function(op))
                what = _difference(mine, theirs, numbers=not _is_drawn(op))
                if what:
                    yield f"{op.name}({call!r}) of {kind} in {dtype}: {what}"


def _difference(mine: Any, theirs: Any, numbers: bool) -> str:
    if isinstance(theirs, Exception) or isinstance(mine, Exception):
        return "" if _same_refusal(mine, theirs) else f"{_short(mine)} against {_short(theirs)}"
    for a, b in zip(mine, theirs, strict=True):
        if a.dtype.name != str(b.dtype).removeprefix("torch.") or a.shape != tuple(b.shape):
            return f"{a.dtype}{tuple(a.shape)} against {b.dtype}{tuple(b.shape)}"
        tolerance = 2e-2 if b.dtype in (torch.float16, torch.bfloat16) else 1e-5
        if numbers and not np.allclose(
            _numbers(a), _numbers(b), tolerance, tolerance, equal_nan=True
        ):
            return f"{_numbers(a).tolist()} against {_numbers(b).tolist()}"
    return ""


def _same_refusal(mine: Any, theirs: Any) -> bool:
    if not isinstance(theirs, Exception) or not isinstance(mine, Exception):
        return False
    named_alike = type(mine).__name__ == type(theirs).__name__.lstrip("_")  # torch._C._LinAlgError
    return isinstance(mine, type(theirs)) or named_alike


def _short(outcome: Any) -> str:
    if isinstance(outcome, Exception):
        return f"{type(outcome).__name__}: {str(outcome)[:60]!r}"
    return str([each.dtype for each in outcome])
