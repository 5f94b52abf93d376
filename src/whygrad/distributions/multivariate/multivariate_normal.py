"""Normal vectors with correlated entries."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.utils import lazy_property
from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = [
    "MultivariateNormal",
    "batch_shape_of",
    "factor_of",
    "inverse_of_factor",
    "log_det_half",
    "mahalanobis",
]


class MultivariateNormal(Distribution):
    """p(x) ∝ exp(−½·(x − loc)ᵀ·Σ⁻¹·(x − loc)); Σ, its inverse, or L with Σ = L·Lᵀ is given."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: each for name, each in matrices.items() if each is not None}

        def refuse(cause: str, fix: str) -> Exception:
            return fail(ValueError, call="MultivariateNormal(…)", cause=cause, fix=fix)

        if loc.dim() < 1:
            raise refuse("loc must be at least one-dimensional", "pass a vector")
        if len(given) != 1:
            raise refuse(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified",
                "pass one of them, by name",
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise refuse(f"{name} must be at least two-dimensional", "pass a square matrix")
        batch = batch_shape_of(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch, *matrix.shape[-2:])))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._factor = factor_of(name, matrix)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new._factor = self._factor

    @lazy_property
    def scale_tril(self) -> Tensor:
        """L."""
        return self._factor.expand(self._batch_shape + self._event_shape * 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """Σ."""
        square = self._factor @ self._factor.mT
        return square.expand(self._batch_shape + self._event_shape * 2)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """Σ⁻¹."""
        inverse = inverse_of_factor(self._factor)
        return (inverse.mT @ inverse).expand(self._batch_shape + self._event_shape * 2)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._factor.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = self._drawn(whygrad.randn, sample_shape, self.loc)
        return self.loc + (self._factor @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        distance = mahalanobis(self._factor, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + distance) - log_det_half(self._factor)

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (constant + log_det_half(self._factor)).expand(self._batch_shape)


def batch_shape_of(*shapes: Any) -> Any:
    """The shape these broadcast to."""
    import numpy as np

    return whygrad.Size(np.broadcast_shapes(*(tuple(each) for each in shapes)))


def log_det_half(factor: Tensor) -> Tensor:
    """½·ln det(L·Lᵀ)."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def mahalanobis(factor: Tensor, difference: Tensor) -> Tensor:
    """|L⁻¹·d|²."""
    solved = whygrad.linalg.solve_triangular(factor, difference.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def inverse_of_factor(factor: Tensor) -> Tensor:
    """L⁻¹."""
    identity = whygrad.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return whygrad.linalg.solve_triangular(factor, identity, upper=False)


def factor_of(name: str, matrix: Tensor) -> Tensor:
    """L of a matrix that is the ``covariance_matrix``, the ``precision_matrix`` or L itself."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return whygrad.linalg.cholesky(matrix)
    upward = whygrad.linalg.cholesky(matrix.flip(-2, -1))  # from the last row up: L⁻¹, transposed
    return inverse_of_factor(upward.flip(-2, -1).mT)
