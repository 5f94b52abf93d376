"""A choice among classes."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.utils import lazy_property, logits_to_probs, one_of, probs_to_logits
from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = ["Categorical"]


class Categorical(Distribution):
    """Class k with probability ``probs[..., k]``; ``logits`` are ln p plus any constant.

    Both are normalized: probs sum to 1, and logsumexp of the logits is 0.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, given = ("probs", probs) if one_of(self, probs, logits) else ("logits", logits)
        if given.dim() < 1:
            raise fail(
                ValueError,
                call=f"{type(self).__name__}({name}=…)",
                cause=f"`{name}` parameter must be at least one-dimensional",
                fix="pass a vector with one number per class",
            )
        if name == "probs":
            self.probs = given / given.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new._num_events = self._num_events

    @property
    def _param(self) -> Tensor:
        given = self.__dict__
        return given["probs"] if "probs" in given else given["logits"]

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """ln p."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    @property
    def mean(self) -> Tensor:
        return self._nothing()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return self._nothing()

    def _nothing(self) -> Tensor:
        """Classes are names, not numbers."""
        kind = {"dtype": self.probs.dtype, "device": self.probs.device}
        return whygrad.full(self._extended_shape(), math.nan, **kind)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        rows = self.probs.detach().reshape(-1, self._num_events)
        count = math.prod(sample_shape)
        drawn = whygrad.multinomial(rows, count, True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        index, logits = whygrad.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=whygrad.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = whygrad.arange(self._num_events, dtype=whygrad.int64, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
