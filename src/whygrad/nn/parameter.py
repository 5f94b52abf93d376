"""Parameter: a tensor that a module counts among its own.

Parameters and buffers of lazy modules have no shape before the first input tells it, and no array
behind them.  What stands in its place answers every question with an error; only dtype and device
are known, from an empty tensor that conversions convert.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.tensor import Tensor, keys
from whygrad.tensor.copies import of_class
from whygrad.tensor.graph import lineage

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class Parameter(Tensor):
    """A tensor that requires grad and, assigned to a module, becomes one of its parameters.

    It shares the memory of ``data`` and starts a graph of its own.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if cls is Parameter and isinstance(data, Tensor) and data._class_keys:
            kind: Any = type(data)
            cls = _learned(kind)
        made: Any = _adopted(cls, data)
        return Tensor.requires_grad_(made, requires_grad)  # type: ignore[return-value]

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        """Everything is in place: ``Tensor.__init__`` would make a tensor of sizes."""

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            twin = type(self)(self.detach().clone(), self.requires_grad)
            lineage.cut(self, twin, "copied", "deepcopy")
            memo[id(self)] = twin
        copied: Parameter = memo[id(self)]
        return copied


class Buffer(Tensor):
    """A tensor that, assigned to a module, becomes one of its buffers: state, but not learned."""

    __slots__ = ()

    persistent: bool  # whether state_dict() has it

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        buffer = _adopted(cls, data)
        buffer.persistent = persistent  # type: ignore[attr-defined]
        return buffer  # type: ignore[return-value]

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        """As for Parameter."""


@cache
def _learned(kind: Any) -> Any:
    """The class of parameters that are a tensor subclass as well; ops make plain ``kind`` of them.

    PyTorch marks the object and lets ``isinstance`` look for the mark.  Here both are base classes.
    """
    if issubclass(kind, Parameter):
        return kind
    names = {
        "__slots__": (),
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__init__": Parameter.__init__,
        "_results_as": kind,
        "_loaded_by": staticmethod(_load_learned),
    }
    return type(kind.__name__, (kind, Parameter), names)


def _load_learned(kind: type[Tensor], load: Any, arguments: tuple[Any, ...]) -> Tensor:
    plain = load(*arguments)
    return Parameter(of_class(kind, plain.detach()), plain.requires_grad)


def _adopted(cls: type[Tensor], data: Any) -> Tensor:
    """The memory of ``data`` under another class, without its history."""
    if data is None:
        data = functions["empty"](0)
    if not isinstance(data, Tensor):
        raise fail(
            TypeError,
            call=f"{cls.__name__}({describe(data)})",
            cause="a parameter or buffer holds a tensor",
            fix=f"convert it first: {cls.__name__}(whygrad.tensor(data))",
        )
    plain = Tensor.detach(data)
    made = Tensor.__new__(cls)
    made._array = plain._array
    made._keys = plain._keys & ~keys.OVERRIDDEN | cls._class_keys
    made._node = None
    made._slot = 0
    made._base = None
    made._storage = plain._storage
    made.__dict__.update(plain.__dict__)
    return lineage.cut(data, made, "shared", cls.__name__)


class _Absent:
    """In the place of an array."""

    __array_ufunc__ = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise fail(
            ValueError,
            call=f"{name} of an uninitialized parameter",
            cause="Attempted to use an uninitialized parameter: its shape is not known yet",
            fix="call the lazy module with a batch first, before using its parameters",
        )


_ABSENT = _Absent()


class UninitializedTensorMixin:
    """What parameters and buffers without a shape have in common."""

    cls_to_become: type[Tensor]
    _example: Tensor  # empty, with the dtype and on the device that are wanted

    @property
    def shape(self) -> Any:
        raise fail(
            RuntimeError,
            call=f"the shape of an {type(self).__name__}",
            cause="Can't access the shape of an uninitialized parameter or buffer. This error "
            "usually happens in `load_state_dict` when trying to load an uninitialized parameter "
            "into an initialized one.",
            fix="call the lazy module with a batch first",
        )

    @property
    def dtype(self) -> Any:
        return self._example.dtype

    @property
    def device(self) -> Any:
        return self._example.device

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a parameter (or buffer) of this shape, its numbers still to be filled in."""
        example = self._example
        data = functions["empty"](
            shape, device=example.device if device is None else device,
            dtype=example.dtype if dtype is None else dtype,
        )  # fmt: skip
        learns = self.requires_grad
        del self.__dict__["_example"]
        self.__class__ = self.cls_to_become
        for name in ("_array", "_keys", "_storage"):
            setattr(self, name, getattr(data, name))
        self._node = None
        self.requires_grad_(learns)

    def convert(self: Any, fn: Any) -> None:
        """Another dtype or device, by what ``fn`` makes of the empty tensor."""
        self._example = fn(self._example)

    def detach(self: Any) -> Any:
        """Itself: ``state_dict()`` says that there is nothing to save yet."""
        return self

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = _made(type(self), self._example, self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return _made, (type(self), self._example, self.requires_grad)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter that gets its shape later, by ``materialize``."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> UninitializedParameter:
        example = functions["empty"](0, device=device, dtype=dtype)
        return _made(cls, example, requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        """Everything is in place."""


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer that gets its shape later, by ``materialize``."""

    __slots__ = ()
    cls_to_become = Buffer

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        made = _made(cls, functions["empty"](0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        return made

    def __init__(
        self,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> None:
        """Everything is in place."""


def is_lazy(value: Any) -> bool:
    """Whether the shape of a parameter or buffer is still unknown."""
    return isinstance(value, UninitializedTensorMixin)


def _made(cls: Any, example: Tensor, requires_grad: bool) -> Any:
    made: Any = Parameter(example) if issubclass(cls, Parameter) else Buffer(example)
    made.requires_grad_(requires_grad)
    made._example = example
    made.__class__ = cls
    made._array = _ABSENT
    return made
