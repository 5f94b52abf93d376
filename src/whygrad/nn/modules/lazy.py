"""Lazy modules: layers that learn the size of their input from the first batch.

A lazy module has parameters without a shape.  The first call (or a state that is loaded) gives them
one, and the module becomes an ordinary one of its ``cls_to_become``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from whygrad.errors import fail
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import is_lazy
from whygrad.tensor import Tensor
from whygrad.tensor.modes import no_grad

__all__ = ["LazyModuleMixin", "LazyTwin"]


class LazyModuleMixin:
    """Put in front of a module: subclasses define ``initialize_parameters``."""

    cls_to_become: ClassVar[type[Module] | None] = None

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.initialize_parameters(*args, **kwargs)
        if self.has_uninitialized_params():
            raise fail(
                RuntimeError,
                call=f"{type(self).__name__}(…)",
                cause=f"module {self._get_name()} has not been fully initialized",
                fix="give every lazy parameter a shape in initialize_parameters()",
            )
        if self.cls_to_become is None:
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
        self.__class__ = self.cls_to_become
        return self(*args, **kwargs)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, by what the module is called with."""
        raise fail(
            NotImplementedError,
            call=f"{type(self).__name__}(…)",
            cause=f"initialize_parameters is not implemented for {type(self).__name__}",
            fix="define def initialize_parameters(self, input): … in the class",
        )

    def has_uninitialized_params(self: Any) -> bool:
        """Whether any parameter or buffer still lacks its shape."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _load_from_state_dict(self: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
        """What is loaded says how large it is; what neither side knows stays unknown."""
        both_unknown = []
        for name, own in self._own_state().items():
            given = state_dict.get(prefix + name)
            if is_lazy(own) and is_lazy(given):
                both_unknown.append(prefix + name)
            elif is_lazy(own) and isinstance(given, Tensor):
                with no_grad():
                    own.materialize(given.shape)
        if not both_unknown:
            super()._load_from_state_dict(state_dict, prefix, *rest)  # type: ignore[misc]


class LazyTwin(LazyModuleMixin):
    """Put in front of the module that it becomes."""

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        twin = cls.__bases__[-1]
        if issubclass(twin, Module) and not issubclass(twin, LazyModuleMixin):
            cls.cls_to_become = twin
