"""Parameter: a tensor that a module counts among its own."""

from __future__ import annotations

from typing import Any

from whygrad.autograd import lineage
from whygrad.autograd.source import caller
from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["Buffer", "Parameter"]


class Parameter(Tensor):
    """A tensor that requires grad and, assigned to a module, becomes one of its parameters.

    It shares the memory of ``data`` and starts a graph of its own.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        return _adopted(cls, data).requires_grad_(requires_grad)  # type: ignore[return-value]

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
            where=caller(),
        )
    plain = data.detach()
    made = Tensor.__new__(cls)
    made._array = plain._array
    made._keys = plain._keys
    made._node = None
    made._slot = 0
    made._base = None
    made._storage = plain._storage
    made.__dict__.update(plain.__dict__)
    return lineage.cut(data, made, "shared", cls.__name__)
