"""Names for annotations, as in ``torch.types``."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import IO, Any

from whygrad.devices import Device as _device
from whygrad.devices import Layout as _layout
from whygrad.dtypes import DType as _dtype
from whygrad.memory import Size
from whygrad.storage import Storage
from whygrad.tensor import Tensor

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor"]

Number = int | float | bool
Device = _device | str | int | None
FileLike = str | PathLike[str] | IO[bytes]
_size = Size | list[int] | tuple[int, ...]
_int, _float, _bool, _complex = int, float, bool, complex
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | Sequence[Tensor | None]
_symbols: tuple[Any, ...] = (_device, _dtype, _layout)
