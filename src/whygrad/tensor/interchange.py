"""A tensor's way out: to Python numbers, to NumPy, to other libraries, to a file and back.

Memory is shared wherever the other side can share it.  Leaving is the moment a gradient gets lost
without a word, so a tensor that requires grad refuses to become an array and says what to write.
"""

from __future__ import annotations

import re
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from whygrad.errors import describe, fail
from whygrad.source import Where
from whygrad.tensor import copies, keys, modes
from whygrad.tensor.graph import lineage
from whygrad.tensor.printing import tensor_repr

if TYPE_CHECKING:
    from whygrad.tensor import Tensor

__all__ = ["Interchange"]

_CPU_IN_DLPACK = (1, 0)  # kDLCPU, device 0


class Interchange:
    """The methods of ``Tensor`` that hand its values to somebody else."""

    __slots__ = ()

    def __repr__(self: Any) -> str:
        return tensor_repr(self)

    def _repr_html_(self: Any) -> str:
        from whygrad.tensor.notebook import tensor_html

        return tensor_html(self)

    # --- Python numbers -------------------------------------------------------------------------

    def item(self: Any) -> Any:
        """The only element, as a Python number."""
        count = self.numel()
        if count != 1:
            raise fail(
                RuntimeError,
                call=f"item() of {describe(self)}",
                cause=f"a Tensor with {count} elements cannot be converted to Scalar",
                fix="pick one element, reduce with sum() or mean(), or use tolist()",
            )
        return lineage.left(self, "item", "item", _number(self))

    def tolist(self: Any) -> Any:
        """Nested lists of Python numbers; a bare number for a 0-d tensor."""
        array = _host_array(self.to("cpu"))
        exact = array.astype(np.float32) if array.dtype.name == "bfloat16" else array
        return lineage.left(self, "item", "tolist", exact.tolist())

    def __bool__(self: Any) -> bool:
        count = self.numel()
        if count != 1:
            amount = "more than one value" if count else "no values"
            raise fail(
                RuntimeError,
                call=f"bool() of {describe(self)}",
                cause=f"Boolean value of Tensor with {amount} is ambiguous",
                fix="say what you mean: (condition).any(), (condition).all() or x.numel() > 0",
            )
        return bool(_number(self))

    def __float__(self: Any) -> float:
        return float(_only_number(self, "float"))

    def __int__(self: Any) -> int:
        return int(_only_number(self, "int"))

    def __complex__(self: Any) -> complex:
        return complex(_only_number(self, "complex"))

    def __index__(self: Any) -> int:
        if self.numel() != 1 or self.dtype.is_floating_point or self.dtype.is_complex:
            raise fail(
                TypeError,
                call=f"{describe(self)} as an index",
                cause="only integer tensors of a single element can be converted to an index",
                fix="convert with int(x) or x.long()",
            )
        return int(self.item())

    def __format__(self: Any, spec: str) -> str:
        if self.ndim == 0 and self.device.type != "meta" and not self._keys & keys.BATCHED:
            return format(_number(self), spec)
        if spec:
            raise fail(
                TypeError,
                call=f"format({describe(self)}, {spec!r})",
                cause="unsupported format string passed to Tensor.__format__: only a 0-d tensor "
                "is one number",
                fix="format x.item(), or set whygrad.set_printoptions(precision=…)",
            )
        return str(self)

    # --- arrays ---------------------------------------------------------------------------------

    def numpy(self: Any, *, force: bool = False) -> Any:
        """The array itself, sharing memory; ``force`` detaches first."""
        if self.requires_grad and not force:
            raise _would_stop_here(self)
        array = _host_array(self)
        _lend(array)
        return lineage.left(self, "numpy", "numpy", array)

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise fail(
                    ValueError,
                    call=f"np.asarray({describe(self)}, dtype={np.dtype(dtype)}, copy=False)",
                    cause="Unable to avoid copy while creating an array as requested",
                    fix="leave copy out, or ask for the tensor's own dtype",
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What NumPy's own functions return when called with a tensor: a tensor."""
        from whygrad.tensor import wrap

        return wrap(np.asarray(array))

    def __dlpack__(
        self: Any,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule over this tensor's memory for another library's ``from_dlpack``."""
        array = _exportable(self)
        return array.__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        _exportable(self)
        return _CPU_IN_DLPACK

    # --- copies ---------------------------------------------------------------------------------

    def __copy__(self: Any) -> Tensor:
        return copies.shallow(self)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Tensor:
        return copies.deep(self, memo)

    def __reduce__(self: Any) -> Any:
        return copies.reduced(self)


def _would_stop_here(tensor: Any) -> RuntimeError:
    facts: dict[str, Any] = {
        "call": f"numpy() of {describe(tensor)} that requires grad",
        "cause": "Can't call numpy() on Tensor that requires grad: NumPy does not record, "
        "so gradients would stop here without notice",
        "fix": "use tensor.detach().numpy() if that is meant, or whygrad's own functions",
    }
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith((__file__, *np.__path__)):
        frame = frame.f_back
    if frame is not None and frame.f_code.co_varnames[:1] == ("xp",):  # a rule of an op
        facts["where"] = where = Where(frame.f_code, frame.f_lasti)
        called = re.match(r"(?:np|numpy)\.([\w.]+)", where.expression)
        function = called[1] if called else "…"
        facts["fix"] = (
            f"use xp.{function}, so that the rule also works for derivatives of derivatives"
        )
    return fail(RuntimeError, **facts)


def _host_array(tensor: Any) -> Any:
    """The values as a NumPy array: the payload itself on the CPU."""
    if type(tensor._array) is np.ndarray:
        return tensor._array
    if tensor._keys & keys.BATCHED:
        return tensor._array.__array__()  # which says why a batch has no single number
    if tensor.layout.key:
        _cannot_be_array(tensor, f"a {tensor.layout.name} tensor has no array of all its elements")
    if tensor.device.type == "meta":
        _cannot_be_array(tensor, "can't convert meta device type tensor to numpy: it has no data")
    return tensor.device.to_numpy(tensor._array)


def _number(tensor: Any) -> Any:
    """The only element, for somebody who does not compute with it."""
    if tensor.device.type == "meta":
        raise fail(
            RuntimeError,
            call=f"item() of {describe(tensor)} on meta",
            cause="Tensor.item() cannot be called on meta tensors: they have no data",
            fix="run the computation on cpu",
        )
    number = _host_array(tensor).item()
    return float(number) if tensor.dtype.is_floating_point else number


def _cannot_be_array(tensor: Any, cause: str) -> NoReturn:
    raise fail(
        TypeError,
        call=f"{describe(tensor)} as an array",
        cause=cause,
        fix="use to_dense() on a sparse tensor; compute on cpu instead of meta",
    )


def _only_number(tensor: Any, kind: str) -> Any:
    if tensor.numel() != 1:
        raise fail(
            ValueError,
            call=f"{kind}() of {describe(tensor)}",
            cause="only one element tensors can be converted to Python scalars",
            fix="pick one element, or reduce with sum() or mean()",
        )
    return tensor.item()


def _exportable(tensor: Any) -> Any:
    """The array to share by DLPack; BufferError is what the protocol asks for."""

    def refuse(cause: str, fix: str) -> BufferError:
        return fail(BufferError, call=f"__dlpack__ of {describe(tensor)}", cause=cause, fix=fix)

    if tensor.requires_grad:
        raise refuse(
            "Can't export tensors that require gradient: the other library would not record",
            "use tensor.detach()",
        )
    if type(tensor._array) is not np.ndarray:
        raise refuse(
            f"only strided tensors on cpu can be shared, not {tensor.layout} on {tensor.device}",
            "convert with to_dense() and to('cpu')",
        )
    if tensor.dtype.name == "bfloat16":
        raise refuse("NumPy cannot export bfloat16", "convert it first: x.float()")
    _lend(tensor._array)
    return tensor._array


def _lend(array: Any) -> None:
    """Anomaly mode wants to know which memory can be written from outside."""
    if modes.state.watch is not None:
        modes.state.watch.contents.lend(array)
