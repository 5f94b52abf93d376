"""A softmax over very many classes, most of them rare: frequent ones first, the rest in clusters.

The head chooses among the frequent classes and the clusters; a cluster chooses among its own
classes, from fewer features the rarer they are.  Only clusters that occur are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from whygrad.errors import fail
from whygrad.nn import functional as F
from whygrad.nn.modules.container import ModuleList, Sequential
from whygrad.nn.modules.linear import Linear
from whygrad.nn.modules.module import Module
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _Answer(NamedTuple):
    """The log-probability of every target, and the mean loss."""

    output: Tensor
    loss: Tensor


_Answer.__name__ = _Answer.__qualname__ = "ASMoutput"


class AdaptiveLogSoftmaxWithLoss(Module):
    """log p(target) for targets sorted by how frequent they are, and the mean of −log p.

    ``cutoffs`` are where one cluster ends and the next begins; each has ``div_value`` times fewer
    features than the one before.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        borders = list(cutoffs)
        ascending = all(a < b for a, b in pairwise(borders))
        whole = all(int(each) == each and 0 < each < n_classes for each in borders)
        if not borders or not ascending or not whole:
            raise fail(
                ValueError,
                call=f"AdaptiveLogSoftmaxWithLoss({in_features}, {n_classes}, {borders})",
                cause="cutoffs should be a sequence of unique, positive integers sorted in an "
                "increasing order, where each value is between 1 and n_classes-1"
                if borders
                else "cutoffs should be a sequence of length larger than 0",
                fix="say where the clusters begin: [1000, 10000]",
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*borders, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = borders[0]
        self.n_clusters = len(borders)
        self.head_size = self.shortlist_size + self.n_clusters
        kind = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **kind)
        self.tail = ModuleList()
        for number, (low, high) in enumerate(pairwise(self.cutoffs), 1):
            inner = int(in_features // div_value**number)
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, **kind),
                    Linear(inner, high - low, bias=False, **kind),
                )
            )

    def reset_parameters(self) -> None:
        """Draw the parameters of all layers anew."""
        self.head.reset_parameters()
        for project, choose in self.tail:
            project.reset_parameters()
            choose.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _Answer:
        self._check(input_, target_)
        batched = target_.ndim > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        head = F.log_softmax(self.head(input), dim=1)
        column = target
        output = input.new_zeros(target.shape)
        for number, (low, high) in enumerate(pairwise(self.cutoffs)):
            here = (target >= low) & (target < high)
            rows = here.nonzero().squeeze(1)
            column = functions["where"](here, self.shortlist_size + number, column)
            if rows.numel():
                logs = F.log_softmax(self.tail[number](input.index_select(0, rows)), dim=1)
                chosen = logs.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1)
                output = output.index_copy(0, rows, chosen)
        output = output + head.gather(1, column.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _Answer(output if batched else output.squeeze(0), loss)

    def _check(self, input: Tensor, target: Tensor) -> None:
        cause = None
        if target.ndim > 1:
            cause = "0D or 1D target tensor expected, multi-target not supported"
        elif input.ndim != target.ndim + 1:
            cause = (
                f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
                f"inputs with size {list(input.shape)}"
            )
        elif target.ndim and input.shape[0] != target.shape[0]:
            cause = "Input and target should have the same size in the batch dimension."
        elif (
            target.numel() and not 0 <= target.min().item() <= target.max().item() < self.n_classes
        ):
            cause = (
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        if cause is not None:
            raise fail(
                RuntimeError,
                call=f"AdaptiveLogSoftmaxWithLoss(input: {list(input.shape)}, target: "
                f"{list(target.shape)})",
                cause=cause,
                fix="the input is (samples, features), the target has one class per sample",
            )

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for number, layers in enumerate(self.tail):
            within = F.log_softmax(layers(input), dim=1)
            parts.append(within + head[:, self.shortlist_size + number].unsqueeze(1))
        return functions["cat"](parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most likely class, looking into clusters only where the head chose one."""
        best = self.head(input).argmax(1)
        outside = best >= self.shortlist_size
        if not bool(outside.any()):
            return best
        return functions["where"](outside, self.log_prob(input).argmax(1), best)
