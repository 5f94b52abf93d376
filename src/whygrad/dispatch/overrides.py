"""PyTorch's ``torch.overrides``: tools for who takes calls over with ``__torch_function__``.

A subclass of ``Tensor``, an object that is no tensor, or a mode defines ``__torch_function__(func,
types, args, kwargs)`` and sees the calls that concern it: the function, the classes that take part,
and the arguments as the program wrote them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import wraps
from types import FunctionType
from typing import Any

from whygrad.dispatch import overriding
from whygrad.tensor import Tensor

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


class _Block:
    """A ``with`` block that may be entered again inside itself."""

    def __init__(self) -> None:
        self._open: list[AbstractContextManager[None]] = []

    def _block(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def __enter__(self) -> Any:
        block = self._block()
        block.__enter__()
        self._open.append(block)
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.pop().__exit__(*error)


class DisableTorchFunctionSubclass(_Block):
    """Inside, subclasses and stand-ins are not asked: ops take them as plain tensors."""

    def _block(self) -> AbstractContextManager[None]:
        return overriding.disabled()


class DisableTorchFunction(_Block):
    """Inside, neither arguments nor modes are asked."""

    def _block(self) -> AbstractContextManager[None]:
        return overriding.disabled(modes_too=True)


class TorchFunctionMode(_Block):
    """Sees the op calls inside its ``with`` block, also those without any subclass.

    While its ``__torch_function__`` runs, only the modes outside it are asked.
    """

    def __init__(self) -> None:
        """A subclass with an ``__init__`` of its own need not call this one."""

    def _block(self) -> AbstractContextManager[None]:
        return overriding.inside(self)

    def __enter__(self) -> Any:
        if "_open" not in self.__dict__:
            self._open = []
        return super().__enter__()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        raise NotImplementedError


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of these, or a mode, takes calls over."""
    return overriding.is_asked(tuple(relevant_args), {})


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Ask ``relevant_args`` for the result of ``public_api(*args, **kwargs)``."""
    those = overriding.concerned(tuple(relevant_args), {})
    return overriding.hand_over(public_api, args, kwargs, those)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Let a function ask first those arguments that ``dispatcher`` picks from its call."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def public(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(public, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return public

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether ops take it: a tensor, or an object that takes their calls over."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether ``func``, as ``__torch_function__`` got it, is an attribute of tensors."""
    name = getattr(func, "__name__", "")
    if name in ("__get__", "__set__", "__delete__"):
        return isinstance(getattr(func, "__self__", None), property)
    return isinstance(func, FunctionType) and getattr(Tensor, name, None) is func


def resolve_name(f: Any) -> str | None:
    """Where ``f`` is found: ``"whygrad.add"``, ``"whygrad.Tensor.sum"``; None for a stranger."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, property):
        for kind in Tensor.__mro__:
            for name, found in vars(kind).items():
                if found is owner:
                    return f"whygrad.Tensor.{name}.{f.__name__}"
    module = getattr(f, "__module__", None) or ""
    if not module.startswith("whygrad"):
        return None
    return f"{'whygrad' if module == Tensor.__module__ else module}.{f.__qualname__}"


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """The functions whose tensors stay of the class they are: ``grad`` is one that is kept."""
    return {vars(Tensor)["grad"].__get__}
