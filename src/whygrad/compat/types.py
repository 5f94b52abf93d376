"""Names for annotations, as in ``torch.types``."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import IO, Any

from whygrad.tensor import Tensor
from whygrad.tensor.devices import Device as _device
from whygrad.tensor.devices import Layout as _layout
from whygrad.tensor.dtypes import DType as _dtype
from whygrad.tensor.memory import Size
from whygrad.tensor.storage import Storage

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor"]

Number = int | float | bool
Device = _device | str | int | None
FileLike = str | PathLike[str] | IO[bytes]
_size = Size | list[int] | tuple[int, ...]
_int, _float, _bool, _complex = int, float, bool, complex
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | Sequence[Tensor | None]
_symbols: tuple[Any, ...] = (_device, _dtype, _layout)
