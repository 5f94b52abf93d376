"""Looking up bags of rows and reducing each bag to one row, as models of sets of words do."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import composite
from whygrad.ops.indexing.embedding import lookup
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, dtypes, wrap

__all__ = ["embedding_bag"]

_MODES = ("sum", "mean", "max")


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The ``sum``, ``mean`` or ``max`` of the rows of ``weight`` in every bag of indices.

    Each row of a 2-D ``input`` is a bag; a 1-D one is cut into bags that start at ``offsets``,
    the last of which is the end if ``include_last_offset``.  ``per_sample_weights`` scale the rows
    of a ``sum``.  Rows at ``padding_idx`` do not count.  The other options are those of
    ``embedding``.
    """
    request = _Request(input, weight, offsets, mode)
    request.check(per_sample_weights, scale_grad_by_freq, sparse)
    if input.ndim == 2:
        bags, length = input.shape
        flat = input.reshape(-1)
        owner = np.repeat(np.arange(bags), length)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    else:
        flat = input
        bags, owner = request.bags(include_last_offset)
    try:
        rows = lookup(flat, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)
    except IndexError as error:
        raise request.refused(
            f"an index is not in the valid range [0, {weight.shape[0]}): {error}",
            "indices name rows of weight",
            RuntimeError,
        ) from None
    owners = wrap(np.ascontiguousarray(owner, np.int64)).to(input.device)
    counted = None
    if padding_idx is not None:
        counted = flat != padding_idx % weight.shape[0]
        rows = recorded.where(counted.unsqueeze(1), rows, 0.0)
    if mode == "max":
        return _largest(rows, counted, bags, owner)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    sums = rows.new_zeros((bags, weight.shape[1])).index_add(0, owners, rows)
    if mode == "sum":
        return sums
    ones = rows.new_ones((flat.shape[0],)) if counted is None else counted.to(rows.dtype)
    counts = rows.new_zeros((bags,)).index_add(0, owners, ones)
    return sums / counts.clamp(min=1.0).unsqueeze(1)


def _largest(rows: Tensor, counted: Tensor | None, bags: int, owner: Any) -> Tensor:
    """Bags side by side, filled up to the longest with what loses against everything."""
    sizes = np.bincount(owner, minlength=bags)
    longest = int(sizes.max(initial=1))
    starts = np.cumsum(sizes) - sizes
    steps = np.arange(longest)
    inside = steps < sizes[:, None]
    place = np.where(inside, starts[:, None] + steps, 0)
    if not rows.shape[0]:
        return rows.new_zeros((bags, rows.shape[1])) + rows.sum()
    present = wrap(inside).to(rows.device)
    index = wrap(np.ascontiguousarray(place, np.int64)).to(rows.device)
    if counted is not None:
        present = present & recorded.index(counted, index, (0,))
    spread = recorded.index(rows, index, (0,))
    spread = recorded.where(present.unsqueeze(2), spread, -np.inf)
    empty = ~present.any(1).unsqueeze(1)
    return recorded.where(empty, 0.0, spread.max(1).values)


class _Request:
    """One call, and what is wrong with it."""

    def __init__(self, input: Tensor, weight: Tensor, offsets: Tensor | None, mode: str) -> None:
        self.input = input
        self.weight = weight
        self.offsets = offsets
        self.mode = mode

    def refused(self, cause: str, fix: str, kind: type[Exception] = ValueError) -> Exception:
        return fail(
            kind,
            call=f"embedding_bag({describe(self.input)}, {describe(self.weight)}, "
            f"offsets={None if self.offsets is None else describe(self.offsets)}, "
            f"mode={self.mode!r})",
            cause=cause,
            fix=fix,
        )

    def check(
        self, per_sample_weights: Tensor | None, scale_grad_by_freq: bool, sparse: bool
    ) -> None:
        if self.input.dtype not in (dtypes.of("int32"), dtypes.of("int64")):
            raise self.refused(
                f"Expected indices of type int32 or int64, not {self.input.dtype.name}",
                "convert them: indices.long()",
                RuntimeError,
            )
        if self.input.ndim not in (1, 2):
            raise self.refused(
                f"input has to be a 1D or 2D Tensor, but got Tensor of dimension {self.input.ndim}",
                "a row per bag, or one row and offsets",
            )
        if self.input.ndim == 2 and self.offsets is not None:
            raise self.refused(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                "of fixed length sequences",
                "leave offsets out, or flatten the input",
            )
        if self.input.ndim == 1 and (self.offsets is None or self.offsets.ndim != 1):
            raise self.refused(
                "offsets has to be a 1D Tensor" if self.offsets is not None
                else "offsets has to be a 1D Tensor but got None",
                "say where each bag starts: whygrad.tensor([0, 4])",
            )  # fmt: skip
        if self.mode not in _MODES:
            raise self.refused("mode has to be one of sum, mean or max", "use one of these")
        if self.mode == "max" and scale_grad_by_freq:
            raise self.refused(
                "max mode does not support scaling the gradient by the frequency",
                "leave scale_grad_by_freq out",
            )
        if self.mode == "max" and sparse:
            raise self.refused("max mode does not support sparse weights", "leave sparse out")
        if per_sample_weights is None:
            return
        if per_sample_weights.shape != self.input.shape:
            raise self.refused(
                f"embedding_bag: If per_sample_weights ({list(per_sample_weights.shape)}) is not "
                f"None, then it must have the same shape as the input ({list(self.input.shape)})",
                "give one weight per index",
            )
        if self.mode != "sum":
            raise self.refused(
                "embedding_bag: per_sample_weights was not None. per_sample_weights is only "
                f"supported for mode='sum' (got mode='{self.mode}')",
                "use mode='sum'",
                NotImplementedError,
            )

    def bags(self, include_last: bool) -> tuple[int, Any]:
        """The number of bags, and to which bag each index belongs."""
        assert self.offsets is not None
        starts = np.array(self.offsets.tolist(), np.int64)
        size = self.input.shape[0]
        if include_last and not len(starts):
            raise self.refused(
                "include_last_offset: number of offset should be at least 1",
                "the last offset is the number of indices",
                RuntimeError,
            )
        if len(starts) and starts[0] != 0:
            raise self.refused(
                f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                f"from position 0. However, got {starts[0]}",
                "begin with 0",
                RuntimeError,
            )
        if len(starts) and starts[-1] > size:
            raise self.refused(
                f"offsets[-1] can not be greater than input's length ({size}), but got offsets[-1] "
                f"of {starts[-1]}",
                "offsets are positions in the input",
                RuntimeError,
            )
        if (np.diff(starts) < 0).any():
            raise self.refused(
                f"offsets have to go up, but got {starts.tolist()}",
                "each bag starts where the one before it ends",
                RuntimeError,
            )
        if include_last and starts[-1] != size:
            raise self.refused(
                f"include_last_offset: the last offset has to be input's length ({size}), but got "
                f"{starts[-1]}",
                "cut the input: input[:offsets[-1]]",
                RuntimeError,
            )
        bags = len(starts) - include_last
        starts = starts[:bags]
        owner = np.searchsorted(starts, np.arange(self.input.shape[0]), side="right") - 1
        return bags, owner


composite(
    embedding_bag,
    "y = sum, mean or max of the rows in each bag;  ∂weight = incoming at every row of the bag",
    torch="nn.functional.embedding_bag",
    samples=lambda make: [
        make.call(make.ints(3, 2, high=4), make(4, 3)),
        make.call(
            np.array([1, 2, 0, 2, 3]), make(4, 2), np.array([0, 2, 2]), mode="sum",
            per_sample_weights=make(5),
        ),
        make.call(np.array([1, 2, 0, 3]), make.distinct(4, 2), np.array([0, 0, 3]), mode="max"),
        make.call(
            np.array([1, 2, 0, 3]), make(4, 2), np.array([0, 3, 4]), include_last_offset=True,
            padding_idx=2,
        ),
        make.call(np.array([[1, 2], [1, 1]]), make.distinct(4, 2), mode="max", padding_idx=1),
        make.call(np.array([[1, 2], [0, 3]]), make(4, 2), scale_grad_by_freq=True, mode="sum"),
    ],
)  # fmt: skip
