"""Connectionist temporal classification: the likelihood of labels of which only the order is known.

Between the labels stand blanks that may be skipped, so S labels make 2·S + 1 states.  αₜ(s) is the
log of the probability of all ways to be in state s at time t; each step reads the states before and
one product of sums further on.  Impossible ways have a number far below every other in place of −∞,
whose differences are numbers.

The derivative by ``log_probs`` is PyTorch's: probabilities minus expected counts.  It takes for
granted that ``log_probs`` comes out of a log-softmax; what arrives before that is the derivative.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from whygrad.ops.define import composite
from whygrad.ops.loss.shared import reduction_from, refusal
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, dtypes, wrap

__all__ = ["ctc_loss"]

_IMPOSSIBLE = -1e30
_INFINITE = 1e29  # a loss beyond this means that there is no way at all


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: Any = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """−log of the probability of the targets, over all ways to spread them over time.

    ``log_probs`` is (time, batch, classes) or (time, classes), from ``log_softmax``; ``targets``
    is (batch, longest), or all of them in one row.  ``mean`` divides each loss by the length of its
    target first.  ``zero_infinity`` makes losses of impossible targets, and their gradients, 0.
    """
    if isinstance(reduction, int):  # PyTorch's numbers
        reduction = ("none", "mean", "sum")[reduction]
    reduction = reduction_from(reduction)
    batched = log_probs.ndim == 3
    probs = log_probs if batched else log_probs.unsqueeze(1)
    given = _Lengths(probs, targets, input_lengths, target_lengths, blank)
    nll = _likelihood(probs, given)
    impossible = nll.detach() > _INFINITE
    nll = nll + _normalization(probs, given)
    if zero_infinity:
        nll = recorded.where(impossible, 0.0, nll)
    else:
        nll = nll * recorded.where(impossible, np.inf, recorded.ones_like(nll.detach()))
    if reduction == "mean":
        return (nll / _like(np.maximum(given.targets, 1), probs)).mean()
    if reduction == "sum":
        return nll.sum()
    return nll if batched else nll.squeeze(0)


class _Lengths:
    """The lengths as numbers, and the labels of every sample with blanks between them."""

    def __init__(
        self, probs: Tensor, targets: Tensor, inputs: Any, lengths: Any, blank: int
    ) -> None:
        self.call = {"log_probs": probs, "targets": targets}
        if probs.ndim != 3 or not probs.dtype.is_floating_point:
            raise self._refused("log_probs must be a floating-point tensor (time, batch, classes)")
        if targets.dtype.is_floating_point or targets.dtype.is_complex:
            raise self._refused("targets must be integers: the numbers of the classes")
        self.steps, self.samples, classes = probs.shape
        self.inputs = self._numbers(inputs, "input_lengths")
        self.targets = self._numbers(lengths, "target_lengths")
        if not 0 <= operator.index(blank) < classes:
            raise self._refused(f"blank must be in label range [0, {classes}), not {blank}")
        if self.inputs.max(initial=0) > self.steps:
            longest = self.inputs.max()
            raise self._refused(
                f"Expected input_lengths to have value at most {self.steps}, but got value "
                f"{longest}"
            )
        self.labels = self._labels(targets, blank)

    def _refused(self, cause: str) -> Exception:
        return refusal(
            RuntimeError, "ctc_loss", self.call, cause,
            "log_probs is (time, batch, classes), targets (batch, longest), and both lengths have "
            "one number per sample",
        )  # fmt: skip

    def _numbers(self, lengths: Any, name: str) -> Any:
        if isinstance(lengths, Tensor):
            lengths = lengths.reshape(-1).tolist()
        elif not isinstance(lengths, Sequence):
            lengths = [lengths]
        found = np.array([int(each) for each in lengths], np.int64)
        if len(found) != self.samples:
            raise self._refused(
                f"{name} must be of size batch_size: {len(found)} numbers for {self.samples} "
                "samples"
            )
        if found.min(initial=0) < 0:
            raise self._refused(f"{name} must be non-negative")
        return found

    def _labels(self, targets: Tensor, blank: int) -> Tensor:
        """(batch, 2·longest + 1), beyond the end of a sample anything."""
        longest = int(self.targets.max(initial=0))
        if targets.ndim == 2 and targets.shape[0] != self.samples:
            raise self._refused(f"Expected targets of {self.samples} samples")
        if targets.ndim == 2 and targets.shape[1] < longest:
            raise self._refused(
                f"Expected targets to have size at least {longest} at dimension 1, but got size "
                f"{targets.shape[1]}"
            )
        if targets.ndim == 1 and self.samples > 1 and targets.shape[0] != self.targets.sum():
            raise self._refused(
                f"Expected targets to have {self.targets.sum()} elements, the sum of "
                f"target_lengths, but got {targets.shape[0]}"
            )
        starts = np.cumsum(self.targets) - self.targets
        if targets.ndim == 2:
            starts = np.arange(self.samples) * targets.shape[1]
        flat = targets.reshape(-1).to(dtypes.of("int64"))
        place = starts[:, None] + np.arange(longest)
        place = np.minimum(place, max(flat.shape[0] - 1, 0))
        blanks = flat.new_full((self.samples, longest + 1), blank)
        if longest == 0:
            return blanks
        own = recorded.index(flat, _on_device(place, flat), (0,))
        return recorded.cat(
            [recorded.stack([blanks[:, :-1], own], 2).flatten(1), blanks[:, -1:]], 1
        )


def _likelihood(probs: Tensor, given: _Lengths) -> Tensor:
    """−log of the probability, for every sample."""
    labels = given.labels
    states = labels.shape[1]
    clamped = probs.clamp(min=_IMPOSSIBLE)
    index = labels.unsqueeze(0).expand(given.steps, *labels.shape)
    emitted = clamped.gather(2, index).unbind(0)
    far = probs.new_full((given.samples, 1), _IMPOSSIBLE)
    # A blank may be skipped between two labels that differ.
    may_skip = (labels[:, 2:] != labels[:, :-2]) & (labels[:, 2:] != labels[:, :1])
    alpha = emitted[0]
    if states > 2:
        alpha = recorded.cat([alpha[:, :2], far.expand(given.samples, states - 2)], 1)
    alphas = [alpha]
    for emission in emitted[1:]:
        ways = [alpha]
        if states > 1:
            ways.append(recorded.cat([far, alpha[:, :-1]], 1))
        if states > 2:
            skipped = recorded.where(may_skip, alpha[:, :-2], _IMPOSSIBLE)
            ways.append(recorded.cat([far, far, skipped], 1))
        alpha = recorded.stack(ways, 0).logsumexp(0) + emission
        alphas.append(alpha)
    return _at_the_end(recorded.stack(alphas, 0), given)


def _at_the_end(alphas: Tensor, given: _Lengths) -> Tensor:
    """The two states in which a sample may end, at its own last time."""
    steps, samples, states = alphas.shape
    last = np.maximum(given.inputs - 1, 0) * samples + np.arange(samples)
    flat = alphas.reshape(steps * samples, states).index_select(0, _on_device(last, alphas))
    ends = np.stack([2 * given.targets, np.maximum(2 * given.targets - 1, 0)], 1)
    found = flat.gather(1, _on_device(ends, alphas))
    labelled = np.stack([np.ones_like(given.targets), given.targets], 1) > 0
    found = recorded.where(_on_device(labelled, alphas), found, _IMPOSSIBLE)
    nll = -found.logsumexp(1)
    if given.inputs.all():
        return nll
    without_time = np.where(given.targets == 0, 0.0, -_IMPOSSIBLE)
    at_all = _on_device(given.inputs > 0, alphas)
    return recorded.where(at_all, nll, _like(without_time, alphas))


def _normalization(probs: Tensor, given: _Lengths) -> Tensor:
    """0, with the gradient that the sum of the probabilities at all times has."""
    during = np.arange(given.steps)[:, None] < given.inputs
    total = recorded.where(_on_device(during, probs), probs.exp().sum(2), 0.0).sum(0)
    return total - total.detach()


def _on_device(array: Any, like: Tensor) -> Tensor:
    return wrap(np.ascontiguousarray(array)).to(like.device)


def _like(array: Any, like: Tensor) -> Tensor:
    return wrap(np.ascontiguousarray(array, np.float64)).to(device=like.device, dtype=like.dtype)


def _of_logits(function: Any, logits: Any, *args: Any, **kwargs: Any) -> Any:
    return function(logits.log_softmax(-1), *args, **kwargs)


composite(
    ctc_loss,
    "y = −log p(targets), p = Σ over all ways to spread the targets over time;  "
    "∂log_probs = exp(log_probs) − expected counts",
    torch="nn.functional.ctc_loss",
    samples=lambda make: [
        make.around(_of_logits, make(4, 2, 3), np.array([[1, 2], [2, 2]]), [4, 3], [2, 1]),
        make.around(
            _of_logits, make(5, 3, 4), np.array([1, 1, 3, 2, 0]), np.array([5, 3, 4]),
            np.array([2, 2, 1]), blank=3, reduction="none",
        ),
        make.around(_of_logits, make(4, 3), np.array([2, 1]), (4,), (2,), reduction="sum"),
        make.around(
            _of_logits, make(3, 2, 3), np.array([[1, 1], [1, 2]]), [2, 3], [2, 2],
            zero_infinity=True,
        ),
        make.around(_of_logits, make(2, 2, 3), np.array([[1], [1]]), [2, 1], [0, 0]),
    ],
)  # fmt: skip
