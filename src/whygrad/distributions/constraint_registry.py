"""From a constraint to a transform that leads into it: ``biject_to`` and ``transform_to``.

``biject_to(c)`` is invertible, for changes of variables; ``transform_to(c)`` may be simpler, for
optimizing over unconstrained numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from whygrad.distributions import constraints, transforms
from whygrad.errors import fail

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], transforms.Transform]


class ConstraintRegistry:
    """Factories of transforms by the constraint they lead into; sets of bounds go by class."""

    def __init__(self) -> None:
        self._by_class: dict[type, Factory] = {}
        self._by_set: dict[int, tuple[Any, Factory]] = {}

    @overload
    def register(self, constraint: Any, factory: Factory) -> Factory: ...

    @overload
    def register(self, constraint: Any, factory: None = None) -> Callable[[Factory], Factory]: ...

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Use ``factory`` for this constraint, or for all of this class; works as a decorator."""
        if factory is None:
            return lambda function: self.register(constraint, function)
        if isinstance(constraint, type) and issubclass(constraint, constraints.Constraint):
            self._by_class[constraint] = factory
        elif isinstance(constraint, constraints.Constraint):
            self._by_set[id(constraint)] = constraint, factory
        else:
            raise fail(
                TypeError,
                call=f"register({constraint!r})",
                cause="Expected constraint to be either a Constraint subclass or instance",
                fix="pass constraints.positive, or constraints.interval",
            )
        return factory

    def __call__(self, constraint: Any) -> transforms.Transform:
        """A transform from unconstrained numbers to ``constraint``."""
        if id(constraint) in self._by_set:
            return self._by_set[id(constraint)][1](constraint)
        factory = self._by_class.get(type(constraint))
        if factory is None:
            raise fail(
                NotImplementedError,
                call=f"a transform to {constraint!r}",
                cause=f"Cannot transform {type(constraint).__name__} constraints",
                fix="register one: transform_to.register(constraint, factory)",
            )
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(*sets: Any) -> Callable[[Factory], Factory]:
    def register(factory: Factory) -> Factory:
        for each in sets:
            biject_to.register(each, factory)
            transform_to.register(each, factory)
        return factory

    return register


@_both(constraints.real)
def _real(constraint: Any) -> transforms.Transform:
    return transforms.identity_transform


@biject_to.register(constraints.independent)
def _independent_bijection(constraint: Any) -> transforms.Transform:
    base = biject_to(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@transform_to.register(constraints.independent)
def _independent(constraint: Any) -> transforms.Transform:
    base = transform_to(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@_both(constraints.positive, constraints.nonnegative)
def _positive(constraint: Any) -> transforms.Transform:
    return transforms.ExpTransform()


@_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint: Any) -> transforms.Transform:
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_both(constraints.less_than)
def _below(constraint: Any) -> transforms.Transform:
    turn = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), turn])


@_both(constraints.interval, constraints.half_open_interval)
def _interval(constraint: Any) -> transforms.Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    stretch = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), stretch])


@biject_to.register(constraints.simplex)
def _simplex_bijection(constraint: Any) -> transforms.Transform:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _simplex(constraint: Any) -> transforms.Transform:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _lower_cholesky(constraint: Any) -> transforms.Transform:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
def _positive_definite(constraint: Any) -> transforms.Transform:
    return transforms.PositiveDefiniteTransform()


transform_to.register(constraints.positive_semidefinite, _positive_definite)


@_both(constraints.corr_cholesky)
def _corr_cholesky(constraint: Any) -> transforms.Transform:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.cat)
def _cat_bijection(constraint: Any) -> transforms.Transform:
    parts = [biject_to(each) for each in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@transform_to.register(constraints.cat)
def _cat(constraint: Any) -> transforms.Transform:
    parts = [transform_to(each) for each in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@biject_to.register(constraints.stack)
def _stack_bijection(constraint: Any) -> transforms.Transform:
    return transforms.StackTransform([biject_to(each) for each in constraint.cseq], constraint.dim)


@transform_to.register(constraints.stack)
def _stack(constraint: Any) -> transforms.Transform:
    parts = [transform_to(each) for each in constraint.cseq]
    return transforms.StackTransform(parts, constraint.dim)
