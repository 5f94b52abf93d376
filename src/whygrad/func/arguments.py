"""Which arguments of a function are differentiated, and what is said when they cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor
from whygrad.trees import Tree, flatten, leaves_like

__all__ = [
    "Argnums",
    "Selected",
    "check_differentiable",
    "name_of",
    "outputs_of",
    "split_aux",
    "tensors_like",
]

Argnums = int | tuple[int, ...]


def name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


class Selected:
    """The arguments with certain numbers, taken apart into tensors.

    A leaf that is None stays None, in the arguments and in the result.
    """

    def __init__(self, call: str, args: tuple[Any, ...], argnums: Argnums | None) -> None:
        self._args = args
        self._numbers = _checked(call, argnums, len(args))
        self._alone = isinstance(argnums, int)
        chosen = tuple(args[number] for number in self._numbers)
        leaves, self._tree = flatten(chosen)
        self._present = [leaf is not None for leaf in leaves]
        self.tensors = [leaf for leaf in leaves if leaf is not None]
        for tensor in self.tensors:
            check_differentiable(call, tensor)

    def replaced(self, tensors: Sequence[Any]) -> list[Any]:
        """All arguments, with other tensors in the place of the selected ones."""
        args = list(self._args)
        for number, value in zip(self._numbers, self._built(tensors), strict=True):
            args[number] = value
        return args

    def shaped(self, results: Sequence[Any]) -> Any:
        """One result per tensor, in the structure of the selected arguments."""
        built = self._built(results)
        return built[0] if self._alone else built

    def _built(self, values: Sequence[Any]) -> Any:
        given = iter(values)
        return self._tree.build([next(given) if here else None for here in self._present])


def _checked(call: str, argnums: Any, count: int) -> list[int]:
    def refuse(cause: str, fix: str) -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"{call} with argnums={argnums!r}",
            cause=cause,
            fix=fix,
        )

    if argnums is None:
        return list(range(count))
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in numbers):
        raise refuse(
            f"argnums must be int or Tuple[int, ...], got: {type(argnums).__name__}",
            "pass the number of an argument, or a tuple of numbers",
        )
    if not numbers:
        raise refuse("argnums must be non-empty", "name at least one argument")
    for number in numbers:
        if not -count <= number < count:
            raise refuse(
                f"Got argnum={number}, but only {count} positional inputs",
                "count positional arguments from 0; keyword arguments are not differentiated",
            )
    positions = [number % count for number in numbers]
    if len(set(positions)) != len(positions):
        raise refuse(f"argnums elements must be unique, got {argnums}", "name each argument once")
    return positions


def check_differentiable(call: str, value: Any) -> None:
    """Raise unless a derivative by ``value`` makes sense."""
    if not isinstance(value, Tensor):
        raise fail(
            ValueError,
            call=f"{call} with {describe(value)} among the differentiated arguments",
            cause=f"Thing passed to transform API must be Tensor, got {type(value).__name__}",
            fix="wrap it: whygrad.tensor(value), or leave its argument out of argnums",
        )
    if not value.dtype.is_differentiable:
        raise fail(
            RuntimeError,
            call=f"{call} with {describe(value)} among the differentiated arguments",
            cause="only Tensors of floating point and complex dtype can require gradients",
            fix="convert it: x.to(whygrad.float32), or leave its argument out of argnums",
        )


def split_aux(call: str, result: Any) -> tuple[Any, Any]:
    """(output, aux) of a function with ``has_aux=True``."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise fail(
            RuntimeError,
            call=f"{call} with has_aux=True",
            cause="output of function f should be a tuple: (output, aux) if has_aux is True; got "
            f"{type(result).__name__}",
            fix="return two things, or leave has_aux out",
        )
    return result


def outputs_of(call: str, result: Any, *, floating: bool = True) -> tuple[list[Tensor], Tree]:
    """The tensors in what a function returned, and the structure around them."""
    leaves, tree = flatten(result)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise fail(
                RuntimeError,
                call=call,
                cause="expected f(*primals) to return only tensors, got unsupported type "
                f"{type(leaf).__name__}",
                fix="return tensors (nested as you like); other results can be aux, see has_aux",
            )
        if floating and not leaf.dtype.is_differentiable:
            raise fail(
                RuntimeError,
                call=call,
                cause="All outputs of f must be floating-point Tensors, got Tensor with dtype "
                f"{leaf.dtype.name}",
                fix="return it as aux, see has_aux",
            )
    if not leaves:
        raise fail(
            RuntimeError,
            call=call,
            cause="Expected f to be a function that has non-empty output",
            fix="return at least one tensor",
        )
    return leaves, tree


def tensors_like(
    call: str, what: str, value: Any, tree: Tree, models: Sequence[Tensor]
) -> list[Tensor]:
    """The leaves of ``value``, which must have the structure ``tree`` and the models' shapes."""
    found = leaves_like(value, tree)
    if found is None:
        raise fail(
            RuntimeError,
            call=call,
            cause=f"Expected the {what} to have the same python structure: {tree}, but got "
            f"{flatten(value)[1]}",
            fix="nest them in the same way",
        )
    for given, model in zip(found, models, strict=True):
        if not isinstance(given, Tensor) or given.shape != model.shape:
            raise fail(
                RuntimeError,
                call=f"{call}: {describe(given)} for {describe(model)}",
                cause=f"Mismatch in shape: each of the {what} needs the shape of its counterpart, "
                f"{tuple(model.shape)}",
                fix="make it with whygrad.ones_like(x) or whygrad.randn_like(x)",
            )
    return [given.to(model.dtype) for given, model in zip(found, models, strict=True)]
