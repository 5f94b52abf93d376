"""``vmap``: a function of one sample becomes a function of a whole batch.

The function runs once.  Its tensors look like single samples, and every op on them works on all
samples at the same time (:mod:`whygrad.autograd.transforms.batching`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from whygrad.autograd.recompute.streams import Streams
from whygrad.autograd.transforms.batching import add_batch, batch_level, level_of, remove_batch
from whygrad.autograd.transforms.randomness import randomness_of
from whygrad.errors import describe, fail
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.namespace import recorded
from whygrad.ops.shape.axes import movedim
from whygrad.tensor import Tensor, keys
from whygrad.trees import Tree, broadcast_prefix, flatten

__all__ = ["over_directions", "vmap"]

Dims = Any  # an int, None, or a nested structure of them


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """``func`` over a batch: each sample of the inputs gives one sample of the outputs.

    ``in_dims``
        which dimension of each input is the batch; None for inputs that all samples share.  One
        number for all, or a tuple with the structure of the arguments.
    ``out_dims``
        where the batch goes in each output; None for outputs that do not depend on the sample.
    ``randomness``
        what random functions inside do: ``"error"``, ``"same"`` numbers for every sample, or
        ``"different"`` ones.
    ``chunk_size``
        how many samples run at the same time; None for all.
    """
    if randomness not in ("error", "different", "same"):
        raise fail(
            RuntimeError,
            call=f"vmap(…, randomness={randomness!r})",
            cause="Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}",
            fix="pick one of the three",
        )
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise fail(
            ValueError,
            call=f"vmap(…, chunk_size={chunk_size!r})",
            cause="vmap: chunk_size should be None or an integer greater than 0",
            fix="say how many samples fit into memory at the same time",
        )
    return _over_batch(_Mapped(func, in_dims, out_dims, randomness), chunk_size)


def over_directions(
    func: Callable[..., Any], randomness: str = "error", chunk_size: int | None = None
) -> Callable[..., Any]:
    """``vmap`` of a function that takes derivatives at one point, in a batch of directions."""
    return _over_batch(_Mapped(func, 0, 0, randomness, of_directions=True), chunk_size)


def _over_batch(mapped: _Mapped, chunk_size: int | None) -> Callable[..., Any]:
    @functools.wraps(mapped.func)
    def over_batch(*args: Any, **kwargs: Any) -> Any:
        inputs = mapped.inputs(args)
        if chunk_size is None or inputs.size <= chunk_size:
            return mapped.run(inputs, kwargs)
        return mapped.run_in_chunks(inputs, kwargs, chunk_size)

    return over_batch


class _Inputs:
    """The arguments of one call: leaves, structure, and the batch."""

    def __init__(self, leaves: list[Any], dims: list[int | None], tree: Tree, size: int) -> None:
        self.leaves = leaves  # the batch of each is its first dimension by now
        self.dims = dims
        self.tree = tree
        self.size = size

    def chunks(self, length: int) -> Iterator[_Inputs]:
        for start in range(0, self.size, length):
            part = slice(start, min(start + length, self.size))
            leaves = [
                leaf if dim is None else recorded.slice(leaf, (part,))
                for leaf, dim in zip(self.leaves, self.dims, strict=True)
            ]
            yield _Inputs(leaves, self.dims, self.tree, part.stop - start)


class _Mapped:
    """A function and where its batches are."""

    def __init__(
        self,
        func: Callable[..., Any],
        in_dims: Dims,
        out_dims: Dims,
        randomness: str,
        *,
        of_directions: bool = False,
    ) -> None:
        self.func = func
        # Numbers drawn for each direction make values of their own.
        self.of_directions = of_directions and randomness != "different"
        self.name = getattr(func, "__name__", repr(func))
        self.in_dims = in_dims
        self.out_dims = out_dims
        self.randomness = randomness

    def run(self, inputs: _Inputs, kwargs: dict[str, Any]) -> Any:
        outputs, tree = self._batched_outputs(inputs, kwargs)
        return tree.build([self._placed(value, dim) for value, dim in outputs])

    def run_in_chunks(self, inputs: _Inputs, kwargs: dict[str, Any], length: int) -> Any:
        """Chunk by chunk; numbers that are the same for every sample are drawn by the first one."""
        streams = Streams(preserve=self.randomness == "same")
        drawing = chain([streams.noted()], iter(streams.rewound, None))
        pieces = []
        for chunk in inputs.chunks(length):
            with next(drawing):
                pieces.append(self._batched_outputs(chunk, kwargs))
        tree = pieces[0][1]
        joined = []
        for parts in zip(*(outputs for outputs, _ in pieces), strict=True):
            value, dim = parts[0]
            if dim is not None:
                value = recorded.cat([part for part, _ in parts], 0)
            joined.append(self._placed(value, dim))
        return tree.build(joined)

    def _batched_outputs(
        self, inputs: _Inputs, kwargs: dict[str, Any]
    ) -> tuple[list[tuple[Any, int | None]], Tree]:
        """Each output with the batch in front, and where the batch should go."""
        size = inputs.size
        with (
            batch_level(size, self.of_directions) as level,
            randomness_of(self.randomness, level, size),
        ):
            samples = [
                leaf if dim is None else add_batch(leaf, level)
                for leaf, dim in zip(inputs.leaves, inputs.dims, strict=True)
            ]
            result = self.func(*inputs.tree.build(samples), **kwargs)
            leaves, tree = flatten(result)
            dims = self._output_dims(tree)
            return [
                (self._without_level(leaf, dim, level, size), dim)
                for leaf, dim in zip(leaves, dims, strict=True)
            ], tree

    def inputs(self, args: tuple[Any, ...]) -> _Inputs:
        """Check the arguments and bring their batches to the front."""
        if not isinstance(self.in_dims, (int, tuple)) or isinstance(self.in_dims, bool):
            raise self._bad_inputs(
                "expected `in_dims` to be int or a (potentially nested) tuple matching the "
                f"structure of inputs, got: {type(self.in_dims).__name__}",
                "pass one number for all inputs, or a tuple with one entry per argument",
            )
        if not args:
            raise self._bad_inputs(
                "got no inputs. vmap needs at least one positional argument to map over",
                "pass the batch as a positional argument; keyword arguments are not mapped",
            )
        leaves, tree = flatten(args)
        dims = broadcast_prefix(self.in_dims, tree)
        if dims is None:
            raise self._bad_inputs(
                "in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                f"{flatten(self.in_dims)[1]} but inputs has structure {tree}",
                "give in_dims one entry per argument, nested like the argument itself",
            )
        moved = [self._batch_first(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
        sizes = [leaf.shape[0] for leaf, dim in zip(moved, dims, strict=True) if dim is not None]
        if not sizes:
            raise self._bad_inputs(
                "Expected at least one Tensor to vmap over: every in_dim is None",
                "name the batch dimension of at least one input",
            )
        if len(set(sizes)) > 1:
            raise self._bad_inputs(
                "Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{sizes} for the mapped dimension",
                "pass batches of one size; use None for inputs that all samples share",
            )
        return _Inputs(moved, dims, tree, sizes[0])

    def _batch_first(self, leaf: Any, dim: Any) -> Any:
        if dim is None:
            return leaf
        if not isinstance(dim, int) or isinstance(dim, bool):
            raise self._bad_inputs(
                f"Got in_dim={dim!r} for an input but in_dim must be either an integer dimension "
                "or None",
                "name the batch dimension by its number",
            )
        if not isinstance(leaf, Tensor):
            raise self._bad_inputs(
                f"Got in_dim={dim} for an input but the input is of type {type(leaf).__name__}. "
                "We cannot vmap over non-Tensor arguments",
                "use None as the respective in_dim",
            )
        if not -leaf.ndim <= dim < leaf.ndim:
            raise self._bad_inputs(
                f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                f"{leaf.ndim} so expected in_dim to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}",
                "name a dimension that the input has",
            )
        if leaf._keys & keys.LAYOUTS:
            raise self._bad_inputs(
                f"vmap cannot take samples out of a {leaf.layout.name} tensor",
                "convert it with to_dense(), or share it between samples with in_dim None",
            )
        return movedim(leaf, dim, 0) if dim % leaf.ndim else leaf

    def _output_dims(self, tree: Tree) -> list[Any]:
        outline = self.out_dims
        if tree.kind is None and isinstance(outline, tuple) and len(outline) == 1:
            outline = outline[0]
        for each in flatten(outline)[0]:
            if each is not None and (not isinstance(each, int) or isinstance(each, bool)):
                raise self._bad_outputs(
                    "`out_dims` must be an int, None or a python collection of ints representing "
                    "where in the outputs the vmapped dimension should appear",
                    "name a dimension of the outputs, such as 0",
                )
        dims = broadcast_prefix(outline, tree)
        if dims is None:
            raise self._bad_outputs(
                "out_dims is not compatible with the structure of `outputs`. out_dims has "
                f"structure {flatten(self.out_dims)[1]} but outputs has structure {tree}",
                "give out_dims one entry per output, nested like the output itself",
            )
        return dims

    def _without_level(self, value: Any, dim: int | None, level: int, size: int) -> Any:
        if dim is None:
            if level_of(value) == level:
                raise self._bad_outputs(
                    f"`{self.name}` can not return a batched tensor when out_dim is None",
                    "say where the batch goes in this output, for example out_dims=0",
                )
            return value
        if not isinstance(value, Tensor):
            raise self._bad_outputs(
                f"`{self.name}` must only return Tensors, got type {type(value).__name__}",
                "return tensors, or set out_dims= to None for this output",
            )
        return remove_batch(value, level, size)

    def _placed(self, value: Any, dim: int | None) -> Any:
        if dim is None:
            return value
        place = normalize_dim(dim, value.ndim, f"vmap({self.name}, out_dims={self.out_dims})")
        return movedim(value, 0, place) if place else value

    def _bad_inputs(self, cause: str, fix: str) -> ValueError:
        call = f"vmap({self.name}, in_dims={describe(self.in_dims)}, …)(<inputs>)"
        return fail(ValueError, call=call, cause=cause, fix=fix)

    def _bad_outputs(self, cause: str, fix: str) -> ValueError:
        call = f"vmap({self.name}, …, out_dims={describe(self.out_dims)})(<inputs>)"
        return fail(ValueError, call=call, cause=cause, fix=fix)
