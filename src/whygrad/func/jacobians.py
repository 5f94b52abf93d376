"""All partial derivatives: ``jacrev``, ``jacfwd``, ``hessian``.

Reverse mode finds one row of a Jacobian per pass, forward mode one column.  ``vmap`` makes one pass
of them all, over a batch of unit vectors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whygrad.autograd.transforms.vmap import over_directions, vmap
from whygrad.errors import fail
from whygrad.func.arguments import Argnums, Selected, name_of, outputs_of, split_aux
from whygrad.func.forward import jvp
from whygrad.func.tape import Tape
from whygrad.ops.namespace import recorded
from whygrad.ops.shape.axes import movedim
from whygrad.tensor import Tensor, wrap
from whygrad.trees import flatten

__all__ = ["hessian", "jacfwd", "jacobian_of", "jacrev", "unit_vectors"]


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that computes the Jacobian of ``func``, all rows in one reverse pass.

    The cheaper way if there are fewer outputs than inputs.  The result has the structure of the
    output, and where that has a tensor, the structure of the argument (see ``grad``).  Each part
    has the shape of the output, then the shape of the input.  ``chunk_size`` limits how many rows
    are computed at the same time.
    """
    call = f"jacrev({name_of(func)})(…)"
    _check_chunk_size(call, chunk_size)

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = Selected(call, args, argnums)
        tape = Tape(chosen.tensors)
        result = tape.run(func, *chosen.replaced(tape.inputs), **kwargs)
        output, aux = split_aux(call, result) if has_aux else (result, None)
        outputs, tree = outputs_of(call, output)
        parts = jacobian_of(tape, outputs, chunk_size)
        answer = tree.build([chosen.shaped(each) for each in parts])
        return (answer, tape.released(aux)) if has_aux else answer

    return jacobian


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The function that computes the Jacobian of ``func``, all columns in one forward pass.

    The cheaper way if there are fewer inputs than outputs.  The result is that of ``jacrev``;
    ``randomness`` is that of ``vmap``.
    """
    call = f"jacfwd({name_of(func)})(…)"
    _check_chunk_size(call, chunk_size)

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = Selected(call, args, argnums)

        def of_selected(*tensors: Tensor) -> Any:
            return func(*chosen.replaced(tensors), **kwargs)

        pushed = _Pushed(of_selected, chosen.tensors, has_aux)
        slopes, aux = pushed.along(unit_vectors(chosen.tensors), randomness, chunk_size)
        leaves, tree = flatten(slopes)
        answer = tree.build([chosen.shaped(_by_input(leaf, chosen.tensors)) for leaf in leaves])
        return (answer, aux) if has_aux else answer

    return jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that computes all second derivatives of ``func``.

    Forward mode over reverse mode: the gradient is computed once, with a batch of tangents.
    """
    return jacfwd(jacrev(func, argnums), argnums)


def jacobian_of(
    tape: Tape, outputs: Sequence[Tensor], chunk_size: int | None = None
) -> list[list[Tensor]]:
    """The derivative of each output by each input; row by row if ``chunk_size`` is 1."""
    if len(outputs) == 1 and outputs[0].numel() == 1:
        rows = tape.pull_or_zeros(outputs, [recorded.ones_like(outputs[0])])
        return [[_reshaped(each, (*outputs[0].shape, *each.shape)) for each in rows]]

    def pull(*cotangents: Tensor) -> Any:
        return tuple(tape.pull_or_zeros(outputs, cotangents))

    vectors = unit_vectors(outputs)
    count = vectors[0].shape[0]
    if chunk_size == 1 and count:
        rows = [pull(*[recorded.slice(each, (row,)) for each in vectors]) for row in range(count)]
        batches = [recorded.stack(list(parts), 0) for parts in zip(*rows, strict=True)]
    else:
        batches = vmap(pull, chunk_size=chunk_size)(*vectors)
    by_input = [
        [
            _reshaped(rows, (*output.shape, *input.shape))
            for rows, output in zip(_split(batch, outputs), outputs, strict=True)
        ]
        for batch, input in zip(batches, tape.inputs, strict=True)
    ]
    return [[parts[place] for parts in by_input] for place in range(len(outputs))]


class _Pushed:
    """A function pushed forward along many directions at the same time."""

    def __init__(
        self, function: Callable[..., Any], inputs: Sequence[Tensor], has_aux: bool
    ) -> None:
        self._function = function
        self._inputs = tuple(inputs)
        self._has_aux = has_aux
        self._result: Any = None  # its structure, and what vmap does not carry

    def along(
        self, directions: list[Tensor], randomness: str, chunk_size: int | None
    ) -> tuple[Any, Any]:
        """(derivatives with one batch for all directions, aux)"""
        mapped = over_directions(self._push, randomness, chunk_size)
        batches = iter(mapped(*directions))
        slopes, aux, tree = self._result
        found = [next(batches) for _ in slopes]
        for leaf in aux:  # the same along every direction
            found.append(recorded.slice(next(batches), (0,)) if isinstance(leaf, Tensor) else leaf)
        answer: tuple[Any, Any] = tree.build(found)
        return answer

    def _push(self, *directions: Tensor) -> tuple[Tensor, ...]:
        _, slope, *aux = jvp(self._function, self._inputs, directions, has_aux=self._has_aux)
        slopes = flatten(slope)[0]
        leaves, tree = flatten((slope, aux[0] if aux else None))
        self._result = slopes, leaves[len(slopes) :], tree
        return tuple(leaf for leaf in leaves if isinstance(leaf, Tensor))


def _by_input(columns: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The derivative of one output by each input; first comes a batch over all of them."""
    shape = tuple(columns.shape[1:])
    return [
        _reshaped(movedim(part, 0, -1), (*shape, *each.shape))
        for part, each in zip(_split(columns, inputs), inputs, strict=True)
    ]


def unit_vectors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Every direction in which one element of one tensor moves, as a batch."""
    count = sum(each.numel() for each in tensors)
    basis, start = [], 0
    for each in tensors:
        block = np.eye(count, each.numel(), -start, each.dtype.numpy)
        basis.append(wrap(block.reshape(count, *each.shape)).to(each.device))
        start += each.numel()
    return basis


def _split(batch: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """A batch over the elements of all tensors as one batch for each of them."""
    if len(tensors) == 1:
        return [batch]
    parts, start = [], 0
    for each in tensors:
        parts.append(recorded.slice(batch, (slice(start, start + each.numel()),)))
        start += each.numel()
    return parts


def _reshaped(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    return tensor if tensor.shape == shape else tensor.reshape(shape)


def _check_chunk_size(call: str, chunk_size: int | None) -> None:
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise fail(
            ValueError,
            call=f"{call} with chunk_size={chunk_size!r}",
            cause="`chunk_size` should be greater than 0",
            fix="say how many rows or columns fit into memory at the same time",
        )
