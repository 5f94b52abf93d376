"""Sets of values: what a parameter may be, and where a distribution has its mass.

A constraint answers ``check(value)`` with a bool per element, or per event where it looks at whole
vectors and matrices (``event_dim`` says at how many dimensions).  Names and shapes of the answers
are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import whygrad
from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip

SUM_TOLERANCE = 1e-6  # probabilities are sums of rounded numbers
DIAGONAL_TOLERANCE = 10  # in units of the dtype's resolution per element: of a correlation of 1


class Constraint:
    """A set; ``event_dim`` dimensions of a value belong together."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Whether each value, or each event, is in the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_") + "()"


class _Dependent(Constraint):
    """A set that depends on other values, so nobody can check it without them."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self._known(self._is_discrete, "is_discrete")

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self._known(self._event_dim, "event_dim")

    @staticmethod
    def _known(value: Any, name: str) -> Any:
        if value is NotImplemented:
            raise fail(
                NotImplementedError,
                call=f"dependent.{name}",
                cause=f"{name} of this constraint was not said when it was made",
                fix=f"write @dependent_property({name}=…) or dependent({name}=…)",
            )
        return value

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> _Dependent:
        if is_discrete is NotImplemented:
            is_discrete = self._is_discrete
        if event_dim is NotImplemented:
            event_dim = self._event_dim
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Any) -> Any:
        raise fail(
            ValueError,
            call="dependent.check(value)",
            cause="Cannot determine validity of dependent constraint",
            fix="ask the distribution for its support, which knows the other values",
        )


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint can only be checked by an instance of a distribution."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of a distribution that is a constraint; on the class it says what is known."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _Whole(Constraint):
    """A set of single values, given by a condition."""

    def __init__(self, name: str, holds: Callable[[Any], Any], is_discrete: bool = False) -> None:
        self._name = name
        self._holds = holds
        self.is_discrete = is_discrete

    def check(self, value: Any) -> Any:
        return self._holds(value)

    def __repr__(self) -> str:
        return self._name


class _Matrices(_Whole):
    """A set of vectors or matrices, given by a condition."""

    def __init__(self, name: str, holds: Callable[[Any], Any], event_dim: int, **kind: Any) -> None:
        super().__init__(name, holds, **kind)
        self.event_dim = event_dim


class _Bounded(Constraint):
    """Numbers between two bounds; None is no bound."""

    lower_bound: Any = None
    upper_bound: Any = None

    def __repr__(self) -> str:
        given = {"lower_bound": self.lower_bound, "upper_bound": self.upper_bound}
        shown = ", ".join(f"{name}={value}" for name, value in given.items() if value is not None)
        return f"{type(self).__name__}({shown})"


class integer_interval(_Bounded):
    """Whole numbers from ``lower_bound`` to ``upper_bound``, both included."""

    is_discrete = True

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerFrom(_Bounded):
    is_discrete = True

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class greater_than(_Bounded):
    """Numbers above ``lower_bound``."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class greater_than_eq(_Bounded):
    """Numbers from ``lower_bound`` on."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class less_than(_Bounded):
    """Numbers below ``upper_bound``."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class interval(_Bounded):
    """Numbers from ``lower_bound`` to ``upper_bound``, both included."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class half_open_interval(interval):
    """Numbers from ``lower_bound`` up to, but not including, ``upper_bound``."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class independent(Constraint):
    """``base_constraint`` on each of the elements of an event."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        if result.ndim < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise fail(
                ValueError,
                call=f"{self!r}.check(value)",
                cause=f"Expected value.dim() >= {expected} but got {value.dim()}",
                fix="pass whole events",
            )
        count = self.reinterpreted_batch_ndims
        return result.reshape(*result.shape[: result.ndim - count], -1).all(-1)

    def __repr__(self) -> str:
        return f"Independent({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """Values that a component of a mixture may have, for all components at once."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return result.reshape(*result.shape[: value.dim() - self.event_dim], -1).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Joined(Constraint):
    """Parts of a value along ``dim``, each with a constraint of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(each.is_discrete for each in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return max(each.event_dim for each in self.cseq)


class cat(_Joined):
    """Parts of given ``lengths`` along ``dim``."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        return whygrad.cat(
            [each.check(part) for each, part in zip(self.cseq, parts, strict=True)], self.dim
        )


class stack(_Joined):
    """One entry along ``dim`` per constraint."""

    def check(self, value: Any) -> Any:
        parts = value.unbind(self.dim)
        return whygrad.stack(
            [each.check(part) for each, part in zip(self.cseq, parts, strict=True)], self.dim
        )


class multinomial(Constraint):
    """Counts that add up to at most ``upper_bound``."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


def _is_symmetric(value: Tensor) -> Tensor:
    close: Tensor = (value - value.mT).abs() <= 1e-6 + 1e-5 * value.mT.abs()
    return close.all(-2).all(-1)


def _is_definite(value: Tensor, strictly: bool) -> Tensor:
    least = whygrad.linalg.eigvalsh(value)[..., 0]
    return _is_symmetric(value) & (least > 0 if strictly else least >= 0)


def _is_lower(value: Tensor) -> Tensor:
    return (value.tril() == value).all(-1).all(-1)


def _has_positive_diagonal(value: Tensor) -> Tensor:
    return (value.diagonal(0, -2, -1) > 0).all(-1)


def _is_correlation_factor(value: Tensor) -> Tensor:
    tolerance = whygrad.finfo(value.dtype).eps * value.shape[-1] * DIAGONAL_TOLERANCE
    rows = ((value * value).sum(-1) - 1).abs().le(tolerance).all(-1)
    return rows & _is_lower(value) & _has_positive_diagonal(value)


def _is_simplex(value: Tensor) -> Tensor:
    return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < SUM_TOLERANCE)


def _is_one_hot(value: Tensor) -> Tensor:
    return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


def _is_square(value: Tensor) -> Tensor:
    rows, columns = value.shape[-2:]
    return whygrad.full(value.shape[:-2], rows == columns, dtype=whygrad.bool, device=value.device)


dependent = _Dependent()
dependent_property = _DependentProperty
boolean = _Whole("Boolean()", lambda value: (value == 0) | (value == 1), is_discrete=True)
real = _Whole("Real()", lambda value: value == value)  # not nan
real_vector = independent(real, 1)
nonnegative = greater_than_eq(0.0)
nonnegative_integer = _IntegerFrom(0)
positive = greater_than(0.0)
positive_integer = _IntegerFrom(1)
unit_interval = interval(0.0, 1.0)
one_hot = _Matrices("OneHot()", _is_one_hot, 1, is_discrete=True)
simplex = _Matrices("Simplex()", _is_simplex, 1)
square = _Matrices("Square()", _is_square, 2)
symmetric = _Matrices("Symmetric()", _is_symmetric, 2)
lower_triangular = _Matrices("LowerTriangular()", _is_lower, 2)
lower_cholesky = _Matrices(
    "LowerCholesky()", lambda value: _is_lower(value) & _has_positive_diagonal(value), 2
)
corr_cholesky = _Matrices("CorrCholesky()", _is_correlation_factor, 2)
positive_semidefinite = _Matrices(
    "PositiveSemidefinite()", lambda value: _is_definite(value, strictly=False), 2
)
positive_definite = _Matrices(
    "PositiveDefinite()", lambda value: _is_definite(value, strictly=True), 2
)
