"""Public functions whose result depends on how they are called, one signature per form.

The op table knows each of them as one function; a type checker wants to hear the forms apart.
They are written as functions so that they read like what they describe, but nobody calls them:
:mod:`scripts.stubs` looks at their signatures.  The first parameter is the tensor itself where the
op is a method too.
"""
# ruff: noqa: F811  (a function has several forms)

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from whygrad.ops.public import return_types
from whygrad.random import Generator
from whygrad.tensor import Tensor

if TYPE_CHECKING:
    from whygrad.tensor._types import DTypeLike, Operand

__all__ = ["forms", "method_forms"]

Form = Callable[..., Any]

# Of functions, and of the methods that are the same function.
forms: dict[str, list[Form]] = defaultdict(list)
# Of methods that are not the function of their name.
method_forms: dict[str, list[Form]] = defaultdict(list)


def form(function: Form) -> Form:
    forms[function.__name__].append(function)
    return function


def method_form(function: Form) -> Form:
    method_forms[function.__name__].append(function)
    return function


@form
def atleast_1d(tensor: Tensor, /) -> Tensor: ...
@form
def atleast_1d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
@form
def atleast_1d(first: Tensor, second: Tensor, /, *others: Tensor) -> tuple[Tensor, ...]: ...


@form
def atleast_2d(tensor: Tensor, /) -> Tensor: ...
@form
def atleast_2d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
@form
def atleast_2d(first: Tensor, second: Tensor, /, *others: Tensor) -> tuple[Tensor, ...]: ...


@form
def atleast_3d(tensor: Tensor, /) -> Tensor: ...
@form
def atleast_3d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
@form
def atleast_3d(first: Tensor, second: Tensor, /, *others: Tensor) -> tuple[Tensor, ...]: ...


@form
def max(input: Tensor) -> Tensor: ...
@form
def max(input: Tensor, other: Tensor) -> Tensor: ...
@form
def max(input: Tensor, dim: int, keepdim: bool = False) -> return_types.max: ...


@form
def median(input: Tensor) -> Tensor: ...
@form
def median(input: Tensor, dim: int, keepdim: bool = False) -> return_types.median: ...


@form
def min(input: Tensor) -> Tensor: ...
@form
def min(input: Tensor, other: Tensor) -> Tensor: ...
@form
def min(input: Tensor, dim: int, keepdim: bool = False) -> return_types.min: ...


@form
def nanmedian(input: Tensor) -> Tensor: ...
@form
def nanmedian(input: Tensor, dim: int, keepdim: bool = False) -> return_types.nanmedian: ...


@form
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False) -> Tensor: ...
@form
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...


@form
def unique(input: Tensor, sorted: bool = True, *, dim: int | None = None) -> Tensor: ...
@form
def unique(
    input: Tensor, sorted: bool = True, *, return_inverse: Literal[True], dim: int | None = None
) -> tuple[Tensor, Tensor]: ...
@form
def unique(
    input: Tensor, sorted: bool = True, *, return_counts: Literal[True], dim: int | None = None
) -> tuple[Tensor, Tensor]: ...
@form
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any: ...


@form
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@form
def where(condition: Tensor, input: Operand, other: Operand) -> Tensor: ...


@method_form
def random_(self: Tensor, *, generator: Generator | None = None) -> Tensor: ...
@method_form
def random_(self: Tensor, to: int, *, generator: Generator | None = None) -> Tensor: ...
@method_form
def random_(
    self: Tensor, from_: int, to: int | None, *, generator: Generator | None = None
) -> Tensor: ...


@method_form
def type(self: Tensor) -> str: ...
@method_form
def type(self: Tensor, dtype: DTypeLike, non_blocking: bool = False) -> Tensor: ...


@method_form
def where(self: Tensor, condition: Tensor, other: Operand) -> Tensor: ...
