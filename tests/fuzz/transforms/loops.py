"""``vmap`` as a Python loop over the samples, and ``jvp`` by reverse mode: slow and simple."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["Looping", "TooLong"]

TURNS = 1000  # four loops within each other would take minutes


class TooLong(Exception):
    """The loops of a program take more turns than a comparison is worth."""


class Looping:
    """The transforms of a library, made of its ``vjp`` (and ``jvp``, if ``forward``) alone."""

    def __init__(self, lib: Any, forward: bool) -> None:
        self._lib = lib
        self._forward = forward
        self._turns = 0
        self.grad = lib.func.grad
        self.vjp = lib.func.vjp

    def jvp(self, function: Callable[..., Any], primals: Any, tangents: Any) -> Any:
        """What is pulled back is linear in the cotangent: pulling back through that pushes."""
        if self._forward:
            return self._lib.func.jvp(function, primals, tangents)
        output, pull = self.vjp(function, *primals)
        _, push = self.vjp(pull, self._lib.zeros_like(output))
        return output, push(tangents)[0]

    def vmap(
        self, function: Callable[..., Any], in_dims: Any = 0, out_dims: int = 0, **_: Any
    ) -> Callable[..., Any]:
        def over_samples(*args: Any) -> Any:
            dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
            size = next(each.shape[dim] for each, dim in zip(args, dims) if dim is not None)
            results = [
                function(*[
                    each if dim is None else each.select(dim, number)
                    for each, dim in zip(args, dims, strict=True)
                ])
                for number in self._counted(range(size))
            ]  # fmt: skip
            return self._lib.stack(results, out_dims)

        return over_samples

    def jacrev(self, function: Callable[..., Any], **_: Any) -> Callable[..., Any]:
        def jacobian(x: Any) -> Any:
            output, pull = self.vjp(function, x)
            rows = [pull(unit)[0] for unit in self._counted(self._units(output))]
            return self._lib.stack(rows).reshape(*output.shape, *x.shape)

        return jacobian

    def jacfwd(self, function: Callable[..., Any], **_: Any) -> Callable[..., Any]:
        def jacobian(x: Any) -> Any:
            # What the function writes to its input it writes once.
            inputs = [x, *(x.clone() for _ in range(x.numel() - 1))]
            units = self._counted(zip(inputs, self._units(x), strict=True))
            columns = [self.jvp(function, (each,), (unit,))[1] for each, unit in units]
            return self._lib.stack(columns, -1).reshape(*columns[0].shape, *x.shape)

        return jacobian

    def hessian(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.jacfwd(self.jacrev(function))

    def _units(self, like: Any) -> list[Any]:
        units = self._lib.eye(like.numel(), dtype=like.dtype)
        return [row.reshape(like.shape) for row in units]

    def _counted(self, turns: Iterable[Any]) -> Iterator[Any]:
        for turn in turns:
            self._turns += 1
            if self._turns > TURNS:
                raise TooLong
            yield turn
