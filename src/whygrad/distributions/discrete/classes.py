"""What distributions over classes share: a categorical one that holds the probabilities."""

from __future__ import annotations

from typing import Any, ClassVar

from whygrad.distributions.constraints import Constraint
from whygrad.distributions.discrete.categorical import Categorical
from whygrad.distributions.distribution import Distribution
from whygrad.tensor import Tensor

__all__ = ["OverClasses"]


class OverClasses(Distribution):
    """Vectors with one entry per class, made from choices of ``_categorical``."""

    arg_constraints: ClassVar[dict[str, Constraint]] = Categorical.arg_constraints
    _categorical: Categorical

    def __init__(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new._categorical = self._categorical.expand(batch_shape)

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """ln p."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape
