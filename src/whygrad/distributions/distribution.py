"""Distribution: what all of them share.

Shapes are PyTorch's: a sample is ``sample_shape + batch_shape + event_shape``; parameters broadcast
to the batch shape, and an event is what has one probability.  A subclass says in
``arg_constraints`` which parameters it has and what they may be; the base checks them, expands them
and prints them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.utils import lazy_property
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor
from whygrad.tensor.memory import Size
from whygrad.tensor.modes import no_grad

__all__ = ["Distribution"]


class Distribution:
    """The base of all distributions."""

    arg_constraints: ClassVar[Mapping[str, constraints.Constraint]]
    support: Any
    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked where ``validate_args`` is not given."""
        if value not in (True, False):
            raise fail(
                ValueError,
                call=f"Distribution.set_default_validate_args({value!r})",
                cause="it must be True or False",
                fix="pass a bool",
            )
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = (),
        event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        known = getattr(type(self), "arg_constraints", {})
        if isinstance(known, property):
            known = self.arg_constraints
        for name, constraint in known.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from a parameter that is checked
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise fail(
                    ValueError,
                    call=f"{type(self).__name__}({name}={describe(value)})",
                    cause=f"Expected parameter {name} to satisfy the constraint {constraint!r}, "
                    f"but found invalid values: {value}",
                    fix="map it into that set, with softplus, exp or sigmoid for example; nan "
                    "satisfies nothing",
                )

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of what has one probability."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with parameters broadcast to ``batch_shape``, as views."""
        new = self._blank(_instance)
        shape = Size(batch_shape)
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                kept = value.shape[value.ndim - constraint.event_dim :]
                new.__dict__[name] = value.expand(*shape, *kept)
        self._expand_rest(new, shape)
        return self._finished(new, shape)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        """Attributes of ``new`` that are not parameters."""

    def _blank(self, _instance: Any) -> Any:
        """An object of the same class, without attributes."""
        made_by = getattr(self._maker(), "__init__", None)
        if _instance is None and getattr(type(self), "__init__", None) is not made_by:
            raise fail(
                NotImplementedError,
                call=f"{type(self).__name__}.expand(…)",
                cause=f"Subclass {type(self).__name__} of {self._maker().__name__} that defines a "
                "custom `__init__` must also define a custom `.expand()` method",
                fix="define expand(self, batch_shape, _instance=None) and make the object there",
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    @classmethod
    def _maker(cls) -> type:
        """The class of this package that the object is made by."""
        return next(each for each in cls.__mro__ if each.__module__.startswith("whygrad."))

    def _finished(self, new: Any, batch_shape: Any, event_shape: Any = None) -> Any:
        shape = self.event_shape if event_shape is None else event_shape
        Distribution.__init__(new, batch_shape, shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _undefined(self, name: str) -> Exception:
        return fail(
            NotImplementedError,
            call=f"{type(self).__name__}.{name}",
            cause=f"{name} has no closed form for {type(self).__name__}",
            fix="estimate it from samples",
        )

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        raise self._undefined("mean")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise self._undefined("mode")

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance to the mean."""
        raise self._undefined("variance")

    @property
    def stddev(self) -> Tensor:
        """√variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw; no gradient flows back to the parameters."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw as a differentiable function of the parameters and of noise."""
        raise fail(
            NotImplementedError,
            call=f"{type(self).__name__}.rsample({sample_shape})",
            cause="a sample of it is no differentiable function of the parameters",
            fix="use sample() and differentiate log_prob: loss = -(log_prob(action) * reward)",
        )

    def sample_n(self, n: int) -> Tensor:
        """``sample((n,))``"""
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at ``value``."""
        raise self._undefined("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of everything up to ``value``."""
        raise self._undefined("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The value up to which there is the probability ``value``."""
        raise self._undefined("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along a new first dimension."""
        raise self._undefined("enumerate_support")

    def entropy(self) -> Tensor:
        """−E ln p."""
        raise self._undefined("entropy")

    def perplexity(self) -> Tensor:
        """e^entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _drawn(self, draw: Any, sample_shape: Any, like: Tensor) -> Tensor:
        """``draw(shape)`` of the shape of a sample, with the dtype and device of a parameter."""
        shape = self._extended_shape(sample_shape)
        drawn: Tensor = draw(shape, dtype=like.dtype, device=like.device)
        return drawn

    def _uniform(self, like: Tensor, sample_shape: Any) -> Tensor:
        """Uniform in (0, 1): never 0, of which inverse functions would make an infinity."""
        tiny = whygrad.finfo(like.dtype).tiny
        return self._drawn(whygrad.rand, sample_shape, like).clamp(min=tiny)

    def _validate_sample(self, value: Any) -> None:
        if not self._validate_args:
            return

        def refuse(cause: str, fix: str) -> Exception:
            call = f"{self!r} at {describe(value)}"
            return fail(ValueError, call=call, cause=cause, fix=fix)

        if not isinstance(value, Tensor):
            raise refuse(
                "The value argument to log_prob must be a Tensor", "convert it with tensor(…)"
            )
        events = len(self._event_shape)
        if value.shape[value.ndim - events :] != self._event_shape:
            raise refuse(
                f"The right-most size of value must match event_shape: {tuple(value.shape)} vs "
                f"{tuple(self._event_shape)}",
                "a value has the shape of a sample",
            )
        expected = (*self._batch_shape, *self._event_shape)
        for given, own in zip(reversed(value.shape), reversed(expected)):
            if given != own and 1 not in (given, own):
                raise refuse(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{tuple(value.shape)} vs {expected}",
                    "a value has the shape of a sample",
                )
        support = self.support
        if not bool(support.check(value).all()):
            raise refuse(
                f"Expected value argument to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values: {value}",
                "pass values it can have, or make it with validate_args=False",
            )

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                single = isinstance(value, Tensor) and value.numel() == 1
                shown.append(f"{name}: {value if single else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"
